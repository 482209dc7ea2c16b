"""Queues: the tree, and one queue."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from core.sentences import resource_name
from extender.plugin.amounts import amount, amounts, percent
from extender.plugin.asked import Asked
from extender.plugin.completing import names_of
from extender.plugin.paths import PARTITION, segment
from extender.plugin.printing import Result, Rows
from extender.plugin.reaching import Server

Queue = Mapping[str, Any]

_MAIN = ("vcore", "memory")
"""Resources that are shown without being asked for."""


def queues(
    server: Server,
    asked: Asked,
    queue: Annotated[
        str, typer.Argument(help="Queue to begin with.", autocompletion=names_of("queue"))
    ] = "root",
    flat: Annotated[bool, typer.Option("--flat/--tree", help="Whole paths, or a tree.")] = False,
    depth: Annotated[int, typer.Option("--depth", help="Levels below the first; -1 for all.")] = -1,
) -> Result:
    """Show the tree of queues with its limits and usage."""
    path = f"{PARTITION}/queue/{segment(queue)}?subtree"
    root = server.get(f"{PARTITION}/queues" if queue == "root" else path)
    table = Rows(
        ("QUEUE", "RESOURCE", "USED", "GUARANTEED", "MAX", "USE", "RUNNING", "STATUS", "PENDING", "HEADROOM"),
        wide=2,
    )
    found = list(_below(root, 0, depth))
    for level, each in found:
        _add(table, each, level, asked, flat=flat)
    items = [{key: value for key, value in each.items() if key != "children"} for _, each in found]
    return Result("Queue", items, [f"queue/{each['queuename']}" for _, each in found], [table])


def _below(queue: Queue, level: int, depth: int) -> Iterator[tuple[int, Queue]]:
    yield level, queue
    for child in queue.get("children", ()) if depth < 0 or level < depth else ():
        yield from _below(child, level + 1, depth)


def _add(table: Rows, queue: Queue, level: int, asked: Asked, *, flat: bool) -> None:
    path = str(queue["queuename"])
    name = path if flat or not level else "  " * level + path.rpartition(".")[2]
    running = f"{queue.get('runningApps', 0)}"
    if queue.get("maxRunningApps"):
        running += f"/{queue['maxRunningApps']}"
    for number, resource in enumerate(_resources(queue, asked)):
        cells = [_cell(queue, kind, resource, asked) for kind in ("allocated", "guaranteed", "max")]
        used = queue.get("allocatedResource", {}).get(resource, 0)
        use = percent(used, queue.get("maxResource", {}).get(resource, 0))
        first = (name if not number else "", resource_name(resource))
        last = (running, queue.get("status", "")) if not number else ("", "")
        pending = _cell(queue, "pending", resource, asked)
        left = queue.get("headroom", {}).get(resource)
        headroom = "-" if left is None else amount(resource, left, raw=asked.raw_units)
        table.add(*first, *cells, use, *last, pending, headroom)


def _resources(queue: Queue, asked: Asked) -> list[str]:
    """Names of the resources of a queue, CPU and memory first. The others only with ``-o wide``."""
    kinds = ("allocatedResource", "guaranteedResource", "maxResource", "pendingResource")
    names = {name for kind in kinds for name in queue.get(kind, {})}
    if asked.output != "wide":
        names &= set(_MAIN)
    return [*(name for name in _MAIN if name in names), *sorted(names - set(_MAIN))] or ["vcore"]


def _cell(queue: Queue, kind: str, resource: str, asked: Asked) -> str:
    value = queue.get(f"{kind}Resource", {}).get(resource)
    return "-" if value is None else amount(resource, value, raw=asked.raw_units)


def queue(
    server: Server,
    asked: Asked,
    name: Annotated[
        str,
        typer.Argument(metavar="QUEUE", help="Path of the queue.", autocompletion=names_of("queue")),
    ],
) -> Result:
    """Describe a queue: limits of it and above it, headroom, policies and applications."""
    found = server.get(f"{PARTITION}/queue/{segment(name)}")
    apps = server.get(f"{PARTITION}/queue/{segment(name)}/applications") if found.get("isLeaf") else []
    return Result(
        "Queue",
        [found],
        [f"queue/{found['queuename']}"],
        [*_lines(found, asked), *_limits(server, found, asked), *_apps(apps)],
        single=True,
    )


def _lines(found: Queue, asked: Asked) -> Iterator[str]:
    yield f"Queue:       {found['queuename']}"
    yield f"Status:      {found.get('status', '')}, {'leaf' if found.get('isLeaf') else 'parent'}, " + (
        "configured" if found.get("isManaged") else "dynamic"
    )
    fences = [
        name
        for name, key in (("priority", "isPriorityFence"), ("preemption", "isPreemptionFence"))
        if found.get(key)
    ]
    yield f"Fences:      {', '.join(fences) or 'none'}"
    by_priority = "priorities count" if found.get("prioritySorting") else "priorities do not count"
    yield f"Sorting:     {found.get('sortingPolicy') or '-'}, {by_priority}"
    preempts = "on" if found.get("preemptionEnabled") else "off"
    yield f"Preemption:  {preempts}, after {found.get('preemptionDelay', '')}"
    yield f"Headroom:    {amounts(found.get('headroom'), raw=asked.raw_units)}"
    yield f"Pending:     {amounts(found.get('pendingResource'), raw=asked.raw_units)}"


def _limits(server: Server, found: Queue, asked: Asked) -> Iterator[str | Rows]:
    """The limits of the queue and of all above it."""
    table = Rows(("LIMITED BY", "USED", "GUARANTEED", "MAX", "RUNNING"))
    each: Queue = found
    while True:
        running = f"{each.get('runningApps', 0)}/{each.get('maxRunningApps') or '-'}"
        cells = (each.get(f"{kind}Resource") for kind in ("allocated", "guaranteed", "max"))
        table.add(each["queuename"], *(amounts(cell, raw=asked.raw_units) for cell in cells), running)
        if not each.get("parent"):
            break
        each = server.get(f"{PARTITION}/queue/{segment(str(each['parent']))}")
    yield ""
    yield table


def _apps(apps: list[Mapping[str, Any]]) -> Iterator[str | Rows]:
    if not apps:
        return
    table = Rows(("APPLICATION", "NAMESPACE", "USER", "STATE", "WAITING", "RUNNING"))
    for each in apps:
        waiting, running = len(each.get("requests") or ()), len(each.get("allocations") or ())
        row = each.get("namespace", ""), each.get("user", ""), each.get("applicationState", "")
        table.add(each["applicationID"], *row, waiting, running)
    yield ""
    yield table
