"""Explanations as plain values. Texts in them name no other pod, since not every reader may see its name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from core.decisions.preemption.receipts import Stop
from core.ids import NO_NODE, AppId, NodeName, QueuePath
from core.ledger.trial.change import Change
from core.queues.limit_state import LimitState
from core.reasons import Code, Refusal


class Barrier(StrEnum):
    """Obstacles for which filter has no refusal code."""

    LEAVING = "Leaving"
    """Terminating, so it gets no node."""
    FOREIGN_GATE = "ForeignGate"
    """A gate of another party holds the pod (POD-20)."""
    BACK_OFF = "BackOff"
    """Back-off of the pod, since its last turns led to no node."""
    PASSED_OVER = "PassedOver"
    """Last place in the order, once, since its last turn led to no node."""
    APPLICATION_BACK_OFF = "ApplicationBackOff"
    """Too many asks of its application found no node (CYC-4)."""
    POD_GROUP_BACK_OFF = "PodGroupBackOff"
    """Back-off of its pod group, which waited in vain."""
    OWN_NODE = "OwnNodeReserved"
    """A node is reserved for it and still lacks capacity (CYC-2)."""
    NODES_NOT_JUDGED = "NodesNotJudged"
    """Only kube-scheduler can judge its nodes: volumes, ports, terms between pods, or many constraints."""
    KUBE_SCHEDULER = "KubeScheduler"
    """Message of kube-scheduler about the pod."""


class PodStanding(StrEnum):
    """Standing of a pod, as Paddock sees it."""

    UNMANAGED = "unmanaged"
    BOUND = "bound"
    RESERVED = "reserved"
    LEAVING = "leaving"
    PENDING = "pending"
    GATED = "gated"
    """Held by a gate of another party."""


@dataclass(frozen=True, slots=True)
class OtherPod:
    """A pod of others. Names are left out for readers who may not see its namespace."""

    namespace: str
    name: str
    queue: QueuePath | None


@dataclass(frozen=True, slots=True)
class Holder:
    """An application, or a pod on a node, that holds a part of what is missing."""

    namespace: str
    name: str
    queue: QueuePath | None
    #: Amount in base units; 1 for an application that counts.
    amount: int
    #: True for a single pod.
    is_pod: bool = False


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Obstacle between a pod and a node."""

    code: Code | Barrier
    #: Queue, user, user group, pod group, application or node that it comes from.
    subject: str
    #: Sentence for users, without names of other pods and without usage.
    text: str
    #: Figures of a limit; None for other obstacles.
    limit: LimitState | None = None
    #: Amounts that are needed, free and short, by resource, if there is no limit but there are figures.
    needed: tuple[tuple[str, int], ...] = ()
    free: tuple[tuple[str, int], ...] = ()
    #: Time at which it ends by itself, in seconds; None if nothing is known of that.
    until: float | None = None
    #: Pods of others that it comes from.
    others: tuple[OtherPod, ...] = ()
    #: Largest holders of what is missing.
    holders: tuple[Holder, ...] = ()

    @property
    def short(self) -> tuple[tuple[str, int], ...]:
        """Amounts that are missing, by resource."""
        free = dict(self.free)
        gaps = ((name, amount - free.get(name, 0)) for name, amount in self.needed)
        return tuple((name, gap) for name, gap in gaps if gap > 0)


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """Nodes by what they lack for an ask."""

    #: Nodes that were judged.
    judged: int = 0
    #: Nodes that were not judged, since the budget was used up.
    left: int = 0
    #: Nodes that admit it and have the capacity.
    fitting: int = 0
    #: Nodes by obstacle: ``affinity``, ``taint``, ``cordon``, ``capacity`` or ``reserved``.
    unfit: tuple[tuple[str, int], ...] = ()
    #: Admitting node that lacks least; empty for none.
    nearest: NodeName = NO_NODE

    @property
    def by_reason(self) -> Mapping[str, int]:
        """Numbers by obstacle."""
        return dict(self.unfit)


class Precedence(StrEnum):
    """Reason why other asks go first."""

    PRIORITY = "priority"
    SHARE = "share"
    """Smaller share of what is due (SORT-3, SORT-7)."""
    AGE = "age"
    DEMAND = "demand"
    """Larger demand of a queue that is equal otherwise (SORT-2)."""
    NAME = "name"
    """Order of names, because all else is equal."""
    UNNAMED = "others"
    """Further asks, which are only counted."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Pending asks that go first: of an application, or of a queue and below it."""

    why: Precedence
    queue: QueuePath
    #: Application of the asks; None for a whole queue, or for further ones.
    application: AppId | None
    #: Number of pods.
    pods: int


@dataclass(frozen=True, slots=True)
class Preempting:
    """Part of preemption. Neither ``possible`` nor ``stop``: unknown within the budget."""

    #: Time of the last attempt, in seconds; None if there was none.
    tried_at: float | None = None
    #: Time from which the next attempt is made, in seconds; None if none is planned.
    tried_next: float | None = None
    #: True while a plan is carried out, or offered to kube-scheduler.
    under_way: bool = False
    #: True if a plan could be made now.
    possible: bool = False
    #: Reason against a plan; None for none.
    stop: Stop | None = None
    #: Rule that forbids it, and its figures.
    law: str = ""
    text: str = ""
    #: Queue and resource whose guarantee decides; empty where none does.
    queue: str = ""
    resource: str = ""
    #: Queues whose pods stay, each with the law and its figures.
    queues: tuple[tuple[QueuePath, str, str], ...] = ()
    #: Victims of a plan.
    victims: tuple[OtherPod, ...] = ()


class Remedy(StrEnum):
    """Outcome of the search for a change that would free a pod."""

    NOTHING = "nothing"
    """No change is needed: the next cycle gives the pod its turn."""
    FOUND = "found"
    NONE_FOUND = "none found"
    OUT_OF_REACH = "out of reach"
    """Some obstacles are lifted neither by capacity nor by a higher limit."""


@dataclass(frozen=True, slots=True)
class Remedies:
    """Changes that would free a pod, each minimal: raised limits, a new node, ended pods, in this order."""

    remedy: Remedy
    changes: tuple[Change, ...] = ()
    #: Obstacles that no such change lifts.
    beyond: tuple[Code | Barrier, ...] = ()
    #: Number of cycles that were played.
    trials: int = 0
    #: True if the budget ended the search.
    exhausted: bool = False


@dataclass(frozen=True, slots=True)
class PodExplanation:
    """Everything that stands between a pod and running, at one moment."""

    namespace: str
    name: str
    queue: QueuePath | None
    application: AppId | None
    standing: PodStanding
    #: Reason that filter gives, or the condition of a gated pod, at this moment; None for none.
    refusal: Refusal | None = None
    obstacles: tuple[Obstacle, ...] = ()
    nodes: NodeCounts = NodeCounts()
    #: Asks that go first, nearest level first: its application, its leaf, then the queues above.
    before: tuple[Ahead, ...] = ()
    #: Part of preemption; None for a pod that does not wait for capacity.
    preemption: Preempting | None = None
    #: Changes that would free it; None for a pod that does not wait.
    remedies: Remedies | None = None


@dataclass(frozen=True, slots=True)
class Members:
    """Pods of a task group, or of a pod group."""

    name: str
    #: Number that must start together.
    needed: int
    #: Number on nodes: placeholders and their members, or members of a pod group.
    placed: int
    #: Number that waits.
    waiting: int


@dataclass(frozen=True, slots=True)
class TogetherExplanation:
    """Everything that stands between an application or a pod group and running, at one moment."""

    namespace: str
    name: str
    queue: QueuePath | None
    #: State of the application, or standing of the pod group.
    phase: str
    #: Phase of the application's gang; empty without one.
    gang_phase: str = ""
    #: Sentence about the application as a whole; empty for none.
    text: str = ""
    #: Task groups of the application, or the pod group itself.
    members: tuple[Members, ...] = ()
    #: End of a wait or of a back-off, in seconds; None if there is none.
    until: float | None = None
    #: Numbers of its pods.
    pods: tuple[tuple[PodStanding, int], ...] = ()
    #: Explanation of its first pending pod; None if none waits for a turn.
    first: PodExplanation | None = None

    def with_pods(
        self, pods: tuple[tuple[PodStanding, int], ...], first: PodExplanation | None
    ) -> "TogetherExplanation":
        """Return the explanation with its pods."""
        return replace(self, pods=pods, first=first)
