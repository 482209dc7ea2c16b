"""The audit: recompute everything that is derived from what was told, and name every difference.

Written against the facts, not against `accounts`' bookkeeping: it adds up, it never subtracts. It runs in
steps, so that a running process can do it in slices between verbs. A check reads the ledger as it is when
the check runs, so a ledger that changes between two steps causes no false alarm.
"""

from collections import Counter
from collections.abc import Iterator

from core.ids import NO_NODE, AppId, NodeName, PodUid, QueuePath
from core.ledger.audit.applications import application_steps
from core.ledger.audit.daemon_sets import daemon_set_steps
from core.ledger.audit.drift import KEYS_PER_STEP, Drift, Step, amounts, compare, compare_tallies, each
from core.ledger.audit.gangs import gang_steps
from core.ledger.audit.pod_groups import pod_group_steps
from core.ledger.audit.turns import turn_steps
from core.ledger.pods.record import Charge, Held, PodRecord, Standing
from core.ledger.state import OverMaxPlace, Seat, Stage, State, WaitingKey
from core.ledger.usage.charges import charge_of, holds, waiting_key
from core.ledger.usage.over_max import excess_of
from core.queues.queue import Queue
from core.queues.users.limits import UsageBook
from core.resource import Limit, Tally
from core.workload.application import Application
from core.workload.nodes.node import Evictable


def audit(state: State) -> tuple[Drift, ...]:
    """Every difference between the record and what follows from what was told; empty when it is right."""
    return tuple(drift for step in audit_steps(state) for drift in step)


def audit_steps(state: State) -> Iterator[Step]:
    """The same in steps of about a millisecond. The ledger may change between two of them."""
    yield from each(state.pods, lambda uid: _pod_drifts(state, uid))
    yield from each(state.charges, lambda uid: _unknown(state, "charges", uid, uid in state.charges))
    unguarded = {**state.unguarded.placing, **state.unguarded.unplaced, **state.unguarded.bypasses}
    yield from each(unguarded, lambda uid: _unknown(state, "unguarded index", uid, _is_noted(state, uid)))
    yield from each(state.kept, lambda name: _kept_drifts(state, name))
    yield from each(state.victims, lambda preemptor: _victims_drifts(state, preemptor))
    yield from each(state.offers, lambda uid: _offer_drifts(state, uid))
    yield from _queue_steps(state)
    yield from each(state.uses, lambda name: _node_drifts(state, name))
    yield _capacity_drifts(state)
    yield from _people_steps(state)
    yield from _over_max_steps(state)
    yield from _index_steps(state)
    yield from application_steps(state)
    yield from turn_steps(state)
    yield from gang_steps(state)
    yield from pod_group_steps(state)
    yield from daemon_set_steps(state)


def _unknown(state: State, index: str, uid: PodUid, filed: bool) -> Step:
    return compare(f"{index}: {uid}", False, filed and uid not in state.pods)


def _kept_drifts(state: State, name: NodeName) -> Step:
    """A node is kept for an ask that says so."""
    uid = state.kept.get(name)
    record = state.pods.get(uid) if uid is not None else None
    expected = record.keeps if record is not None else NO_NODE
    return compare(f"keeper of {name}", expected, NO_NODE if uid is None else name)


def _victims_drifts(state: State, preemptor: PodUid | QueuePath) -> Step:
    """Compare the victims marked for a preemptor with their marks; no offer that has ended marks any."""
    filed = state.victims.get(preemptor, {})
    offered = Stage.OFFERED in filed.values() and preemptor not in state.offers
    marked = {uid for uid in filed if uid in state.pods and state.pods[uid].preempted_for == preemptor}
    return [
        *compare(f"victims for {preemptor}", sorted(marked) if marked else ["some"], sorted(filed)),
        *compare(f"victims for {preemptor}: offered", False, offered),
    ]


def _offer_drifts(state: State, uid: PodUid) -> Step:
    """An offer counts as a plan that is carried out: its ask is triggered, its node kept for it."""
    offer, record = state.offers.get(uid), state.pods.get(uid)
    if offer is None:
        return []
    counted = (record.triggered, record.keeps) if record is not None and record.is_ask else ("", NO_NODE)
    return compare(f"offer for {uid}", (offer.plan, offer.node), counted)


# -- pods: what each is charged, and where it is filed ------------------------------------------------


def _pod_drifts(state: State, uid: PodUid) -> Step:
    record = state.pods.get(uid)
    if record is None:
        return []
    expected = charge_of(state, record)
    seat = state.waits_at.get(uid)
    return [
        *compare(f"charge of {uid}", expected, state.charges.get(uid)),
        *compare(f"waiting index of {uid}", waiting_key(record, expected), seat and seat.key),
        *compare(f"reserved index of {uid}", record.reservation is not None, uid in state.reserved),
        *compare(f"provisional index of {uid}", _is_provisional(record), uid in state.provisional),
        *compare(f"doubted index of {uid}", record.doubted_until is not None, uid in state.doubted),
        *compare(f"shown facts of {uid}", True, _is_provisional(record) or _is_as_shown(record)),
        *compare(f"unclassified index of {uid}", not record.classified, _is_unclassified(state, record)),
        *compare(f"name index of {uid}", True, uid in state.by_name.get(_name(record), ())),
        *compare(f"gone: {uid}", False, uid in state.gone),
        *compare(f"kept for {uid}", record.keeps, _kept_for(state, record)),
        *compare(f"victim: {uid}", record.preempted_for is not None, _is_victim(state, record)),
        *compare(f"unguarded index of {uid}", record.managed and record.is_unguarded, _is_filed(state, uid)),
        *_membership_drifts(state, record),
        *_place_drifts(state, record, expected),
    ]


def _is_filed(state: State, uid: PodUid) -> bool:
    """As unguarded, and in one of the two parts of that index only."""
    return (uid in state.unguarded.placing) != (uid in state.unguarded.unplaced)


def _is_noted(state: State, uid: PodUid) -> bool:
    return _is_filed(state, uid) or uid in state.unguarded.bypasses


def _is_victim(state: State, record: PodRecord) -> bool:
    preemptor = record.preempted_for
    return preemptor is not None and record.uid in state.victims.get(preemptor, ())


def _kept_for(state: State, record: PodRecord) -> NodeName:
    """Only an ask keeps a node, and that one for itself."""
    keeps = record.is_ask and state.kept.get(record.keeps) == record.uid
    return record.keeps if keeps else NO_NODE


def _is_provisional(record: PodRecord) -> bool:
    return record.provisional_until is not None


def _is_as_shown(record: PodRecord) -> bool:
    """Only what a body has told, or what a list lacks, may differ from what is shown."""
    return record.facts is record.shown or (record.shown is None and record.doubted_until is not None)


def _is_unclassified(state: State, record: PodRecord) -> bool:
    return record.uid in state.unclassified.get(record.facts.namespace, ())


def _name(record: PodRecord) -> tuple[str, str]:
    return record.facts.namespace, record.facts.name


def _membership_drifts(state: State, record: PodRecord) -> Step:
    """A managed ask or allocation is in exactly the application it says."""
    if record.application is None:
        belongs = record.managed and (bool(record.node) or record.is_ask)
        return compare(f"application of {record.uid}", False, belongs)
    application = state.applications.get(record.application)
    member = application is not None and record.uid in application.pods
    return compare(f"pods of {record.application}: {record.uid}", True, member)


def _place_drifts(state: State, record: PodRecord, charge: Charge | None) -> Step:
    if charge is None or not charge.node:
        return []
    use = state.uses.get(charge.node)
    return compare(f"pods on {charge.node}: {record.uid}", True, use is not None and record.uid in use.pods)


# -- queues: the sums of their pods' charges -----------------------------------------------------------


def _queue_steps(state: State) -> Iterator[Step]:
    """Adds up copies that were taken in one step, so that a busy ledger does not disturb the sum."""
    charges, afloat = list(state.charges.values()), state.afloat.copy()
    counters = {
        (queue.path, name): tally.copy() for queue in state.tree for name, tally in _counters(queue).items()
    }
    chains = {queue.path: [each.path for each in queue.chain] for queue in state.tree}
    yield []
    sums: dict[tuple[QueuePath, str], Tally] = {}
    on_no_node = Tally()
    for start in range(0, len(charges), KEYS_PER_STEP):
        some = charges[start : start + KEYS_PER_STEP]
        _add_up(some, chains, sums)
        for charge in some:
            if charge.held is Held.RESERVED and not charge.node:
                on_no_node.add(charge.size)
        yield []
    yield compare_tallies("reserved on no node", on_no_node, afloat)
    for key in sorted(counters.keys() | sums.keys()):
        path, name = key
        yield compare_tallies(f"{name} of {path}", sums.get(key, Tally()), counters.get(key, Tally()))


_STANDINGS = (Standing.PREEMPTING, Standing.TRIGGERED, Standing.BYPASSED)


def _counters(queue: Queue) -> dict[str, Tally]:
    names = (Held.PENDING, Held.RESERVED, Held.ALLOCATED, *_STANDINGS)
    return {name.value: getattr(queue, name.value) for name in names}


def _add_up(
    charges: list[Charge],
    chains: dict[QueuePath, list[QueuePath]],
    sums: dict[tuple[QueuePath, str], Tally],
) -> None:
    for charge in charges:
        for path in chains.get(charge.queue, ()) if charge.queue else ():
            sums.setdefault((path, charge.held.value), Tally()).add(charge.size)
            if charge.standing in _STANDINGS:
                sums.setdefault((path, charge.standing.value), Tally()).add(charge.size)


# -- nodes: the sums of what stands on them -------------------------------------------------------------


def _node_drifts(state: State, name: NodeName) -> Step:
    use = state.uses.get(name)
    if use is None:
        return []
    allocated, occupied, strangers = Tally(), Tally(), []
    evictable = Evictable()
    for uid in sorted(use.pods):
        charge = state.charges.get(uid)
        if charge is None or charge.node != name:
            strangers.append(uid)
        else:
            (occupied if charge.held is Held.OCCUPIED else allocated).add(charge.size)
            if charge.standing is Standing.EVICTABLE and charge.queue is not None:
                evictable.file(charge.queue, charge.priority, uid, charge.size, adding=True)
    return [
        *compare(f"pods on {name}: any", True, bool(use.pods)),
        *compare(f"pods on {name}: strangers", [], strangers),
        *compare_tallies(f"allocated on {name}", allocated, use.allocated),
        *compare_tallies(f"occupied on {name}", occupied, use.occupied),
        *compare(f"evictable on {name}", _groups_text(evictable), _groups_text(use.evictable)),
    ]


def _groups_text(evictable: Evictable) -> list[tuple[str, int, list[PodUid], dict[str, int]]]:
    return sorted(
        (rung.queue, rung.priority, sorted(group.pods), amounts(Tally(group.total)))
        for rung, group in evictable.groups.items()
    )


def _capacity_drifts(state: State) -> Step:
    capacity = Tally()
    for node in state.nodes.values():
        capacity.add(node.allocatable)
    amounts = {name: amount for name, amount in capacity.items() if amount > 0}
    return [
        *compare_tallies("capacity", capacity, state.capacity),
        *compare("max of root", Limit(amounts) if amounts else None, state.tree.root.max),
    ]


# -- users and groups: what their pods hold, and which applications were given something --------------------


def _people_steps(state: State) -> Iterator[Step]:
    """Adds up copies that were taken in one step, as for the queues."""
    charges, expected = dict(state.charges), UsageBook()
    applications = state.applications.values()
    claims = [(each.claimant, each.started, _paths(state, each), tuple(each.pods)) for each in applications]
    running = {queue.path: sorted(queue.running) for queue in state.tree if queue.running}
    actual = _book_text(state.book)
    yield _group_drifts_of_applications(state)
    started: dict[QueuePath, list[AppId]] = {}
    for claimant, runs, paths, pods in claims:
        for start in range(0, len(pods), KEYS_PER_STEP):
            for uid in pods[start : start + KEYS_PER_STEP]:
                charge = charges.get(uid)
                if charge is not None and holds(charge):
                    expected.add(claimant, paths, charge.size)
            yield []
        if runs:
            expected.start(claimant, paths)
            for path in paths:
                started.setdefault(path, []).append(claimant.application)
    yield compare("usage of users and groups", _book_text(expected), actual)
    yield compare("running", {path: sorted(apps) for path, apps in started.items()}, running)


def _paths(state: State, application: Application) -> list[QueuePath]:
    leaf = state.tree.get(application.queue) if application.queue is not None else None
    return [queue.path for queue in leaf.chain] if leaf is not None else []


def _book_text(book: UsageBook) -> list[tuple[str, str, str, dict[str, int], list[AppId]]]:
    return sorted(
        (each.kind, each.name, each.path, amounts(usage.held), sorted(usage.applications))
        for each, usage in book
    )


def _group_drifts_of_applications(state: State) -> Step:
    found: Step = []
    for application in state.applications.values():
        paths = _paths(state, application)
        if paths:
            group = state.limits.group_for(paths, application.groups or ())
            found += compare(f"group of {application.id}", group, application.group)
    return found


# -- usage above a max -----------------------------------------------------------------------------------


def _over_max_steps(state: State) -> Iterator[Step]:
    known = [*(queue.path for queue in state.tree), *(tracked for tracked, _ in state.book), *state.over_max]
    yield from each(dict.fromkeys(known), lambda place: _over_max_drifts(state, place))


def _over_max_drifts(state: State, place: OverMaxPlace) -> Step:
    return compare(f"above a max: {place}", excess_of(state, place) is not None, place in state.over_max)


# -- indexes: nothing filed that should not be -----------------------------------------------------------


def _index_steps(state: State) -> Iterator[Step]:
    yield from each(state.reserved, lambda uid: _unknown(state, "reserved index", uid, uid in state.reserved))
    yield from each(
        state.provisional, lambda uid: _unknown(state, "provisional index", uid, uid in state.provisional)
    )
    yield from each(state.doubted, lambda uid: _unknown(state, "doubted index", uid, uid in state.doubted))
    yield from each(
        [(name, uid) for name, uids in state.by_name.items() for uid in uids],
        lambda pair: _name_drifts(state, *pair),
    )
    yield from each(
        [(namespace, uid) for namespace, uids in state.unclassified.items() for uid in uids],
        lambda pair: _unclassified_drifts(state, *pair),
    )
    yield from each(
        [
            Seat(WaitingKey(path, size, app_id, constraints), rank)
            for path, lineup in state.waiting.items()
            for app_id, (size, constraints), rank in lineup
        ],
        lambda seat: _waiting_drifts(state, seat),
    )
    yield from each(state.waits_at, lambda uid: _seat_drifts(state, uid))
    yield from each(state.waiting, lambda path: _lineup_drifts(state, path))


def _name_drifts(state: State, name: tuple[str, str], uid: PodUid) -> Step:
    if uid not in state.by_name.get(name, ()):
        return []
    record = state.pods.get(uid)
    return compare(f"name index: {uid}", name, _name(record) if record else None)


def _unclassified_drifts(state: State, namespace: str, uid: PodUid) -> Step:
    if uid not in state.unclassified.get(namespace, ()):
        return []
    record = state.pods.get(uid)
    awaits = record is not None and not record.classified and record.facts.namespace == namespace
    return compare(f"unclassified index: {uid}", True, awaits)


def _is_seated(state: State, seat: Seat) -> bool:
    key = seat.key
    lineup = state.waiting.get(key.queue)
    return lineup is not None and lineup.has(key.app, (key.size, key.constraints), seat.rank)


def _waiting_drifts(state: State, seat: Seat) -> Step:
    if not _is_seated(state, seat):
        return []
    uid = seat.rank[-1]
    return compare(f"waiting: {uid}", seat, state.waits_at.get(uid))


def _lineup_drifts(state: State, path: QueuePath) -> Step:
    """The number of asks of each size."""
    lineup = state.waiting.get(path)
    if lineup is None:
        return []
    sizes = Counter(size for _, (size, _), _ in lineup)
    return [
        *compare(f"waiting in {path}: any", True, bool(sizes)),
        *compare(f"waiting in {path}: sizes", dict(sizes), lineup.sizes),
    ]


def _seat_drifts(state: State, uid: PodUid) -> Step:
    seat = state.waits_at.get(uid)
    if seat is None:
        return []
    return [
        *_unknown(state, "waiting index", uid, True),
        *compare(f"waiting: {uid}", True, _is_seated(state, seat)),
    ]
