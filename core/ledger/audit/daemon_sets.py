"""The audit of which pods are of a DaemonSet."""

from collections.abc import Iterator

from core.ledger.audit.drift import Step, compare, each
from core.ledger.cluster.daemon_sets import controller_of, required_node_of
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.workload.daemon_set import DaemonSetKey


def daemon_set_steps(state: State) -> Iterator[Step]:
    """Every difference, in steps."""
    yield from each(state.pods.records, lambda uid: _pod_drifts(state, state.pods.records.get(uid)))
    yield from each(state.cluster.daemon_pods, lambda key: _index_drifts(state, key))


def _pod_drifts(state: State, record: PodRecord | None) -> Step:
    if record is None or (record.daemon.daemon_set is None and record.facts.daemon_set is None):
        return []
    key = controller_of(record)
    filed = key is not None and record.uid in state.cluster.daemon_pods.get(key, ())
    return [
        *compare(f"DaemonSet of {record.uid}", key, record.daemon.daemon_set),
        *compare(f"DaemonSet index of {record.uid}", key is not None, filed),
        *compare(
            f"required node of {record.uid}", required_node_of(state, record), record.daemon.required_node
        ),
    ]


def _index_drifts(state: State, key: DaemonSetKey) -> Step:
    """Check that each pod filed under a DaemonSet names it, and that no entry is empty."""
    filed = state.cluster.daemon_pods.get(key)
    if filed is None:
        return []
    naming = {
        uid for uid in filed if uid in state.pods.records and state.pods.records[uid].daemon.daemon_set == key
    }
    return compare(f"pods of DaemonSet {key.namespace}/{key.name}", sorted(naming) or ["some"], sorted(filed))
