"""The settings that change what the ledger does (DESIGN-12). Values, already checked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PreemptionSettings:
    """``whole_ask``: victims add up to the whole ask, free room counts for nothing (DIV-23, ``yunikorn``);
    ``may_exceed_guarantee``: DIV-10; ``shared_ancestor_priority``: DIV-6 as YuniKorn has it;
    ``protect_from_foreign``: guarantees hold against preemptors in no queue too; ``direct_delete``: victims
    are deleted, not evicted; ``plans_complex``: asks with volumes or terms between pods are planned for
    whether or not kube-scheduler asks; ``daemon_sets_keep_guarantees``: pods of DaemonSets evict no pod
    of equal priority, and bring no queue below its guarantee (F-10)."""

    whole_ask: bool = False
    may_exceed_guarantee: bool = False
    shared_ancestor_priority: bool = False
    protect_from_foreign: bool = False
    direct_delete: bool = False
    plans_complex: bool = False
    daemon_sets_keep_guarantees: bool = False


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """``reservation_ttl`` and ``turn_lease`` in seconds; ``unique_app_ids``: POD-4; ``mark_failed``: pods of
    rejected applications are set to Failed (APP-8); ``scores_nodes``: also when the document names no policy
    for them (NODE-1); ``gangs``: task groups count (POD-8), ``gang_max_pods``: placeholders that
    one gang may ask for; ``bind_deadline``: seconds that a bind call has; ``shares_applications``: pods of
    one user may belong to one application across namespaces (F-15)."""

    scheduler_names: frozenset[str] = frozenset({"yunikorn", "paddock"})
    reservation_ttl: float = 30.0
    turn_lease: float = 2.0
    unique_app_ids: bool = False
    mark_failed: bool = False
    scores_nodes: bool = False
    preemption: PreemptionSettings = PreemptionSettings()
    gangs: bool = True
    gang_max_pods: int = 10_000
    bind_deadline: float = 100.0
    shares_applications: bool = False
