"""Settings that change the behaviour of the ledger (DESIGN-12). Checked values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PreemptionSettings:
    """Settings of preemption."""

    #: True if victims must add up to the whole ask, and free capacity does not count (DIV-23, ``yunikorn``).
    whole_ask: bool = False
    #: True if the last ask may exceed the guarantee (DIV-10).
    may_exceed_guarantee: bool = False
    #: True if offsets of a common ancestor count, as in YuniKorn (DIV-6).
    shared_ancestor_priority: bool = False
    #: True if guarantees also hold against preemptors in no queue.
    protect_from_foreign: bool = False
    #: True if victims are deleted instead of evicted.
    direct_delete: bool = False
    #: True if asks with volumes or terms between pods get plans without a call of kube-scheduler.
    plans_complex: bool = False
    #: True if pods of DaemonSets evict no pod of equal priority, and bring no queue below its guarantee
    #: (F-10).
    daemon_sets_keep_guarantees: bool = False


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """Settings of the ledger."""

    #: Scheduler names of managed pods.
    scheduler_names: frozenset[str] = frozenset({"yunikorn", "paddock"})
    #: Length of a quota reservation, in seconds.
    reservation_ttl: float = 30.0
    #: Length of a turn's lease, in seconds.
    turn_lease: float = 2.0
    #: True if pods without an id get an application each (POD-4).
    unique_app_ids: bool = False
    #: True if pods of rejected applications are set to Failed (APP-8).
    mark_failed: bool = False
    #: True if nodes are scored even if the document names no policy (NODE-1).
    scores_nodes: bool = False
    #: Settings of preemption.
    preemption: PreemptionSettings = PreemptionSettings()
    #: True if task groups count (POD-8).
    gangs: bool = True
    #: Placeholders that one gang may ask for, at most.
    gang_max_pods: int = 10_000
    #: Time limit of a bind call, in seconds.
    bind_deadline: float = 100.0
    #: True if pods of one user may share an application across namespaces (F-15).
    shares_applications: bool = False
    #: True if no tenant can write Paddock's annotations, so that a restart may believe them (ACT-41).
    records_protected: bool = False
    #: Dynamic queues below one configured queue, at most (F-21).
    max_dynamic: int = 1_000
    #: Dynamic queues in all, at most (F-21).
    max_dynamic_total: int = 10_000
    #: True if Events, conditions and refusals name pods of others; False if they name only their queues.
    names_others: bool = True
