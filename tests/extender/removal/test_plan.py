"""Steps of a removal: what is in the plan, in which order, and what is left alone."""

import msgspec

from extender.removal.objects import Item, Listing
from extender.removal.plan import (
    API_SERVICES,
    CHANGING,
    CONFIG_MAPS,
    LEASE,
    PROTECTING,
    Cluster,
    Deletion,
    Opening,
    calls_from_elsewhere,
    is_called_from_elsewhere,
    singles,
    steps_of,
    stranded,
)

SYSTEM = "paddock-system"
GATE = {"name": "paddock.dev/queue"}
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{SYSTEM}/deployments"
MAPS = f"/api/v1/namespaces/{SYSTEM}/configmaps"


def listing(*names: str) -> Listing:
    return msgspec.convert({"items": [{"metadata": {"name": name}} for name in names]}, Listing)


def pod(name: str, *, gates: tuple[str, ...] = (), **more: object) -> Item:
    spec = {"schedulingGates": [{"name": each} for each in gates], **more.pop("spec", {})}  # type: ignore[dict-item]
    meta = {"name": name, "namespace": "team", "resourceVersion": "7", **more.pop("metadata", {})}  # type: ignore[dict-item]
    return msgspec.convert({"metadata": meta, "spec": spec, **more}, Item)


def cluster(*pods: Item, others: tuple[str, ...] = (), **labelled: Listing) -> Cluster:
    return Cluster(labelled, pods, frozenset(others), SYSTEM)


def everything() -> Cluster:
    labelled = {path: listing("one") for path in (*CHANGING, *PROTECTING, API_SERVICES, DEPLOYMENTS)}
    waiting = pod("waits", gates=("paddock.dev/queue",))
    placeholder = pod("tg-1", metadata={"annotations": {"internal.yunikorn.apache.org/placeholder": "true"}})
    others = (
        LEASE,
        *(f"/api/v1/namespaces/{SYSTEM}/secrets/paddock-{name}" for name in ("serving", "authority")),
        *(f"{MAPS}/{name}" for name in CONFIG_MAPS),
    )
    return Cluster(labelled, [waiting, placeholder], frozenset(others), SYSTEM)


def test_what_refuses_pods_goes_first_and_paddock_before_its_gates_and_placeholders() -> None:
    names = [each.name for each in steps_of(everything(), purge=False)]
    assert names == [
        *("protection", "changes", "aggregated API", "workload"),
        *("gates", "placeholders", "lease and certificate"),
    ]


def test_queues_go_only_with_purge() -> None:
    paths = {each.text for step in steps_of(everything(), purge=False) for each in step.actions}
    assert not any("yunikorn-configs" in path for path in paths)
    (*_, last) = steps_of(everything(), purge=True)
    assert [each.text for each in last.actions] == [f"delete {MAPS}/{name}" for name in CONFIG_MAPS]


def test_nothing_to_do_is_no_step() -> None:
    assert list(steps_of(cluster(pod("runs", spec={"nodeName": "n1"})), purge=True)) == []


def test_only_paddocks_own_gate_is_removed() -> None:
    found = cluster(pod("a", gates=("other", "paddock.dev/queue")), pod("b", gates=("other",)))
    (step,) = steps_of(found, purge=False)
    (action,) = step.actions
    assert isinstance(action, Opening)
    assert action.path == "/api/v1/namespaces/team/pods/a"
    assert msgspec.json.decode(action.body) == {
        "metadata": {"resourceVersion": "7"},
        "spec": {"schedulingGates": [{"name": "other"}]},
    }


def test_a_placeholder_that_has_ended_is_left() -> None:
    note = {"annotations": {"internal.yunikorn.apache.org/placeholder": "true"}}
    found = cluster(pod("over", metadata=note, status={"phase": "Succeeded"}), pod("holds", metadata=note))
    (step,) = steps_of(found, purge=False)
    assert step.actions == (Deletion("/api/v1/namespaces/team/pods/holds"),)


def test_pods_that_no_scheduler_takes_are_counted() -> None:
    marked = {"containers": [{"resources": {"requests": {"paddock.dev/filter": "1"}}}]}
    found = cluster(
        pod("named", spec={"schedulerName": "yunikorn"}),
        pod("marked", spec=marked),
        pod("runs", spec={**marked, "nodeName": "n1", "schedulerName": "paddock"}),
    )
    named, requests = stranded(found)
    assert named.startswith("1 waiting pods name the scheduler")
    assert requests.startswith("1 waiting pods request marker resources")


def test_the_lease_of_the_scheduler_names_the_mode() -> None:
    assert calls_from_elsewhere(
        {"scheduler-config-plain.yaml": "leaderElection:\n  resourceName: kube-scheduler\n"}
    )
    assert not calls_from_elsewhere({"scheduler-config-plain.yaml": "  resourceName: paddock-scheduler\n"})


def test_the_deployment_of_mode_service_and_the_role_of_kubeadm_tell_of_another_scheduler() -> None:
    service, kubeadm = (path for path in singles(SYSTEM) if path.endswith(("/paddock", "/paddock-lease")))
    for path in (service, kubeadm):
        assert is_called_from_elsewhere(cluster(others=(LEASE, path)))
    assert not is_called_from_elsewhere(everything())
