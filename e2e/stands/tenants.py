"""Tenants of a queue document: where their applications must land, what they may hold, and their pods.

Both are worked out here from the document and the test's own words. Paddock is not asked.
"""

import asyncio
import copy
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import yaml

from e2e.cluster.client import Cluster, Object, is_terminal, message_of, node_of
from e2e.cluster.observer import GRACE, Observer
from e2e.cluster.sizing import Amounts
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, Stand, eventually

DEFAULTS = "yunikorn-defaults"
APP = "yunikorn.apache.org/app-id"
USER_INFO = "yunikorn.apache.org/user.info"
OF_EACH = 12
"""Pods of an application in a batch."""

Maxima = Mapping[str, Amounts]
Change = Callable[[Object], None]


@dataclass(frozen=True)
class App:
    """An application of a tenant.

    ``lands``: the queue to which the rules send it, empty for none. ``group``: the user group whose limit
    counts (UGM-5). ``holds``: its pods that run to the end. ``churns``: whether more come and go with every
    batch.
    """

    user: str
    lands: str
    asks: str = ""
    groups: tuple[str, ...] = ()
    namespace: str = ""
    group: str = "none"
    holds: int = 1
    churns: bool = False

    @property
    def person(self) -> str:
        """The user as a queue below the user group, so that an observer can count both."""
        return f"{self.group}.{self.user}"


# -- documents -----------------------------------------------------------------------------------------------


def queue(document: Object, path: str) -> Object:
    """A queue of a document, to read or to edit."""
    found: Object = document["partitions"][0]["queues"][0]
    for name in path.split(".")[1:]:
        found = next(each for each in found["queues"] if each["name"] == name)
    return found


def maxima(document: Object) -> Maxima:
    """Maxima of the queues of a document."""
    found: dict[str, Amounts] = {}

    def visit(here: Object, path: str) -> None:
        if "max" in here.get("resources", {}):
            found[path] = _cores(here["resources"]["max"])
        for child in here.get("queues", ()):
            visit(child, f"{path}.{child['name']}")

    visit(queue(document, "root"), "root")
    return found


def shares(entries: list[Object], people: set[App]) -> Maxima:
    """Maxima of people and their user groups by the limits of a queue, keyed as `App.person`."""
    groups = {name: _cores(each["maxresources"]) for each in entries for name in each.get("groups", ())}
    users = {name: _cores(each["maxresources"]) for each in entries for name in each.get("users", ())}
    return groups | {app.person: users.get(app.user, users["*"]) for app in people}


def _cores(amounts: Mapping[str, Any]) -> Amounts:
    return {"cpu": int(amounts["vcore"]) * 1000}


def checksum(text: str) -> str:
    """The checksum of a document that names none itself (SRC-9)."""
    return hashlib.sha256(text.encode()).hexdigest().upper()


def _widest(old: Maxima, new: Maxima) -> Maxima:
    """The wider of two limits. A new limit applies at once."""
    return {
        path: {name: max(amount, old.get(path, cap).get(name, amount)) for name, amount in cap.items()}
        for path, cap in new.items()
    }


# -- a cluster with tenants ----------------------------------------------------------------------------------


class Tenants:
    """A stand whose queues are those of a document, the pods on it, and what observers must see of them.

    ``limited``: the leaf that has limits of people.
    """

    def __init__(self, stand: Stand, apps: Mapping[str, App], document: Object, limited: str) -> None:
        self.stand, self.pods, self.apps = stand, stand.pods, apps
        self.cluster, self.paddock = stand.cluster, stand.paddock
        self.document, self._limited = document, limited
        self.queues = Observer(self.cluster, queue_of=self._lands, limits={})
        self.people = Observer(self.cluster, queue_of=self._person, limits={})
        self._caps: tuple[Maxima, Maxima] = ({}, {})
        self.deleted: set[str] = set()
        self.ended: set[str] = set()
        self._tasks: list[asyncio.Task[Any]] = []
        stand.pods.listeners.append(self._on_pod)

    def app_of(self, pod: Object) -> App:
        return self.apps[pod["metadata"]["labels"][APP]]

    def _lands(self, pod: Object) -> str | None:
        return self.app_of(pod).lands or None

    def _person(self, pod: Object) -> str | None:
        app = self.app_of(pod)
        return app.person if app.lands == self._limited else None

    # -- configuration ---------------------------------------------------------------------------------------

    async def begin(self, made: Maxima) -> None:
        """Load the document from ``yunikorn-defaults`` by a restart; until then the other map's is in force.

        ``made``: maxima of queues that rules make. They stay until a document names the queues (TPL-4, Q-11).
        """
        text = yaml.safe_dump(self.document)
        await self.cluster.configmap(NAMESPACE, DEFAULTS, {"queues.yaml": text})
        await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {})
        await self.paddock.restart()
        await self._until_in_force(text)
        self._caps = self._allowed_by(self.document, (made, {}))
        self._tell(self._caps)

    async def edit(self, change: Change) -> None:
        """Change the document in ``yunikorn-configs`` and wait until it is in force.

        From then on, without a grace time, observers allow what it allows. Until then they allow the wider of
        the two documents. No pod may therefore be on its way to a queue whose max is lowered.
        """
        document = copy.deepcopy(self.document)
        change(document)
        new = self._allowed_by(document, self._caps)
        self._tell((_widest(self._caps[0], new[0]), _widest(self._caps[1], new[1])))
        text = yaml.safe_dump(document)
        await self.put(text)
        await self._until_in_force(text)
        self._tell(new)
        self._caps, self.document = new, document

    def _allowed_by(self, document: Object, before: tuple[Maxima, Maxima]) -> tuple[Maxima, Maxima]:
        """The maxima under a document.

        Queues that it does not name keep theirs: dynamic ones, and those that drain.
        """
        people = {app for app in self.apps.values() if app.lands == self._limited}
        limits = shares(queue(document, self._limited)["limits"], people)
        return {**before[0], **maxima(document)}, {**before[1], **limits}

    def _tell(self, caps: tuple[Maxima, Maxima]) -> None:
        """Give the observers limits, without the grace time for former ones."""
        now = asyncio.get_running_loop().time() - GRACE
        for observer, limits in zip((self.queues, self.people), caps, strict=True):
            observer.rules.set_limits(limits, now=now)

    async def put(self, text: str) -> Object:
        return await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": text})

    async def _until_in_force(self, text: str) -> None:
        async def ask() -> bool:
            return (await self.notes())["configuration"] == checksum(text)

        await eventually(ask, "the document is in force")

    async def notes(self) -> dict[str, str]:
        """Notes of ``/readyz?verbose`` besides its checks."""
        _, text = await self.paddock.get("/readyz?verbose")
        return {key: value for line in text.splitlines() for key, _, value in [line.partition(": ")]}

    # -- pods ------------------------------------------------------------------------------------------------

    def manifest(self, app_id: str, name: str, **pod: Any) -> Object:
        app = self.apps[app_id]
        notes = {USER_INFO: json.dumps({"user": app.user, "groups": list(app.groups)})}
        where = {"namespace": app.namespace or None, "annotations": notes}
        return self.cluster.pod(name, app=app_id, queue=app.asks or None, **where, **pod)

    async def create(self, app_id: str, what: str, **pod: Any) -> str:
        """Create a pod, and return its name when it is seen."""
        name = f"{app_id}-{what}"
        await self.cluster.create(self.manifest(app_id, name, **pod))
        await self.pods.until(lambda: name in self.all, f"{name} is seen")
        return name

    async def delete(self, *names: str) -> None:
        """Delete these pods, and return when they no longer exist."""
        self.deleted.update(names)
        for name in names:
            await self.cluster.delete_pod(name, self.all[name]["metadata"]["namespace"])
        await self.pods.until(lambda: not {*names} & {*self.all}, "they are gone")

    def batch(self, number: int) -> None:
        """Create more pods of every application that churns.

        Those of ``adhoc`` are deleted when they run, others end.
        """
        churning = [app_id for app_id, app in self.apps.items() if app.churns]
        manifests = [
            self.manifest(each, f"{each}-{number}-{at}", run_for=None if each == "adhoc" else 0.2)
            for at in range(OF_EACH)
            for each in churning
        ]
        self._tasks.append(asyncio.create_task(self.cluster.create_pods(manifests, most=8)))

    async def all_created(self) -> None:
        """Wait until all pods are created. Raises what went wrong meanwhile."""
        await asyncio.gather(*self._tasks)

    def _on_pod(self, kind: str, pod: Object) -> None:
        name = pod["metadata"]["name"]
        if kind == "DELETED":
            self.ended.add(name)
        runs = pod["status"]["phase"] == "Running" and name.startswith("adhoc-") and "hold" not in name
        if runs and name not in self.deleted:
            self.deleted.add(name)
            self._tasks.append(asyncio.create_task(self.cluster.delete_pod(name)))

    @property
    def all(self) -> dict[str, Object]:
        """All pods by name. A test names no two alike, whatever their namespaces."""
        return {pod["metadata"]["name"]: pod for pod in self.pods.pods.values()}

    @property
    def live(self) -> dict[str, Object]:
        return {name: pod for name, pod in self.all.items() if not is_terminal(pod)}

    def running(self, prefix: str) -> set[str]:
        return {name for pod in self.pods.bound() if (name := pod["metadata"]["name"]).startswith(prefix)}

    def left_of_batch(self, number: int) -> int:
        """The number of a batch's pods that have not ended or not come yet."""
        churning = [app_id for app_id, app in self.apps.items() if app.churns]
        names = {f"{each}-{number}-{at}" for each in churning for at in range(OF_EACH)}
        return len(names - self.ended - (self.all.keys() - self.live.keys()))

    async def until_bound(self, *names: str, timeout: float = 30.0) -> None:
        await self.pods.until(
            lambda: all(node_of(self.all[name]) for name in names), f"{names} are bound", timeout=timeout
        )

    async def until_refused(self, name: str, text: str) -> None:
        await self.pods.until(lambda: text in message_of(self.all[name]), f"{name} is told {text}")

    # -- what Paddock says -----------------------------------------------------------------------------------

    async def story(self, name: str) -> Mapping[str, Any]:
        return await self.paddock.story(self.all[name]["metadata"]["namespace"], name)

    async def reason(self, name: str) -> str:
        """The current reason why a pod waits."""
        return str((await self.story(name))["verdict"]["text"])

    async def max_of(self, path: str, name: str) -> Mapping[str, int]:
        """The max of a queue that a pod is in or below."""
        queues = (await self.story(name))["verdict"]["queues"]
        return next(dict(each["max"]) for each in queues if each["queue"] == path)

    async def allocated(self, path: str) -> float:
        return await self.paddock.metric("paddock_queue_allocated", queue=path, resource="vcore")

    async def agrees(self) -> bool:
        """Wait until the audit is clean, nothing is reserved, and queues hold what the observer counts."""
        drifts = await self.paddock.drifts()
        rules = self.queues.rules
        held = {path: await self.allocated(path) for path in rules.peaks}
        seen = {path: rules.recount(path).get("cpu", 0) for path in held}
        reserved = await self.paddock.metric("paddock_reservations")
        return (drifts, reserved) == ([], 0) and held == seen


@asynccontextmanager
async def tenants(
    cluster: Cluster, apps: Mapping[str, App], document: Object, *, limited: str, made: Maxima
) -> AsyncIterator[Tenants]:
    """Tenants on two nodes, with their document in force; see `Tenants`."""
    async with Stand(cluster, {}) as stand:
        await cluster.add_nodes(2)
        found = Tenants(stand, apps, document, limited)
        await found.begin(made)
        async with found.queues, found.people:
            yield found
