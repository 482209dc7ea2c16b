"""Nodes, users, user groups, preemptions and events."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from extender.plugin.amounts import amounts
from extender.plugin.asked import Asked
from extender.plugin.completing import names_of
from extender.plugin.paths import PARTITION, segment
from extender.plugin.printing import Result, Rows, show
from extender.plugin.reaching import Server

Answer = Mapping[str, Any]

_KINDS = {1: "pod", 2: "app", 3: "node", 4: "queue", 5: "user"}
_CHANGES = {0: "", 1: "set", 2: "added", 3: "removed"}
_DETAILS = {
    100: "ask cancelled",
    102: "ask timed out",
    200: "allocation",
    201: "ask",
    202: "Rejected",
    203: "New",
    204: "Accepted",
    205: "Starting",
    206: "Running",
    207: "Completing",
    208: "Completed",
    209: "Failing",
    210: "Failed",
    211: "Resuming",
    212: "Expired",
    213: "queue has its applications",
    214: "queue has space for it",
    215: "user has their applications",
    216: "user may run it",
    300: "node",
    302: "schedulable",
    303: "allocation",
    304: "capacity",
    305: "usage of other pods",
    306: "node reservation",
    401: "dynamic queue",
    402: "leaf or parent",
    403: "max",
    404: "guaranteed",
    405: "application",
    407: "quota preemption",
    500: "cancelled",
    501: "preempted",
    502: "timed out",
    503: "replaced",
    504: "node gone",
    600: "limit of user",
    601: "limit of user group",
    602: "user group of application",
    603: "usage of user",
    604: "usage of user group",
}
"""Names of the things that change, by the number of the detail (REST-38)."""
_FOLLOWED_EVERY = 1.0
_AT_ONCE = 1000


def nodes(
    server: Server,
    asked: Asked,
    name: Annotated[
        str, typer.Argument(metavar="NODE", help="One node.", autocompletion=names_of("node"))
    ] = "",
) -> Result:
    """List nodes with what is allocated, taken by other pods, and free."""
    path = f"{PARTITION}/node/{segment(name)}" if name else f"{PARTITION}/nodes"
    answer = server.get(path)
    found = [answer] if name else answer
    table = Rows(("NODE", "ALLOCATED", "FOREIGN", "FREE", "PODS", "STATE", "RESERVED FOR"), wide=1)
    for each in found:
        parts = (_main(each.get(key)) for key in ("allocated", "occupied", "available"))
        state = "ready" if each.get("schedulable") else "cordoned"
        shown = [amounts(part, raw=asked.raw_units) for part in parts]
        table.add(
            each["nodeID"],
            *shown,
            len(each.get("allocations") or ()),
            state,
            ", ".join(each.get("reservations") or ()),
        )
    return Result(
        "Node", found, [f"node/{each['nodeID']}" for each in found], [table], "No nodes found.", bool(name)
    )


def _main(values: Mapping[str, int] | None) -> dict[str, int]:
    return {name: value for name, value in (values or {}).items() if name in ("vcore", "memory")}


def users(
    server: Server,
    asked: Asked,
    name: Annotated[
        str, typer.Argument(metavar="USER", help="One user.", autocompletion=names_of("user"))
    ] = "",
) -> Result:
    """Show the usage of users against their limits, by queue."""
    return _people(server, asked, "user", name)


def groups(
    server: Server,
    asked: Asked,
    name: Annotated[
        str, typer.Argument(metavar="GROUP", help="One user group.", autocompletion=names_of("group"))
    ] = "",
) -> Result:
    """Show the usage of user groups against their limits, by queue."""
    return _people(server, asked, "group", name)


def _people(server: Server, asked: Asked, kind: str, name: str) -> Result:
    path = f"{PARTITION}/usage/{kind}/{segment(name)}" if name else f"{PARTITION}/usage/{kind}s"
    answer = server.get(path)
    found = [answer] if name else answer or []
    table = Rows((kind.upper(), "QUEUE", "USED", "MAX", "RUNNING", "MAX RUNNING"))
    for each in found:
        for queue in _below(each.get("queues")):
            table.add(
                each[f"{kind}Name"],
                queue["queuePath"],
                amounts(queue.get("resourceUsage"), raw=asked.raw_units),
                amounts(queue.get("maxResources"), raw=asked.raw_units),
                len(queue.get("runningApplications") or ()),
                queue.get("maxApplications") or "-",
            )
    names = [f"{kind}/{each[f'{kind}Name']}" for each in found]
    return Result(kind.capitalize(), found, names, [table], f"No {kind}s found.", bool(name))


def _below(queue: Answer | None) -> Iterator[Answer]:
    if queue:
        yield queue
        for child in queue.get("children") or ():
            yield from _below(child)


def preemptions(
    server: Server, asked: Asked, last: Annotated[int, typer.Option("--last", help="Number of entries.")] = 20
) -> Result:
    """List recent preemption plans with their victims, and why others were stopped."""
    found = server.get("/debug/preemptions")["preemptions"][: max(0, last)]
    table = Rows(("AT", "POD", "OUTCOME", "LAW", "VICTIMS"))
    for each in found:
        outcome = each.get("refused") or ("breach" if "breaches" in each else each.get("kind", ""))
        victims = ", ".join(each.get("victims") or ()) or "-"
        table.add(str(each["at"])[:19], each["pod"], outcome, each.get("law", ""), victims)
    return Result(
        "Preemption", found, [f"pod/{each['pod']}" for each in found], [table], "No preemptions found."
    )


def events(
    server: Server,
    asked: Asked,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Follow new events.")] = False,
    about: Annotated[
        str,
        typer.Option(
            "--for",
            help="queue/…, app/…, pod/…, node/… or user/…",
            autocompletion=names_of("", "queue", "app", "pod", "node", "user"),
        ),
    ] = "",
    last: Annotated[int, typer.Option("--last", help="Number of past events to show first.")] = 100,
) -> Result | int:
    """Show events. With -f, follow new events without gaps or duplicates, and one a line with -o json."""
    batch = server.get("/ws/v1/events/batch?count=1")
    instance, following = batch["InstanceUUID"], max(batch["LowestID"], batch["HighestID"] + 1 - max(0, last))
    while True:
        batch = server.get(f"/ws/v1/events/batch?start={following}&count={_AT_ONCE}")
        if batch["InstanceUUID"] != instance:
            # Another process leads now, and its ids begin again.
            instance, following = batch["InstanceUUID"], batch["LowestID"]
            continue
        records = batch.get("EventRecords") or []
        if not records and batch["LowestID"] > following:
            following = batch["LowestID"]
            continue
        following += len(records)
        found = [each for each in records if _is_about(each, about)]
        if not follow:
            return _listed(found)
        if asked.output == "json":
            # One record a line, since the list has no end.
            for each in found:
                print(json.dumps(each))
        elif found:
            show(_listed(found), asked)
            asked.no_headers = True
        sys.stdout.flush()
        if len(records) < _AT_ONCE:
            time.sleep(_FOLLOWED_EVERY)


def _is_about(record: Answer, about: str) -> bool:
    kind, _, name = about.partition("/")
    if not about:
        return True
    if kind != _KINDS.get(record.get("type", 0)):
        return False
    return not name or name in (record.get("objectID"), record.get("referenceID"))


def _listed(records: list[Answer]) -> Result:
    table = Rows(("AT", "ABOUT", "OBJECT", "CHANGE", "MESSAGE"))
    for each in records:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(each.get("timestampNano", 0) / 1e9))
        kind = _KINDS.get(each.get("type", 0), "")
        table.add(at, kind, each.get("objectID", ""), _change(each), each.get("message", ""))
    names = [f"event/{each.get('objectID', '')}" for each in records]
    return Result("Event", records, names, [table], empty="No events found.")


def _change(record: Answer) -> str:
    """Text for the change, such as ``allocation added``. A state that was entered is its name alone."""
    change, detail = record.get("eventChangeType", 0), record.get("eventChangeDetail", 0)
    named = _DETAILS.get(detail, "" if detail == 0 else str(detail))
    if named.istitle():
        return named
    return f"{named} {_CHANGES.get(change, change)}".strip()
