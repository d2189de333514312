from __future__ import annotations

from django.urls import path

from apps.tasks.api.views import parts, tasks, verbs

urlpatterns = [
    path("tasks", tasks.Tasks.as_view(), name="api-tasks"),
    path("tasks/<uuid:pk>", tasks.OneTask.as_view(), name="api-task"),
    path("tasks/<uuid:pk>/pause", verbs.Pause.as_view(), name="api-task-pause"),
    path("tasks/<uuid:pk>/resume", verbs.Resume.as_view(), name="api-task-resume"),
    path("tasks/<uuid:pk>/restart", verbs.Restart.as_view(), name="api-task-restart"),
    path("tasks/<uuid:pk>/stop", verbs.Stop.as_view(), name="api-task-stop"),
    path("tasks/<uuid:pk>/scale", verbs.Scale.as_view(), name="api-task-scale"),
    path("tasks/<uuid:pk>/rollback", verbs.Rollback.as_view(), name="api-task-rollback"),
    path("tasks/<uuid:pk>/clone", verbs.Clone.as_view(), name="api-task-clone"),
    path("tasks/<uuid:pk>/instances", parts.Instances.as_view(), name="api-task-instances"),
    path("tasks/<uuid:pk>/revisions", parts.Revisions.as_view(), name="api-task-revisions"),
    path("tasks/<uuid:pk>/revisions/<int:number>/diff", parts.RevisionDiff.as_view(), name="api-task-diff"),
    path("tasks/<uuid:pk>/events", parts.Events.as_view(), name="api-task-events"),
    path("tasks/<uuid:pk>/attempts", parts.Attempts.as_view(), name="api-task-attempts"),
]
