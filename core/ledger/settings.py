"""The settings that change what the ledger does (design section 12). Values, already checked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """``reservation_ttl`` and ``turn_lease`` in seconds; ``unique_app_ids``: POD-4; ``mark_failed``: pods of
    rejected applications are set to Failed (APP-8); ``scores_nodes``: also when the document names no policy
    for them (NODE-1)."""

    scheduler_names: frozenset[str] = frozenset({"yunikorn", "paddock"})
    reservation_ttl: float = 30.0
    turn_lease: float = 2.0
    unique_app_ids: bool = False
    mark_failed: bool = False
    scores_nodes: bool = False
