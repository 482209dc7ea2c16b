"""Events about preemption: decisions about a pod, and what is to be done for it."""

from dataclasses import dataclass

from core.ids import NodeName, PodUid, QueuePath


@dataclass(frozen=True, slots=True)
class PreemptionMark:
    """A decision of preemption about a pod."""

    uid: PodUid


@dataclass(frozen=True, slots=True)
class PreemptionTried(PreemptionMark):
    """A plan for an ask was requested (PRE-5)."""


@dataclass(frozen=True, slots=True)
class ChosenVictim:
    """A chosen victim. ``why``: short form of the receipt, which is written on it."""

    uid: PodUid
    why: str


@dataclass(frozen=True, slots=True)
class PlanOffered(PreemptionMark):
    """kube-scheduler was offered a plan for an ask, and may take it (DESIGN-4)."""

    plan: str
    node: NodeName
    victims: tuple[ChosenVictim, ...]


@dataclass(frozen=True, slots=True)
class PlanCommitted(PreemptionMark):
    """A plan for an ask is to be carried out. ``plan``: its id."""

    plan: str
    node: NodeName
    victims: tuple[ChosenVictim, ...]


@dataclass(frozen=True, slots=True)
class QuotaReclaimed(PreemptionMark):
    """Pods of a queue are to be evicted because its quota shrank (QCP-9).

    Without victims, no pod may be evicted.

    ``uid``: of no pod.
    """

    queue: QueuePath
    victims: tuple[ChosenVictim, ...]
