"""F-4 on the real control plane: a deleted ConfigMap lifts no limit, and a start without one waits."""

from e2e.cluster.client import Cluster, Object, message_of, node_of
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, Stand, eventually

TWO = {"a": {"max": {"vcore": "2"}}}
REFUSED = "QuotaExceeded: root.a max vcore=2"
PATH = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{CONFIG_MAP}"


async def test_a_config_map_that_is_lost_lifts_no_limit_and_a_start_without_one_waits(
    cluster: Cluster,
) -> None:
    async with Stand(cluster, TWO) as stand:
        await cluster.add_nodes(2)
        for name in ("p1", "p2", "p3"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(lambda: _refused(stand) == 1, "two run and one is refused")
        for lost in (None, {}, {"paddock.turn.lease": "3s"}):
            await _lose(stand, lost)
            await _lasts(stand)
        await eventually(lambda: _is_reported(cluster), "an Event")
        await _lose(stand, None)
        await _starts_without(stand)
        await stand.configure(TWO)
        await stand.paddock.until_ready()
        await stand.pods.until(lambda: REFUSED in message_of(stand.pods.named("late")), "refused as before")
        await stand.audited()


async def _lose(stand: Stand, data: Object | None) -> None:
    """Delete the document after Paddock has seen it, and wait until it has seen the loss."""
    await stand.configure(TWO)
    await eventually(lambda: _missing(stand, 0), "it is there")
    if data is None:
        await stand.cluster.request("DELETE", PATH)
    else:
        config_map = {"metadata": {"name": CONFIG_MAP, "namespace": NAMESPACE}, "data": data}
        await stand.cluster.request("PUT", PATH, {"apiVersion": "v1", "kind": "ConfigMap", **config_map})
    await eventually(lambda: _missing(stand, 1), "it is missed")


async def _lasts(stand: Stand) -> None:
    """A pod of another application is refused by the limit that no object holds any more."""
    assert (await stand.paddock.get("/readyz"))[0] == 200
    assert CONFIG_MAP in (await stand.paddock.get("/readyz?verbose"))[1]
    await stand.cluster.create_pod("late", queue="root.a", app="late")
    await stand.pods.until(lambda: REFUSED in message_of(stand.pods.named("late")), "refused as before")
    await stand.cluster.delete_pod("late")
    await stand.pods.until(lambda: stand.pods.named("late") is None, "it is gone")


async def _starts_without(stand: Stand) -> None:
    """Start without a document: not ready, pods of queues wait, and others do not."""
    await stand.paddock.kill()
    await stand.paddock.start(wait=False)
    await eventually(lambda: _missing(stand, 1), "it says so")
    status, text = await stand.paddock.get("/readyz")
    assert (status, f"{CONFIG_MAP} has no queues.yaml" in text) == (503, True)
    await stand.cluster.create_pod("late", queue="root.a")
    await stand.cluster.create_pod("foreign", scheduler_name="default-scheduler")
    await stand.pods.until(lambda: node_of(stand.pods.named("foreign") or {"spec": {}}), "the other one runs")
    await stand.pods.until(
        lambda: "NotReady: no queues are configured yet" in message_of(stand.pods.named("late")), "it waits"
    )


def _refused(stand: Stand) -> int:
    return len(stand.pods.refused(REFUSED))


async def _missing(stand: Stand, wanted: float) -> bool:
    answers = (await stand.paddock.get("/livez"))[0] == 200
    return answers and await stand.paddock.metric("paddock_configuration_missing") == wanted


async def _is_reported(cluster: Cluster) -> bool:
    found = await cluster.request("GET", f"/api/v1/namespaces/{NAMESPACE}/events")
    return any(
        (each["reason"], each["type"], each["involvedObject"]["name"])
        == ("ConfigurationMissing", "Warning", CONFIG_MAP)
        for each in found["items"]
    )
