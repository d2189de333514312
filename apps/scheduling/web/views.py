"""The live column of the create and edit forms: what would happen if this were submitted now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from apps.kernel.clock import now
from apps.kernel.errors import Refusal
from apps.scheduling import services
from apps.tasks import selectors
from apps.tasks.domain.splitting import split
from apps.tasks.explanations import advice, sentence
from apps.tasks.web.forms import check_form, filled, posted
from apps.tasks.web.yaml_text import as_yaml
from apps.ui.panels import said

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.tasks.domain.spec import TaskSpec


@require_POST
@login_required
def preview(request: HttpRequest) -> HttpResponse:
    """Answers 200 even for a form that is not right yet: it is being written."""
    form = filled(posted(request.POST))
    spec = check_form(form.values, form=form)
    if spec is None:
        context: dict[str, Any] = {"faults": form.faults()}
    elif "version" in request.POST:
        context = _of_an_edit(spec)
    else:
        context = _of_a_submission(spec, cast("User", request.user))
    return render(request, "scheduling/preview.html", context)


def _of_an_edit(spec: TaskSpec) -> dict[str, Any]:
    """An edit is shown as a difference before it is confirmed, so here stands only its split."""
    shares = split(spec.containers, spec.resources, selectors.mark_facts().get(spec.resources.mark or ""))
    if isinstance(shares, Refusal):
        return {"refused": said(shares)}
    return {"editing": True, "split": list(zip(spec.containers, shares, strict=True)), "nodes": spec.resources.nodes}


def _of_a_submission(spec: TaskSpec, user: User) -> dict[str, Any]:
    found = services.preview(spec, by=user, now=now())
    mark = selectors.mark_facts().get(spec.resources.mark or "")
    cards = spec.resources.cards_per_node * spec.resources.nodes
    return {
        "preview": found,
        "split": list(zip(spec.containers, found.shares, strict=False)),
        "nodes": found.nodes,
        "refused": said(found.refusal) if found.refusal else "",
        "waits": sentence(found.reason, found.numbers) if found.reason else "",
        "advice": advice(found.reason) if found.reason else "",
        "price": mark.price_per_card_hour * cards if mark else 0,
        "yaml": "---\n".join(as_yaml(manifest) for manifest in found.manifests),
    }
