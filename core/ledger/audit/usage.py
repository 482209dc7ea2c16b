"""Audit of usage: counters of queues, nodes, users and groups, and usage above a max."""

from collections.abc import Iterator, Sequence
from itertools import chain

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger.audit.drift import KEYS_PER_STEP, Claims, Step, amounts, compare, compare_each
from core.ledger.pods.record import Charge, Held, Standing
from core.ledger.state.state import State
from core.ledger.state.usage import OverMaxPlace
from core.ledger.usage.counters import holds
from core.ledger.usage.over_max import excess_of
from core.queues.queue import Queue
from core.queues.users.limits import UsageBook
from core.resource import Limit, Tally
from core.workload.application import Application
from core.workload.nodes.node import Evictable


def usage_steps(state: State) -> Iterator[Step]:
    """Audit steps for all counters."""
    yield from _queue_steps(state)
    yield from compare_each(state, state.usage.uses, _node_claims)
    yield from compare_each(state, _places(state), _place_claims)
    yield compare(_capacity_claims(state))
    yield from _people_steps(state)
    queues = (queue.path for queue in state.config.tree)
    people = (tracked for tracked, _ in state.usage.book)
    yield from compare_each(state, chain(queues, people, state.usage.over_max), _over_max_claims)


def _queue_steps(state: State) -> Iterator[Step]:
    """Audit steps for counters of queues, from copies made in one step."""
    charges, afloat = list(state.usage.charges.values()), state.usage.afloat.copy()
    counters = {
        (queue.path, name): tally.copy()
        for queue in state.config.tree
        for name, tally in _counters(queue).items()
    }
    chains = {queue.path: [each.path for each in queue.chain] for queue in state.config.tree}
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
    yield compare([("reserved on no node", on_no_node, afloat)])
    yield compare(
        (f"{name} of {path}", sums.get((path, name), Tally()), counters.get((path, name), Tally()))
        for path, name in sorted(counters.keys() | sums.keys())
    )


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


# -- nodes: sums of the pods on them ----------------------------------------------------------------------


def _node_claims(state: State, name: NodeName) -> Claims:
    use = state.usage.uses.get(name)
    if use is None:
        return
    allocated, occupied, evictable = Tally(), Tally(), Evictable()
    for uid in sorted(use.pods):
        charge = state.usage.charges.get(uid)
        if charge is not None and charge.node == name:
            (occupied if charge.held is Held.OCCUPIED else allocated).add(charge.size)
            if charge.standing is Standing.EVICTABLE and charge.queue is not None:
                evictable.file(charge.queue, charge.priority, uid, charge.size, adding=True)
    yield "pods: any", True, bool(use.pods)
    yield "allocated", allocated, use.allocated
    yield "occupied", occupied, use.occupied
    yield "evictable", _groups_text(evictable), _groups_text(use.evictable)


def _groups_text(evictable: Evictable) -> list[tuple[str, int, list[PodUid], dict[str, int]]]:
    return sorted(
        (rung.queue, rung.priority, sorted(group.pods), amounts(Tally(group.total)))
        for rung, group in evictable.groups.items()
    )


def _places(state: State) -> Iterator[tuple[NodeName, PodUid]]:
    yield from ((charge.node, uid) for uid, charge in state.usage.charges.items() if charge.node)
    for name, use in state.usage.uses.items():
        yield from ((name, uid) for uid in use.pods)


def _place_claims(state: State, pair: tuple[NodeName, PodUid]) -> Claims:
    name, uid = pair
    charge, use = state.usage.charges.get(uid), state.usage.uses.get(name)
    yield "pods", charge is not None and charge.node == name, use is not None and uid in use.pods


def _capacity_claims(state: State) -> Claims:
    capacity = Tally()
    for node in state.cluster.nodes.values():
        capacity.add(node.allocatable)
    positive = {name: amount for name, amount in capacity.items() if amount > 0}
    yield "capacity", capacity, state.usage.capacity
    yield "max of root", Limit(positive) if positive else None, state.config.tree.root.max


# -- users and groups: usage of their pods, and applications that started ---------------------------------


def _people_steps(state: State) -> Iterator[Step]:
    """Audit steps for users and groups, from copies made in one step."""
    charges, expected = dict(state.usage.charges), UsageBook()
    applications = state.applications.known.values()
    claims = [(each.claimant, each.started, _paths(state, each), tuple(each.pods)) for each in applications]
    running = {queue.path: sorted(queue.running) for queue in state.config.tree if queue.running}
    actual = _book_text(state.usage.book)
    yield compare(_group_claims(state))
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
    yield compare(
        [
            ("usage of users and groups", _book_text(expected), actual),
            ("running", {path: sorted(apps) for path, apps in started.items()}, running),
        ]
    )


def _paths(state: State, application: Application) -> Sequence[QueuePath]:
    leaf = state.config.tree.get(application.queue) if application.queue is not None else None
    return leaf.paths if leaf is not None else ()


def _book_text(book: UsageBook) -> list[tuple[str, str, str, dict[str, int], list[AppId]]]:
    return sorted(
        (each.kind, each.name, each.path, amounts(usage.held), sorted(usage.applications))
        for each, usage in book
    )


def _group_claims(state: State) -> Claims:
    for application in state.applications.known.values():
        paths = _paths(state, application)
        if paths:
            group = state.config.limits.group_for(paths, application.groups or ())
            yield f"group of {application.id}", group, application.group


def _over_max_claims(state: State, place: OverMaxPlace) -> Claims:
    yield "above a max", excess_of(state, place) is not None, place in state.usage.over_max
