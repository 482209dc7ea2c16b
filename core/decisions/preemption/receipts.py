"""What a planner answers: a plan with its reasons, or what stopped it. Values, as text and as plain data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from core.ids import NodeName, PodUid, QueuePath
from core.resource import Resource

SHOWN = 10
"""Nodes and queues that are named in a receipt; the others are counted."""


class Kind(StrEnum):
    """Why pods are evicted."""

    GUARANTEE = "guarantee"
    REQUIRED_NODE = "required-node"
    QUOTA = "quota"


class Stop(StrEnum):
    """What stopped a plan."""

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
    """One law and the numbers that speak for or against it."""

    law: str
    text: str


@dataclass(frozen=True, slots=True)
class Victim:
    """An allocation that is to go.

    ``opted_out``: it prefers not to (PRE-4); ``originator``: its application depends on it; ``created``:
    seconds since the epoch; ``guarded``: a PodDisruptionBudget allows no disruption of it now; ``seq``: order
    of arrival; ``order``: the lower goes first (PRE-11, guarded ones last of all).
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
        """What speaks for others to go first, the strongest first."""
        return (self.guarded, self.opted_out, self.originator)

    @property
    def order(self) -> tuple[bool, bool, bool, float, int, PodUid]:
        return (*self.wishes, *self.newness)

    @property
    def newness(self) -> tuple[float, int, PodUid]:
        """The newest first; creation times are whole seconds, so of the same one who came later."""
        return (-self.created, -self.seq, self.uid)


@dataclass(frozen=True, slots=True)
class VictimReceipt:
    """The laws that a victim passed when its turn came."""

    uid: PodUid
    pod: str
    node: NodeName
    queue: QueuePath
    findings: tuple[Finding, ...]


def passed(victim: Victim, *findings: Finding) -> VictimReceipt:
    return VictimReceipt(victim.uid, f"{victim.namespace}/{victim.name}", victim.node, victim.queue, findings)


@dataclass(frozen=True, slots=True)
class NodeNotes:
    """``considered``: nodes looked at; ``lost``: how many by reason; ``examples``: the first of them."""

    considered: int = 0
    lost: tuple[tuple[str, int], ...] = ()
    examples: tuple[tuple[NodeName, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """Why a plan may be carried out. ``preemptor``: what holds for the ask."""

    kind: Kind
    preemptor: tuple[Finding, ...]
    victims: tuple[VictimReceipt, ...]
    nodes: NodeNotes

    def as_dict(self) -> Mapping[str, object]:
        """For JSON."""
        return asdict(self)

    def as_text(self) -> str:
        """One line per finding."""
        lines = [f"{each.law}: {each.text}" for each in self.preemptor]
        for victim in self.victims:
            lines.append(f"{victim.pod} in {victim.queue} on {victim.node}")
            lines += [f"  {each.law}: {each.text}" for each in victim.findings]
        return "\n".join([*lines, _nodes_text(self.nodes)])


@dataclass(frozen=True, slots=True)
class Plan:
    """``victims``: those of the node first, then others, each in the order in which they were chosen.

    ``node``: where the ask is to run. ``uid``: the ask's.
    """

    kind: Kind
    uid: PodUid
    queue: QueuePath
    node: NodeName
    victims: tuple[Victim, ...]
    receipt: Receipt

    @property
    def on_its_node(self) -> bool:
        """Whether kube-scheduler could carry it out: it evicts from one node only (DESIGN-4)."""
        return bool(self.victims) and all(victim.node == self.node for victim in self.victims)

    @property
    def breaks_budgets(self) -> bool:
        """Whether a PodDisruptionBudget stands against it: then it is for the Eviction API to say when."""
        return any(victim.guarded for victim in self.victims)


@dataclass(frozen=True, slots=True)
class NoPlan:
    """``law``: the rule that says no; ``text``: its numbers; ``queues``: why none of their pods may go."""

    uid: PodUid
    stop: Stop
    law: str
    text: str
    nodes: NodeNotes = NodeNotes()
    queues: tuple[tuple[QueuePath, Finding], ...] = ()

    def as_dict(self) -> Mapping[str, object]:
        """For JSON."""
        return asdict(self)

    def as_text(self) -> str:
        lines = [f"{self.stop} ({self.law}): {self.text}"]
        lines += [f"  {path}: {each.law}: {each.text}" for path, each in self.queues]
        return "\n".join([*lines, _nodes_text(self.nodes)] if self.nodes.considered else lines)


def _nodes_text(notes: NodeNotes) -> str:
    lost = ", ".join(f"{count} {reason}" for reason, count in notes.lost)
    return f"nodes considered: {notes.considered}" + (f" ({lost})" if lost else "")


class NodeTally:
    """Notes about nodes while they are looked at."""

    __slots__ = ("_counts", "_examples", "considered")

    def __init__(self) -> None:
        self.considered = 0
        self._counts: dict[str, int] = {}
        self._examples: list[tuple[NodeName, str]] = []

    def lose(self, node: NodeName, reason: str) -> None:
        self._counts[reason] = self._counts.get(reason, 0) + 1
        if len(self._examples) < SHOWN:
            self._examples.append((node, reason))

    def notes(self) -> NodeNotes:
        return NodeNotes(self.considered, tuple(sorted(self._counts.items())), tuple(self._examples))
