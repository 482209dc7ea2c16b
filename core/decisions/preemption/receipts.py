"""Answers of the planner: a plan with its reasons, or the reason against it.

Values, as text and as plain data.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from core.ids import NodeName, PodUid, QueuePath
from core.resource import Resource

SHOWN = 10
"""Nodes and queues that are named in a receipt. The others are counted."""


class Kind(StrEnum):
    """Reason for evictions."""

    GUARANTEE = "guarantee"
    REQUIRED_NODE = "required-node"
    QUOTA = "quota"


class Stop(StrEnum):
    """Reason against a plan."""

    NOT_AN_ASK = "NotAnAsk"
    SWITCHED_OFF = "SwitchedOff"
    NEVER_PREEMPTS = "NeverPreempts"
    TRIGGERED = "AlreadyTriggered"
    TOO_YOUNG = "TooYoung"
    TRIED_RECENTLY = "TriedLately"
    HELD_BACK = "HeldBack"
    LIMITED = "Limited"
    BACKS_OFF = "BacksOff"
    COMPLEX = "NotOursToJudge"
    GUARANTEE = "QueueNotBelowGuarantee"
    NO_VICTIMS = "NoVictims"
    NO_NODE = "NoNode"
    HEADROOM = "HeadroomStaysShort"
    ENOUGH_CAPACITY = "ThereIsRoom"
    STALE = "Stale"


@dataclass(frozen=True, slots=True)
class Finding:
    """A law, with the figures for or against it.

    ``queue`` and ``resource``: where a guarantee decides; empty elsewhere.
    """

    law: str
    text: str
    queue: str = ""
    resource: str = ""


@dataclass(frozen=True, slots=True)
class Victim:
    """An allocation that is to be evicted.

    ``opted_out``: it prefers not to be a victim (PRE-4). ``originator``: its application depends on it.
    ``created``: seconds since the epoch. ``guarded``: a PodDisruptionBudget allows no disruption of it now.
    ``seq``: order of arrival. ``order``: the lower goes first (PRE-11, guarded ones last).
    """

    uid: PodUid
    namespace: str
    name: str
    node: NodeName
    queue: QueuePath
    priority: int
    size: Resource
    opted_out: bool
    originator: bool
    created: float
    guarded: bool = False
    seq: int = 0

    @property
    def wishes(self) -> tuple[bool, bool, bool]:
        """Reasons to evict others first, the strongest first."""
        return (self.guarded, self.opted_out, self.originator)

    @property
    def order(self) -> tuple[bool, bool, bool, float, int, PodUid]:
        """Sort key, the lower goes first."""
        return (*self.wishes, *self.newness)

    @property
    def newness(self) -> tuple[float, int, PodUid]:
        """Sort key, the newest first.

        Creation times are whole seconds, so arrival decides between equal ones.
        """
        return (-self.created, -self.seq, self.uid)


@dataclass(frozen=True, slots=True)
class VictimReceipt:
    """Laws that a victim passed when it was chosen."""

    uid: PodUid
    pod: str
    node: NodeName
    queue: QueuePath
    findings: tuple[Finding, ...]
    #: Sentence for users; empty where the kind of the plan says enough.
    why: str = ""


def passed(victim: Victim, *findings: Finding, why: str = "") -> VictimReceipt:
    """Receipt of a victim."""
    pod = f"{victim.namespace}/{victim.name}"
    return VictimReceipt(victim.uid, pod, victim.node, victim.queue, findings, why)


@dataclass(frozen=True, slots=True)
class NodeNotes:
    """Notes about nodes. ``considered``: nodes checked. ``lost``: number by reason.

    ``examples``: the first of them.
    """

    considered: int = 0
    lost: tuple[tuple[str, int], ...] = ()
    examples: tuple[tuple[NodeName, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """Reasons why a plan may be carried out. ``preemptor``: findings about the ask."""

    kind: Kind
    preemptor: tuple[Finding, ...]
    victims: tuple[VictimReceipt, ...]
    nodes: NodeNotes

    def as_dict(self) -> Mapping[str, object]:
        """Plain data for JSON."""
        return asdict(self)

    def as_text(self) -> str:
        """Text with one line per finding."""
        lines = [f"{each.law}: {each.text}" for each in self.preemptor]
        for victim in self.victims:
            lines.append(f"{victim.pod} in {victim.queue} on {victim.node}")
            lines += [f"  {each.law}: {each.text}" for each in victim.findings]
        return "\n".join([*lines, _nodes_text(self.nodes)])


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan. ``node``: node where the ask is to run. ``uid``: uid of the ask.

    ``victims``: those on the node first, then others, each in the order in which they were chosen.
    """

    kind: Kind
    uid: PodUid
    queue: QueuePath
    node: NodeName
    victims: tuple[Victim, ...]
    receipt: Receipt

    @property
    def on_its_node(self) -> bool:
        """True if kube-scheduler could carry it out, which evicts from one node only (DESIGN-4)."""
        return bool(self.victims) and all(victim.node == self.node for victim in self.victims)

    @property
    def breaks_budgets(self) -> bool:
        """True if a PodDisruptionBudget forbids it. Then the Eviction API decides when."""
        return any(victim.guarded for victim in self.victims)


@dataclass(frozen=True, slots=True)
class NoPlan:
    """No plan. ``law``: rule that forbids it. ``text``: its figures.

    ``queues``: reasons against their pods. ``queue`` and ``resource``: where a guarantee decides, else empty.
    """

    uid: PodUid
    stop: Stop
    law: str
    text: str
    nodes: NodeNotes = NodeNotes()
    queues: tuple[tuple[QueuePath, Finding], ...] = ()
    queue: str = ""
    resource: str = ""

    def as_dict(self) -> Mapping[str, object]:
        """Plain data for JSON."""
        return asdict(self)

    def as_text(self) -> str:
        """Text with one line per reason."""
        lines = [f"{self.stop} ({self.law}): {self.text}"]
        lines += [f"  {path}: {each.law}: {each.text}" for path, each in self.queues]
        return "\n".join([*lines, _nodes_text(self.nodes)] if self.nodes.considered else lines)


def _nodes_text(notes: NodeNotes) -> str:
    lost = ", ".join(f"{count} {reason}" for reason, count in notes.lost)
    return f"nodes considered: {notes.considered}" + (f" ({lost})" if lost else "")


class NodeTally:
    """Notes about nodes while they are checked."""

    __slots__ = ("_counts", "_examples", "considered")

    def __init__(self) -> None:
        self.considered = 0
        self._counts: dict[str, int] = {}
        self._examples: list[tuple[NodeName, str]] = []

    def lose(self, node: NodeName, reason: str) -> None:
        """Note why a node is out."""
        if reason not in self._counts or len(self._examples) < SHOWN:
            self._examples.append((node, reason))
        self._counts[reason] = self._counts.get(reason, 0) + 1

    def notes(self) -> NodeNotes:
        """Notes so far."""
        return NodeNotes(self.considered, tuple(sorted(self._counts.items())), tuple(self._examples))
