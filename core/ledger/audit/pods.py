"""Audit of pods: their charges, and the indexes in which they are filed."""

from collections.abc import Iterator
from itertools import chain

from core.ids import PodUid
from core.ledger.audit.drift import Claims, Step, compare, compare_each, compare_index
from core.ledger.charge import charge_of
from core.ledger.cluster.daemon_sets import controller_of, required_node_of
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.workload.daemon_set import DaemonSetKey


def pod_steps(state: State) -> Iterator[Step]:
    """Audit steps for pods."""
    pods, usage, unguarded = state.pods, state.usage, state.unguarded
    filed = (usage.charges, usage.reserved)
    noted = (unguarded.placing, unguarded.unplaced, unguarded.bypasses)
    yield from compare_each(state, chain(pods.records, *filed, *noted), _index_claims)
    yield from compare_each(state, pods.records, _record_claims)
    records = pods.records.values()
    yield from compare_index(
        state,
        "name index",
        lambda state: state.pods.by_name,
        [(_name(each), each.uid) for each in records],
        _is_named,
    )
    yield from compare_index(
        state,
        "unclassified index",
        lambda state: state.pods.unclassified,
        [(each.facts.namespace, each.uid) for each in records if not each.membership.classified],
        _is_unclassified,
    )
    yield from compare_index(
        state,
        "pods of DaemonSet",
        lambda state: state.cluster.daemon_pods,
        [(key, each.uid) for each in records if (key := controller_of(each)) is not None],
        _is_of_daemon_set,
    )
    yield compare([("pods to settle", [], list(pods.touched))])


def _index_claims(state: State, uid: PodUid) -> Claims:
    """Claims about the indexes. Nothing is filed of an unknown pod."""
    record = state.pods.records.get(uid)
    yield "charge", record and charge_of(state, record), state.usage.charges.get(uid)
    reserved = record is not None and record.admission.reservation is not None
    unguarded = record is not None and record.membership.managed and record.is_unguarded
    filed = (uid in state.unguarded.placing) != (uid in state.unguarded.unplaced)
    yield "reserved index", reserved, uid in state.usage.reserved
    yield "unguarded index", unguarded, filed
    yield "noted bypass", False, uid in state.unguarded.bypasses and record is None


def _record_claims(state: State, uid: PodUid) -> Claims:
    record = state.pods.records.get(uid)
    if record is None:
        return
    yield "shown facts", True, _is_provisional(record) or _is_as_shown(record)
    yield "tombstone", False, uid in state.pods.tombstones
    yield "DaemonSet", controller_of(record), record.daemon.daemon_set
    yield "required node", required_node_of(state, record), record.daemon.required_node
    belongs = record.membership.managed and (bool(record.node) or record.is_ask)
    yield "application: any", False, belongs and record.membership.application is None


def _is_provisional(record: PodRecord) -> bool:
    return record.seen.provisional_until is not None


def _is_as_shown(record: PodRecord) -> bool:
    """True if the facts are as shown. Only a body's report or a list's gap may cause a difference."""
    doubted = record.seen.shown is None and record.seen.doubted_until is not None
    return record.facts is record.seen.shown or doubted


def _name(record: PodRecord) -> tuple[str, str]:
    return record.facts.namespace, record.facts.name


def _is_named(state: State, name: tuple[str, str], uid: PodUid) -> bool:
    record = state.pods.records.get(uid)
    return record is not None and _name(record) == name


def _is_unclassified(state: State, namespace: str, uid: PodUid) -> bool:
    record = state.pods.records.get(uid)
    unknown = record is not None and not record.membership.classified
    return record is not None and unknown and record.facts.namespace == namespace


def _is_of_daemon_set(state: State, key: DaemonSetKey, uid: PodUid) -> bool:
    record = state.pods.records.get(uid)
    return record is not None and controller_of(record) == key
