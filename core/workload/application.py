"""Applications: the pods that share an id in a namespace, the queue they run in, and how the id is found."""

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

_UNIQUE_SUFFIX = "-uniqueautogen"
_ID_LENGTH = 63
_NAMESPACE_LENGTH = 26
_STATES_KEPT = 49


@dataclass(slots=True)
class Application:
    """Pods of one id in one namespace. The pod seen first decides the queue and the user (POD-5, ID-3).

    ``queue``: the leaf it runs in, or None while ``refusal`` says why it has none; ``requested``: the
    queue its first pod named; ``namespace``: that pod's; ``submitted``: the earliest creation of any of its
    pods (APP-7); ``starts_at_once``: it is never Starting (SORT-8); ``states``: those it was in, with the
    time of each; ``groups``: those of its user that count, None while they are looked up (ID-4); ``group``:
    the one it counts for, empty for none (UGM-5); ``awaits_until``: how long it waits for its namespace to
    be shown, or None; ``backs_off_until``: when it is looked at again, after asks of it that no node took;
    ``pods``: its live pods; ``asked``: number of its pending asks by priority (PRI-2); ``used``: what it
    holds; ``originator``: creation, arrival and uid of the first pod it ever had but for placeholders, which
    others depend on (PRE-4, GANG-2); ``gang``: the task groups that its first pod defined, if they count
    (GANG-1); ``gang_progress``: how far that has come, once it has a queue; ``holders``: those of its pods
    that are placeholders; ``vouched``: a list or watch has shown a pod of it;
    ``holding``: how many of those have room (APP-15); ``guests``: number of its pods by
    namespace, of those that are not its own (F-15); ``passed_over``: why it does not run in the queue that
    its first pod named, empty when it does (F-6); ``forced``: it was placed since a pod of it ran already,
    and the checks that such a one is spared have not been passed for what waits (F-1); ``let_in``: something
    of it was given room by us; ``groups_assumed``: its groups stand for some that were not known;
    ``definer``: the pod that said its queue and user.
    """

    id: AppId
    requested: str
    namespace: str = ""
    identity: Identity = UNKNOWN_IDENTITY
    groups: tuple[str, ...] | None = None
    group: str = ""
    submitted: float = 0.0
    starts_at_once: bool = False
    states: tuple[tuple[float, AppState], ...] = ((0.0, AppState.NEW),)
    awaits_until: float | None = None
    backs_off_until: float | None = None
    queue: QueuePath | None = None
    refusal: Refusal | None = None
    pods: set[PodUid] = field(default_factory=set)
    asked: dict[int, int] = field(default_factory=dict)
    used: Tally = field(default_factory=Tally)
    originator: tuple[float, int, PodUid] | None = None
    gang: Gang | None = None
    gang_progress: GangProgress | None = None
    holders: set[PodUid] = field(default_factory=set)
    holding: int = 0
    guests: dict[str, int] = field(default_factory=dict)
    passed_over: str = ""
    forced: bool = False
    let_in: bool = False
    groups_assumed: bool = False
    definer: PodUid = NO_POD
    vouched: bool = False

    @property
    def state(self) -> AppState:
        return self.states[-1][1]

    @property
    def since(self) -> float:
        """When it came into its state."""
        return self.states[-1][0]

    @property
    def started(self) -> bool:
        """Something of it was given room, so that no limit on applications holds it (QUO-13, APP-15)."""
        return self.holding > 0 or self.states[-1][1] in STARTED

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    def enter(self, state: AppState, *, now: float) -> None:
        """Note a state; of very many only the last ones."""
        self.states = (*self.states[-_STATES_KEPT:], (now, state))

    @property
    def claimant(self) -> Claimant:
        """The application as limits see it: one that others have started is held by them all the same."""
        return Claimant(self.id, self.identity.user, self.group, self.started and self.let_in)


def application_id(pod: PodFacts, *, unique: bool) -> AppId:
    """The application a managed pod belongs to; there always is one (POD-3, POD-4).

    The whole namespace is part of the key, so that an id which is cut is nobody else's.
    ``unique``: setting ``admissionController.filtering.generateUniqueAppId``.
    """
    return AppId(_id_of(pod, unique=unique), pod.namespace)


def _id_of(pod: PodFacts, *, unique: bool) -> str:
    if pod.app_id.endswith(_UNIQUE_SUFFIX):
        return pod.app_id.removesuffix(_UNIQUE_SUFFIX) + f"-{pod.uid}"
    if pod.app_id:
        return pod.app_id
    if unique:
        return f"{pod.namespace[:_NAMESPACE_LENGTH]}-{pod.uid}"[:_ID_LENGTH]
    return f"yunikorn-{pod.namespace}-autogen"[:_ID_LENGTH]
