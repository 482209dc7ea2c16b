"""State of pods: their records, and how far lists and watches are trusted."""

from dataclasses import dataclass, field

from core.ids import PodUid
from core.ledger.pods.record import PodRecord


class Names(dict[tuple[str, str], tuple[PodUid, ...]]):
    """Uids by namespace and name.

    Not a plain dict. The garbage collector stops tracking a dict that holds only strings and tuples of
    strings. It then traverses the whole dict for each new pod, which takes 20 ms with 150,000 pods.
    """


@dataclass(slots=True)
class Pods:
    """Records of live pods, with what lists have said of them."""

    #: Records by uid, in the order of arrival.
    records: dict[PodUid, PodRecord] = field(default_factory=dict)
    #: Uids by namespace and name. Derived.
    by_name: Names = field(default_factory=Names)
    #: True once a complete list of pods was shown.
    listed: bool = False
    #: True while a list of pods was requested and has not ended.
    listing: bool = False
    #: Number of lists that were requested.
    lists_begun: int = 0
    #: True if the watch has reported everything up to the last list.
    caught_up: bool = True
    #: Pods to settle, in the order in which they were first touched. True with a pod that was deleted. None
    #: between events.
    touched: dict[PodUid, tuple[PodRecord, bool]] = field(default_factory=dict)
    #: Pods that were settled since the last event began, in order, some perhaps more than once.
    settled: list[PodUid] = field(default_factory=list)
    #: Pods that cannot be classified yet, by namespace. Derived.
    unclassified: dict[str, set[PodUid]] = field(default_factory=dict)
    #: Time of deletion of recently deleted pods, in seconds.
    tombstones: dict[PodUid, float] = field(default_factory=dict)
    #: Number of pods that have arrived; the next record's sequence number.
    arrivals: int = 0
