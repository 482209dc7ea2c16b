"""The command: read the cluster, print the plan, and carry it out step by step."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from core.errors import PaddockError
from extender.kube.connection.api import NotFound
from extender.kube.connection.client import ApiClient, connect
from extender.removal.objects import ConfigMap, Item, Listing, PodPage
from extender.removal.plan import (
    PART,
    WORKLOAD,
    Action,
    Cluster,
    Deletion,
    Step,
    calls_from_elsewhere,
    is_called_from_elsewhere,
    labelled_paths,
    singles,
    steps_of,
    stranded,
)

_PAGE = "500"
_UNTIL_RESTORED = (WORKLOAD, "gates", "placeholders", "lease and certificate", "queues")
"""Steps after which a scheduler that still calls Paddock would place no pod."""

_RESTORE = (
    "the cluster's kube-scheduler may still call Paddock, since this is an installation for it. "
    "Restore your own on every node of the control plane: start kube-scheduler without Paddock's --config, "
    "and with kubeadm without --patches. Then run this again with --scheduler-restored"
)
_NOTHING = "Nothing is left to do here. `helm uninstall` removes the rest: roles, Service and account."
_ATTEMPTS = 3
_ENDED_WITHIN, _EVERY = 60.0, 0.5
"""Seconds in which Paddock's pods must be gone, and between two looks."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Wishes of the user. ``act``: False to print the plan only."""

    kubeconfig: str | None
    namespace: str
    act: bool
    purge: bool
    scheduler_restored: bool


async def uninstall(wish: Wish, say: Callable[[str], None]) -> bool:
    """Print the plan, and carry it out if asked to. True if nothing is left to do.

    Raises `PaddockError`. Another run continues where one ended.
    """
    async with await connect(kubeconfig=wish.kubeconfig) as client:
        cluster = await _read(client, wish.namespace)
        steps = list(steps_of(cluster, purge=wish.purge))
        _print(steps, say)
        for sentence in stranded(cluster):
            say(sentence)
        if steps and not wish.act:
            say("Nothing was changed. Run this again with --yes.")
            return False
        held = not wish.scheduler_restored and (
            is_called_from_elsewhere(cluster) or await _calls_from_elsewhere(client, wish.namespace)
        )
        await _act(client, wish, held=held, say=say)
        say(_NOTHING)
        return True


def _print(steps: list[Step], say: Callable[[str], None]) -> None:
    for number, step in enumerate(steps, 1):
        say(f"{number}. {step.name}: {step.why}")
        for action in step.actions:
            say(f"   {action.text}")


async def _act(client: ApiClient, wish: Wish, *, held: bool, say: Callable[[str], None]) -> None:
    """Carry out the first step of the plan and read the cluster again, until the plan is empty."""
    done: Counter[str] = Counter()
    while step := next(steps_of(await _read(client, wish.namespace), purge=wish.purge), None):
        if held and step.name in _UNTIL_RESTORED:
            raise PaddockError(_RESTORE)
        if done[step.name] == _ATTEMPTS:
            raise PaddockError(f"step {step.name} is never complete: {step.actions[0].text}")
        await _carry_out(client, step)
        if step.name == WORKLOAD:
            await _until_ended(client, wish.namespace)
        done[step.name] += 1
        say(f"done: {step.name}")


async def _carry_out(client: ApiClient, step: Step) -> None:
    for action in step.actions:
        try:
            await _do(client, action)
        except NotFound:
            # Another run, or another party, was first.
            continue
        except PaddockError as error:
            text = f"step {step.name}: {action.text}: {error}. Run this again to continue"
            raise PaddockError(text) from None


async def _do(client: ApiClient, action: Action) -> None:
    if isinstance(action, Deletion):
        await client.delete(action.path)
    else:
        await client.patch(action.path, action.body)


async def _until_ended(client: ApiClient, namespace: str) -> None:
    """Wait until Paddock's pods are gone. One that still runs would make placeholders anew."""
    path, until = f"/api/v1/namespaces/{namespace}/pods", time.monotonic() + _ENDED_WITHIN
    while msgspec.json.decode(await client.get(path, {"labelSelector": PART}), type=Listing).items:
        if time.monotonic() > until:
            raise PaddockError("Paddock's pods are still there. Run this again once they are gone")
        await asyncio.sleep(_EVERY)


async def _read(client: ApiClient, namespace: str) -> Cluster:
    labelled = {}
    for path in labelled_paths(namespace):
        try:
            raw = await client.get(path, {"labelSelector": PART})
        except NotFound:
            # The API server has no such kind.
            continue
        labelled[path] = msgspec.json.decode(raw, type=Listing)
    others = frozenset([path for path in singles(namespace) if await _exists(client, path)])
    return Cluster(labelled, await _pods(client), others, namespace)


async def _pods(client: ApiClient) -> list[Item]:
    found: list[Item] = []
    params = {"limit": _PAGE}
    while True:
        page = msgspec.json.decode(await client.get("/api/v1/pods", params), type=PodPage)
        found += page.items
        if not page.metadata.next_page:
            return found
        params = {"limit": _PAGE, "continue": page.metadata.next_page}


async def _exists(client: ApiClient, path: str) -> bool:
    try:
        await client.get(path)
    except NotFound:
        return False
    return True


async def _calls_from_elsewhere(client: ApiClient, namespace: str) -> bool:
    path = f"/api/v1/namespaces/{namespace}/configmaps/paddock-scheduler-config"
    try:
        found = msgspec.json.decode(await client.get(path), type=ConfigMap)
    except NotFound:
        return False
    return calls_from_elsewhere(found.data or {})
