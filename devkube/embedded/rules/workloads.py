"""Validation of Jobs, Deployments and ReplicaSets, and what may change in them."""

import re

from devkube.embedded.errors import Cause, bad_value, refused, required, unsupported
from devkube.embedded.objects import Obj, condition_true, copy, labels_of, meta, spec, status
from devkube.embedded.rules import names
from devkube.embedded.rules.pods import check_pod_spec
from devkube.embedded.selectors import from_object, labels_match


def check_template(body: Obj, path: str) -> list[Cause]:
    """Check a pod template."""
    template = body["template"]
    causes = names.check_labels(meta(template).get("labels") or {}, f"{path}.labels")
    causes += names.check_annotations(meta(template).get("annotations") or {}, f"{path}.annotations")
    return causes + check_pod_spec(spec(template), f"{path}.spec")


def _not_negative(body: Obj, *fields: str) -> list[Cause]:
    wrong = [field for field in fields if body.get(field, 0) < 0]
    return [bad_value(f"spec.{field}", body[field], "must be greater than or equal to 0") for field in wrong]


def check_job(job: Obj) -> list[Cause]:
    """Check a Job."""
    body = spec(job)
    causes = _not_negative(
        body,
        "parallelism",
        "completions",
        "backoffLimit",
        "activeDeadlineSeconds",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    )
    if body["completionMode"] not in ("NonIndexed", "Indexed"):
        causes.append(unsupported("spec.completionMode", body["completionMode"], ["NonIndexed", "Indexed"]))
    if body["completionMode"] == "Indexed":
        causes += _check_indexed(job)
    elif "backoffLimitPerIndex" in body:
        causes.append(bad_value("spec.backoffLimitPerIndex", body["backoffLimitPerIndex"], "requires indexed job"))
    if body["podReplacementPolicy"] not in ("TerminatingOrFailed", "Failed"):
        choices = ["TerminatingOrFailed", "Failed"]
        causes.append(unsupported("spec.podReplacementPolicy", body["podReplacementPolicy"], choices))
    if spec(body["template"])["restartPolicy"] not in ("OnFailure", "Never"):
        where = "spec.template.spec.restartPolicy"
        causes.append(required(where, 'valid values: "OnFailure", "Never"'))
    causes += _check_failure_policy(body)
    return causes + check_template(body, "spec.template")


def _check_indexed(job: Obj) -> list[Cause]:
    body = spec(job)
    if "completions" not in body:
        return [required("spec.completions", "when completion mode is Indexed")]
    if body["parallelism"] > 100_000:
        why = "must be less than or equal to 100000 when completion mode is Indexed"
        return [bad_value("spec.parallelism", body["parallelism"], why)]
    longest = f"{meta(job).get('name', '')}-{max(body['completions'] - 1, 0)}"
    wrong = names.dns_label(longest)
    if not wrong:
        return []
    name = meta(job).get("name", "")
    return [bad_value("metadata.name", name, f"will not able to create pod with invalid DNS label: {longest}")]


def _check_failure_policy(body: Obj) -> list[Cause]:
    if "podFailurePolicy" not in body:
        return []
    causes: list[Cause] = []
    if spec(body["template"])["restartPolicy"] != "Never":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        causes.append(bad_value("spec.template.spec.restartPolicy", spec(body["template"])["restartPolicy"], why))
    if body["podReplacementPolicy"] != "Failed":
        causes.append(unsupported("spec.podReplacementPolicy", body["podReplacementPolicy"], ["Failed"]))
    for at, rule in enumerate(body["podFailurePolicy"].get("rules") or []):
        where = f"spec.podFailurePolicy.rules[{at}]"
        if rule.get("action") not in ("FailJob", "FailIndex", "Ignore", "Count"):
            choices = ["FailJob", "FailIndex", "Ignore", "Count"]
            causes.append(unsupported(f"{where}.action", rule.get("action"), choices))
        if ("onExitCodes" in rule) == bool(rule.get("onPodConditions")):
            causes.append(bad_value(where, "", "specifying one of OnExitCodes and OnPodConditions is required"))
        if any(not pattern.get("type") for pattern in rule.get("onPodConditions") or []):
            causes.append(required(f"{where}.onPodConditions[0].type"))
        if "onExitCodes" in rule and rule["onExitCodes"].get("operator") not in ("In", "NotIn"):
            operator = rule["onExitCodes"].get("operator", "")
            causes.append(unsupported(f"{where}.onExitCodes.operator", operator, ["In", "NotIn"]))
        if "onExitCodes" in rule and not rule["onExitCodes"].get("values"):
            causes.append(bad_value(f"{where}.onExitCodes.values", [], "at least one value is required"))
    return causes


_FREE_WHILE_SUSPENDED = ("nodeSelector", "tolerations", "schedulingGates")


def check_job_update(new: Obj, old: Obj) -> list[Cause]:
    """Only parallelism, suspend, limits in time and number may change; placement while suspended."""
    causes = check_job(new)
    after, before = spec(new), spec(old)
    if after.get("completions") != before.get("completions") and not _elastic(after):
        causes.append(_immutable("spec.completions", after.get("completions")))
    for field in (
        "selector",
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ):
        if after.get(field) != before.get(field):
            causes.append(_immutable(f"spec.{field}", after.get(field)))
    if _frozen_template(after, old) != _frozen_template(before, old):
        causes.append(_immutable("spec.template", "core.PodTemplateSpec"))
    return causes


def _elastic(after: Obj) -> bool:
    return after.get("completionMode") == "Indexed" and after.get("completions") == after.get("parallelism")


def _immutable(field: str, value: object) -> Cause:
    return bad_value(field, value, "field is immutable")


def _frozen_template(body: Obj, old: Obj) -> Obj:
    template = copy(body["template"])
    if not spec(old).get("suspend"):
        return template
    never_started = not status(old).get("startTime")
    stopped = condition_true(old, "Suspended") and not status(old).get("active")
    if never_started or stopped:
        pod = spec(template)
        for field in _FREE_WHILE_SUSPENDED:
            pod.pop(field, None)
        (pod.get("affinity") or {}).pop("nodeAffinity", None)
        if not pod.get("affinity"):
            pod.pop("affinity", None)
        for key in ("labels", "annotations"):
            meta(template).pop(key, None)
        for container in (*(pod.get("containers") or []), *(pod.get("initContainers") or [])):
            container.pop("resources", None)
    return template


def _check_selector(body: Obj) -> list[Cause]:
    causes = names.check_selector(body.get("selector"), "spec.selector")
    if causes:
        return causes
    terms = from_object(body.get("selector"))
    if not terms:
        if terms is None:
            return [required("spec.selector")]
        return [bad_value("spec.selector", {}, "empty selector is invalid for deployment")]
    if not labels_match(terms, labels_of({"metadata": meta(body["template"])})):
        labels = meta(body["template"]).get("labels") or {}
        return [bad_value("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")]
    return []


def _only_always(body: Obj) -> list[Cause]:
    policy = spec(body["template"])["restartPolicy"]
    if policy == "Always":
        return []
    return [unsupported("spec.template.spec.restartPolicy", policy, ["Always"])]


_SHARE = re.compile(r"^\d+%$", re.ASCII)


def share(value: object, whole: int, *, up: bool) -> int:
    """Resolve an IntOrString share of `whole`, rounding a percentage up or down."""
    if isinstance(value, int):
        return value
    percent = int(str(value or "0").rstrip("%") or 0)
    return -(-percent * whole // 100) if up else percent * whole // 100


def check_deployment(deployment: Obj) -> list[Cause]:
    """Check a Deployment."""
    body = spec(deployment)
    causes = _not_negative(
        body, "replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"
    ) + _check_selector(body)
    causes += check_template(body, "spec.template") + _only_always(body)
    if body["progressDeadlineSeconds"] <= body.get("minReadySeconds", 0):
        why = "must be greater than minReadySeconds"
        causes.append(bad_value("spec.progressDeadlineSeconds", body["progressDeadlineSeconds"], why))
    return causes + _check_strategy(body["strategy"])


def _check_strategy(strategy: Obj) -> list[Cause]:
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind == "Recreate" and rolling is not None:
        why = "may not be specified when strategy `type` is 'Recreate'"
        return [refused("spec.strategy.rollingUpdate", why)]
    if kind not in ("Recreate", "RollingUpdate"):
        return [unsupported("spec.strategy.type", kind, ["Recreate", "RollingUpdate"])]
    causes: list[Cause] = []
    for field, value in (rolling or {}).items():
        where = f"spec.strategy.rollingUpdate.{field}"
        if isinstance(value, str) and not _SHARE.match(value):
            why = "a valid percent string must be a numeric string followed by an ending '%'"
            causes.append(bad_value(where, value, why))
        elif isinstance(value, int) and value < 0:
            causes.append(bad_value(where, value, "must be greater than or equal to 0"))
    if (
        not causes
        and rolling
        and all(str(rolling[field]).rstrip("%") == "0" for field in ("maxSurge", "maxUnavailable"))
    ):
        why = "may not be 0 when `maxSurge` is 0"
        causes.append(bad_value("spec.strategy.rollingUpdate.maxUnavailable", rolling["maxUnavailable"], why))
    return causes


def check_deployment_update(new: Obj, old: Obj) -> list[Cause]:
    """The selector is fixed."""
    causes = check_deployment(new)
    if spec(new).get("selector") != spec(old).get("selector"):
        causes.append(_immutable("spec.selector", spec(new).get("selector")))
    return causes


def check_replica_set(replica_set: Obj) -> list[Cause]:
    """Check a ReplicaSet."""
    body = spec(replica_set)
    causes = _not_negative(body, "replicas", "minReadySeconds") + _check_selector(body)
    return causes + check_template(body, "spec.template") + _only_always(body)


def check_replica_set_update(new: Obj, old: Obj) -> list[Cause]:
    """The selector is fixed."""
    causes = check_replica_set(new)
    if spec(new).get("selector") != spec(old).get("selector"):
        causes.append(_immutable("spec.selector", spec(new).get("selector")))
    return causes
