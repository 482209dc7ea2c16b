"""A stand-in for a server with 10,000 applications and 2,000 queues, whose answers are made once."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from extender.http.door import Door
from extender.http.endpoints import Endpoint, guarded_app
from extender.http.page import page_shown
from extender.http.server import Address, listen

PARTITION = "/ws/v1/partition/default"
UNITS, TEAMS = 40, 50


def applications(count: int) -> list[dict[str, Any]]:
    """Applications of one pod each. Of each three one waits."""
    return [_application(at) for at in range(count)]


def _application(at: int) -> dict[str, Any]:
    tags = {"kubernetes.io/meta/namespace": "default", "kubernetes.io/meta/podName": f"p{at:05}"}
    pod = {"allocationKey": f"uid-{at}", "allocationTags": tags, "resource": {"vcore": 1000, "pods": 1}}
    waits = at % 3 == 0
    log = [{"message": "Not enough queue quota", "lastOccurrence": 1, "count": 3}]
    return {
        "applicationID": f"app-{at:05}",
        "namespace": "default",
        "partition": "default",
        "queueName": f"root.unit{at % UNITS}.team{at // UNITS % TEAMS}",
        "user": f"user{at % 700}",
        "submissionTime": 1_790_000_000_000_000_000 + at * 10**9,
        "applicationState": "Accepted" if waits else "Running",
        "usedResource": {} if waits else {"vcore": 1000, "pods": 1},
        "requests": [{**pod, "allocationLog": log}] if waits else [],
        "allocations": [] if waits else [{**pod, "nodeId": "n1"}],
    }


def queues() -> dict[str, Any]:
    units = [
        _queue(f"root.unit{unit}", [_queue(f"root.unit{unit}.team{team}", []) for team in range(TEAMS)])
        for unit in range(UNITS)
    ]
    return _queue("root", units)


def _queue(path: str, children: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "queuename": path,
        "status": "Active",
        "parent": path.rpartition(".")[0],
        "children": children,
        "maxResource": {"vcore": 64000, "memory": 2**38},
        "guaranteedResource": {"vcore": 8000},
        "allocatedResource": {"vcore": 1000 * (len(path) % 60), "memory": 2**33},
        "pendingResource": {"vcore": 500},
    }


@asynccontextmanager
async def page_crowd(count: int) -> AsyncIterator[str]:
    """Address of the page, with so many applications."""
    answers = {
        f"{PARTITION}/applications/active": applications(count),
        f"{PARTITION}/queues": queues(),
    }
    endpoints = [Endpoint("GET", path, _answering(body)) for path, body in answers.items()]
    app = guarded_app(endpoints, Door(), page_shown())
    runner = await listen(app, Address("127.0.0.1", 0), shutdown=0.2)
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


def _answering(body: Any) -> Any:
    encoded = json.dumps(body).encode()

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=encoded, content_type="application/json")

    return answer
