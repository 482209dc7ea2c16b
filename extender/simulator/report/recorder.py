"""The events of a run, recorded as they happen: for the timeline, the page and the expectations."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.decisions.decision import Admitted, BindNow, BoundAlready, Faulted, Refused, Vetoed
from core.decisions.preemption.planning import Outcome
from core.decisions.preemption.receipts import NoPlan
from core.ids import PodUid
from core.ledger.effects import Effect, MarkFailed, OpenGate, PostEvent, WakePod
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.resource import Limit, Resource
from extender.simulator.cluster.api_server import conditions_of
from extender.simulator.cluster.clock import Clock
from extender.simulator.cluster.played_objects import Change, NodeChange, Pod, PodChange
from extender.simulator.report.recording import (
    Amounts,
    Happening,
    NodeHistory,
    QueueHistory,
    QueueSample,
    Stay,
)

UNSCHEDULABLE = "Unschedulable"
"""The reason of a pod for which kube-scheduler found no node (format, rule 10)."""


@dataclass(slots=True)
class _Track:
    """The state in which a pod was last seen."""

    #: Path of its queue as far as it is known; empty for none.
    queue: str = ""
    #: True if it has a node.
    bound: bool = False
    #: How it ended, as the API says; empty while it goes on.
    ended: str = ""
    #: True if it no longer exists.
    deleted: bool = False
    #: Refusal or failure that the timeline shows last; empty after it was placed.
    shown: str = ""
    #: Code why it has no node; empty if it has one.
    reason: str = ""


@dataclass(slots=True)
class Since:
    """Changes since the last ``expect``."""

    #: Pods that were bound, in order.
    placed: list[Pod] = field(default_factory=list)
    #: Pods that were evicted or preempted, in order.
    evicted: list[Pod] = field(default_factory=list)


class Recorder:
    """Observer of the API, of Paddock and of the scheduler. ``view``: Paddock's current view."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.view: Callable[[], LedgerView | None] = lambda: None
        self.timeline: list[Happening] = []
        self.since = Since()
        self.config_error = ""
        self._tracks: dict[PodUid, _Track] = {}
        self._unplanned: dict[str, str] = {}
        self._stays: dict[str, list[Stay]] = {}
        self._on: dict[PodUid, tuple[str, int]] = {}
        self._histories: dict[str, list[QueueSample]] = {}
        self._removed: dict[str, int] = {}
        self._leaf: dict[str, bool] = {}

    def note(self, kind: str, what: str, **more: str) -> None:
        """Add a line to the timeline."""
        self.timeline.append(Happening(self._clock.now, kind, what, **more))

    # -- the API -------------------------------------------------------------------------------------------

    def changed(self, change: Change) -> None:
        """Record a change of a node or a pod."""
        match change:
            case NodeChange(node, _, deleted):
                if deleted:
                    self.note("node", "removed", node=node.name)
            case PodChange(pod, _, _, deleted):
                self._pod_changed(pod, deleted=deleted)

    def _pod_changed(self, pod: Pod, *, deleted: bool) -> None:
        track = self._tracks.get(pod.uid)
        if track is None:
            track = self._tracks[pod.uid] = _Track(queue=pod.facts.queue)
            self._note_pod("submitted", pod, "submitted")
        if pod.node and not track.bound:
            track.bound, track.reason = True, ""
            self._placed(pod)
        ended = pod.ended
        if ended and ended != track.ended:
            track.ended = ended
            self._ended(pod, ended)
        if deleted and not track.deleted:
            track.deleted = True
            self._leave(pod)
            if pod.bound_at is not None and not pod.terminal and pod.entry is not None and pod.entry.grace:
                self._note_pod("gone", pod, "gone")
        elif pod.terminal:
            self._leave(pod)

    def _placed(self, pod: Pod) -> None:
        if pod.entry is not None and pod.entry.node is None:
            self.since.placed.append(pod)
        self._on[pod.uid] = pod.node, pod.bound_at or 0
        self._note_pod("placed", pod, f"placed on {pod.node}", node=pod.node)

    def _ended(self, pod: Pod, ended: str) -> None:
        """Record the end of a pod. Evictions are recorded by the evicting part, with the reason."""
        if ended in ("evicted", "preempted"):
            if pod.entry is not None:
                self.since.evicted.append(pod)
        elif ended in ("succeeded", "failed"):
            self._note_pod(ended, pod, ended, node=pod.node)
        else:
            self._note_pod("deleted", pod, "deleted", node=pod.node)

    def _leave(self, pod: Pod) -> None:
        where = self._on.pop(pod.uid, None)
        if where is not None:
            size = {name: amount for name, amount in pod.facts.size.items() if name != "pods"}
            stay = Stay(pod.full_name, self.queue_of(pod), size, where[1], self._clock.now)
            self._stays.setdefault(where[0], []).append(stay)

    # -- Paddock -------------------------------------------------------------------------------------------

    def decided(self, verb: str, record: PodRecord, verdict: object) -> None:
        """Record the verdict of a verb or a cycle on a pod."""
        track = self._tracks.get(record.uid)
        if track is None:
            return
        queue = self._queue_path(record)
        track.queue = queue or track.queue
        match verdict:
            case Refused(refusal) | Vetoed(refusal):
                track.reason = refusal.code.value
                self._tell(track, record, "refused", refusal.code.value, refusal.text)
            case Faulted(message):
                self._tell(track, record, "error", "", f"{verb}: {message}")
            case Admitted() | BindNow() | BoundAlready():
                track.reason = track.shown = ""

    def planned(self, outcome: Outcome, pod: str) -> None:
        """Record what a plan takes or what stopped it; a repeated obstacle is recorded once."""
        why = f"{outcome.law}: {outcome.text}" if isinstance(outcome, NoPlan) else ""
        if why and self._unplanned.get(pod) == why:
            return
        self._unplanned[pod] = why
        if isinstance(outcome, NoPlan):
            self.note("planned", "no plan", why=why, pod=pod)
        else:
            names = ", ".join(each.name for each in outcome.victims)
            self.note("planned", f"plan on {outcome.node}", why=f"evicts {names}", pod=pod)

    def acted(self, effect: Effect) -> None:
        """Record an effect that users notice."""
        match effect:
            case WakePod(_, namespace, name, _):
                self.note("woken", "woken", pod=_full(namespace, name))
            case OpenGate(_, namespace, name):
                self.note("gate", "gate opened", pod=_full(namespace, name))
            case MarkFailed(_, namespace, name, reason, message):
                self.note("failed", reason, why=message, pod=_full(namespace, name))
            case PostEvent(kind, namespace, name, _, reason, message, _):
                about = {"pod": _full(namespace, name)} if kind == "Pod" else {}
                self.note("event", reason, why=message, **about)

    def evicted(self, pod: Pod, preemptor: Pod | None, why: str) -> None:
        """Record the eviction of a pod."""
        self._note_pod(
            "evicted", pod, f"evicted from {pod.node}", node=pod.node, why=_because(preemptor, why)
        )

    def spared(self, pod: Pod, preemptor: Pod | None, why: str) -> None:
        """Record that a budget saved a pod from an eviction."""
        self._note_pod("spared", pod, "not evicted", node=pod.node, why=_because(preemptor, why))

    def refused(self, message: str) -> None:
        """Record that a configuration was refused."""
        self.config_error = message
        self.note("config", "configuration refused", why=message)

    def _tell(self, track: _Track, record: PodRecord, kind: str, code: str, why: str) -> None:
        """Record only what is new, since a refused pod asks again and again."""
        if track.shown != why:
            track.shown = why
            name = _full(record.facts.namespace, record.facts.name)
            what = code or kind
            self.note(kind, what, pod=name, queue=track.queue, why=why, code=code)

    # -- the played scheduler --------------------------------------------------------------------------------

    def attempted(self, pod: Pod, message: str, *, reason: str, asked: bool) -> None:
        """Record a failed attempt of kube-scheduler."""
        track = self._tracks[pod.uid]
        if reason != UNSCHEDULABLE:
            self._tell_pod(track, pod, "error", "", message)
        elif not asked:
            track.reason = UNSCHEDULABLE
            self._tell_pod(track, pod, "waits", UNSCHEDULABLE, message)

    def preempted(self, pod: Pod, preemptor: Pod, node: str) -> None:
        """Record a pod that kube-scheduler preempted."""
        self._note_pod("evicted", pod, f"preempted on {node}", node=node, why=f"for {preemptor.full_name}")

    def nominated(self, pod: Pod, node: str) -> None:
        """Record a nomination by kube-scheduler."""
        self._note_pod("nominated", pod, f"nominated to {node}", node=node)

    def _tell_pod(self, track: _Track, pod: Pod, kind: str, code: str, why: str) -> None:
        if track.shown != why:
            track.shown = why
            self._note_pod(kind, pod, code or kind, why=why, code=code)

    def _note_pod(self, kind: str, pod: Pod, what: str, **more: str) -> None:
        self.note(kind, what, pod=pod.full_name, queue=self.queue_of(pod), **more)

    # -- looking back ----------------------------------------------------------------------------------------

    def queue_of(self, pod: Pod) -> str:
        """The leaf that a pod runs in or asks in, else the queue that it names."""
        track = self._tracks[pod.uid]
        view = self.view()
        record = view.pod(pod.uid) if view is not None else None
        if record is not None:
            track.queue = self._queue_path(record) or track.queue
        return track.queue

    def reason_of(self, pod: Pod) -> str:
        """The code why a pod has no node; empty if it has one."""
        return self._tracks[pod.uid].reason

    def story(self, name: str, *, most: int = 12) -> tuple[str, ...]:
        """The last events of a pod or a queue, one line each."""
        lines = [
            f"+{each.at / 1000:g}s {each.pod} {each.what}{f': {each.why}' if each.why else ''}".strip()
            for each in self.timeline
            if name in (each.pod, each.queue)
        ]
        return tuple(lines[-most:])

    def sample(self, queues: Iterable[Queue]) -> None:
        """Record what has changed in the queues since the last instant."""
        there = set()
        for queue in queues:
            there.add(queue.path)
            history = self._histories.setdefault(queue.path, [])
            self._leaf[queue.path] = queue.is_leaf
            self._removed.pop(queue.path, None)
            sample = _sample(self._clock.now, queue)
            if not history or _without_time(history[-1]) != _without_time(sample):
                if history and history[-1].at == sample.at:
                    history.pop()
                history.append(sample)
        for path in self._histories.keys() - there:
            self._removed.setdefault(path, self._clock.now)

    def queue_histories(self) -> tuple[QueueHistory, ...]:
        """The states of every queue over time."""
        return tuple(
            QueueHistory(path, self._leaf[path], tuple(samples), self._removed.get(path))
            for path, samples in self._histories.items()
        )

    def node_histories(self, nodes: Iterable[Any], pods: Mapping[PodUid, Pod]) -> tuple[NodeHistory, ...]:
        """The pods of every node over time."""
        stays = {name: list(found) for name, found in self._stays.items()}
        for uid, (name, start) in self._on.items():
            pod = pods[uid]
            size = {each: amount for each, amount in pod.facts.size.items() if each != "pods"}
            stays.setdefault(name, []).append(Stay(pod.full_name, self.queue_of(pod), size, start, None))
        return tuple(
            NodeHistory(
                node.name,
                dict(node.facts.allocatable.items()),
                node.created,
                node.removed,
                tuple(sorted(stays.get(node.name, ()), key=lambda stay: (stay.start, stay.pod))),
            )
            for node in nodes
        )

    def pod_states(self, pods: Iterable[Pod]) -> dict[str, dict[str, Any]]:
        """The last state of every pod that ever existed."""
        return {
            pod.full_name: {
                "queue": self.queue_of(pod),
                "node": pod.node,
                "phase": pod.phase,
                "ended": pod.ended,
                "reason": self.reason_of(pod),
                "message": conditions_of(pod.body, "PodScheduled").get("message", ""),
                "created": pod.created,
                "bound": pod.bound_at,
                "gone": pod.deleted_at,
                "placeholder": pod.entry is None,
            }
            for pod in pods
        }

    def _queue_path(self, record: PodRecord) -> str:
        view = self.view()
        queue = view.queue_of(record) if view is not None else None
        return queue.path if queue is not None else ""


def _because(preemptor: Pod | None, why: str) -> str:
    """The preemptor and the reason, as far as they are known."""
    beneficiary = f"for {preemptor.full_name}" if preemptor is not None else ""
    return ": ".join(each for each in (beneficiary, why) if each)


def _full(namespace: str, name: str) -> str:
    return name if namespace == "default" else f"{namespace}/{name}"


def _sample(at: int, queue: Queue) -> QueueSample:
    used = queue.allocated.as_resource() + queue.reserved.as_resource()
    return QueueSample(
        at,
        _amounts(used),
        _amounts(queue.pending.as_resource()),
        _amounts(queue.guaranteed) if queue.guaranteed is not None else None,
        _amounts(queue.max) if queue.max is not None else None,
        queue.draining,
    )


def _amounts(values: Resource | Limit) -> Amounts:
    return {name: amount for name, amount in sorted(values.items()) if name != "pods" or amount}


def _without_time(sample: QueueSample) -> tuple[object, ...]:
    return (sample.used, sample.pending, sample.guaranteed, sample.max, sample.draining)
