"""The sides of a round: without an extender, and each shipped form with an echo and with Paddock."""

import itertools
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from e2e.bench.rates.figures import NONE
from e2e.bench.worlds.echo import Echo
from e2e.bench.worlds.opener import Opener
from e2e.cluster.client import Cluster, Object
from e2e.programs.paddock import PaddockProcess
from e2e.stands.stand import CONFIG_MAP, INSTALLED, NAMESPACE, document, manifest, rendered, scheduler_config

PADDOCK, ECHO, LOOP = "paddock", "echo", "loop"
WATCHING = "watching echo"
OVERLAY = "kubeadm"
QPS = {"qps": 1_000, "burst": 1_000}
"""Calls a second of kube-scheduler, the same for all sides."""

FORMS: Mapping[str, str] = {
    "plain": "scheduler-config-plain.yaml",
    "prioritize": "scheduler-config-prioritize.yaml",
    "direct": "scheduler-config-direct.yaml",
    "direct of few nodes": "scheduler-config-direct.yaml",
    "gated": "scheduler-config-scoped.yaml",
}
"""The shipped file of each form. ``gated``: with gates and markers by policy, and the markers cut."""

FEW = {"direct of few nodes": {"percentageOfNodesToScore": 5}}
"""Values of the chart beside the file. kube-scheduler takes 100 nodes at least, which are 20 percent here."""

GATED = "gated"
_ALL = '"paddock.dev/filter": "1", "paddock.dev/preempt": "1", "paddock.dev/bind": "1"'
_CUT = '"paddock.dev/preempt": "1"'
_HAS = 'object.spec.containers[0].?resources.?{part}[?"paddock.dev/{marker}"].orValue("") == "1"'
CHANGING = "gated-policies/mark-and-gate-pods.yaml"


class Decider(Protocol):
    """A program that decides about pods, or stands for one."""

    async def start(self) -> None: ...

    async def stop(self) -> object: ...

    @property
    def pid(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Side:
    """A form and who decides in it. ``form`` is empty without an extender.

    ``watches``: True for an echo that also watches all pods and scores nodes, as Paddock must.
    """

    name: str
    form: str = ""
    by: str = ""
    watches: bool = False

    @property
    def gated(self) -> bool:
        return self.form == GATED


def sides() -> list[Side]:
    """All sides: none, and in each form an echo, an echo that watches, and Paddock.

    The echo of gates is a loop that opens each, which must watch.
    """
    found = [Side(NONE)]
    for form in FORMS:
        other = LOOP if form == GATED else ECHO
        found.append(Side(f"{form}, {other}", form, other))
        if form != GATED:
            found.append(Side(f"{form}, {WATCHING}", form, ECHO, watches=True))
        found.append(Side(f"{form}, {PADDOCK}", form, PADDOCK))
    return found


def twin(side: Side) -> str:
    """The name of the side that decides nothing in the same form."""
    return f"{side.form}, {LOOP if side.gated else ECHO}"


def floor(side: Side) -> str:
    """The name of the side that decides nothing and makes the same API calls."""
    return f"{side.form}, {LOOP if side.gated else WATCHING}"


def configuration(side: Side, url: str) -> Object:
    """kube-scheduler's configuration as shipped, but for its address and `QPS`."""
    config = scheduler_config(f"{OVERLAY}/{FORMS[side.form or 'plain']}", url)
    config |= FEW.get(side.form, {}) | {"clientConnection": dict(QPS)}
    if not side.form:
        config["extenders"] = []
    return config


SETTINGS = {"prioritize": {"paddock.nodeSelection": "policy"}}
"""Settings of a form. Without this one, or a policy in the document, Paddock scores no node."""


async def install(cluster: Cluster, tree: Mapping[str, Any], *, form: str = "") -> None:
    """Install Paddock's account, roles and queues, and the settings of a form."""
    for thing in rendered(OVERLAY):
        if thing["kind"] in INSTALLED:
            await cluster.apply(thing)
    await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(tree), **SETTINGS.get(form, {})})


def policies() -> list[Object]:
    """The shipped policy of the gated form, with the markers cut to the one that it needs."""
    found = manifest(CHANGING)
    for thing in found:
        for mutation in thing["spec"].get("mutations", ()):
            mutation["jsonPatch"]["expression"] = _cut(mutation["jsonPatch"]["expression"])
    return found


def _cut(expression: str) -> str:
    """The expression of the shipped patch, so that it gives the marker for preempt alone."""
    parts = ("requests", "limits")
    assert expression.count(_ALL) == len(parts)
    found = expression.replace(_ALL, _CUT)
    for part, marker in itertools.product(parts, ("filter", "bind")):
        has = _HAS.format(part=part, marker=marker)
        assert found.count(has) == 1
        found = found.replace(has, "true")
    return found


def paddock_of(cluster: Cluster, stack: AsyncExitStack) -> PaddockProcess:
    """Paddock with its shipped account, not started. The stack stops it."""
    control_plane = cluster.control_plane
    paddock = PaddockProcess(control_plane.kubeconfig("paddock-certificate"), Path(control_plane.folder))
    stack.push_async_callback(paddock.stop)
    return paddock


def decider(side: Side, cluster: Cluster, stack: AsyncExitStack) -> tuple[Decider | None, str]:
    """The side's decider, not started, and its address."""
    control_plane = cluster.control_plane
    if side.by == PADDOCK:
        paddock = paddock_of(cluster, stack)
        return paddock, paddock.url
    if side.by == ECHO:
        echo = Echo(control_plane, watches=side.watches)
        stack.push_async_callback(echo.stop)
        return echo, echo.url
    if side.by == LOOP:
        loop = Opener(control_plane, cluster.namespace)
        stack.push_async_callback(loop.stop)
        # The markers make kube-scheduler call preempt only, and it has no reason to.
        return loop, "http://127.0.0.1:9/v1"
    return None, "http://127.0.0.1:9/v1"
