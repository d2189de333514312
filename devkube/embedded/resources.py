"""The resources this server knows, as discovery lists them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource type; `key` names it inside the store."""

    group: str
    version: str
    plural: str
    kind: str
    singular: str
    namespaced: bool
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    status: bool = False
    scale: bool = False
    create_on_update: bool = False
    unconditional_update: bool = True
    virtual: bool = False

    @property
    def key(self) -> str:
        """Name of this resource in the store and in quota rules."""
        return self.qualified

    @property
    def qualified(self) -> str:
        """`jobs.batch`, or `pods` for the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """`batch/v1`, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def list_kind(self) -> str:
        """Kind of a list of these."""
        return f"{self.kind}List"


ALL = ("all",)
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", "namespace", False, ("ns",), status=True)
NODES = Resource("", "v1", "nodes", "Node", "node", False, ("no",), status=True)
PODS = Resource("", "v1", "pods", "Pod", "pod", True, ("po",), ALL, status=True)
SERVICES = Resource("", "v1", "services", "Service", "service", True, ("svc",), ALL, status=True)
EVENTS = Resource("", "v1", "events", "Event", "event", True, ("ev",), create_on_update=True)
SECRETS = Resource("", "v1", "secrets", "Secret", "secret", True)
CONFIGMAPS = Resource("", "v1", "configmaps", "ConfigMap", "configmap", True, ("cm",))
CLAIMS = Resource(
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "persistentvolumeclaim", True, ("pvc",), status=True
)
QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", "resourcequota", True, ("quota",), status=True)
ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount", "serviceaccount", True, ("sa",))
DEPLOYMENTS = Resource(
    "apps", "v1", "deployments", "Deployment", "deployment", True, ("deploy",), ALL, status=True, scale=True
)
REPLICASETS = Resource(
    "apps", "v1", "replicasets", "ReplicaSet", "replicaset", True, ("rs",), ALL, status=True, scale=True
)
JOBS = Resource("batch", "v1", "jobs", "Job", "job", True, (), ALL, status=True)
PRIORITY_CLASSES = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", "priorityclass", False, ("pc",)
)
STORAGE_CLASSES = Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", "storageclass", False, ("sc",))
LEASES = Resource(
    "coordination.k8s.io",
    "v1",
    "leases",
    "Lease",
    "lease",
    True,
    create_on_update=True,
    unconditional_update=False,
)
BUDGETS = Resource(
    "policy",
    "v1",
    "poddisruptionbudgets",
    "PodDisruptionBudget",
    "poddisruptionbudget",
    True,
    ("pdb",),
    status=True,
    unconditional_update=False,
)
DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    "customresourcedefinition",
    False,
    ("crd", "crds"),
    ("api-extensions",),
    status=True,
    virtual=True,
)
ACCESS_REVIEWS = Resource(
    "authorization.k8s.io",
    "v1",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
    "selfsubjectaccessreview",
    False,
    virtual=True,
)

RESOURCES: tuple[Resource, ...] = (
    *(NAMESPACES, NODES, PODS, SERVICES, EVENTS, SECRETS, CONFIGMAPS, CLAIMS, QUOTAS, ACCOUNTS),
    *(DEPLOYMENTS, REPLICASETS, JOBS, PRIORITY_CLASSES, STORAGE_CLASSES, LEASES, BUDGETS),
    *(DEFINITIONS, ACCESS_REVIEWS),
)
STORED = tuple(resource for resource in RESOURCES if not resource.virtual)
NAMESPACED = tuple(resource for resource in STORED if resource.namespaced)
BY_PATH = {(resource.group, resource.version, resource.plural): resource for resource in RESOURCES}
BY_KIND = {(resource.api_version, resource.kind): resource for resource in RESOURCES}
