"""The observer finds what it is there to find."""

from typing import Any

from e2e.cluster.observer import Rules

LIMITS = {"root.a": {"cpu": 2000}, "root.a.b": {"cpu": 3000}}


def pod(
    name: str, *, node: str = "n1", cpu: str = "1", phase: str = "Running", **metadata: Any
) -> dict[str, Any]:
    requests = {"cpu": cpu, "paddock.dev/filter": "1"}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "namespace": "x", **metadata},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": requests}}]},
        "status": {"phase": phase, "conditions": [{"type": "PodScheduled", "status": "True"}]},
    }


def rules(queue: str | None = "root.a.b") -> Rules:
    made = Rules(lambda _: queue, LIMITS)
    made.on_node("ADDED", {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "10", "pods": "5"}}})
    return made


def test_within_every_limit_nothing_is_said() -> None:
    seen = rules()
    for name in ("p1", "p2"):
        seen.on_pod("ADDED", pod(name, node="", phase="Pending"), now=0)
        seen.on_pod("MODIFIED", pod(name), now=1)
    assert (seen.violations, seen.bindings) == ([], 2)
    assert seen.usage("root.a") == seen.recount("root.a") == {"cpu": 2000, "pods": 2}


def test_a_binding_above_an_ancestors_max_is_found() -> None:
    seen = rules()
    for name in ("p1", "p2", "p3"):
        seen.on_pod("ADDED", pod(name), now=0)
    assert seen.violations == ["p3 takes root.a to 3000 cpu above its max 2000"]


def test_a_max_that_was_lowered_counts_for_five_seconds() -> None:
    seen = rules()
    seen.on_pod("ADDED", pod("p1"), now=0)
    seen.set_limits({"root.a": {"cpu": 1000}}, now=10)
    seen.on_pod("ADDED", pod("p2"), now=14)
    assert seen.violations == []
    seen.on_pod("ADDED", pod("p3", cpu="0.1"), now=16)
    assert seen.violations == ["p3 takes root.a to 2100 cpu above its max 1000"]


def test_finished_and_deleted_pods_free_their_capacity() -> None:
    seen = rules()
    for name in ("p1", "p2"):
        seen.on_pod("ADDED", pod(name), now=0)
    seen.on_pod("MODIFIED", pod("p1", phase="Succeeded"), now=1)
    seen.on_pod("DELETED", pod("p2"), now=1)
    seen.on_pod("ADDED", pod("p3", cpu="2"), now=2)
    assert seen.violations == []


def test_a_pod_that_grows_in_place_is_counted_and_not_blamed() -> None:
    seen = rules()
    seen.on_pod("ADDED", pod("p1"), now=0)
    seen.on_pod("MODIFIED", pod("p1", cpu="4"), now=1)
    assert seen.violations == []
    seen.on_pod("ADDED", pod("p2", cpu="0.1"), now=2)
    assert len(seen.violations) == 2


def test_a_node_above_its_size_is_found_for_unmanaged_pods_too() -> None:
    seen = rules(queue=None)
    seen.on_pod("ADDED", pod("p1", cpu="6"), now=0)
    seen.on_pod("ADDED", pod("p2", cpu="6"), now=0)
    assert seen.violations == ["p2 takes node n1 to 12000 cpu of 10000"]


def test_a_pod_that_is_created_with_its_node_is_not_blamed_for_the_node() -> None:
    seen = rules(queue=None)
    forced = pod("p1", cpu="12")
    del forced["status"]["conditions"]
    seen.on_pod("ADDED", forced, now=0)
    assert seen.violations == []


def test_a_pod_that_moves_is_found() -> None:
    seen = rules()
    seen.on_pod("ADDED", pod("p1"), now=0)
    seen.on_pod("MODIFIED", pod("p1", node="n2"), now=1)
    assert seen.violations == ["pod p1 was bound to n1 and now to n2"]


def test_status_writes_are_counted_as_changes() -> None:
    seen = rules()
    waiting = pod("p1", node="", phase="Pending")
    for message in ("full", "full", "other"):
        waiting["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": message}]
        seen.on_pod("MODIFIED", waiting, now=0)
    assert seen.status_writes("uid-p1") == 2
    assert seen.messages("uid-p1") == ["full", "other"]
