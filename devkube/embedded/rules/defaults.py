"""What the API server fills in when a client leaves it out."""

from devkube.embedded.objects import Obj, containers_of, meta, spec, status
from devkube.embedded.quantities import number


def _set(obj: Obj, **values: object) -> None:
    for key, value in values.items():
        obj.setdefault(key, value)


def pod_spec(pod: Obj) -> None:
    """Fill a pod's spec, alone or inside a template."""
    _set(
        pod,
        restartPolicy="Always",
        dnsPolicy="ClusterFirst",
        schedulerName="default-scheduler",
        securityContext={},
        terminationGracePeriodSeconds=30,
    )
    for container in containers_of(pod):
        _container(container)
    for volume in pod.get("volumes") or []:
        _volume(volume)


def _container(container: Obj) -> None:
    image = str(container.get("image", ""))
    tag = image.rsplit("/", 1)[-1]
    latest = "@" not in image and (":" not in tag or tag.endswith(":latest"))
    _set(
        container,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy="Always" if latest else "IfNotPresent",
        resources={},
    )
    for port in container.get("ports") or []:
        _set(port, protocol="TCP")
    for variable in container.get("env") or []:
        if field := (variable.get("valueFrom") or {}).get("fieldRef"):
            _set(field, apiVersion="v1")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if found := container.get(probe):
            _set(found, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
            if "httpGet" in found:
                _set(found["httpGet"], path="/", scheme="HTTP")
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict) and "httpGet" in hook:
            _set(hook["httpGet"], path="/", scheme="HTTP")


def _volume(volume: Obj) -> None:
    for source in ("secret", "configMap", "downwardAPI", "projected"):
        if source in volume:
            _set(volume[source], defaultMode=420)
    if "hostPath" in volume:
        _set(volume["hostPath"], type="")
    if "ephemeral" in volume:
        claim = volume["ephemeral"].get("volumeClaimTemplate") or {}
        _set(claim.setdefault("spec", {}), volumeMode="Filesystem")
    if len(volume) == 1:
        volume["emptyDir"] = {}


def pod(obj: Obj) -> None:
    """Fill a pod: requests from limits, node-failure tolerations."""
    body = spec(obj)
    pod_spec(body)
    _set(body, enableServiceLinks=True)
    for container in containers_of(body):
        resources = container["resources"]
        if limits := resources.get("limits"):
            resources["requests"] = {**limits, **(resources.get("requests") or {})}
    tolerations = body.setdefault("tolerations", [])
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(_tolerates_key(each, key) for each in tolerations):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})


def _tolerates_key(toleration: Obj, key: str) -> bool:
    return toleration.get("key", "") in ("", key) and toleration.get("effect", "") in ("", "NoExecute")


def qos_class(pod_obj: Obj) -> str:
    """Return Guaranteed, Burstable or BestEffort."""
    containers = list(containers_of(spec(pod_obj)))
    kinds = ("cpu", "memory")
    asked = [
        (number((c["resources"].get("requests") or {}).get(k)), number((c["resources"].get("limits") or {}).get(k)))
        for c in containers
        for k in kinds
    ]
    if not any(request or limit for request, limit in asked):
        return "BestEffort"
    return "Guaranteed" if all(limit and request == limit for request, limit in asked) else "Burstable"


def job(obj: Obj) -> None:
    """Fill a Job; selector and labels need the uid, see `job_identity`."""
    body = spec(obj)
    if "completions" not in body and "parallelism" not in body:
        body["completions"] = 1
    _set(body, parallelism=1, completionMode="NonIndexed", suspend=False, manualSelector=False)
    _set(body, backoffLimit=2**31 - 1 if "backoffLimitPerIndex" in body else 6)
    _set(body, podReplacementPolicy="Failed" if "podFailurePolicy" in body else "TerminatingOrFailed")
    template = body.setdefault("template", {})
    meta(template)
    pod_spec(spec(template))
    for rule in (body.get("podFailurePolicy") or {}).get("rules") or []:
        for pattern in rule.get("onPodConditions") or []:
            _set(pattern, status="True")


def job_identity(obj: Obj) -> None:
    """Give a new Job its selector and the labels of its pods."""
    body = spec(obj)
    if body.get("manualSelector"):
        return
    name, uid = meta(obj)["name"], meta(obj)["uid"]
    labels = meta(body["template"]).setdefault("labels", {})
    labels |= {"batch.kubernetes.io/controller-uid": uid, "controller-uid": uid}
    labels |= {"batch.kubernetes.io/job-name": name, "job-name": name}
    selector = body.setdefault("selector", {})
    selector.setdefault("matchLabels", {})["batch.kubernetes.io/controller-uid"] = uid


def deployment(obj: Obj) -> None:
    """Fill a Deployment."""
    body = spec(obj)
    _set(body, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    strategy = body["strategy"]
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _set(strategy.setdefault("rollingUpdate", {}), maxUnavailable="25%", maxSurge="25%")
    template(body)


def replica_set(obj: Obj) -> None:
    """Fill a ReplicaSet."""
    _set(spec(obj), replicas=1)
    template(spec(obj))


def template(body: Obj) -> None:
    """Fill a pod template."""
    found = body.setdefault("template", {})
    meta(found)
    pod_spec(spec(found))


def service(obj: Obj) -> None:
    """Fill a Service."""
    body = spec(obj)
    _set(body, type="ClusterIP", sessionAffinity="None", internalTrafficPolicy="Cluster")
    for port in body.get("ports") or []:
        _set(port, protocol="TCP")
        if port.get("targetPort") in (None, "", 0):
            port["targetPort"] = port.get("port")
    if body["type"] != "ExternalName":
        _set(body, ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack")
    status(obj).setdefault("loadBalancer", {})


def keep_address(new: Obj, old: Obj) -> None:
    """An update that leaves the addresses out keeps them."""
    for key in ("clusterIP", "clusterIPs"):
        if not spec(new).get(key) and spec(old).get(key) and spec(new).get("type") != "ExternalName":
            spec(new)[key] = spec(old)[key]


def claim(obj: Obj) -> None:
    """Fill a PersistentVolumeClaim."""
    _set(spec(obj), volumeMode="Filesystem")
    _set(status(obj), phase="Pending")


def namespace(obj: Obj) -> None:
    """Fill a Namespace."""
    _set(spec(obj), finalizers=["kubernetes"])
    meta(obj).setdefault("labels", {})["kubernetes.io/metadata.name"] = meta(obj).get("name", "")
    _set(status(obj), phase="Active")


def node(obj: Obj) -> None:
    """Fill a Node: what is allocatable is the capacity when nothing else is said."""
    spec(obj)
    found = status(obj)
    if "capacity" in found:
        found.setdefault("allocatable", dict(found["capacity"]))
    _set(found, daemonEndpoints={"kubeletEndpoint": {"Port": 0}}, nodeInfo=_unknown_node())


def _unknown_node() -> Obj:
    keys = ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion")
    return dict.fromkeys((*keys, "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"), "")


def priority_class(obj: Obj) -> None:
    """Fill a PriorityClass."""
    _set(obj, preemptionPolicy="PreemptLowerPriority", value=0)


def storage_class(obj: Obj) -> None:
    """Fill a StorageClass."""
    _set(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def event(obj: Obj) -> None:
    """Fill an Event: what it leaves out of its times and source is told as null and empty."""
    _set(obj, eventTime=None, firstTimestamp=None, lastTimestamp=None)
    _set(obj, reportingComponent="", reportingInstance="", source={})


def secret(obj: Obj) -> None:
    """Fill a Secret."""
    _set(obj, type="Opaque")
