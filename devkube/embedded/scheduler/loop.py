"""The shell of the scheduler: woken by pods and nodes, it places what waits, most important first."""

import asyncio
import logging
from collections import Counter

from devkube.embedded import resources as r
from devkube.embedded.controllers.runtime import Context, key_of
from devkube.embedded.disruption import protected_by_budget
from devkube.embedded.objects import Obj, deleting, meta, name_of, namespace_of, pod_finished, spec, status, uid_of
from devkube.embedded.registry import DeleteOptions
from devkube.embedded.scheduler import fit, preemption, score
from devkube.embedded.scheduler.binding import bind, mark_disrupted, not_bound
from devkube.embedded.scheduler.volumes import claims_reason
from devkube.embedded.store import Change, Key

LOG = logging.getLogger(__name__)
BY = "default-scheduler"
SETTLE = 0.01


class Scheduler:
    """Binds pods whatever their schedulerName. `pack`: prefer fuller nodes."""

    def __init__(self, context: Context, *, pack: bool = True) -> None:
        self.context, self.pack = context, pack
        self.waiting: set[Key] = set()
        self._needs: dict[str, dict[str, int]] = {}
        self._awake = asyncio.Event()
        for entry in context.store.entries(r.PODS):
            self._sort(entry.obj)
        context.store.listen(r.PODS, self._pod_changed)
        context.store.listen(r.NODES, self._node_changed)
        for resource in (r.CLAIMS, r.BUDGETS):
            context.store.listen(resource, lambda _: self._wake())
        self._wake()

    def _wake(self) -> None:
        if self.waiting:
            self._awake.set()

    def _sort(self, pod: Obj) -> bool:
        wants = not spec(pod).get("nodeName") and not deleting(pod) and not pod_finished(pod)
        if wants and not spec(pod).get("schedulingGates"):
            self.waiting.add(key_of(pod))
            return True
        self.waiting.discard(key_of(pod))
        return False

    def _pod_changed(self, change: Change) -> None:
        pod, before = change.entry.obj, change.before.obj if change.before else None
        if change.kind == "DELETED":
            self.waiting.discard(key_of(pod))
            self._needs.pop(uid_of(pod), None)
            self._wake()
            return
        if self._sort(pod):
            if before is None or spec(before) != spec(pod):
                self._awake.set()
        elif before is not None and pod_finished(pod) != pod_finished(before):
            self._wake()

    def _node_changed(self, change: Change) -> None:
        before = change.before.obj if change.before else None
        if before is None or change.kind == "DELETED" or _shape(before) != _shape(change.entry.obj):
            self._wake()

    async def run(self) -> None:
        """Work for ever."""
        while True:
            await self._awake.wait()
            await asyncio.sleep(SETTLE)
            self._awake.clear()
            try:
                await self._cycle()
            except Exception:
                LOG.exception("a scheduling cycle failed")
                await asyncio.sleep(1.0)
                self._awake.set()

    async def _cycle(self) -> None:
        pods = [entry.obj for key in self.waiting if (entry := self.context.store.get(r.PODS, *key)) is not None]
        pods.sort(
            key=lambda pod: (-fit.priority_of(pod), meta(pod)["creationTimestamp"], int(meta(pod)["resourceVersion"]))
        )
        views = self._snapshot()
        seen = self.context.store.rv
        for at, pod in enumerate(pods):
            if at % 20 == 19:
                await asyncio.sleep(0)
                if self.context.store.rv != seen:
                    views = self._snapshot()
            entry = self.context.store.get(r.PODS, *key_of(pod))
            if entry is not None and uid_of(entry.obj) == uid_of(pod) and key_of(pod) in self.waiting:
                with self.context.store.batch():
                    self._place(entry.obj, views)
            seen = self.context.store.rv

    def _snapshot(self) -> dict[str, fit.NodeView]:
        views = {name_of(entry.obj): fit.view_of(entry.obj) for entry in self.context.store.entries(r.NODES)}
        for pod in self.context.store.objects(r.PODS):
            view = views.get(spec(pod).get("nodeName") or status(pod).get("nominatedNodeName", ""))
            if view is not None and not pod_finished(pod):
                view.take(fit.Placed(pod, self._demand(pod)))
        return views

    def _demand(self, pod: Obj) -> dict[str, int]:
        """What a pod asks for never changes, and every cycle wants to know it of every pod."""
        found = self._needs.get(uid_of(pod))
        if found is None:
            found = self._needs[uid_of(pod)] = fit.demand(pod)
        return found

    def _place(self, pod: Obj, views: dict[str, fit.NodeView]) -> None:
        needs = self._demand(pod)
        self._forget_promises(pod, views)
        why = claims_reason(self.context.store, pod)
        if why:
            self._wait(pod, f"0/{len(views)} nodes are available: {why}. preemption: {_unhelpful(len(views))}", views)
            return
        reasons: Counter[str] = Counter()
        fitting: list[fit.NodeView] = []
        for view in views.values():
            fixed = fit.fixed_reason(pod, view)
            lacking = [fixed] if fixed else self._lacking(pod, needs, view)
            reasons.update(lacking)
            if not lacking:
                fitting.append(view)
        nominated = next((view for view in fitting if view.name == status(pod).get("nominatedNodeName")), None)
        if fitting:
            self._bind(pod, needs, nominated or score.best(pod, needs, fitting, pack=self.pack))
        else:
            self._make_room(pod, needs, views, reasons)

    @staticmethod
    def _lacking(pod: Obj, needs: dict[str, int], view: fit.NodeView) -> list[str]:
        """Say what is short, not counting promises to pods of lower priority."""
        lower = [
            each
            for each in view.placed
            if not spec(each.pod).get("nodeName") and fit.priority_of(each.pod) < fit.priority_of(pod)
        ]
        for each in lower:
            view.give_back(each)
        found = fit.shortages(needs, pod, view)
        for each in lower:
            view.take(each)
        return found

    @staticmethod
    def _forget_promises(pod: Obj, views: dict[str, fit.NodeView]) -> None:
        view = views.get(status(pod).get("nominatedNodeName", ""))
        for each in list(view.placed) if view else ():
            if uid_of(each.pod) == uid_of(pod) and view is not None:
                view.give_back(each)

    def _bind(self, pod: Obj, needs: dict[str, int], view: fit.NodeView) -> None:
        made = bind(self.context.registry, pod, view.name)
        if made is None:
            return
        view.take(fit.Placed(made, needs))
        text = f"Successfully assigned {namespace_of(pod)}/{name_of(pod)} to {view.name}"
        self.context.events.record(made, "Scheduled", text, by=BY)

    def _make_room(
        self, pod: Obj, needs: dict[str, int], views: dict[str, fit.NodeView], reasons: Counter[str]
    ) -> None:
        if not views:
            self._wait(pod, "no nodes available to schedule pods", views)
            return
        listed = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
        said = f"0/{len(views)} nodes are available: {listed}."
        shields = protected_by_budget(self.context.store)
        found, why = preemption.plan(pod, needs, list(views.values()), shields)
        if found is None:
            keeps = "terminating pod on the nominated" in why
            nominated = status(pod).get("nominatedNodeName", "") if keeps else ""
            self._wait(pod, f"{said} preemption: {why}", views, nominated)
            return
        for victim in found.victims:
            self._displace(victim, pod, found.node)
        self._wait(pod, said, views, found.node)

    def _displace(self, victim: Obj, pod: Obj, node: str) -> None:
        if not spec(victim).get("nodeName"):
            not_bound(self.context.registry, victim, "displaced by a pod of higher priority", "")
            return
        if deleting(victim):
            return
        text = "default-scheduler: preempting to accommodate a higher priority pod"
        marked = mark_disrupted(self.context.registry, victim, "PreemptionByScheduler", text)
        entry = self.context.store.get(r.PODS, *key_of(victim))
        if marked is None or entry is None:
            return
        self.context.registry.delete(r.PODS, entry, DeleteOptions())
        text = f"Preempted by pod {uid_of(pod)} on node {node}"
        self.context.events.record(marked, "Preempted", text, by=BY)

    def _wait(self, pod: Obj, message: str, views: dict[str, fit.NodeView], nominated: str = "") -> None:
        news = not_bound(self.context.registry, pod, message, nominated)
        if nominated and nominated in views:
            views[nominated].take(fit.Placed(pod, self._demand(pod)))
        if news:
            self.context.events.record(pod, "FailedScheduling", message, warning=True, by=BY)


def _unhelpful(count: int) -> str:
    return f"0/{count} nodes are available: {count} {preemption.NOT_HELPFUL}." if count else "no nodes."


def _shape(node: Obj) -> tuple[object, ...]:
    return spec(node), meta(node).get("labels"), status(node).get("allocatable"), status(node).get("capacity")
