"""The attacks of one round, each with the finding that it stands for.

A move returns when its pods are answered. `Scene.judged` then says whether anything was gained.
"""

import asyncio
import gzip
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp

from e2e.attack.hostile import hostile_pod
from e2e.attack.scene import RIVAL, TENANT, THEIRS, Broken, Scene
from e2e.cluster.client import ApiFailure, Object, node_of, path_of
from e2e.stands.stand import eventually

DOMAIN = "yunikorn.apache.org/"
TERMS, SMALL_NODES = 14_000, 200
HOSTILE_PODS = 40
INSIDE = 120 * 2**20
"""Bytes inside one gzip body."""
HALF_SENT = 300


@dataclass(frozen=True)
class Move:
    """An attack. ``finding``: its id in the list of findings; ``what``: a description."""

    finding: str
    what: str
    play: Callable[[Scene, random.Random], Awaitable[None]]


MOVES: list[Move] = []


def move(
    finding: str, what: str
) -> Callable[
    [Callable[[Scene, random.Random], Awaitable[None]]], Callable[[Scene, random.Random], Awaitable[None]]
]:
    """Register an attack."""

    def register(
        play: Callable[[Scene, random.Random], Awaitable[None]],
    ) -> Callable[[Scene, random.Random], Awaitable[None]]:
        MOVES.append(Move(finding, what, play))
        return play

    return register


# -- pods ----------------------------------------------------------------------------------------------------


@move("F-1", "pending pods join a forced one that no queue takes")
async def _join_a_forced_pod(here: Scene, _rng: random.Random) -> None:
    await _try(here, here.pod("forced", queue="root.nowhere", app="f", spec={"nodeName": "no-such-node"}))
    await here.until_answered(*await here.submit_many("joins", 10, app="f"))
    await here.until_answered(*await here.submit_many("joins-there", 4, app="f", queue="root.nowhere"))


@move("F-1", "pods are forced into a full queue, and others are asked for")
async def _force_past_the_max(here: Scene, _rng: random.Random) -> None:
    await here.fill()
    for at in range(3):
        await _try(here, here.pod(f"forced-{at}", spec={"nodeName": "n1"}))
    await here.until_answered(*await here.submit_many("more", 4))


@move("F-6", "queues that do not exist, or are spelt like another's")
async def _misspelt_queues(here: Scene, _rng: random.Random) -> None:
    names = [
        *(f"{THEIRS}{end}" for end in (".", "..", ".x", " ", "\u200b")),
        "root",
        "root.",
        "ROOT.THEIRS",
        ".",
    ]
    pods = [
        here.pod(f"spelt-{at}", queue="", app=f"a{at}", annotations={DOMAIN + "queue": name})
        for at, name in enumerate(names)
    ]
    await here.submit(*pods)
    await here.until_answered(*(pod["metadata"]["name"] for pod in pods))
    await _none_is_bound(here, "spelt-")


@move("F-10", "an invented DaemonSet's pod wants a node of the rival's")
async def _invented_daemonset(here: Scene, _rng: random.Random) -> None:
    rivals = await here.rival_runs(8)
    node = node_of(here.pods.named(rivals[0], here.rivals) or {"spec": {}})
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    spec = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "invented", "uid": "invented"}
    names = [f"daemon-{at}" for at in range(2)]
    pods = [here.pod(name, cpu="4", spec=spec) for name in names]
    for pod in pods:
        pod["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    await here.submit(*pods)
    await here.until_answered(*names)
    await _ticks(here)


@move("F-15", "pods name the rival's application")
async def _anothers_application(here: Scene, _rng: random.Random) -> None:
    await here.rival_runs(1, app="job")
    names = await here.submit_many("guest", 6, app="job")
    autogen = await here.submit_many("autogen", 4, app=f"yunikorn-{here.rivals}-autogen")
    await here.until_answered(*names, *autogen)


@move("F-15", "the rival's placeholders are taken over")
async def _anothers_placeholders(here: Scene, _rng: random.Random) -> None:
    group = {"name": "workers", "minMember": 8, "minResource": {"cpu": "1"}}
    notes = {DOMAIN + "task-group-name": "workers", DOMAIN + "task-groups": json.dumps([group])}
    first = here.cluster.pod("first", queue=THEIRS, app="gang", namespace=here.rivals, annotations=notes)
    await here.submit(first, user=RIVAL)
    await here.pods.until(
        lambda: node_of(here.pods.named("first", here.rivals) or {"spec": {}}), "the gang has started"
    )
    names = await here.submit_many("taker", 6, app="gang", annotations=notes)
    await here.until_answered(*names)


@move("F-17", f"three pods with {TERMS} node-affinity terms each")
async def _endless_affinity(here: Scene, _rng: random.Random) -> None:
    """Terms that never match, so that each is checked for each node, and a pod that fits on no node."""
    await here.cluster.add_nodes(SMALL_NODES, cpu="1", prefix="small")
    terms = [
        {"matchExpressions": [{"key": "k", "operator": "In", "values": [str(at)]}]} for at in range(TERMS)
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    try:
        names = await here.submit_many("terms", 3, spec={"affinity": {"nodeAffinity": required}})
        await here.until_answered(*names)
        await here.fill()
    finally:
        for at in range(1, SMALL_NODES + 1):
            await here.cluster.remove_node(f"small{at}")


@move("F-24", "a pod is resized past the max, and others are asked for")
async def _resize(here: Scene, _rng: random.Random) -> None:
    names = await here.fill()
    resources = {"name": "c", "resources": {"requests": {"cpu": "3"}}}
    await here.edit(names[0], {"spec": {"containers": [resources]}}, "/resize")
    await here.cluster.request("DELETE", path_of("Pod", here.namespace, names[1]), user=TENANT)
    await here.pods.until(lambda: here.pods.named(names[1]) is None, "one is gone")
    more = await here.submit_many("more", 3)
    await here.until_answered(*more)
    await _none_is_bound(here, "more-")


@move("F-26", "gangs, groups and budgets of absurd sizes")
async def _absurd_gangs(here: Scene, _rng: random.Random) -> None:
    for at, (members, cpu) in enumerate([(10**9, "1"), (2, "1e9"), (0, "1"), (-1, "1"), (5, "1")]):
        group = {"name": "g", "minMember": members, "minResource": {"cpu": cpu}}
        notes = {DOMAIN + "task-group-name": "g", DOMAIN + "task-groups": json.dumps([group] * 20)}
        await here.submit(here.pod(f"gang-{at}", app=f"gang-{at}", annotations=notes))
    labels = {
        "pod-group.scheduling.x-k8s.io/name": "g",
        "pod-group.scheduling.x-k8s.io/min-available": "9" * 60,
    }
    await here.submit(here.pod("labelled", app="labelled", labels=labels))
    await here.until_answered("labelled")


@move("D", f"{HOSTILE_PODS} random pods")
async def _random_pods(here: Scene, rng: random.Random) -> None:
    pods = [hostile_pod(here.pod(f"random-{at}"), rng) for at in range(HOSTILE_PODS)]
    taken = [pod["metadata"]["name"] for pod in pods if await _try(here, pod)]
    gated = {pod["metadata"]["name"] for pod in pods if pod["spec"].get("schedulingGates")}
    await here.until_answered(*(name for name in taken if name not in gated))


# -- the port of the verbs -----------------------------------------------------------------------------------


@move("F-18", "bind calls for pods that wait, for others' and for paths of the API")
async def _bind_anything(here: Scene, _rng: random.Random) -> None:
    await here.fill()
    (name,) = await here.submit_many("waits", 1)
    await here.until_answered(name)
    uid = (here.pods.named(name) or {})["metadata"]["uid"]
    for asked, namespace, of in [
        (name, here.namespace, uid),
        (name, here.namespace, "another"),
        ("../../../../api/v1/nodes", here.namespace, uid),
        ("x", "../../../version?", uid),
        ("", "", ""),
    ]:
        body = {"PodName": asked, "PodNamespace": namespace, "PodUID": of, "Node": "n1"}
        await _post(here, "bind", json.dumps(body).encode())
    await _none_is_bound(here, "waits-")


@move("F-19", "a small body that is large inside")
async def _gzip(here: Scene, _rng: random.Random) -> None:
    packed = gzip.compress(b'{"Pod":' + b" " * INSIDE, compresslevel=9)
    await _post(here, "filter", packed, {"Content-Encoding": "gzip"})


@move("F-19", f"{HALF_SENT} half-sent requests stay open")
async def _half_sent(here: Scene, _rng: random.Random) -> None:
    head = b"POST /v1/filter HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
    opened = await asyncio.gather(
        *(asyncio.open_connection("127.0.0.1", here.stand.paddock.verbs_port) for _ in range(HALF_SENT))
    )
    for _, writer in opened:
        writer.write(head)
    try:
        await here.fill()
    finally:
        for _, writer in opened:
            writer.close()


# -- steps ---------------------------------------------------------------------------------------------------


async def _try(here: Scene, pod: Object) -> bool:
    """Send a request, and return whether the API server takes it. A refused request never reaches Paddock."""
    try:
        await here.submit(pod)
    except ApiFailure as failure:
        if failure.status >= 500:
            raise
        return False
    return True


async def _none_is_bound(here: Scene, prefix: str) -> None:
    there = [
        pod["metadata"]["name"] for pod in here.pods.bound() if pod["metadata"]["name"].startswith(prefix)
    ]
    if there:
        raise Broken(f"{', '.join(sorted(there)[:5])} run")


async def _ticks(here: Scene) -> None:
    """Wait until Paddock has had time for a plan: a second audit of its own begins later than that."""

    async def asked() -> bool:
        return await here.stand.paddock.metric("paddock_verb_seconds_count", verb="filter") > before + 2

    before = await here.stand.paddock.metric("paddock_verb_seconds_count", verb="filter")
    await here.submit_many("later", 3, app="later")
    await eventually(asked, "kube-scheduler has asked again")


async def _post(here: Scene, verb: str, body: bytes, headers: dict[str, str] | None = None) -> None:
    """Send a body. Any answer will do, even a closed connection."""
    url = f"{here.stand.paddock.url}/{verb}"
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session,
            session.post(
                url, data=body, headers={"Content-Type": "application/json", **(headers or {})}
            ) as answer,
        ):
            await answer.read()
            if answer.status >= 500:
                raise Broken(f"{verb} answered {answer.status}")
    except (aiohttp.ClientError, TimeoutError):
        return
