"""Every scenario of this folder, played; and again with the rule it is about switched off.

Those about the order, gangs and preemption are played a second time with gates, and must go the same way.

A scenario's ``why`` begins with the rule and names, in backquotes, the entry that shows it. `MUTATIONS`
switches each rule off: the answer it would give if it did not apply, never an exception.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
import yaml

from core.decisions.decision import Ignored
from core.ids import AppId, QueuePath
from core.ledger.admission import cycle as turn_pass
from core.ledger.applications import classification as enrolment
from core.ledger.applications import membership, placement
from core.ledger.applications import rejection as rejections
from core.ledger.cluster import objects as surroundings
from core.ledger.pods import forced, sightings
from core.ledger.pods.record import Charge, Held, PodRecord
from core.ledger.state import State
from core.ledger.usage import charges as accounts
from core.ledger.view import Snapshot
from core.queues import headroom, room, tree
from core.queues import queue as queue_module
from core.queues.placement import rules
from core.queues.queue import Queue
from core.queues.users import limits
from core.reasons import Code, Refusal
from core.resource import Resource
from core.workload import managed
from core.workload.application import Application
from core.workload.gangs import room as gang_room
from core.workload.gangs.gang import Gang, Misdefined
from core.workload.pod import PodFacts
from extender.configuration import reload
from extender.engine import engine
from extender.queueconfig import load, translation
from extender.simulator import paddock, simulation
from extender.simulator.report.recording import Recording
from extender.simulator.run import run_scenario
from extender.simulator.scenario import objects
from extender.simulator.scenario.model import PodEntry
from extender.simulator.scenario.reader import read_scenario
from extender.simulator.scheduler import (
    default_preemption,
    node_choice,
    plugins,
    post_filter,
    scheduler,
    scheduling_queue,
)
from extender.wire import translate
from extender.wire.objects import sizing
from tests.scenarios.coscheduling_mutations import COSCHEDULING
from tests.scenarios.gang_mutations import GANG
from tests.scenarios.gate_mutations import GATE
from tests.scenarios.mutating import Mutate, answering, both, replaced, valued
from tests.scenarios.order_mutations import ORDER
from tests.scenarios.preemption_mutations import PREEMPTION
from tests.scenarios.quota_change_mutations import QUOTA_CHANGE
from tests.scenarios.room_mutations import ROOM

HERE = Path(__file__).parent
FILES = sorted(path for path in HERE.glob("*.yaml"))
RULE = re.compile(r"(?P<rule>[A-Z]+-[0-9]+(\.[0-9]+)?): .*`(?P<entry>[^`]+)`")


class Play(NamedTuple):
    """``gates``: with gates, whatever the file says: the turn is the same, only how it is told differs."""

    path: Path
    gates: bool

    @property
    def id(self) -> str:
        return self.path.stem + "-with-gates" * self.gates

    @property
    def named(self) -> re.Match[str]:
        """The rule and the entry that ``why`` names."""
        found = RULE.match(read_scenario(self.path).why)
        assert found is not None, f"{self.id}: why must begin with a rule and name an entry in backquotes"
        return found

    def run(self) -> Recording:
        scenario = read_scenario(self.path)
        return run_scenario(replace(scenario, gates=scenario.gates or self.gates))


PLAYS = [Play(path, gates=False) for path in FILES]
WITH_GATES = ("coscheduling-", "gang-", "guarantee-", "order-", "quota-change", "required-node-")
PLAYS += [Play(path, gates=True) for path in FILES if path.stem.startswith(WITH_GATES)]

every_play = pytest.mark.parametrize(
    "play", [pytest.param(play, id=play.id, marks=pytest.mark.rule(play.named["rule"])) for play in PLAYS]
)


@every_play
def test_it_happens_as_expected(play: Play) -> None:
    recording = play.run()
    assert recording.differences == ()
    assert recording.checks > 0


@pytest.mark.rule("F-2")
@pytest.mark.parametrize("path", [play.path for play in PLAYS if play.gates], ids=lambda path: path.stem)
def test_it_happens_so_where_gates_are_the_only_guard(path: Path) -> None:
    """Markers cut to ``preempt``: a turn is a charge from the opening of the gate on."""
    scenario = read_scenario(path)
    steps = tuple(replace(step, submit=tuple(map(_marked, step.submit))) for step in scenario.steps)
    assert run_scenario(replace(scenario, gates=True, steps=steps)).differences == ()


def _marked(entry: PodEntry) -> PodEntry:
    return entry if entry.node else replace(entry, requests={**entry.requests, "paddock.dev/preempt": "1"})


@pytest.mark.corrupts_ledger
@every_play
def test_it_differs_without_its_rule(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTATIONS[play.path.stem](monkeypatch)
    entries = {difference.entry for difference in play.run().differences}
    wanted = play.named["entry"]
    assert any(entry == wanted or entry.startswith(wanted + ".") for entry in entries), entries


def test_every_scenario_has_a_mutation_and_no_other_is_left() -> None:
    assert {path.stem for path in FILES} == MUTATIONS.keys()
    assert len(FILES) >= 25


KEYS = """
apiVersion kind name why config settings delays watch bind gates scheduler percentageOfNodesToScore
podMaxBackoffSeconds cluster nodes count cpu memory pods labels taints unschedulable priorityClasses
value preemptionPolicy annotations namespaces podDisruptionBudgets namespace matchLabels maxUnavailable
steps at addNodes removeNodes cordon uncordon submit resize complete fail delete ungate restart
stopScheduler restartScheduler kill after nth app queue user groups resources priority priorityClass
taskGroups taskGroup schedulingPolicy podGroup minAvailable node age nodeSelector tolerations daemonSet
requiredNode runFor recreate grace schedulerName spec expect placed placedAnyOrder evicted running
pending phase reason nominatedNode message queues applications users exists placeholders configRejected
"""
"""Every key of the scenario format."""


def test_every_key_of_the_format_is_used_in_a_scenario() -> None:
    used: set[str] = set()
    for path in FILES:
        used |= set(_keys(yaml.safe_load(path.read_text())))
    assert set(KEYS.split()) - used == set()


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield str(key)
            yield from _keys(below)
    elif isinstance(value, list):
        for below in value:
            yield from _keys(below)


# -- how each rule is switched off ---------------------------------------------------------------------------


NO_QUOTA = both(answering(room, "shortfall", None), answering(room, "passed_queues", ()))


def _leaf_only(rule: Callable[..., Any], chain: Any, size: Resource, **more: Any) -> Any:
    return rule(chain[:1], size, **more)


def _all_types(rule: Callable[..., Any], queue: Any, size: Resource, extra: Any) -> Any:
    """Also types that nobody asks for."""
    cap = queue.max
    more = {} if cap is None else {name: 0 for name in cap.names() if name not in size}
    held = queue.allocated.as_resource()
    over = [name for name in more if cap is not None and held.get(name) > (cap.get(name) or 0)]
    return over[0] if over else rule(queue, size, extra)


def _free_while_deleting(rule: Callable[..., Any], state: State, record: PodRecord) -> Charge | None:
    charge = rule(state, record)
    return None if record.facts.deleting else charge


def _unreserved(rule: Callable[..., Any], state: State, record: PodRecord) -> Charge | None:
    charge = rule(state, record)
    if charge is not None and charge.held is Held.RESERVED:
        return charge._replace(held=Held.PENDING)
    return charge


def _late(rule: Callable[..., Any], state: State, record: PodRecord) -> Charge | None:
    """Only what the API shows counts."""
    charge = rule(state, record)
    if charge is not None and charge.held is Held.ALLOCATED and not record.facts.node:
        return charge._replace(held=Held.PENDING)
    return charge


def _first_size(rule: Callable[..., Any], state: State, record: PodRecord) -> Charge | None:
    charge = rule(state, record)
    known = state.charges.get(record.uid)
    return charge._replace(size=known.size) if charge is not None and known is not None else charge


def _empty_queues(rule: Callable[..., Any], self: tree.QueueTree, partition: Any) -> None:
    """Usage is not carried over."""
    rule(self, partition)
    for queue in self:
        queue.allocated = type(queue.allocated)()


def _clamped(rule: Callable[..., Any], cap: Any, used: Any) -> Any:
    room = rule(cap, used)
    return type(room)({name: max(0, amount) for name, amount in room.items()})


def _undrained(rule: Callable[..., Any], walk: Any, queue: Any) -> Any:
    refusal = rule(walk, queue)
    return None if refusal is not None and refusal.code is Code.QUEUE_DRAINING else refusal


def _failed(rule: Callable[..., Any], walk: Any, queue: Any) -> Any:
    return Refusal(Code.PLACEMENT_FAILED, "no queue") if rule(walk, queue) is not None else None


def _unforced(rule: Callable[..., Any], tree: Any, known: Any, request: rules.PlacementRequest) -> Any:
    return rule(tree, known, replace(request, forced=False))


def _still_dynamic(rule: Callable[..., Any], queue: Queue, spec: Any) -> None:
    before = queue.dynamic
    rule(queue, spec)
    queue.dynamic = before


def _plain_rank(record: PodRecord) -> tuple[int, float, int, Any]:
    return (-record.facts.priority, 0.0, record.seq, record.facts.uid)


def _per_queue(rule: Callable[..., AppId], pod: PodFacts, *, unique: bool) -> AppId:
    known = rule(pod, unique=unique)
    return known._replace(name=f"{known.name}-{pod.queue}")


def _cordon_counts(patch: pytest.MonkeyPatch) -> None:
    before = surroundings._set_node

    def set_node(state: Any, name: Any, node: Any) -> None:
        hidden = None if node is not None and node.unschedulable else node
        before(state, name, hidden)

    patch.setattr(surroundings, "_set_node", set_node)


def _no_namespace(rule: Callable[..., Any], pod: PodFacts, namespace: Any, **more: Any) -> Any:
    return bool(rule(pod, None, **more))


def _no_effects(rule: Callable[..., Any], self: Any) -> tuple[()]:
    rule(self)
    return ()


def _by_creation(queued: scheduling_queue.Queued) -> tuple[int, int, int]:
    return (0, queued.queued_at, queued.info.pod.seq)


def _pool_for_errors(rule: Callable[..., Any], self: Any, queued: Any, place: scheduling_queue.Place) -> None:
    rule(self, queued, scheduling_queue.Place.POOL if place is scheduling_queue.Place.ERROR else place)


def _unlisted(rule: Callable[..., Any], self: paddock.Life) -> None:
    """A restart that reads no pods."""
    live = self._world.api.live_pods
    self._world.api.live_pods = lambda: iter(())  # type: ignore[method-assign]
    rule(self)
    self._world.api.live_pods = live  # type: ignore[method-assign]


def _idle(rule: Callable[..., Any], self: scheduler.PlayedScheduler) -> bool:
    """A scheduler that tries nobody it found when it started."""
    known = getattr(self, "_found", None)
    if known is None:
        self._found = True  # type: ignore[attr-defined]
        if self._clock.now > 0:
            for pod in list(self._known):
                self._queue.remove(pod)
    return bool(rule(self))


def _no_containers(rule: Callable[..., Any], pod: Any) -> Resource:
    return rule(type(pod)(pod.metadata, _without_init(pod.spec), pod.status))


def _without_init(spec: Any) -> Any:
    return msgspec.structs.replace(spec, init_containers=None)


def _large_if_broken(rule: Callable[..., Any], state: Any, record: PodRecord) -> Any:
    """What cannot be read is a gang nevertheless."""
    broken = isinstance(record.facts.gang, Misdefined)
    return Gang((), Resource({})) if broken else rule(state, record)


def _whatever_its_namespace(rule: Callable[..., AppId], pod: PodFacts, *, unique: bool) -> AppId:
    return rule(pod, unique=unique)._replace(namespace="")


def _all_of_it(_: Callable[..., Any], state: State, application: Application, __: Any) -> list[PodRecord]:
    """What waits goes to the recovery queue with what runs."""
    placement.settle_in(state, application, state.tree.recovery_queue().path)
    return []


MUTATIONS: dict[str, Mutate] = {
    "application-of-another-namespace": replaced(membership, "application_id", _whatever_its_namespace),
    "application-across-namespaces-of-one-user": replaced(
        membership, "_host_of", lambda rule, state, record, own: own
    ),
    "placement-of-what-waits-beside-a-bound-pod": replaced(forced, "_recover", _all_of_it),
    "restart-with-a-removed-queue": replaced(forced, "_recover", _all_of_it),
    **COSCHEDULING,
    **GANG,
    **GATE,
    **ORDER,
    **PREEMPTION,
    **QUOTA_CHANGE,
    **ROOM,
    "limit-of-another-user-does-not-hold-mine": replaced(
        limits.Claimant, "tracked", lambda rule, self, path: rule(self._replace(user="everybody"), path)
    ),
    "node-kept-for-a-large-pod": answering(turn_pass, "may_seek", False),
    "node-kept-with-gates": answering(turn_pass, "may_seek", False),
    "placement-of-a-bound-pod-beside-a-default-queue": replaced(placement, "decide_queue", _unforced),
    "placement-rejection-can-fail-the-pods": answering(rejections, "mark_failed", None),
    "properties-go-down-to-children": replaced(
        queue_module, "inherited", lambda rule, parent, own: dict(own)
    ),
    "quota-of-nothing-but-zeros": replaced(
        translation, "_maximum", lambda rule, texts, zero_blocks: rule(texts, False)
    ),
    "template-of-the-nearest-parent": valued(Queue, "template", None),
    "access-denied": answering(rules, "may_submit", True),
    "limit-of-a-group": replaced(limits.Limits, "of_group", lambda rule, self, path, group: None),
    "limit-of-a-user": replaced(limits.Limits, "of_user", lambda rule, self, path, user: None),
    "limit-of-applications": answering(room.Room, "_applications", None),
    "namespace-quota": answering(tree.QueueTree, "limit", None),
    "over-max-by-a-forced-pod": NO_QUOTA,
    "placement-by-namespace": valued(Queue, "template", None),
    "placement-by-user": replaced(rules._Walk, "_parent", lambda rule, walk, parent: "root"),
    "placement-filters": answering(rules, "passes", True),
    "placement-of-a-bound-pod": replaced(placement, "decide_queue", _unforced),
    "reload-takes-a-dynamic-queue-over": replaced(Queue, "configure", _still_dynamic),
    "application-id-from-old-labels": answering(translate, "_app_id", ""),
    "application-stays-in-its-first-queue": replaced(membership, "application_id", _per_queue),
    "bind-that-takes-long": replaced(accounts, "charge_of", _unreserved),
    "cleaner-runs-every-ten-seconds": answering(engine.Engine, "clean", None),
    "daemon-set-pod": answering(objects, "_only_on", {}),
    "draining-takes-no-new-application": replaced(rules._Walk, "_why_not", _undrained),
    "gang-in-a-fair-queue": answering(gang_room, "_not_fifo", None),
    "gang-keys-are-read": answering(objects, "_labels", {}),
    "gang-larger-than-its-namespace": answering(tree.QueueTree, "limit", None),
    "gang-larger-than-its-queue": answering(gang_room, "refusal_of_size", None),
    "gang-scheduling-switched-off": replaced(
        membership, "gang_of", lambda rule, state, record: record.facts.gang
    ),
    "gang-that-runs-outlives-a-restart": answering(placement, "awaits_pods", False),
    "gang-with-broken-task-groups": replaced(membership, "gang_of", _large_if_broken),
    "gate-of-another-is-no-request": valued(PodFacts, "gated", False),
    "gate-opens-when-there-is-room": replaced(turn_pass.TurnPass, "slice", _no_effects),
    "killed-right-after-a-binding": replaced(paddock.Life, "start", _unlisted),
    "managed-by-namespace": both(
        replaced(enrolment, "is_managed", _no_namespace), replaced(engine, "is_managed", _no_namespace)
    ),
    "nominated-node-is-kept": answering(node_choice.Nominator, "on", ()),
    "placement-fails-without-a-queue": answering(
        placement, "decide_queue", rules.Chosen(QueuePath("root.a"))
    ),
    "placement-falls-back-to-default": valued(rules, "DEFAULT_QUEUE", "root.nowhere"),
    "placement-refuses-a-parent": replaced(rules._Walk, "_why_not", _failed),
    "preemption-and-a-controller": answering(simulation.Cluster, "_recreate", None),
    "preemption-never": answering(post_filter.PostFilter, "_ineligible", ""),
    "preemption-prefers-pods-without-budget": answering(default_preemption, "matches", False),
    "preemption-vetoed-without-quota": answering(engine, "decide_preemption", Ignored()),
    "preemption-by-a-pod-in-no-queue": both(
        answering(enrolment, "is_managed", True), answering(engine, "is_managed", True)
    ),
    "queues-of-a-file": NO_QUOTA,
    "quota-checks-requested-types-only": replaced(headroom, "_excess", _all_types),
    "quota-counts-pods": answering(sizing, "_as_one_pod", Resource({})),
    "quota-holds-a-queue-at-its-max": NO_QUOTA,
    "quota-of-a-parent-binds-its-leaves": both(
        replaced(room, "shortfall", _leaf_only), replaced(room, "passed_queues", _leaf_only)
    ),
    "quota-of-the-root-counts-cordoned-nodes": _cordon_counts,
    "quota-of-the-root-is-its-nodes": answering(headroom, "_unknown_type", None),
    "release-at-success": answering(sightings, "delete_pod", None),
    "release-not-before-a-pod-is-gone": replaced(accounts, "charge_of", _free_while_deleting),
    "reload-keeps-usage": replaced(tree.QueueTree, "apply", _empty_queues),
    "reload-lowers-a-max": replaced(headroom, "_own_room", _clamped),
    "reload-refuses-a-broken-document": answering(load, "_problems", ()),
    "resize-counts-unasked": replaced(accounts, "charge_of", _first_size),
    "restart-forgets-nothing": replaced(paddock.Life, "start", _unlisted),
    "restart-of-the-scheduler": replaced(scheduler.PlayedScheduler, "cycle", _idle),
    "scheduler-order": valued(scheduling_queue.Queued, "key", property(_by_creation)),
    "scheduler-samples-nodes": answering(node_choice.NodeChoice, "_most_nodes", 10**6),
    "scheduler-scores": answering(plugins, "score_on", 0),
    "scheduler-taints-and-selectors": answering(plugins, "_static", None),
    "scheduler-waits-after-an-error": replaced(scheduling_queue.PodQueue, "put_back", _pool_for_errors),
    "settings-change-whose-pods-are-managed": replaced(
        reload, "settings_from", lambda rule, keys, overrides: rule({}, overrides)
    ),
    "size-of-a-pod-with-init-containers": replaced(translate, "pod_size", _no_containers),
    "turns-of-a-first-burst-beside-a-cordoned-node": answering(Snapshot, "crowds", False),
    "turns-beside-a-node-of-no-use": both(
        answering(Snapshot, "turns_leave_no_node", False), answering(Snapshot, "found_no_node", False)
    ),
    "unmanaged-in-kube-system": valued(managed, "SYSTEM_NAMESPACE", "none"),
    "unmanaged-pods-pass": both(
        answering(enrolment, "is_managed", True), answering(engine, "is_managed", True)
    ),
    "wake-the-oldest-first": valued(PodRecord, "rank", property(_plain_rank)),
    "wake-when-quota-is-raised": replaced(turn_pass.TurnPass, "slice", _no_effects),
    "watch-that-is-late": replaced(accounts, "charge_of", _late),
}
