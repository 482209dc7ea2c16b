"""Applications: the pods that share an id, the queue they run in, and how the id is found."""

from dataclasses import dataclass, field

from core.ids import AppId, PodUid, QueuePath
from core.queues.identity import NOBODY, Identity
from core.queues.limits import Claimant
from core.reasons import Refusal
from core.workload.pod import PodFacts

_UNIQUE_SUFFIX = "-uniqueautogen"
_ID_LENGTH = 63
_NAMESPACE_LENGTH = 26


@dataclass(slots=True)
class Application:
    """Pods of one id. The pod seen first decides the queue and the user (POD-5, ID-3).

    ``queue``: the leaf it runs in, or None while ``refusal`` says why it has none; ``requested``: the
    queue its first pod named; ``namespace``: that pod's; ``groups``: those of its user that count, None
    while they are looked up (ID-4); ``group``: the one it counts for, empty for none (UGM-5); ``started``:
    something of it was given room (QUO-13); ``awaits_until``: how long it waits for
    its namespace to be shown, or None; ``pods``: its live pods.
    """

    id: AppId
    requested: str
    namespace: str = ""
    identity: Identity = NOBODY
    groups: tuple[str, ...] | None = None
    group: str = ""
    started: bool = False
    awaits_until: float | None = None
    queue: QueuePath | None = None
    refusal: Refusal | None = None
    pods: set[PodUid] = field(default_factory=set)

    @property
    def claimant(self) -> Claimant:
        """The application as limits see it."""
        return Claimant(self.id, self.identity.user, self.group, self.started)


def application_id(pod: PodFacts, *, unique: bool) -> AppId:
    """The application a managed pod belongs to; there always is one (POD-3, POD-4).

    ``unique``: setting ``admissionController.filtering.generateUniqueAppId``.
    """
    if pod.app_id.endswith(_UNIQUE_SUFFIX):
        return AppId(pod.app_id.removesuffix(_UNIQUE_SUFFIX) + f"-{pod.uid}")
    if pod.app_id:
        return AppId(pod.app_id)
    if unique:
        return AppId(f"{pod.namespace[:_NAMESPACE_LENGTH]}-{pod.uid}"[:_ID_LENGTH])
    return AppId(f"yunikorn-{pod.namespace}-autogen"[:_ID_LENGTH])
