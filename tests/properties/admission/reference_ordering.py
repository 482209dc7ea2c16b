"""A second implementation of the ordering by the specification, step by step and without memory. No tests.

It reads only a ledger's inputs and promises: documents, nodes, pods, reservations, turns and states. Before
each step it sums and sorts everything again (SORT-0 to SORT-8, REQ-1, CYC-4).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cmp_to_key

from core.ledger.ledger import Ledger
from core.queues.spec import LimitSpec, PartitionSpec, QueueSpec
from core.resource import Resource
from core.workload.nodes.node import NodeFacts
from core.workload.states import AppState

MIN, MAX = -(2**31), 2**31 - 1

# -- what the walk knows ------------------------------


@dataclass(frozen=True)
class Pod:
    uid: str
    app: str
    leaf: str
    user: str
    size: Mapping[str, int]
    rank: tuple[int, float, int]
    zone: str
    node: str
    """The node on which it holds capacity, or empty."""
    held: bool
    """True if it holds quota: on a node, admitted, or by a turn."""
    late: bool = False
    backs_off: bool = False


@dataclass(frozen=True)
class App:
    id: str
    state: AppState
    submitted: float
    let_in: bool
    """True if no limit on applications holds it, since it was started by its own admission."""


class Ambiguous(Exception):
    """Two queues that differ only in their asks, of which neither asks for more."""


@dataclass
class View:
    queues: Mapping[str, QueueSpec]
    nodes: Mapping[str, NodeFacts]
    apps: Mapping[str, App]
    pods: dict[str, Pod]

    def children(self, path: str) -> list[str]:
        return sorted(each for each, spec in self.queues.items() if spec.parent == path)

    def chain(self, path: str) -> list[str]:
        parts = path.split(".")
        return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]

    def below(self, path: str, *, held: bool) -> list[Pod]:
        return [
            pod for pod in self.pods.values() if pod.held is held and (pod.leaf + ".").startswith(path + ".")
        ]

    def setting(self, path: str, key: str) -> str:
        """A property that children inherit."""
        return next(
            (
                spec.properties[key]
                for each in self.chain(path)
                if key in (spec := self.queues[each]).properties
            ),
            "",
        )

    def by_priority(self, path: str) -> bool:
        return self.setting(path, "application.sort.priority") != "disabled"

    def cap(self, path: str) -> Mapping[str, int] | None:
        if path == "root":
            return added(node.allocatable for node in self.nodes.values()) or None
        limit = self.queues[path].max
        return None if limit is None else dict(limit.items())


def added(sizes: Iterable[Mapping[str, int] | Resource]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for size in sizes:
        total.update(dict(size.items()))
    return dict(total)


def view_of(ledger: Ledger, document: PartitionSpec, *, now: float) -> View:
    pods = {}
    for record in ledger.view.pods():
        facts, turn = record.facts, ledger.view.turns.get(record.uid)
        app = (
            ledger.view.application(record.membership.application) if record.membership.application else None
        )
        assert app is not None
        assert app.queue is not None
        pods[record.uid] = Pod(
            record.uid,
            app.id,
            app.queue,
            facts.identity.user,
            dict(facts.size.items()),
            (-facts.priority, facts.created, record.seq),
            dict(facts.constraints.selector).get("zone", ""),
            turn.node
            if turn
            else record.node
            or record.placement.binding
            or (record.admission.noted if record.admission.reservation else ""),
            held=bool(record.node or record.admission.reservation or turn),
            late=record.admission.passed_over or record.admission.overlooked > 1,
            backs_off=record.admission.backs_off_until is not None and record.admission.backs_off_until > now,
        )
    apps = {app.id: App(app.id, app.state, app.submitted, app.let_in) for app in ledger.view.applications()}
    return View({spec.path: spec for spec in document.queues}, dict(ledger.view.nodes), apps, pods)


# -- the order (SORT, REQ) ------------------------------


def exported(view: View, path: str) -> int:
    """PRI-3 and PRI-4, from the asks up."""
    asked = [-pod.rank[0] for pod in view.below(path, held=False) if pod.leaf == path]
    raw = max((*asked, *(exported(view, child) for child in view.children(path))), default=MIN)
    properties = view.queues[path].properties
    offset = int(properties.get("priority.offset", "0"))
    if raw == MIN or path == "root":
        return raw
    return offset if properties.get("priority.policy") == "fence" else max(MIN, min(MAX, raw + offset))


def share(view: View, path: str) -> float:
    """SORT-3."""
    fair = dict(view.cap("root") or {})
    if fair:
        for each in reversed(view.chain(path)[:-1]):
            fair.update(view.cap(each) or {})
    due = {**fair, **dict((view.queues[path].guaranteed or Resource({})).items())}
    used = added(pod.size for pod in view.below(path, held=True))
    ratios = [
        (float(amount > 0) if due[name] <= 0 else amount / due[name])
        for name, amount in used.items()
        if name in due
    ]
    return max(0.0, *ratios) if ratios else 0.0


def asks_more(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    names = one.keys() | other.keys()
    return one != other and all(one.get(name, 0) >= other.get(name, 0) for name in names)


def queues_in_order(view: View, path: str) -> Iterator[str]:
    """SORT-0 to SORT-2. Queues without a defined order are not compared here."""
    by_priority, left = view.by_priority(path), []
    for child in view.children(path):
        pending = added(pod.size for pod in view.below(child, held=False))
        if pending:
            priority, part = -exported(view, child), share(view, child)
            left.append(((priority, part) if by_priority else (part, priority), pending, child))
    while left:
        best = min(key for key, _, _ in left)
        tied = [each for each in left if each[0] == best]
        for _, one, _ in tied:
            if not all(
                one == other or asks_more(one, other) or asks_more(other, one) for _, other, _ in tied
            ):
                raise Ambiguous
        first = next(each for each in tied if not any(asks_more(other, each[1]) for _, other, _ in tied))
        left.remove(first)
        yield first[2]


def usage(view: View, path: str, app: str) -> list[float]:
    """SORT-7, the largest first."""
    due = view.queues[path].guaranteed
    used = added(pod.size for pod in view.pods.values() if pod.app == app and pod.held)
    return sorted(
        (
            amount / due.get(name) if due is not None and due.get(name) else float(amount)
            for name, amount in used.items()
        ),
        reverse=True,
    )


def compared(one: list[float], other: list[float]) -> int:
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            return 1 if mine > theirs else -1
    longer = one[len(other) :] or other[len(one) :]
    first = next((each for each in longer if each), 0)
    return (1 if first > 0 else -1 if first < 0 else 0) * (1 if len(one) > len(other) else -1)


def asks_of(view: View, app: str) -> list[Pod]:
    """REQ-1."""
    return sorted(
        (pod for pod in view.pods.values() if pod.app == app and not pod.held), key=lambda pod: pod.rank
    )


def applications_in_order(view: View, path: str, apps: Iterable[str]) -> list[str]:
    """SORT-5."""
    fair = view.setting(path, "application.sort.policy") == "fair"

    def key(app: str) -> tuple[object, ...]:
        rank = asks_of(view, app)[0].rank[0]
        own = cmp_to_key(compared)(usage(view, path, app)) if fair else view.apps[app].submitted
        first = (rank, own) if view.by_priority(path) else (own, rank)
        return (*first, view.apps[app].submitted, app)

    return sorted(apps, key=key)


def let_in(view: View, path: str) -> set[str]:
    """SORT-8. A turn changes no state, so an Accepted application with a turn is the admitted one.

    An application without a placeable ask does not block others (CYC-7).
    """
    everyone = {pod.app for pod in view.pods.values() if pod.leaf == path}
    asking = {app for app in everyone if asks_of(view, app)}
    if view.setting(path, "application.sort.policy") != "stateaware":
        return asking
    accepted = {app for app in everyone if view.apps[app].state is AppState.ACCEPTED}
    starting = {app for app in everyone if view.apps[app].state is AppState.STARTING}
    chosen = asking - accepted - starting
    chosen.update(applications_in_order(view, path, asking & starting)[:1])
    if not starting:
        before = {pod.app for pod in view.pods.values() if pod.app in accepted and pod.held}
        chosen.update(asking & (before or accepted))
    return chosen


# -- what fits (CYC-4, CYC-5) ------------------------------


def entry(spec: QueueSpec, user: str) -> LimitSpec | None:
    named = [each for each in spec.limits if user in each.users]
    return next(iter(named or [each for each in spec.limits if "*" in each.users]), None)


def fits(view: View, pod: Pod) -> bool:
    for path in view.chain(pod.leaf):
        held = view.below(path, held=True)
        everyone = [*held, *view.below(path, held=False)]
        spec = view.queues[path]
        counted = [(view.cap(path), spec.max_applications, held, everyone)]
        limit = entry(spec, pod.user)
        if limit is not None:
            own = [each for each in everyone if each.user == pod.user]
            cap = dict(limit.max.items()) if limit.max else None
            counted.append((cap, limit.max_applications, [each for each in own if each.held], own))
        for cap, most, holders, all_ in counted:
            total = added([pod.size, *(each.size for each in holders)])
            if any(cap is not None and name in cap and total[name] > cap[name] for name in pod.size):
                return False
            if most and len(running(view, all_) - {pod.app}) >= most and not has_started(view, pod.app):
                return False
    return True


def has_started(view: View, app: str) -> bool:
    return view.apps[app].let_in and counts(view, app)


def counts(view: View, app: str) -> bool:
    """True if it counts as running."""
    return view.apps[app].state in (AppState.STARTING, AppState.RUNNING)


def running(view: View, pods: Iterable[Pod]) -> set[str]:
    """QUO-13. An application with a turn is about to run."""
    return {pod.app for pod in pods if pod.held or counts(view, pod.app)}


def node_for(view: View, pod: Pod) -> str | None:
    """Order open nodes by free capacity, smallest first, and then by name."""
    found = []
    for name, node in view.nodes.items():
        if node.unschedulable:
            continue
        held = added(each.size for each in view.pods.values() if each.node == name)
        free = {kind: amount - held.get(kind, 0) for kind, amount in node.allocatable.items()}
        enough = all(amount <= free.get(kind, 0) for kind, amount in pod.size.items())
        if enough and pod.zone in ("", node.labels.get("zone")):
            found.append((free["vcore"], name))
    return min(found)[1] if found else None


# -- the walk ------------------------------


def next_ask(view: View, path: str) -> tuple[Pod, str] | None:
    if not view.queues[path].is_leaf:
        steps = (next_ask(view, child) for child in queues_in_order(view, path))
        return next((step for step in steps if step is not None), None)
    for app in applications_in_order(view, path, let_in(view, path)):
        for pod in asks_of(view, app):
            if not (pod.late or pod.backs_off) and fits(view, pod) and (node := node_for(view, pod)):
                return pod, node
    return None


def ordered_asks(view: View) -> list[tuple[str, str]]:
    """Asks that get a turn, each with its node, in this order. Changes the view."""
    turns = []
    while (step := next_ask(view, "root")) is not None:
        take(view, turns, *step)
    late = [pod for pod in view.pods.values() if pod.late and not pod.held and not pod.backs_off]
    for pod in sorted(late, key=lambda each: (*each.rank, each.uid)):
        if pod.app in let_in(view, pod.leaf) and fits(view, pod) and (node := node_for(view, pod)):
            take(view, turns, pod, node)
    return turns


def take(view: View, turns: list[tuple[str, str]], pod: Pod, node: str) -> None:
    view.pods[pod.uid] = replace(pod, held=True, node=node)
    turns.append((pod.uid, node))
