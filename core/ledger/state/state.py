"""State of the ledger, in parts with one owner each. No behaviour."""

from dataclasses import dataclass, field

from core.ledger.effects import Effect
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleRequest, Pending, Turns, Unguarded
from core.ledger.state.applications import Applications
from core.ledger.state.cluster import Cluster
from core.ledger.state.configuration import Configuration
from core.ledger.state.gangs import Gangs
from core.ledger.state.node_reservation import NodeReservations
from core.ledger.state.podgroups import PodGroups
from core.ledger.state.pods import Pods
from core.ledger.state.preemption import Preemption
from core.ledger.state.timers import Timers
from core.ledger.state.usage import Usage
from core.queues.quota_check import QuotaCheck
from core.workload.application import Application


@dataclass(slots=True)
class State:
    """State of the ledger. ``core.ledger.audit`` recomputes the derived parts."""

    #: Time of the event that is being applied, in seconds since the epoch.
    now: float = 0.0
    #: True if this instance acts, False while another one does.
    acts: bool = True
    #: Seconds by which the API server's clock is ahead of ours, as last compared (ACT-45).
    clock_skew: float = 0.0
    #: Effects to hand out when the event is applied.
    outbox: list[Effect] = field(default_factory=list)
    #: Timers: what ends by itself, and when.
    timers: Timers = field(default_factory=Timers)
    #: Document and settings in force.
    config: Configuration = field(default_factory=Configuration)
    #: Records of pods.
    pods: Pods = field(default_factory=Pods)
    #: Nodes and other objects.
    cluster: Cluster = field(default_factory=Cluster)
    #: Charges and counters.
    usage: Usage = field(default_factory=Usage)
    #: Applications and users.
    applications: Applications = field(default_factory=Applications)
    #: Index of pending asks.
    pending: Pending = field(default_factory=Pending)
    #: Asks that may be placed now.
    turns: Turns = field(default_factory=Turns)
    #: Reasons for the next scheduling cycle.
    cycle: CycleRequest = field(default_factory=CycleRequest)
    #: Pods for which filter is not called.
    unguarded: Unguarded = field(default_factory=Unguarded)
    #: Nodes held for one pod.
    reservations: NodeReservations = field(default_factory=NodeReservations)
    #: Victims, offers and attempts.
    preemption: Preemption = field(default_factory=Preemption)
    #: Gangs and their placeholders.
    gangs: Gangs = field(default_factory=Gangs)
    #: Pod groups.
    podgroups: PodGroups = field(default_factory=PodGroups)

    def application_of(self, record: PodRecord) -> Application | None:
        """Application of a pod; None if it is in none, or in none yet."""
        app_id = record.membership.application
        return self.applications.known.get(app_id) if app_id is not None else None

    @property
    def quota_check(self) -> QuotaCheck:
        """Check of limits and quotas, with the limits and usage that it reads."""
        return QuotaCheck(self.config.limits, self.usage.book)
