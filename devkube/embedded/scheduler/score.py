"""Which of several fitting nodes is best. Pure."""

from devkube.embedded.objects import Obj
from devkube.embedded.scheduler.affinity import bad_taste, preference
from devkube.embedded.scheduler.fit import NodeView


def _share_used(needs: dict[str, int], view: NodeView) -> float:
    shares = []
    for key in {"cpu", "memory", *(key for key in needs if "/" in key)}:
        whole = view.allocatable.get(key, 0)
        if whole:
            shares.append(min((view.used[key] + needs.get(key, 0)) / whole, 1.0))
    return sum(shares) / len(shares) if shares else 0.0


def best(pod: Obj, needs: dict[str, int], views: list[NodeView], *, pack: bool) -> NodeView:
    """Return the node to take: preferences first, then the fuller (pack) or the emptier one, then the name."""

    def rank(view: NodeView) -> tuple[int, int, float, str]:
        used = _share_used(needs, view)
        return (bad_taste(pod, view.taints), -preference(pod, view.node), -used if pack else used, view.name)

    return min(views, key=rank)
