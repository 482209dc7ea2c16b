"""Queues as an operator maintains them, on the real control plane: edited while pods come and go."""

import copy
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.cluster.client import Cluster, Object
from e2e.stands.stand import NAMESPACE, eventually, eventually_equal
from e2e.stands.tenants import App, Tenants, checksum, queue, tenants
from e2e.stands.timing import took

DOCUMENT = yaml.safe_load((Path(__file__).parent / "configuration" / "tenants.yaml").read_text())
QUOTA = "yunikorn.apache.org/namespace.quota"
NIGHTLY, HOURLY, LAB, ANN = "root.batch.nightly", "root.batch.hourly", "root.lab", "root.people.dev-ann"


def _applications(quota: str) -> dict[str, App]:
    """The applications by id. ``quota``: a namespace that is annotated with one."""
    staff = App("carol", f"root.namespaces.{quota}", groups=("staff",), namespace=quota, churns=True)
    return {
        "ann-1": App("dev-ann", ANN, churns=True),
        "ann-2": App("dev-ann", ANN, asks=NIGHTLY),
        "ann-3": App("dev-ann", ANN, holds=0),
        "bea": App("dev-bea", "root.people.dev-bea", holds=0),
        "nightly": App("ops", NIGHTLY, asks=NIGHTLY, holds=0),
        "hourly": App("bob", HOURLY, asks=HOURLY, churns=True),
        "hourly-2": App("bob", HOURLY, asks=HOURLY, holds=0),
        "adhoc": App("alice", "root.batch.adhoc", asks="root.batch.adhoc", churns=True),
        "staff": staff,
        "passer-by": App("guest", "root.fallback", churns=True),
        "alice-1": App("alice", LAB, asks=LAB, group="*"),
        "alice-2": App("alice", LAB, asks=LAB, group="*"),
        "alice-3": App("alice", LAB, asks=LAB, group="*", holds=0),
        "bob": App("bob", LAB, asks=LAB, group="*", holds=2),
        "dora": App("dora", LAB, asks=LAB, groups=("analysts",), group="analysts"),
        "eve": App("eve", LAB, asks=LAB, groups=("analysts",), group="analysts", holds=0),
        "stranger": App("mallory", "", asks=NIGHTLY, holds=0),
        "misspelt": App("alice", "", asks="root.batch..x", holds=0),
        "of-a-parent": App("alice", "", asks="root.batch", holds=0),
        "below-a-leaf": App("guest", "", asks="root.fallback.x", holds=0),
    }


HELD = {
    "ann-3": "MaxApplicationsReached: root.people.dev-ann max applications=2",
    "alice-1": "GroupQuotaExceeded: group * in root.lab max vcore=4",
    "alice-3": "UserMaxApplicationsReached: user alice in root.lab max applications=2",
}
"""Applications whose next pod waits for an edit, with the message of each."""

NEVER = {
    "bob": "UserQuotaExceeded: user bob in root.lab max vcore=2",
    "dora": "GroupQuotaExceeded: group analysts in root.lab max vcore=1",
    "eve": "GroupMaxApplicationsReached: group analysts in root.lab max applications=1",
    "stranger": "AccessDenied: root.batch.nightly",
    "misspelt": "PlacementFailed: root.batch..x is not the name of a queue",
    "of-a-parent": "QueueNotLeaf: root.batch",
    "below-a-leaf": "PlacementFailed: root.fallback is a leaf and takes no child",
}
"""Applications whose next pod waits whatever is edited."""

REJECTED = ("stranger", "misspelt", "of-a-parent", "below-a-leaf")
"""Applications that no rule places."""

AT_THE_END = NEVER | {
    "bob": "UserQuotaExceeded: user bob in root.lab max vcore=1",
    "dora": "UserQuotaExceeded: user dora in root.lab max vcore=1",
}


async def test_five_edits_while_300_pods_come_and_go(cluster: Cluster) -> None:
    quota = await cluster.create_namespace({QUOTA: json.dumps({"cpu": "3"})})
    made = {ANN: 4, "root.people.dev-bea": 5, "root.batch.adhoc": 3, f"root.namespaces.{quota}": 3}
    async with tenants(
        cluster,
        _applications(quota),
        DOCUMENT,
        limited=LAB,
        made={path: {"cpu": cores * 1000} for path, cores in made.items()},
    ) as day:
        await _fill(day)
        edits = (_raise, _lower, _break, _remove, _restore)
        for number, edit in enumerate(edits):
            await _while_pods_come_and_go(day, number, edit)
        await _end(day, len(edits))
        await _restart(day)


# -- the course of the day -----------------------------------------------------------------------------------


async def _fill(day: Tenants) -> None:
    """Let the held pods run, the next of some be refused, and four of ten nightly pods run."""
    for app_id, app in day.apps.items():
        for at in range(app.holds):
            await day.create(app_id, f"hold-{at}")
    await day.pods.until(lambda: not day.pods.waiting(), "all that hold run")
    for app_id, text in (HELD | NEVER).items():
        await day.until_refused(await day.create(app_id, "next"), text)
    ten = [await day.create("nightly", str(at)) for at in range(10)]
    await day.until_bound(*ten[:4])
    for name in ten[4:]:
        await day.until_refused(name, f"QuotaExceeded: {NIGHTLY} max vcore=4")


async def _while_pods_come_and_go(
    day: Tenants, number: int, edit: Callable[[Tenants], Awaitable[None]]
) -> None:
    """Edit in the middle of a batch of 60."""
    day.batch(number)
    await day.pods.until(lambda: day.left_of_batch(number) <= 40, "some have come and gone")
    left, before = day.left_of_batch(number), time.monotonic()
    assert left
    await edit(day)
    print(f"{edit.__name__[1:]}: {left} of 60 on their way, done after {time.monotonic() - before:.2f} s")


async def _raise(day: Tenants) -> None:
    """Raise maxima: waiting pods are woken, and a template holds for queues made from now on."""

    def change(document: Object) -> None:
        queue(document, NIGHTLY)["resources"]["max"]["vcore"] = 8
        queue(document, "root.people")["childtemplate"]["resources"]["max"]["vcore"] = 5

    before = time.monotonic()
    await day.edit(change)
    await day.pods.until(lambda: len(day.running("nightly-")) == 8, "four more are woken")
    print(f"four more nightly pods were bound {time.monotonic() - before:.3f} s after the edit")
    await day.until_bound(await day.create("bea", "next"))
    assert await day.max_of("root.people.dev-bea", "bea-next") == {"vcore": 5000}
    assert await day.max_of(ANN, "ann-1-hold-0") == {"vcore": 4000}


async def _lower(day: Tenants) -> None:
    """Lower maxima: eight run where three may. All stay, and nothing starts until the third is gone."""
    eight = day.running("nightly-")

    def change(document: Object) -> None:
        queue(document, NIGHTLY)["resources"]["max"]["vcore"] = 3

    await day.edit(change)
    await day.until_refused(await day.create("nightly", "late"), f"QuotaExceeded: {NIGHTLY} max vcore=3")
    assert day.running("nightly-") == eight
    last = sorted(eight)[:3]
    await day.delete(*(eight - {*last}))
    await eventually_equal(lambda: day.allocated(NIGHTLY), 3000, "five are released")
    assert day.running("nightly-") == {*last}
    await day.delete(last[0])
    await day.pods.until(lambda: len(day.running("nightly-")) == 3, "the third is replaced")
    assert day.running("nightly-") > {*last[1:]}


async def _break(day: Tenants) -> None:
    """Write a value that cannot be read: nothing of the edit applies, and the error is reported."""
    broken = copy.deepcopy(day.document)
    queue(broken, NIGHTLY)["resources"]["max"]["vcore"] = "lots"
    queue(broken, "root.fallback")["resources"]["max"]["vcore"] = 20
    config_map = await day.put(yaml.safe_dump(broken))

    async def error() -> str:
        return (await day.notes())["last configuration error"]

    said = await eventually(error, "the edit is refused")
    assert "partitions[0].queues[0].queues[0].queues[0].resources.max.vcore" in said
    assert await eventually(lambda: _event(day, config_map), "an Event") == said
    assert (await day.notes())["configuration"] == checksum(yaml.safe_dump(day.document))
    assert (await day.paddock.get("/readyz"))[0] == 200
    assert await day.paddock.metric("paddock_reloads_total", fate="refused") == 1
    assert await day.max_of("root.fallback", "passer-by-hold-0") == {"vcore": 3000}
    await day.pods.until(lambda: not day.left_of_batch(2), "pods come and go as before")


async def _remove(day: Tenants) -> None:
    """Remove a queue: it retains its applications and takes no other. Limits of people change as well."""

    def change(document: Object) -> None:
        batch = queue(document, "root.batch")
        batch["queues"].remove(queue(document, HOURLY))
        alice, others, _, shared = queue(document, LAB)["limits"]
        alice["maxapplications"], others["maxresources"]["vcore"] = 3, 1
        shared["maxresources"]["vcore"] = 6

    await day.edit(change)
    await day.until_bound("alice-1-next", "alice-3-next")
    await day.until_refused(await day.create("hourly-2", "next"), f"QueueDraining: {HOURLY}")
    await day.until_bound("hourly-hold-0", await day.create("hourly", "next"))
    assert len(day.running("bob-")) == 2
    assert (await day.notes())["last configuration error"] == ""


async def _restore(day: Tenants) -> None:
    """Restore a queue: it takes applications again, and a dynamic one takes the document's values (Q-11)."""

    def change(document: Object) -> None:
        hourly = {"name": "hourly", "resources": {"max": {"vcore": 8}}}
        queue(document, "root.batch")["queues"].append(hourly)
        ann = {"name": "dev-ann", "maxapplications": 3, "resources": {"max": {"vcore": 6}}}
        queue(document, "root.people")["queues"] = [ann]

    assert not day.running("ann-3") | day.running("hourly-2")
    await day.edit(change)
    await day.until_bound("hourly-2-next", "ann-3-next")
    assert await day.max_of(ANN, "ann-1-hold-0") == {"vcore": 6000}


async def _end(day: Tenants, batches: int) -> None:
    """End all that came: no pod was evicted, and each that never ran has a reason."""
    await day.pods.until(lambda: not any(map(day.left_of_batch, range(batches))), "all 300 have ended")
    await day.all_created()
    assert len(day.running("nightly-")) == 3
    await day.delete(*day.running("nightly-"))
    await day.pods.until(lambda: len(day.running("nightly-")) == 2, "the last two run")
    await eventually(day.agrees, "Paddock counts what is seen")
    assert {name for name in day.live if name not in day.running("")} == {f"{each}-next" for each in NEVER}
    assert {each: await day.reason(f"{each}-next") for each in NEVER} == AT_THE_END
    assert (day.ended, day.stand.kubelet.refused) == (day.deleted, [])
    assert {pod["status"]["phase"] for pod in day.all.values()} == {"Pending", "Running", "Succeeded"}
    assert day.queues.rules.bindings == len(day.all) + len(day.ended) - len(NEVER)
    assert await day.paddock.metric("paddock_reloads_total", fate="applied") == 5
    await _landed(day)
    _say_peaks(day)
    await eventually_equal(lambda: _events(day, REJECTED), {each: NEVER[each] for each in REJECTED}, "Events")


async def _landed(day: Tenants) -> None:
    """Every live pod counts in the queue that the rules name."""
    found = {name: (await day.story(name))["queue"] for name in day.live}
    assert found == {name: day.app_of(pod).lands for name, pod in day.live.items()}


def _say_peaks(day: Tenants) -> None:
    """Assert that every limit was reached, so that none held by chance."""
    people, queues = (
        {path: peak["cpu"] for path, peak in sorted(observer.rules.peaks.items())}
        for observer in (day.people, day.queues)
    )
    writes = [day.queues.rules.status_writes(day.all[f"{each}-next"]["metadata"]["uid"]) for each in NEVER]
    print(f"{day.queues.rules.bindings} pods ran; at most, in millicores: {queues} {people}")
    print(f"status writes per pod that was refused all the time: at most {max(writes)}")
    assert people == {"*": 6000, "*.alice": 4000, "*.bob": 2000, "analysts": 1000, "analysts.dora": 1000}
    assert [queues[path] for path in (NIGHTLY, "root.fallback", "root.batch.adhoc")] == [8000, 3000, 3000]


async def _restart(day: Tenants) -> None:
    """Restart, to show that the process alone knew nothing of where pods run."""
    await day.paddock.restart()
    await _landed(day)
    await eventually(day.agrees, "Paddock counts what is seen after a restart, too")


async def _event(day: Tenants, config_map: Object) -> str:
    """The message of the Event on the ConfigMap."""
    found = await day.cluster.request("GET", f"/api/v1/namespaces/{NAMESPACE}/events")
    uid = config_map["metadata"]["uid"]
    about = [each for each in found["items"] if each["involvedObject"].get("uid") == uid]
    return next((each["message"] for each in about if each["reason"] == "ConfigurationRefused"), "")


async def _events(day: Tenants, apps: Sequence[str]) -> dict[str, str]:
    """Messages of Events about the next pods of these applications."""
    found = await day.cluster.request("GET", f"/api/v1/namespaces/{day.cluster.namespace}/events")
    uids = {day.all[f"{each}-next"]["metadata"]["uid"]: each for each in apps}
    about = [(uids.get(each["involvedObject"].get("uid")), each) for each in found["items"]]
    return {
        app: each["message"] for app, each in about if app and each["source"].get("component") == "paddock"
    }


# -- exactly so many -----------------------------------------------------------------------------------------


async def test_the_quota_of_a_namespace_is_exact(cluster: Cluster) -> None:
    """NS-1, NS-5: as many pods run as the annotation allows, or without one as the template does."""
    quotas = {"cores": {"cpu": "2500m"}, "pods": {"pods": "2", "memory": "1Gi"}, "none": {}}
    cases = {
        name: await cluster.create_namespace({QUOTA: json.dumps(quota)} if quota else {})
        for name, quota in quotas.items()
    }
    apps = {name: _staff(namespace) for name, namespace in cases.items()}
    allowed = {"cores": {"cpu": 2500}, "pods": {"pods": 2, "memory": 2**30}, "none": {"cpu": 2000}}
    made = {apps[name].lands: amounts for name, amounts in allowed.items()}
    async with tenants(cluster, apps, DOCUMENT, limited=LAB, made=made) as day:
        await _one_too_many(day, "cores", 5, "max vcore=2500m", cpu="500m")
        await _one_too_many(day, "pods", 2, "max pods=2", cpu="500m", memory="256Mi")
        await _one_too_many(day, "none", 4, "max vcore=2", cpu="500m")
        await eventually(day.agrees, "Paddock counts what is seen")


def _staff(namespace: str) -> App:
    return App("carol", f"root.namespaces.{namespace}", groups=("staff",), namespace=namespace)


async def _one_too_many(day: Tenants, app_id: str, fit: int, bound: str, **pod: Any) -> None:
    """Let ``fit`` pods run. The next is refused, and runs when one of them is deleted."""
    names = [await day.create(app_id, str(at), **pod) for at in range(fit + 1)]
    await day.until_bound(*names[:-1])
    await day.until_refused(names[-1], f"QuotaExceeded: {day.apps[app_id].lands} {bound}")
    await day.delete(names[0])
    await day.until_bound(names[-1])


SHARED = "root.shared"
ONE_QUEUE = {
    "name": "shared",
    "submitacl": "*",
    "resources": {"max": {"vcore": 6}},
    "limits": [{"limit": "three cores each", "users": ["*"], "maxresources": {"vcore": 3}}],
}


@pytest.mark.timed
async def test_a_user_at_the_limit_holds_no_other_user_up(cluster: Cluster) -> None:
    """UGM-1, QUO-7: a pod behind the user's older pods starts when the queue has capacity.

    At the end only the edit happens: kube-scheduler would not retry the last pod by itself.
    """
    document = {"partitions": [{"name": "default", "queues": [{"name": "root", "queues": [ONE_QUEUE]}]}]}
    apps = {user: App(user, SHARED, asks=SHARED) for user in ("alice", "bob", "carl")}
    async with tenants(cluster, apps, document, limited=SHARED, made={}) as day:
        await day.until_bound(await day.create("carl", "0"))
        alice = [await day.create("alice", str(at)) for at in range(5)]
        await day.until_bound(*alice[:3])
        await _until_all_refused(day, alice[3:], "UserQuotaExceeded: user alice in root.shared max vcore=3")
        bob = [await day.create("bob", str(at)) for at in range(3)]
        await day.until_bound(*bob[:2])
        await _until_all_refused(day, bob[2:], "QuotaExceeded: root.shared max vcore=6")
        before = time.monotonic()
        await day.delete("carl-0")
        await day.until_bound(bob[2])
        took("bound behind two pods of a user at the limit", time.monotonic() - before, at_most=3)
        assert day.running("") == {*alice[:3], *bob}
        await day.delete(bob[0], alice[0])
        await day.pods.until(lambda: len(day.running("alice-")) == 3, "one of alice's two")
        (left,) = {*alice} & {*day.live} - day.running("alice-")
        assert await day.reason(left) == "UserQuotaExceeded: user alice in root.shared max vcore=3"
        await day.delete(left)
        last = await day.create("alice", "last")
        await day.until_refused(last, "UserQuotaExceeded: user alice in root.shared max vcore=3")
        await day.edit(_four_cores_each)
        await day.until_bound(last)
        await eventually(day.agrees, "Paddock counts what is seen")


def _four_cores_each(document: Object) -> None:
    queue(document, SHARED)["limits"][0]["maxresources"]["vcore"] = 4


async def _until_all_refused(day: Tenants, names: Sequence[str], text: str) -> None:
    for name in names:
        await day.until_refused(name, text)
