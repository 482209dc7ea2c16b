"""What a life of Paddock has around it in the simulator: what tells it, whom it tells, what it acts on."""

from dataclasses import dataclass
from typing import Protocol

from core.decisions.preemption.planning import Outcome
from core.ledger.effects import Effect
from core.ledger.pods.record import PodRecord
from core.workload.budget import BudgetFacts
from core.workload.daemon_set import DaemonSetFacts
from extender.simulator.cluster.api_server import PlayedApi
from extender.simulator.cluster.budgets import PlayedBudgets
from extender.simulator.cluster.clock import Clock, HandLoop
from extender.simulator.cluster.eviction import EvictionObserver
from extender.simulator.cluster.played_objects import Change

ClusterChange = Change | BudgetFacts
"""A disruption budget stands for a change to itself."""


class PaddockObserver(EvictionObserver, Protocol):
    """Who is told what Paddock decides and does."""

    def decided(self, verb: str, record: PodRecord, verdict: object) -> None: ...

    def acted(self, effect: Effect) -> None:
        """An effect has been carried out."""
        ...

    def planned(self, outcome: Outcome, pod: str) -> None: ...

    def refused(self, message: str) -> None:
        """A configuration was refused."""
        ...


@dataclass(slots=True)
class World:
    """Parts of the played cluster that Paddock meets."""

    #: Clock of the scenario.
    clock: Clock
    #: Event loop that the clock drives.
    loop: HandLoop
    #: Played API server.
    api: PlayedApi
    #: PodDisruptionBudgets of the cluster.
    budgets: PlayedBudgets
    #: Observer that is told what Paddock does.
    onlooker: PaddockObserver
    #: Time that a Binding takes, in milliseconds.
    bind_delay: int
    #: Data of the ConfigMap ``yunikorn-configs`` as it is now.
    config_map: dict[str, str]
    #: DaemonSets of the scenario.
    daemon_sets: tuple[DaemonSetFacts, ...]
