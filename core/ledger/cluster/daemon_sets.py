"""Pods of DaemonSets: their claims count as far as the DaemonSet confirms them (RNP-1, F-10).

An owner reference is only text, which any creator of pods may write.
"""

from core.ids import NO_NODE, NodeName
from core.ledger.admission.requests import request_cycle
from core.ledger.pods.record import PodRecord
from core.ledger.preemption.attempts import await_attempt
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import touch
from core.workload.daemon_set import DaemonSetFacts, DaemonSetKey


def learn_daemon_set(state: State, key: DaemonSetKey, daemon_set: DaemonSetFacts | None) -> None:
    """Note a DaemonSet, or its absence, and check the pods that name it again."""
    if state.cluster.daemon_sets.get(key) == daemon_set:
        return
    if daemon_set is None:
        del state.cluster.daemon_sets[key]
    else:
        state.cluster.daemon_sets[key] = daemon_set
    _verify_all(state, key)


def note_listed(state: State) -> list[PodRecord]:
    """Note that all DaemonSets are known. Returns the pods whose claims counted without them until now."""
    if state.cluster.daemon_sets_listed:
        return []
    state.cluster.daemon_sets_listed = True
    return [each for each in state.pods.records.values() if each.facts.daemon_set is not None]


def note_controller(state: State, record: PodRecord) -> None:
    """File a pod under the DaemonSet that it names now, and check the claim."""
    if record.facts.daemon_set is None and record.daemon.daemon_set is None:
        return
    key = controller_of(record)
    if key != record.daemon.daemon_set:
        forget_controller(state, record)
        if key is not None:
            state.cluster.daemon_pods.setdefault(key, set()).add(record.uid)
            record.daemon = record.daemon._replace(daemon_set=key)
    record.daemon = record.daemon._replace(required_node=required_node_of(state, record))


def forget_controller(state: State, record: PodRecord) -> None:
    """Take a pod out of the index."""
    if record.daemon.daemon_set is None:
        return
    pods = state.cluster.daemon_pods[record.daemon.daemon_set]
    pods.discard(record.uid)
    if not pods:
        del state.cluster.daemon_pods[record.daemon.daemon_set]
    record.daemon = record.daemon._replace(daemon_set=None)


def controller_of(record: PodRecord) -> DaemonSetKey | None:
    """DaemonSet that a pod for one node names as its creator."""
    facts = record.facts
    if facts.daemon_set is None or not facts.required_node:
        return None
    return DaemonSetKey(facts.namespace, facts.daemon_set.name)


def required_node_of(state: State, record: PodRecord) -> NodeName:
    """Only node of a pod, if an existing DaemonSet has created the pod. Empty otherwise."""
    facts, key = record.facts, controller_of(record)
    daemon_set = state.cluster.daemon_sets.get(key) if key is not None else None
    if daemon_set is None or facts.daemon_set is None:
        return NO_NODE
    return facts.required_node if daemon_set.made(facts.daemon_set, facts.labels) else NO_NODE


def _verify_all(state: State, key: DaemonSetKey) -> None:
    """Check all pods that name a DaemonSet. Cost: O(those pods)."""
    for uid in sorted(state.cluster.daemon_pods.get(key, ())):
        record = state.pods.records[uid]
        found = required_node_of(state, record)
        if found == record.daemon.required_node:
            continue
        record.daemon = record.daemon._replace(required_node=found)
        touch(state, record)
        if uid in state.pending.waits_at:
            await_attempt(state, record)
        request_cycle(state, CycleReason.CLUSTER_CHANGED)
