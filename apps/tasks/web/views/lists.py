"""The task list: find and act on many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.tasks import access, selectors
from apps.tasks.domain.spec import KindName, Priority
from apps.tasks.domain.states import State
from apps.tasks.web.filters import ListQuery, read_query
from apps.ui.htmx import render_page

if TYPE_CHECKING:
    from apps.accounts.models import User

PER_PAGE = 25
CHIPS = (
    State.RUNNING,
    State.QUEUED,
    State.STARTING,
    State.UPDATING,
    State.DEGRADED,
    State.PAUSED,
    State.FAILED,
    State.SUCCEEDED,
    State.STOPPED,
)


@require_safe
@login_required
def task_list(request: HttpRequest) -> HttpResponse:
    user, query = cast("User", request.user), read_query(request)
    context = list_context(user, query, page=request.GET.get("page", "1"))
    context["socket"] = f"/ws/tasks?{request.GET.urlencode()}"
    return render_page(request, "tasks/task_list.html", context, parts=("rows", "results"))


def list_context(user: User, query: ListQuery, *, page: str) -> dict[str, Any]:
    """One page of the list with the counts beside it, in a fixed number of queries."""
    visible = access.visible_tasks(user)
    counts = selectors.state_counts(selectors.filtered(visible, query.without_state()))
    tasks = selectors.with_place(selectors.filtered(visible, query.filter)).order_by(*query.ordering())
    paginator = Paginator(tasks, PER_PAGE)
    # Counted already, state by state: the same rows are not counted a second time.
    paginator.count = sum(counts[state] for state in {State(word) for word in query.filter.state} or set(State))
    chips = [(state, counts[state]) for state in CHIPS if counts[state] or state in query.filter.state]
    return {
        "page": paginator.get_page(page),
        "chips": chips,
        "everything": sum(counts.values()),
        "query": query,
        "kinds": list(KindName),
        "priorities": list(Priority),
        "marks": sorted(selectors.mark_facts()),
        "narrowed": query.filter.q or query.filter.state or query.filter.kind or query.filter.priority,
    }
