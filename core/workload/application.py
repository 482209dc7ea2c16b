"""Applications: the pods that share an id in a namespace, their queue, and how the id is found."""

from dataclasses import dataclass, field

from core.ids import NO_POD, AppId, PodUid, QueuePath
from core.queues.users.identity import UNKNOWN_IDENTITY, Identity
from core.queues.users.limits import Claimant
from core.reasons import Refusal
from core.resource import Tally
from core.workload.gangs.gang import Gang
from core.workload.gangs.progress import GangProgress
from core.workload.pod import PodFacts
from core.workload.states import ENDED, STARTED, AppState
from core.workload.timeouts.execution import Execution

_UNIQUE_SUFFIX = "-uniqueautogen"
_ID_LENGTH = 63
_NAMESPACE_LENGTH = 26
_FORMER_STATES = 49


@dataclass(slots=True)
class Application:
    """Pods of one id in one namespace. The pod seen first decides the queue and the user (POD-5, ID-3)."""

    #: Id and namespace.
    id: AppId
    #: Queue that the first pod named, or empty.
    requested: str
    #: Namespace of the first pod.
    namespace: str = ""
    #: User, and the groups that the first pod named.
    identity: Identity = UNKNOWN_IDENTITY
    #: Groups of the user that count; None while they are resolved (ID-4).
    groups: tuple[str, ...] | None = None
    #: User group that the application counts for; empty for none (UGM-5).
    group: str = ""
    #: Earliest creation of any of its pods, in seconds since the epoch (APP-7).
    submitted: float = 0.0
    #: True if it is never Starting (SORT-8).
    starts_at_once: bool = False
    #: States that it was in, with the time of each in seconds; the current one is last.
    states: tuple[tuple[float, AppState], ...] = ((0.0, AppState.NEW),)
    #: Number of states that it ever entered, with the first one.
    entered: int = 1
    #: Time until which it waits for its namespace, in seconds; None if it does not wait.
    awaits_until: float | None = None
    #: End of its back-off, in seconds, after no node took its asks; None if there was none.
    backs_off_until: float | None = None
    #: Leaf in which it runs; None while ``refusal`` says why it has none.
    queue: QueuePath | None = None
    #: Reason why its pending pods may not be placed; None for none.
    refusal: Refusal | None = None
    #: Uids of its live pods.
    pods: set[PodUid] = field(default_factory=set)
    #: Number of its pending asks by priority (PRI-2).
    asked: dict[int, int] = field(default_factory=dict)
    #: Amounts that it holds.
    used: Tally = field(default_factory=Tally)
    #: Creation, arrival and uid of its first pod that is no placeholder (PRE-4, GANG-2). None before there is
    #: one.
    originator: tuple[float, int, PodUid] | None = None
    #: Task groups that its first pod defined; None if it defines no gang that counts (GANG-1).
    gang: Gang | None = None
    #: Progress of the gang; None before the application has a queue.
    gang_progress: GangProgress | None = None
    #: Placeholders among its pods.
    holders: set[PodUid] = field(default_factory=set)
    #: Number of its placeholders that hold capacity (APP-15).
    holding: int = 0
    #: Number of its pods from other namespaces, by namespace (F-15).
    foreign_pods: dict[str, int] = field(default_factory=dict)
    #: Reason why it does not run in the queue that its first pod named; empty if it does (F-6).
    passed_over: str = ""
    #: True if it was placed because a pod of it ran already, and its pending pods have not passed the checks
    #: (F-1).
    forced: bool = False
    #: True once an administrator's order ends it, until it is Failed (ACT-20).
    ends: bool = False
    #: Time at which it was Running first, in seconds since the epoch; None before that (ACT-41).
    running_since: float | None = None
    #: Execution time-out; None while nothing limits it.
    execution: Execution | None = None
    #: True if a pod of it was given capacity by Paddock.
    let_in: bool = False
    #: True if its groups stand in for groups that were not known.
    groups_assumed: bool = False
    #: Pod that defined its queue and user.
    definer: PodUid = NO_POD
    #: True if a list or the watch has shown a pod of it.
    was_shown: bool = False

    @property
    def state(self) -> AppState:
        """Current state."""
        return self.states[-1][1]

    @property
    def since(self) -> float:
        """Time at which it entered its state, in seconds."""
        return self.states[-1][0]

    @property
    def started(self) -> bool:
        """True if something of it holds capacity.

        Limits on applications do not apply then (QUO-13, APP-15).
        """
        return self.holding > 0 or self.states[-1][1] in STARTED

    @property
    def ended(self) -> bool:
        """True in a final state."""
        return self.state in ENDED

    def enter(self, state: AppState, *, now: float) -> None:
        """Enter a state. Only the last states are remembered."""
        self.states = (*self.states[-_FORMER_STATES:], (now, state))
        self.entered += 1

    @property
    def claimant(self) -> Claimant:
        """Application as limits see it. One that others have started is still subject to limits."""
        return Claimant(self.id, self.identity.user, self.group, self.started and self.let_in)


def application_id(pod: PodFacts, *, unique: bool) -> AppId:
    """Application that a managed pod belongs to. There always is one (POD-3, POD-4).

    The whole namespace is part of the key, so a shortened id never names a foreign application. ``unique``:
    setting ``admissionController.filtering.generateUniqueAppId``.
    """
    return AppId(_id_of(pod, unique=unique), pod.namespace)


def _id_of(pod: PodFacts, *, unique: bool) -> str:
    if pod.app_id.endswith(_UNIQUE_SUFFIX):
        return pod.app_id.removesuffix(_UNIQUE_SUFFIX) + f"-{pod.uid}"
    if pod.app_id:
        return pod.app_id
    if unique:
        return f"{pod.namespace[:_NAMESPACE_LENGTH]}-{pod.uid}"[:_ID_LENGTH]
    return generated_name(pod.namespace)


def generated_name(namespace: str) -> str:
    """Id of the one application of all pods of a namespace that name none (POD-4)."""
    return f"yunikorn-{namespace}-autogen"[:_ID_LENGTH]
