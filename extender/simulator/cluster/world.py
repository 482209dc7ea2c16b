"""The outside of a life of Paddock in the simulator: changes that it sees, its observer, and the API."""

from dataclasses import dataclass, field
from typing import Protocol

from core.decisions.preemption.planning import Outcome
from core.ids import AppId, QueuePath
from core.ledger.effects import Effect
from core.ledger.events import ActionsRead
from core.ledger.pods.record import PodRecord
from core.queues.queue import Closure
from core.workload.budget import BudgetFacts
from core.workload.daemon_set import DaemonSetFacts
from core.workload.ending import Ending
from core.workload.moving import MoveOrder
from extender.simulator.cluster.api_server import PlayedApi
from extender.simulator.cluster.budgets import PlayedBudgets
from extender.simulator.cluster.clock import Clock, HandLoop
from extender.simulator.cluster.eviction import EvictionObserver
from extender.simulator.cluster.played_objects import Change

ClusterChange = Change | BudgetFacts | ActionsRead
"""A change in the cluster. A disruption budget stands for a change of itself."""


class PaddockObserver(EvictionObserver, Protocol):
    """Observer of what Paddock decides and does."""

    def decided(self, verb: str, record: PodRecord, verdict: object) -> None:
        """Note the verdict of a verb or a cycle on a pod."""

    def acted(self, effect: Effect) -> None:
        """Note that an effect has been carried out."""
        ...

    def planned(self, outcome: Outcome, pod: str) -> None:
        """Note a plan for a pod, or why there is none."""

    def refused(self, message: str) -> None:
        """Note that a configuration was refused."""
        ...


@dataclass(slots=True)
class World:
    """The parts of the played cluster that Paddock meets."""

    #: Clock of the scenario.
    clock: Clock
    #: Event loop that the clock drives.
    loop: HandLoop
    #: Played API server.
    api: PlayedApi
    #: PodDisruptionBudgets of the cluster.
    budgets: PlayedBudgets
    #: Observer of what Paddock does.
    onlooker: PaddockObserver
    #: Time that a Binding takes, in milliseconds.
    bind_delay: int
    #: Data of the ConfigMap ``yunikorn-configs`` as it is now.
    config_map: dict[str, str]
    #: DaemonSets of the scenario.
    daemon_sets: tuple[DaemonSetFacts, ...]
    #: Closed queues, as the store of actions has them.
    closures: dict[QueuePath, Closure] = field(default_factory=dict)
    #: Orders to end applications.
    endings: dict[AppId, Ending] = field(default_factory=dict)
    #: Orders to move applications.
    moves: dict[AppId, MoveOrder] = field(default_factory=dict)
