"""Expectations of a step, compared with the cluster. Every comparison of the format is here."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.decisions.gating import why_gated
from core.ledger.view import LedgerView
from core.workload.pod import OWN_GATE
from extender.rest.facts import Facts
from extender.rest.members import members
from extender.rest.projection.applications import app_from
from extender.rest.projection.queues import one_queue
from extender.rest.projection.usage import one_group, one_user
from extender.simulator.cluster.api_server import conditions_of
from extender.simulator.cluster.played_objects import Pod
from extender.simulator.report.recorder import UNSCHEDULABLE
from extender.simulator.report.recording import Difference
from extender.simulator.scenario.model import Expect
from extender.simulator.scenario.rest_subsets import differences_in
from extender.simulator.simulation import Cluster

NONE = "none"


@dataclass(slots=True)
class Checked:
    """Outcome of one ``expect``."""

    #: Expectations that were not met.
    differences: list[Difference]
    #: Number of comparisons made.
    count: int


class Expectations:
    """Comparisons for one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def check(self, expect: Expect, *, config_error: str) -> Checked:
        """Compare everything that ``expect`` names.

        ``config_error``: why this step's configuration was refused.
        """
        found: list[Difference] = []
        count = 0
        for entry, difference in self._compared(expect, config_error):
            count += 1
            if difference is not None:
                expected, actual, about = difference
                found.append(self._difference(expect, entry, expected, actual, about))
        return Checked(found, count)

    def _difference(self, expect: Expect, entry: str, expected: str, actual: str, about: str) -> Difference:
        line = _line_of(entry, expect)
        story = self._cluster.recorder.story(about) if about else ()
        return Difference(entry, self._cluster.clock.now, line, expected, actual, story)

    def _compared(self, expect: Expect, config_error: str) -> "Iterator[Compared]":
        yield from self._configuration(expect, config_error)
        yield from self._lists(expect)
        yield from self._counts(expect)
        for name, wanted in (expect.pods or {}).items():
            yield from self._pod(name, wanted)
        yield from self._objects("queues", expect.queues, self._queue_object)
        yield from self._objects("applications", expect.applications, self._application_object)
        yield from self._objects("users", expect.users, self._user_object)
        yield from self._objects("groups", expect.groups, self._group_object)
        for name, exists in (expect.exists or {}).items():
            actual = self._view.tree.get(name) is not None
            yield f"exists.{name}", _unless(exists, actual, name)

    # -- the configuration -----------------------------------------------------------------------------------

    def _configuration(self, expect: Expect, error: str) -> "Iterator[Compared]":
        if expect.config_rejected is None:
            return
        refused = bool(error)
        yield "configRejected", _unless(expect.config_rejected, refused, "")
        if expect.message is not None and refused:
            fits = re.search(expect.message, error) is not None
            yield "message", None if fits else (f"/{expect.message}/", error, "")

    # -- what happened ---------------------------------------------------------------------------------------

    def _lists(self, expect: Expect) -> "Iterator[Compared]":
        since = self._cluster.recorder.since
        if expect.placed is not None:
            yield "placed", _ordered(expect.placed, since.placed)
        if expect.placed_any_order is not None:
            yield "placedAnyOrder", _unordered(expect.placed_any_order, since.placed)
        if isinstance(expect.evicted, tuple):
            yield "evicted", _unordered(expect.evicted, since.evicted)
        elif expect.evicted is not None:
            yield "evicted", _counted(expect.evicted, since.evicted)

    def _counts(self, expect: Expect) -> "Iterator[Compared]":
        pods = [pod for pod in self._cluster.api.live_pods() if not pod.terminal]
        own = [pod for pod in pods if pod.entry is not None]
        for name, count in (expect.running or {}).items():
            actual = sum(1 for pod in own if pod.node and pod.entry and pod.entry.name == name)
            yield f"running.{name}", _unless(count, actual, self._first_of(name))
        for name, count in (expect.pending or {}).items():
            actual = sum(1 for pod in own if not pod.node and pod.entry and pod.entry.name == name)
            yield f"pending.{name}", _unless(count, actual, self._first_of(name))
        for name, count in (expect.placeholders or {}).items():
            actual = sum(1 for pod in pods if pod.entry is None and pod.facts.app_id == name)
            yield f"placeholders.{name}", _unless(count, actual, "")

    def _first_of(self, name: str) -> str:
        """A pod of a ``submit`` line for the story; one that waits, if there is one."""
        pods = [pod for pod in self._cluster.api.live_pods() if pod.entry and pod.entry.name == name]
        waiting = [pod for pod in pods if not pod.node]
        return (waiting or pods)[0].full_name if pods else name

    # -- one pod ---------------------------------------------------------------------------------------------

    def _pod(self, name: str, wanted: Mapping[str, str]) -> "Iterator[Compared]":
        pod = self._cluster.find_pod(name, even_if_deleted=True)
        for key, expected in wanted.items():
            entry = f"pods.{name}.{key}"
            if pod is None:
                yield entry, (f"{expected}", "no such pod", name)
                continue
            actual = self._pod_value(pod, key)
            fits = re.search(expected, actual) is not None if key == "message" else expected == actual
            shown = f"/{expected}/" if key == "message" else expected or NONE
            yield entry, None if fits else (shown, actual or NONE, pod.full_name)

    def _pod_value(self, pod: Pod, key: str) -> str:
        match key:
            case "node":
                return pod.node
            case "phase":
                return pod.phase if pod.exists else ""
            case "nominatedNode":
                return pod.nominated
            case "message":
                return str(conditions_of(pod.body, "PodScheduled").get("message", ""))
            case _:
                return self._reason(pod)

    def _reason(self, pod: Pod) -> str:
        """The code of the last decision on a pod. At Paddock's gate, the code that holds it (rule 10)."""
        if pod.node or not pod.exists:
            return ""
        if OWN_GATE in pod.facts.gates:
            record = self._view.pod(pod.uid)
            return why_gated(self._view, record).code.value if record and record.is_ask else UNSCHEDULABLE
        return self._cluster.recorder.reason_of(pod)

    # -- REST objects ----------------------------------------------------------------------------------------

    @property
    def _view(self) -> LedgerView:
        return self._cluster.paddock.life.view

    def _objects(
        self,
        kind: str,
        wanted: Mapping[str, Mapping[str, Any]] | None,
        read: Callable[[str], Mapping[str, Any] | None],
    ) -> "Iterator[Compared]":
        for name, subset in (wanted or {}).items():
            actual = read(name)
            entry = f"{kind}.{name}"
            if actual is None:
                yield entry, ("to exist", "does not exist", name)
                continue
            differences = differences_in(subset, actual, entry)
            if not differences:
                yield entry, None
            for path, expected, found in differences:
                yield path, (expected, found, name)

    @property
    def _facts(self) -> Facts:
        return Facts(self._view)

    def _queue_object(self, name: str) -> Mapping[str, Any] | None:
        queue = self._view.tree.get(name)
        return members(one_queue(self._facts, queue, subtree=True)) if queue is not None else None

    def _application_object(self, name: str) -> Mapping[str, Any] | None:
        """The REST object of an application, by its id or by namespace, slash and id.

        Of several the one that was placed.
        """
        identities = self._view.identities
        namespace, slash, own = name.partition("/")
        found = list(identities.named(name))
        if slash and not found:
            found = [each for each in identities.named(own) if each.id.namespace == namespace]
        application = next(iter(found), None) or identities.ended(name)
        return members(app_from(self._facts, application)) if application is not None else None

    def _user_object(self, name: str) -> Mapping[str, Any] | None:
        return members(one_user(self._facts, name))

    def _group_object(self, name: str) -> Mapping[str, Any] | None:
        return members(one_group(self._facts, name))


Compared = tuple[str, tuple[str, str, str] | None]
"""A comparison: the entry and, for a difference, expected, actual, and the pod or queue concerned."""


def _unless(expected: object, actual: object, about: str) -> tuple[str, str, str] | None:
    return None if expected == actual else (_text(expected), _text(actual), about)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ordered(expected: Sequence[str], actual: Sequence[Pod]) -> tuple[str, str, str] | None:
    pairs = zip(expected, actual, strict=False)
    same = len(expected) == len(actual) and all(_is(name, pod) for name, pod in pairs)
    return None if same else _difference(expected, actual)


def _unordered(expected: Sequence[str], actual: Sequence[Pod]) -> tuple[str, str, str] | None:
    left = list(actual)
    for name in expected:
        found = next((pod for pod in left if _is(name, pod)), None)
        if found is None:
            return _difference(expected, actual)
        left.remove(found)
    return _difference(expected, actual) if left else None


def _counted(expected: Mapping[str, int], actual: Sequence[Pod]) -> tuple[str, str, str] | None:
    """Compare numbers by name of the ``submit`` line; a name that is absent counts as 0."""
    found = Counter(pod.entry.name if pod.entry is not None else pod.full_name for pod in actual)
    odd = [name for name in sorted({*expected, *found}) if expected.get(name, 0) != found[name]]
    if not odd:
        return None
    about = next((pod.full_name for pod in actual if pod.entry and pod.entry.name == odd[0]), odd[0])
    return _numbers(expected), _numbers(found), about


def _numbers(counts: Mapping[str, int]) -> str:
    return "{" + ", ".join(f"{name}: {count}" for name, count in sorted(counts.items())) + "}"


def _difference(expected: Sequence[str], actual: Sequence[Pod]) -> tuple[str, str, str]:
    """Compare two lists of pods. The story is about the first pod that is in one list only."""
    names = [pod.full_name for pod in actual]
    odd = next((name for name in expected if not any(_is(name, pod) for pod in actual)), "")
    odd = odd or next((pod.full_name for pod in actual if not any(_is(name, pod) for name in expected)), "")
    return f"[{', '.join(expected)}]", f"[{', '.join(names)}]", odd


def _is(name: str, pod: Pod) -> bool:
    return name in (pod.name, f"{pod.namespace}/{pod.name}")


def _line_of(entry: str, expect: Expect) -> int:
    """The line of an entry, or of the nearest thing above it that the file has."""
    while entry:
        if entry in expect.lines:
            return expect.lines[entry]
        entry = entry.rpartition(".")[0]
    return expect.line
