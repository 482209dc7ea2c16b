"""Handmade recordings: one with five pods, one as large as a page must support, and parts of others."""

import random
from collections import Counter, defaultdict
from typing import Any

from extender.simulator.report.recording import (
    Amounts,
    Difference,
    Happening,
    NodeHistory,
    QueueHistory,
    QueueSample,
    Recording,
    Stay,
)

GI = 2**30


def amounts(cores: float = 0, gib: float = 0) -> dict[str, int]:
    return {"memory": int(gib * GI), "vcore": int(cores * 1000)}


def make_sample(
    at: int = 0,
    *,
    used: Amounts | None = None,
    pending: Amounts | None = None,
    guaranteed: Amounts | None = None,
    max: Amounts | None = None,
    draining: bool = False,
) -> QueueSample:
    return QueueSample(at, used or {}, pending or {}, guaranteed, max, draining)


def make_history(
    path: str, *samples: QueueSample, leaf: bool = True, removed: int | None = None
) -> QueueHistory:
    return QueueHistory(path, leaf, samples or (make_sample(),), removed)


def make_recording(**fields: Any) -> Recording:
    defaults: dict[str, Any] = {
        "name": "a scenario",
        "file": "policies/scenario.yaml",
        "end": 0,
        "timeline": (),
        "queues": (),
        "nodes": (),
        "pods": {},
    }
    return Recording(**defaults | fields)


def make_pod(queue: str = "root.a", **fields: Any) -> dict[str, Any]:
    defaults = {"node": "", "phase": "Pending", "reason": "", "message": "", "created": 0}
    return {"queue": queue, **defaults, "bound": None, "gone": None, **fields}


REFUSAL = "QuotaExceeded: root.web {vcore: 2}"


def five_pods() -> Recording:
    """Two tenants on two nodes: a refusal, an eviction for a guarantee, one pod that still waits."""
    web = {"guaranteed": amounts(1), "max": amounts(2, 4)}
    batch = {"guaranteed": amounts(3), "max": amounts(4, 8)}
    return make_recording(
        name="a guarantee takes its share back",
        end=30_000,
        checks=4,
        attempts=9,
        timeline=_five_pods_timeline(),
        queues=(
            make_history(
                "root",
                make_sample(0, used=amounts(2, 4), pending=amounts(1, 2)),
                make_sample(8_000, used=amounts(4, 6), pending=amounts(2, 4)),
                make_sample(12_500, used=amounts(4, 6), pending=amounts(2, 4)),
                make_sample(24_000, used=amounts(4, 6), pending=amounts(1, 2)),
                leaf=False,
            ),
            make_history(
                "root.web",
                make_sample(0, used=amounts(2, 4), pending=amounts(1, 2), **web),
                make_sample(12_500, used=amounts(1, 2), pending=amounts(2, 4), **web),
                make_sample(24_000, used=amounts(1, 2), pending=amounts(1, 2), **web),
            ),
            make_history(
                "root.batch",
                make_sample(0, **batch),
                make_sample(8_000, used=amounts(2, 2), pending=amounts(1, 2), **batch),
                make_sample(12_500, used=amounts(3, 4), **batch),
            ),
        ),
        nodes=(
            NodeHistory(
                "n1",
                {"memory": 8 * GI, "pods": 110, "vcore": 4000},
                0,
                None,
                (
                    Stay("web-0", "root.web", amounts(1, 2), 0, None),
                    Stay("web-1", "root.web", amounts(1, 2), 0, 12_500),
                    Stay("batch-0", "root.batch", amounts(2, 2), 8_000, None),
                    Stay("batch-1", "root.batch", amounts(1, 2), 12_500, None),
                ),
            ),
            NodeHistory("n2", {"memory": 4 * GI, "pods": 110, "vcore": 2000}, 6_000, 20_000, ()),
        ),
        pods={
            "web-0": make_pod("root.web", node="n1", phase="Running", bound=0),
            "web-1": make_pod("root.web", node="n1", bound=0, gone=12_500),
            "web-2": make_pod("root.web", reason="QuotaExceeded", message=REFUSAL),
            "batch-0": make_pod("root.batch", node="n1", phase="Running", created=8_000, bound=8_000),
            "batch-1": make_pod("root.batch", node="n1", phase="Running", created=8_000, bound=12_500),
        },
    )


def _five_pods_timeline() -> tuple[Happening, ...]:
    web, batch = {"queue": "root.web"}, {"queue": "root.batch"}
    return (
        *(Happening(0, "submitted", "submitted", pod=f"web-{number}", **web) for number in range(3)),
        *(
            Happening(0, "placed", "placed on n1", pod=f"web-{number}", node="n1", **web)
            for number in range(2)
        ),
        Happening(0, "refused", "QuotaExceeded", pod="web-2", why=REFUSAL, code="QuotaExceeded", **web),
        Happening(6_000, "node", "added", node="n2"),
        Happening(8_000, "submitted", "submitted", pod="batch-0", **batch),
        Happening(8_000, "submitted", "submitted", pod="batch-1", **batch),
        Happening(8_000, "placed", "placed on n1", pod="batch-0", node="n1", **batch),
        Happening(
            8_000,
            "waits",
            "Unschedulable",
            pod="batch-1",
            why="0/2 nodes are available: 2 Insufficient memory.",
            code="Unschedulable",
            **batch,
        ),
        Happening(
            12_500, "evicted", "preempted on n1", pod="web-1", node="n1", why="for batch-1 (LAW-4)", **web
        ),
        Happening(12_500, "placed", "placed on n1", pod="batch-1", node="n1", **batch),
        Happening(20_000, "node", "removed", node="n2"),
        Happening(24_000, "config", "new configuration"),
    )


def with_difference(recording: Recording) -> Recording:
    difference = Difference(
        "placed", 12_500, 31, "[web-2]", "[batch-1]", ("+0s web-2 submitted", "+0s web-2 refused")
    )
    return make_recording(
        **{name: getattr(recording, name) for name in recording.__slots__} | {"differences": (difference,)}
    )


class LargeRun:
    """A random day of many tenants. The seed is fixed, so the day is always the same."""

    def __init__(self, pods: int, nodes: int, leaves: int) -> None:
        self.dice = random.Random(7)
        self.end = 600_000
        self.timeline: list[Happening] = []
        self.pods: dict[str, dict[str, Any]] = {}
        self.leaves = [f"root.tenant-{number % 18:02}.team-{number:03}" for number in range(leaves)]
        self.used: dict[str, Counter[str]] = defaultdict(Counter)
        self.pending: dict[str, Counter[str]] = defaultdict(Counter)
        self.samples: dict[str, list[QueueSample]] = {}
        self.waiting: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self.free = [16] * nodes
        self.stays: list[list[Stay]] = [[] for _ in range(nodes)]
        self.ending: list[tuple[int, str, int, str, int, int]] = []
        for path in ("root", *self.leaves):
            self._sample(0, path)
        self._play(pods)

    def _play(self, pods: int) -> None:
        for number in range(pods):
            at = self.end * (number // 8) // (pods // 8) // 500 * 500
            self._release(at)
            leaf = number % len(self.leaves)
            self._submit(at, f"job-{leaf}-{number // len(self.leaves)}", self.leaves[leaf])

    def _release(self, at: int) -> None:
        while self.ending and self.ending[0][0] <= at:
            then, pod, node, leaf, cores, start = self.ending.pop(0)
            self.free[node] += cores
            self._count(self.used, leaf, -cores)
            self.stays[node].append(Stay(pod, leaf, amounts(cores, 2 * cores), start, then))
            self.pods[pod] |= {"gone": then}
            self._note_end(then, pod, leaf, f"node-{node:03}")
            self._sample(then, leaf)
            self._retry(then, leaf)

    def _note_end(self, at: int, pod: str, leaf: str, node: str) -> None:
        evicted = self.dice.random() < 0.04
        kind, why = ("evicted", "for team-000-urgent (LAW-2)") if evicted else ("succeeded", "")
        self.timeline.append(Happening(at, kind, kind, pod=pod, queue=leaf, node=node, why=why))

    def _submit(self, at: int, pod: str, leaf: str) -> None:
        cores = self.dice.choice((1, 1, 2, 4))
        self.timeline.append(Happening(at, "submitted", "submitted", pod=pod, queue=leaf))
        self.pods[pod] = make_pod(leaf, created=at)
        self._count(self.pending, leaf, cores)
        self.waiting[leaf].append((pod, cores))
        self._retry(at, leaf)

    def _retry(self, at: int, leaf: str) -> None:
        """Admit the first waiting pod, and refuse the one submitted last."""
        pod, cores = self.waiting[leaf][0] if self.waiting[leaf] else ("", 0)
        if not pod:
            return
        node = self.dice.randrange(len(self.free))
        if self.used[leaf]["vcore"] + cores * 1000 > self._max(leaf):
            why = f"QuotaExceeded: {leaf} {{vcore: {self._max(leaf) // 1000}}}"
            self._refuse(at, leaf, "refused", "QuotaExceeded", why)
        elif self.free[node] < cores:
            why = f"0/{len(self.free)} nodes are available: {len(self.free)} Insufficient cpu."
            self._refuse(at, leaf, "waits", "Unschedulable", why)
        else:
            self.waiting[leaf].pop(0)
            self._place(at, pod, leaf, cores, node)
        self._sample(at, leaf)

    def _place(self, at: int, pod: str, leaf: str, cores: int, node: int) -> None:
        name = f"node-{node:03}"
        self.free[node] -= cores
        self.pods[pod] |= {"node": name, "bound": at, "phase": "Running", "reason": "", "message": ""}
        self._count(self.used, leaf, cores)
        self._count(self.pending, leaf, -cores)
        self.timeline.append(Happening(at, "placed", f"placed on {name}", pod=pod, queue=leaf, node=name))
        self.ending.append((at + self.dice.randrange(120, 800) * 500, pod, node, leaf, cores, at))
        self.ending.sort()

    def _refuse(self, at: int, leaf: str, kind: str, code: str, why: str) -> None:
        pod = self.waiting[leaf][-1][0]
        if self.pods[pod]["reason"]:
            return
        self.pods[pod] |= {"reason": code, "message": why}
        self.timeline.append(Happening(at, kind, code, pod=pod, queue=leaf, why=why, code=code))

    def _max(self, leaf: str) -> int:
        return 1000 * (12 + int(leaf[-3:]) % 5 * 8)

    def _count(self, what: dict[str, Counter[str]], leaf: str, cores: int) -> None:
        for path in _chain(leaf):
            what[path].update(amounts(cores, 2 * cores))

    def _sample(self, at: int, leaf: str) -> None:
        for path in _chain(leaf):
            is_leaf = path in self.leaves
            sample = make_sample(
                at,
                used=dict(self.used[path]),
                pending=dict(self.pending[path]),
                guaranteed={"vcore": self._max(path) // 2} if is_leaf else None,
                max={"vcore": self._max(path)} if is_leaf else None,
            )
            self.samples.setdefault(path, []).append(sample)

    def recording(self) -> Recording:
        timeline = sorted(self.timeline, key=lambda entry: entry.at)
        for _, pod, node, leaf, cores, start in self.ending:
            self.stays[node].append(Stay(pod, leaf, amounts(cores, 2 * cores), start, None))
        capacity = {"memory": 64 * GI, "vcore": 16_000}
        return make_recording(
            name="a day of many tenants",
            end=self.end,
            timeline=tuple(timeline),
            queues=tuple(
                make_history(path, *sorted(samples, key=lambda one: one.at), leaf=path in self.leaves)
                for path, samples in self.samples.items()
            ),
            nodes=tuple(
                NodeHistory(
                    f"node-{number:03}", capacity, 0, None, tuple(sorted(stays, key=lambda one: one.start))
                )
                for number, stays in enumerate(self.stays)
            ),
            pods=self.pods,
        )


def _chain(leaf: str) -> list[str]:
    parts = leaf.split(".")
    return [".".join(parts[: length + 1]) for length in range(len(parts))]


def large(pods: int = 5_000, nodes: int = 500, leaves: int = 181) -> Recording:
    """200 queues with the defaults: root, 18 tenants and the leaves."""
    return LargeRun(pods, nodes, leaves).recording()
