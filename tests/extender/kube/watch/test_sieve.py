"""Updates of pods on nodes that change nothing known end at the decoder, and no others do."""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from core.ledger import events as on
from core.workload.pod import PodFacts
from extender.kube.connection.api import KubeError
from extender.kube.watch.pods import pod_reflector
from extender.kube.watch.sieve import UNREAD_CONDITIONS, BoundPods
from extender.wire import translate

Pod = dict[str, Any]


def bound_pod() -> Pod:
    """A pod with a value in every field that facts are made of."""
    return {
        "metadata": {
            "name": "p",
            "namespace": "default",
            "uid": "uid-p",
            "resourceVersion": "7",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "deletionTimestamp": "2026-01-02T00:00:00Z",
            "labels": {"yunikorn.apache.org/queue": "root.a", "disableStateAware": "true"},
            "annotations": {"yunikorn.apache.org/app-id": "app", "paddock.dev/gate-opened": "true"},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "uid-o", "controller": True}
            ],
            "managedFields": [{"manager": "kubelet", "time": "2026-01-01T00:00:00Z"}],
        },
        "spec": {
            "nodeName": "n1",
            "schedulerName": "yunikorn",
            "priority": 5,
            "priorityClassName": "high",
            "preemptionPolicy": "Never",
            "terminationGracePeriodSeconds": 9,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}],
            "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "2"}}}],
            "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
            "nodeSelector": {"zone": "a"},
            "overhead": {"cpu": "10m"},
        },
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "nominatedNodeName": "n2",
            "resize": "Proposed",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:01Z"},
                {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"},
                {"type": "paddock.dev/Admitted", "status": "False", "message": "waits"},
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:03Z"},
            ],
            "containerStatuses": [
                {
                    "name": "c",
                    "ready": True,
                    "restartCount": 1,
                    "allocatedResources": {"cpu": "2"},
                    "resources": {"requests": {"cpu": "3"}},
                }
            ],
        },
    }


def facts_of(pod: Pod) -> PodFacts | None:
    try:
        return replace(translate.pod_from(translate.POD.decode(json.dumps(pod))), version=0)
    except ValueError:
        return None


def take(sieve: BoundPods, pod: Pod) -> bool:
    """Show a pod as a reflector does. Return True if it is held back."""
    raw = json.dumps(pod, separators=(",", ":")).encode()
    sieve.meta_of(raw)
    if sieve.is_repeat():
        return True
    sieve.took(sieve.decode(raw))
    return False


def changes(value: Any) -> Iterator[Callable[[], None]]:
    """Changes of one leaf at a time, in place. The value is as before once the next one is asked for."""
    places = value.items() if isinstance(value, dict) else enumerate(value)
    for at, held in list(places):
        if isinstance(held, dict | list):
            yield from changes(held)
        else:
            for other in (_another(held), None):
                yield lambda at=at, other=other: value.__setitem__(at, other)
                value[at] = held


def _another(held: object) -> object:
    match held:
        case bool():
            return not held
        case int():
            return held + 1
        case "1" | "2" | "3" | "1Gi" | "10m":
            return "7"
        case str() if held.startswith("20"):
            return "2026-03-03T00:00:00Z"
        case _:
            return "Failed" if held == "Running" else "another"


def test_every_change_of_a_pods_facts_passes() -> None:
    pod, sieve = bound_pod(), BoundPods()
    before, found = facts_of(pod), 0
    for change in changes(pod):
        sieve.clear()
        take(sieve, bound_pod())
        change()
        after = facts_of(pod)
        if after is not None and after != before:
            found += 1
            assert not take(sieve, pod), pod
    assert found > 25, "too few changes were made to tell anything"
    assert facts_of(pod) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda pod: pod["metadata"].update(resourceVersion="8", managedFields=[]),
        lambda pod: pod["status"].update(podIP="10.0.0.2", hostIP="10.0.0.3"),
        lambda pod: pod["status"].update(phase="Pending"),
        lambda pod: pod["status"]["containerStatuses"][0].update(ready=False, restartCount=9),
        lambda pod: pod["status"]["conditions"][3].update(status="False", message="not ready"),
        lambda pod: pod["status"]["conditions"].extend({"type": each} for each in sorted(UNREAD_CONDITIONS)),
    ],
    ids=["version", "addresses", "phase", "restarts", "readiness", "conditions of kubelets"],
)
def test_what_a_kubelet_writes_of_a_pod_on_its_node_is_held_back(change: Callable[[Pod], None]) -> None:
    sieve, pod = BoundPods(), bound_pod()
    assert not take(sieve, pod)
    change(pod)
    assert take(sieve, pod)


def test_a_pod_without_a_node_passes_always() -> None:
    """Bodies of calls are compared with its version."""
    sieve, pod = BoundPods(), bound_pod()
    del pod["spec"]["nodeName"]
    assert [take(sieve, pod) for _ in range(3)] == [False, False, False]
    assert len(sieve) == 0


def test_a_value_that_looks_like_a_node_gives_a_pod_no_node() -> None:
    sieve, pod = BoundPods(), bound_pod()
    del pod["spec"]["nodeName"]
    pod["metadata"]["annotations"]["nodeName"] = "n1"
    assert [take(sieve, pod) for _ in range(3)] == [False, False, False]


def test_a_value_in_another_form_is_a_repetition() -> None:
    """As long as each of its fields is equal."""
    sieve, pod = BoundPods(), bound_pod()
    assert not take(sieve, pod)
    pod["metadata"] |= {"ownerReferences": [dict(reversed(pod["metadata"]["ownerReferences"][0].items()))]}
    assert take(sieve, dict(reversed(pod.items())))


def test_of_two_statuses_of_one_container_the_last_one_counts() -> None:
    """As for its size. No kubelet writes two, but another party may."""
    sieve, pod = BoundPods(), bound_pod()
    before = facts_of(pod)
    assert not take(sieve, pod)
    pod["status"]["initContainerStatuses"] = [{"name": "c", "ready": True}]
    assert facts_of(pod) != before
    assert not take(sieve, pod)


def test_a_state_that_comes_back_passes_again() -> None:
    sieve, other = BoundPods(), bound_pod()
    other["metadata"]["labels"]["x"] = "y"
    assert [take(sieve, each) for each in (bound_pod(), other, bound_pod())] == [False, False, False]


def test_deleted_pods_and_a_list_are_forgotten() -> None:
    sieve = BoundPods()
    take(sieve, bound_pod())
    sieve.drop("uid-p")
    assert not take(sieve, bound_pod())
    sieve.clear()
    assert not take(sieve, bound_pod())


class _Nothing:
    async def get(self, *_: object, **__: object) -> bytes:
        raise AssertionError

    def stream(self, *_: object, **__: object) -> Any:
        raise AssertionError


def line(kind: str, pod: Pod, *, spaced: bool = False) -> bytes:
    separators = (", ", ": ") if spaced else (",", ":")
    return json.dumps({"type": kind, "object": pod}, separators=separators).encode()


@pytest.mark.parametrize("spaced", [False, True], ids=["as the API server writes", "in another form"])
def test_a_reflector_reports_only_what_passes(spaced: bool) -> None:
    learned: list[on.Event] = []
    reflector = pod_reflector(_Nothing(), learned.append)
    pod, ready = bound_pod(), copy.deepcopy(bound_pod())
    ready["status"]["conditions"][3]["status"] = "False"
    for kind, each in (("ADDED", pod), ("MODIFIED", ready), ("MODIFIED", pod), ("DELETED", pod)):
        reflector.take(line(kind, each, spaced=spaced))
    assert [type(each) for each in learned] == [on.PodObserved, on.PodDeleted]
    assert reflector.events == 4


def test_an_invalid_pod_is_no_repetition_and_hides_no_later_change() -> None:
    learned: list[on.Event] = []
    reflector = pod_reflector(_Nothing(), learned.append)
    broken, changed = bound_pod(), bound_pod()
    broken["spec"]["priority"] = "x"
    changed["metadata"]["labels"]["x"] = "y"
    for each in (bound_pod(), broken, changed):
        reflector.take(line("MODIFIED", each))
    assert len(learned) == 2


@pytest.mark.parametrize(
    "text", [b'{"type":"MODIFIED","object":{"metadata":{}', b'{"type":"ADDED","object":}']
)
def test_a_line_that_is_no_json_ends_the_watch(text: bytes) -> None:
    with pytest.raises(KubeError, match="watch of pods"):
        pod_reflector(_Nothing(), lambda _: None).take(text)


@pytest.mark.parametrize("node", ["", "n1"], ids=["pending", "bound"])
def test_a_pod_is_decoded_as_it_stands(node: str) -> None:
    pod = bound_pod()
    pod["spec"]["nodeName"] = node
    raw = json.dumps(pod, separators=(",", ":")).encode()
    sieve = BoundPods()
    meta = sieve.meta_of(raw)
    assert (meta.uid, meta.full_name, meta.resource_version) == ("uid-p", "default/p", "7")
    assert sieve.decode(raw) == translate.pod_from(translate.POD.decode(raw))


@pytest.mark.parametrize("node", ["", "n1"], ids=["pending", "bound"])
def test_an_invalid_pod_has_its_name_and_no_facts(node: str) -> None:
    pod = bound_pod()
    pod["spec"] |= {"nodeName": node, "priority": "high"}
    raw = json.dumps(pod, separators=(",", ":")).encode()
    sieve = BoundPods()
    assert sieve.meta_of(raw).full_name == "default/p"
    assert not sieve.is_repeat()
    with pytest.raises(ValueError, match="priority"):
        sieve.decode(raw)


def test_a_pod_read_before_leaves_nothing_to_the_next() -> None:
    sieve, pod = BoundPods(), bound_pod()
    pod["spec"]["nodeName"] = ""
    sieve.meta_of(json.dumps(pod, separators=(",", ":")).encode())
    raw = json.dumps(bound_pod(), separators=(",", ":")).encode()
    assert sieve.decode(raw).node == "n1", "as an item of a list, which is not read before"
    sieve.meta_of(raw)
    assert sieve.decode(raw).node == "n1"
