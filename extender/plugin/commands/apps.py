"""Applications and their pods."""

import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from extender.plugin.amounts import age, amounts
from extender.plugin.asked import Asked
from extender.plugin.completing import names_of, one_of
from extender.plugin.outcome import FAILED, OUT_OF_TIME, Problem
from extender.plugin.paths import PARTITION, is_simple, segment
from extender.plugin.printing import Result, Rows
from extender.plugin.reaching import Server, note

App = Mapping[str, Any]

STATES = ("active", "rejected", "completed")
_NANO = 1_000_000_000
_ASKED_EVERY = 1.0
"""Seconds between two requests while `wait` waits."""

QueueOption = Annotated[
    str, typer.Option("-q", "--queue", help="Queue; default: all.", autocompletion=names_of("queue"))
]
UserOption = Annotated[
    str, typer.Option("--user", help="Only of this user.", autocompletion=names_of("user"))
]
StateOption = Annotated[
    str,
    typer.Option(
        "--state",
        help="active, rejected, completed, or a state such as Running.",
        autocompletion=one_of(*STATES),
    ),
]


def _listed(server: Server, asked: Asked, queue: str, state: str) -> list[App]:
    """Applications of the namespace that was asked for, in the order of the server."""
    group = state.lower() if state.lower() in STATES else "active"
    at = f"/queue/{segment(queue)}/applications" if queue else "/applications"
    query = f"?status={segment(state)}" if group == "active" and state.lower() != "active" else ""
    found: list[App] = server.get(f"{PARTITION}{at}/{group}{query}") or []
    if asked.namespace and not asked.all_namespaces:
        found = [each for each in found if each.get("namespace") == asked.namespace]
    return found


def apps(
    server: Server,
    asked: Asked,
    queue: QueueOption = "",
    user: UserOption = "",
    state: StateOption = "active",
) -> Result:
    """List applications. Without -n those of all namespaces that you may read."""
    found = [each for each in _listed(server, asked, queue, state) if not user or each.get("user") == user]
    table = Rows(
        (
            "APPLICATION",
            "NAMESPACE",
            "QUEUE",
            "USER",
            "STATE",
            "WAITING",
            "RUNNING",
            "AGE",
            "USED",
            "PENDING",
        ),
        wide=2,
    )
    for each in found:
        table.add(
            each["applicationID"],
            each.get("namespace", ""),
            each.get("queueName", ""),
            each.get("user", ""),
            each.get("applicationState", ""),
            len(each.get("requests") or ()),
            len(each.get("allocations") or ()),
            _age(each.get("submissionTime", 0)),
            amounts(each.get("usedResource"), raw=asked.raw_units),
            amounts(each.get("pendingResource"), raw=asked.raw_units),
        )
    names = [f"app/{each['applicationID']}" for each in found]
    return Result("Application", list(found), names, [table], empty="No applications found.")


def app(
    server: Server,
    asked: Asked,
    name: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of the application.", autocompletion=names_of("app")),
    ],
) -> Result:
    """Describe an application: states with their times, pods, requests with reasons, gang."""
    found = _found(server, asked, name.removeprefix("app/"))
    parts = [*_head(found, asked), *_states(found), *_requests(found), *_placeholders(found)]
    return Result("Application", [found], [f"app/{found['applicationID']}"], parts, single=True)


def _found(server: Server, asked: Asked, name: str) -> App:
    """An application. One with a name that no path can hold is searched for in the list."""
    if is_simple(name) and not asked.namespace:
        one: App = server.get(f"{PARTITION}/application/{segment(name)}")
        return one
    for state in STATES:
        for each in _listed(server, asked, "", state):
            if each["applicationID"] == name:
                return each
    raise Problem(f"no application {name} is known", FAILED)


def _head(found: App, asked: Asked) -> Iterator[str]:
    yield f"Application:  {found['applicationID']}"
    yield f"Namespace:    {found.get('namespace', '')}"
    yield f"Queue:        {found.get('queueName', '')}"
    yield f"User:         {found.get('user', '')} ({', '.join(found.get('groups') or ()) or 'no groups'})"
    yield f"State:        {found.get('applicationState', '')}"
    if found.get("rejectedMessage"):
        yield f"Rejected:     {found['rejectedMessage']}"
    yield f"Used:         {amounts(found.get('usedResource'), raw=asked.raw_units)}"
    yield f"Pending:      {amounts(found.get('pendingResource'), raw=asked.raw_units)}"
    if found.get("backoffDeadline"):
        yield f"Back-off:     until {found['backoffDeadline']}"


def _states(found: App) -> Iterator[str | Rows]:
    table = Rows(("STATE", "SINCE"))
    for each in found.get("stateLog") or ():
        table.add(each.get("applicationState", ""), _stamp(each.get("time", 0)))
    if table.rows:
        yield ""
        yield table


def _requests(found: App) -> Iterator[str | Rows]:
    table = Rows(("WAITING POD", "REASON", "AGE"))
    for each in found.get("requests") or ():
        log = each.get("allocationLog") or ()
        reason = log[-1]["message"] if log else "-"
        table.add(pod_of(each), reason, _age(each.get("requestTime", 0)))
    if table.rows:
        yield ""
        yield table


def _placeholders(found: App) -> Iterator[str | Rows]:
    table = Rows(("TASK GROUP", "PLACEHOLDERS", "REPLACED", "TIMED OUT"))
    for each in found.get("placeholderData") or ():
        table.add(
            each.get("taskGroupName", ""),
            each.get("count", 0),
            each.get("replaced", 0),
            each.get("timedout", 0),
        )
    if table.rows:
        yield ""
        yield table


def pod_of(entry: Mapping[str, Any]) -> str:
    """Namespace and name of a request's or an allocation's pod."""
    tags = entry.get("allocationTags") or {}
    names = tags.get("kubernetes.io/meta/namespace", ""), tags.get("kubernetes.io/meta/podName", "")
    return "/".join(each for each in names if each) or str(entry.get("allocationKey", ""))


def pods(
    server: Server,
    asked: Asked,
    queue: QueueOption = "",
    app: Annotated[
        str, typer.Option("--app", help="Only of this application.", autocompletion=names_of("app"))
    ] = "",
    pending: Annotated[bool, typer.Option("--pending", help="Only those that wait.")] = False,
) -> Result:
    """List pods with their queue, application, verdict and node."""
    table = Rows(("POD", "APPLICATION", "QUEUE", "VERDICT", "NODE", "AGE", "SIZE"), wide=1)
    items, names = [], []
    for each in _listed(server, asked, queue, "active"):
        if app and each["applicationID"] != app:
            continue
        for entry in [*(each.get("requests") or ()), *(() if pending else each.get("allocations") or ())]:
            log = entry.get("allocationLog") or ()
            verdict = "Bound" if entry.get("nodeId") else log[-1]["message"] if log else "Pending"
            name = pod_of(entry)
            size = amounts(entry.get("resource"), raw=asked.raw_units)
            since = _age(entry.get("requestTime", 0))
            table.add(
                name,
                each["applicationID"],
                each.get("queueName", ""),
                verdict,
                entry.get("nodeId", ""),
                since,
                size,
            )
            items.append(entry)
            names.append(f"pod/{name.rpartition('/')[2]}")
    return Result("Pod", items, names, [table], empty="No pods found.")


def wait(
    server: Server,
    asked: Asked,
    name: Annotated[
        str,
        typer.Argument(
            metavar="app/ID", help="Application to wait for.", autocompletion=names_of("app", "app")
        ),
    ],
    condition: Annotated[str, typer.Option("--for", help="state=NAME.")] = "state=Running",
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds.")] = 300.0,
) -> int:
    """Wait until an application has a state. Status 124 if the time is over."""
    kind, _, state = condition.partition("=")
    if kind != "state" or not state:
        raise Problem("--for must be state=NAME, such as state=Running")
    until = time.monotonic() + timeout
    while True:
        try:
            seen = str(_found(server, asked, name.removeprefix("app/")).get("applicationState", ""))
        except Problem as error:
            if error.code != FAILED:
                raise
            seen = ""
        if seen.lower() == state.lower():
            note(f"{name} is {seen}")
            return 0
        if time.monotonic() >= until:
            note(f"{name} is {seen or 'not known'} after {timeout:g} s")
            return OUT_OF_TIME
        time.sleep(_ASKED_EVERY)


def _age(nanoseconds: int) -> str:
    return age(time.time() - nanoseconds / _NANO) if nanoseconds > 0 else "-"


def _stamp(nanoseconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(nanoseconds / _NANO))
