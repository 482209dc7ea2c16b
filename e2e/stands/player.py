"""A scenario file played on the real control plane, at its own pace, and its outcome.

The simulator's own translation makes the objects, so that both play the same pods. The figures compared
afterwards come only from the API server and from Paddock's stories.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from e2e.cluster.client import RUN_FOR, Object, condition, node_of, path_of
from e2e.cluster.daemon_sets import daemon_set
from e2e.stands.preemption import PREEMPTED_FOR
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, Stand, Tree, limits
from extender.simulator.report.recording import Recording
from extender.simulator.scenario.cluster_entries import NodeEntry
from extender.simulator.scenario.daemon_sets import LABEL as DAEMON_SET_LABEL
from extender.simulator.scenario.model import PodEntry, Scenario, Step
from extender.simulator.scenario.objects import (
    add_gate,
    anonymous_class,
    node_object,
    pod_object,
    priority_class_object,
    priority_class_of_entry,
)

QUIET = 1.5
"""Seconds in which nothing may happen after the last step, once everything is as expected."""

LATEST = 30.0
"""Seconds after the last step in which all must come about, with one failed attempt and its back-off."""


@dataclass
class Outcome:
    """The outcome of a scenario.

    ``placed``: every pod that got a node, with it. ``evicted``: pods preempted or evicted. ``codes``: for
    each pod that still exists its refusal codes in order, without repeats.
    """

    placed: set[tuple[str, str]] = field(default_factory=set)
    evicted: set[str] = field(default_factory=set)
    codes: dict[str, list[str]] = field(default_factory=dict)


def outcome_of(recording: Recording) -> Outcome:
    """The outcome according to the simulator."""
    found = Outcome()
    for each in recording.timeline:
        if each.kind == "placed":
            found.placed.add((each.pod, each.node))
        elif each.kind == "evicted":
            found.evicted.add(each.pod)
        elif each.kind == "refused":
            _add(found.codes.setdefault(each.pod, []), each.code)
    there = {name for name, pod in recording.pods.items() if pod["gone"] is None}
    found.codes = {name: codes for name, codes in found.codes.items() if name in there}
    return found


def _add(codes: list[str], code: str) -> None:
    if codes[-1:] != [code]:
        codes.append(code)


def tree_of(document: str) -> Tree:
    """The queues of a document in the form that a stand takes: names, maxima, children."""
    root = yaml.safe_load(document)["partitions"][0]["queues"][0]
    return _below(root)


def _below(queue: Mapping[str, Any]) -> Tree:
    tree: dict[str, Any] = {each["name"]: _below(each) for each in queue.get("queues", ())}
    maximum = queue.get("resources", {}).get("max")
    if maximum:
        tree["max"] = {name: str(amount) for name, amount in maximum.items()}
    return tree


class Player:
    """A player of one scenario on a stand that runs its configuration."""

    def __init__(self, scenario: Scenario, stand: Stand) -> None:
        self._scenario = scenario
        self._stand = stand
        self._cluster = stand.cluster
        self._seen = Outcome()
        self._entries: dict[str, PodEntry] = {}
        self._daemon_sets: dict[str, str] = {}
        self._copies: dict[str, int] = {}
        self._pending: set[asyncio.Task[None]] = set()
        self._last = 0.0
        stand.pods.listeners.append(self._on_pod)

    async def play(self, expected: Outcome) -> Outcome:
        """Play every step at its time, then wait until all is as expected or the time for it is over."""
        await self._prepare()
        started = time.monotonic()
        for step in self._scenario.steps:
            await asyncio.sleep(max(0.0, started + step.at / 1000 - time.monotonic()))
            await self._play(step)
        await self._until_quiet(expected)
        self._seen.codes = {name: await self._codes(name) for name in sorted(self._there())}
        self._seen.codes = {name: codes for name, codes in self._seen.codes.items() if codes}
        return self._seen

    async def _until_quiet(self, expected: Outcome) -> None:
        """Wait until all is as expected, for `LATEST` at most, and nothing has happened for a while.

        Anything that happens beyond the expectations must have time to show.
        """
        until = time.monotonic() + LATEST

        def over() -> bool:
            agreed = (self._seen.placed, self._seen.evicted) == (expected.placed, expected.evicted)
            return agreed or time.monotonic() >= until

        await self._stand.pods.until(over, "the outcome", timeout=2 * LATEST)
        self._last = time.monotonic()
        await self._stand.pods.until(lambda: time.monotonic() - self._last >= QUIET, "quiet", timeout=60)

    # -- what is seen ----------------------------------------------------------------------------------------

    def _on_pod(self, kind: str, pod: Object) -> None:
        meta = pod["metadata"]
        name = meta["name"]
        if meta["namespace"] != self._cluster.namespace or name not in self._entries:
            return
        before = len(self._seen.placed), len(self._seen.evicted)
        self._take_in(kind, pod, name)
        if before != (len(self._seen.placed), len(self._seen.evicted)):
            self._last = time.monotonic()

    def _take_in(self, kind: str, pod: Object, name: str) -> None:
        meta = pod["metadata"]
        if node_of(pod):
            self._seen.placed.add((name, node_of(pod)))
        disrupted = condition(pod, "DisruptionTarget") or {}
        by_paddock = PREEMPTED_FOR in (meta.get("annotations") or {})
        if (by_paddock or disrupted.get("reason") == "PreemptionByScheduler") and (
            kind == "DELETED" or meta.get("deletionTimestamp")
        ):
            self._seen.evicted.add(name)
        if kind == "DELETED":
            self._recreate(name)

    def _recreate(self, name: str) -> None:
        entry = self._entries[name]
        if entry.recreate:
            root = name.partition(".")[0]
            self._copies[root] = self._copies.get(root, 0) + 1
            copy = asyncio.ensure_future(self._submit(entry, f"{root}.{self._copies[root]}"))
            self._pending.add(copy)
            copy.add_done_callback(self._pending.discard)

    def _there(self) -> Iterable[str]:
        for pod in self._stand.pods.pods.values():
            if pod["metadata"]["namespace"] == self._cluster.namespace:
                yield pod["metadata"]["name"]

    async def _codes(self, name: str) -> list[str]:
        story = await self._stand.paddock.story(self._cluster.namespace, name)
        codes: list[str] = []
        for line in story.get("story", ()):
            code = line["what"].rpartition(": ")[2]
            if line["detail"].startswith(f"{code}:") and line["what"] != line["detail"]:
                _add(codes, code)
        return codes

    # -- what is done ----------------------------------------------------------------------------------------

    async def _prepare(self) -> None:
        scenario, cluster = self._scenario, self._cluster
        for entry in scenario.cluster.priority_classes:
            await self._apply("scheduling.k8s.io/v1", "PriorityClass", priority_class_of_entry(entry))
        for step in scenario.steps:
            for pod in step.submit:
                if pod.priority:
                    body = priority_class_object(anonymous_class(pod.priority), pod.priority)
                    await self._apply("scheduling.k8s.io/v1", "PriorityClass", body)
        for budget in scenario.cluster.pod_disruption_budgets:
            spec: Object = {"selector": {"matchLabels": dict(budget.match_labels)}, "maxUnavailable": 0}
            body = {"metadata": {"name": budget.name, "namespace": cluster.namespace}, "spec": spec}
            await self._apply("policy/v1", "PodDisruptionBudget", body)
        for node in scenario.cluster.nodes:
            await self._add_nodes(node)
        if scenario.delays.bind:
            self._stand.proxy.delay("POST", "/binding$", scenario.delays.bind / 1000)
        if scenario.delays.watch:
            self._stand.proxy.delay_watch("/api/v1/pods", scenario.delays.watch / 1000)
            self._stand.proxy.cut_watches("/api/v1/pods")

    async def _apply(self, version: str, kind: str, body: Object) -> None:
        await self._cluster.apply({"apiVersion": version, "kind": kind, **body})

    async def _add_nodes(self, entry: NodeEntry) -> None:
        for name in entry.names:
            body = node_object(entry, name, at=0)
            body["metadata"].pop("creationTimestamp")
            status, taints = body.pop("status"), body["spec"].pop("taints")
            amounts = status["allocatable"]
            ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "played"}
            await self._cluster.create({"apiVersion": "v1", "kind": "Node", **body})
            path = path_of("Node", name=name)
            status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
            await self._cluster.patch(path + "/status", {"status": status})
            await self._cluster.patch(path, {"spec": {"taints": taints or None}})

    async def _play(self, step: Step) -> None:
        cluster, stand = self._cluster, self._stand
        if step.config is not None:
            await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": step.config.text})
            stand.observer.set_limits(limits(tree_of(step.config.text)))
        for node in step.add_nodes:
            await self._add_nodes(node)
        for name, _ in step.cordon:
            await cluster.patch(path_of("Node", name=name), {"spec": {"unschedulable": True}})
        for name, _ in step.uncordon:
            await cluster.patch(path_of("Node", name=name), {"spec": {"unschedulable": None}})
        for entry in step.submit:
            for name in entry.names:
                await self._submit(entry, name)
        for name, _ in step.complete:
            path = path_of("Pod", cluster.namespace, name)
            await cluster.patch(path + "/status", {"status": {"phase": "Succeeded"}})
        for name, _ in step.delete:
            await cluster.delete_pod(name, grace=self._entries[name].grace // 1000)
        if step.restart:
            await stand.paddock.restart()
            await stand.paddock.until_ready()
        if step.restart_scheduler:
            await stand.scheduler.restart()

    async def _submit(self, entry: PodEntry, name: str) -> None:
        self._entries[name] = entry
        body = pod_object(entry, name, {}, at=0, node=entry.node)
        if self._scenario.gates and entry.node is None:
            add_gate(body)
        meta, spec = body["metadata"], body["spec"]
        meta.pop("creationTimestamp")
        meta["namespace"] = self._cluster.namespace
        if entry.run_for is not None:
            meta.setdefault("annotations", {})[RUN_FOR] = str(entry.run_for / 1000)
        # Admission computes these from the class.
        spec.pop("priority")
        spec.pop("preemptionPolicy")
        body.pop("status")
        if entry.daemon_set:
            (owner,) = meta["ownerReferences"]
            owner["uid"] = await self._daemon_set(entry.name)
        await self._cluster.create({"apiVersion": "v1", "kind": "Pod", **body})

    async def _daemon_set(self, name: str) -> str:
        """The uid of the DaemonSet that ``daemonSet: true`` stands for, created for its first pod."""
        if name not in self._daemon_sets:
            made = await self._cluster.create(daemon_set(self._cluster, name, label=DAEMON_SET_LABEL))
            self._daemon_sets[name] = made["metadata"]["uid"]
        return self._daemon_sets[name]
