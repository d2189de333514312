from __future__ import annotations

from django.urls import path

from apps.tasks.domain.states import Verb
from apps.tasks.web.views import detail, forms, lists, verbs

app_name = "tasks"
urlpatterns = [
    path("", lists.task_list, name="task-list"),
    path("new/", forms.new, name="task-new"),
    path("<uuid:pk>/", detail.overview, name="task-detail"),
    path("<uuid:pk>/instances/", detail.instances, name="task-instances"),
    path("<uuid:pk>/logs/", detail.logs, name="task-logs"),
    path("<uuid:pk>/events/", detail.events, name="task-events"),
    path("<uuid:pk>/revisions/", detail.revisions, name="task-revisions"),
    path("<uuid:pk>/yaml/", detail.yaml, name="task-yaml"),
    path("<uuid:pk>/edit/", forms.edit, name="task-edit"),
    path("<uuid:pk>/pause/", verbs.direct, {"verb": Verb.PAUSE}, name="task-pause"),
    path("<uuid:pk>/resume/", verbs.direct, {"verb": Verb.RESUME}, name="task-resume"),
    path("<uuid:pk>/restart/", verbs.asked, {"verb": Verb.RESTART}, name="task-restart"),
    path("<uuid:pk>/stop/", verbs.asked, {"verb": Verb.STOP}, name="task-stop"),
    path("<uuid:pk>/delete/", verbs.asked, {"verb": Verb.DELETE}, name="task-delete"),
    path("<uuid:pk>/scale/", verbs.scale, name="task-scale"),
    path("<uuid:pk>/rename/", verbs.rename, name="task-rename"),
    path("<uuid:pk>/rollback/", verbs.rollback, name="task-rollback"),
    path("<uuid:pk>/clone/", verbs.clone, name="task-clone"),
]
