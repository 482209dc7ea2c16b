"""Explanations: why something waits, and what would help."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from extender.plugin.amounts import amount, amounts
from extender.plugin.asked import Asked
from extender.plugin.completing import names_of
from extender.plugin.outcome import NEVER, OK, WAITS
from extender.plugin.paths import once, segment
from extender.plugin.printing import Result, Rows
from extender.plugin.reaching import Server

Explanation = Mapping[str, Any]

_KINDS = {
    "pod": "pod",
    "app": "application",
    "application": "application",
    "job": "application",
    "podgroup": "podgroup",
}
NOT_AN_ASK = "NotAnAsk"
"""Stop of preemption for a pod that is only simulated."""

_NEVER = frozenset(
    {"AccessDenied", "PlacementFailed", "QueueNotLeaf", "QueueDraining", "GangTooLarge", "GangNotFifo"}
)
"""Codes that waiting does not lift."""

_WAITING = ("pending", "gated", "leaving")
"""Standings of pods without a node, and of those that leave."""


def explain(
    server: Server,
    asked: Asked,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="POD, pod/POD, app/ID, job/POD or podgroup/NAME.",
            autocompletion=names_of("pod", "app"),
        ),
    ],
    since: Annotated[int, typer.Option("--lines", help="Lines of the story.")] = 5,
) -> Result:
    """Explain why a pod waits, and what would help. Status 3 if it waits, 4 if waiting does not help."""
    kind, _, rest = name.partition("/")
    of, name = (_KINDS[kind], rest) if rest and kind in _KINDS else ("pod", name)
    query = "" if of == "pod" else f"?of={of}"
    path = f"/namespaces/{segment(server.namespace)}/explanations/{once(name)}{query}"
    found = server.get(path)
    parts = [*_head(found), *lines_about(found.get("pod") or {}, asked), *_story(found, since)]
    return Result("Explanation", [found], [f"{of}/{name}"], parts, single=True, code=code_of(found))


def code_of(found: Explanation) -> int:
    """Exit code: whether something waits, if only for kube-scheduler, and whether that can end."""
    if is_hopeless(found):
        return NEVER
    pod = found.get("pod") or {}
    waits = pod.get("standing") in _WAITING or any(found.get("pods", {}).get(each) for each in _WAITING)
    return WAITS if waits else OK


def is_hopeless(found: Explanation) -> bool:
    """True if waiting does not help."""
    codes = {each["code"] for each in (found.get("pod") or {}).get("obstacles", ())}
    return bool(codes & _NEVER) or found.get("phase") in ("Rejected", "Failed")


def _head(found: Explanation) -> Iterator[str | Rows]:
    name = found["metadata"]
    yield f"{found['of'].capitalize()} {name['namespace']}/{name['name']}: {found['sentence']}"
    if found.get("queue"):
        yield f"Queue: {found['queue']}" + (f", {found['phase']}" if found.get("phase") else "")
    if found.get("gangPhase"):
        yield f"Gang: {found['gangPhase']}"
    if found.get("pods"):
        yield "Pods: " + ", ".join(f"{count} {standing}" for standing, count in found["pods"].items())
    if found.get("members"):
        table = Rows(("TASK GROUP", "NEEDED", "PLACED", "WAITING"))
        for each in found["members"]:
            table.add(each["name"], each["needed"], each["placed"], each["waiting"])
        yield table
    if not found["oneMoment"]:
        yield "Something changed meanwhile, so the figures may be from different moments."


def lines_about(pod: Mapping[str, Any], asked: Asked) -> Iterator[str | Rows]:
    """Obstacles of a pod, what goes before it, preemption and remedies."""
    if not pod:
        return
    if pod.get("obstacles"):
        yield from _obstacles(pod["obstacles"], asked)
    yield from _before(pod.get("before", ()))
    if pod.get("preemption"):
        yield from _preemption(pod["preemption"])
    if pod.get("remedies"):
        yield from _remedies(pod["remedies"])


def _obstacles(obstacles: list[Mapping[str, Any]], asked: Asked) -> Iterator[str | Rows]:
    table = Rows(("HELD BY", "REASON", "NEEDED", "FREE", "SHORT"))
    holders = Rows(("HELD BY", "HOLDER", "QUEUE", "AMOUNT"))
    for each in obstacles:
        limit = each.get("limit")
        if limit:
            figures = [_of_limit(limit, key, asked) for key in ("needed", "free", "short")]
        else:
            figures = [amounts(each.get(key), raw=asked.raw_units) for key in ("needed", "free", "short")]
        table.add(each.get("subject", ""), each["code"], *figures)
        resource = (limit or {}).get("resource") or next(iter(each.get("short") or {}), "")
        for holder in each.get("holders", ()):
            held = (
                amount(resource, holder["amount"], raw=asked.raw_units) if resource else str(holder["amount"])
            )
            holders.add(each.get("subject", ""), _other(holder), holder.get("queue", ""), held)
    yield ""
    yield table
    for each in obstacles:
        yield f"  {each['code']}: {each['text']}" + (f" (until {each['until']})" if each.get("until") else "")
    if holders.rows:
        yield ""
        yield holders


def _of_limit(limit: Mapping[str, Any], key: str, asked: Asked) -> str:
    if not limit.get("resource"):
        return f"{limit[key]} applications"
    return amounts({limit["resource"]: limit[key]}, raw=asked.raw_units)


def _other(each: Mapping[str, Any]) -> str:
    """Name of a pod or an application of others, or their number."""
    if each.get("name"):
        return f"{each.get('namespace', '')}/{each['name']}"
    return f"{each.get('count', 1)} not named"


def _before(before: list[Mapping[str, Any]]) -> Iterator[str | Rows]:
    table = Rows(("BEFORE IT", "PODS", "BECAUSE OF"))
    for each in before:
        table.add(each.get("application") or each["queue"], each["pods"], each["why"])
    if table.rows:
        yield ""
        yield table


def _preemption(part: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    if part.get("stop") == NOT_AN_ASK:
        yield "Preemption: judged once the pod exists"
        return
    if part.get("underWay"):
        yield "Preemption: under way"
    elif part.get("possible"):
        yield f"Preemption: would evict {', '.join(_other(each) for each in part.get('victims', ()))}"
    elif part.get("stop"):
        where = f" ({part['queue']} {part['resource']})" if part.get("queue") else ""
        yield f"Preemption: {part['stop']}{where}: {part.get('law', '')} {part.get('text', '')}".rstrip(": ")
    else:
        yield "Preemption: not known"
    tried, following = part.get("triedAt") or "never", part.get("triedNext") or "not planned"
    yield f"            last tried: {tried}; next: {following}"


def _remedies(found: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    changes = found.get("changes", ())
    if changes:
        yield "Each of these would free it:"
        for each in changes:
            ended = ", ".join(_other(other) for other in each.get("ended", ()))
            yield f"  - {each['text']}" + (f" ({ended})" if ended else "")
    elif found["remedy"] == "nothing":
        yield "Nothing is needed: the next cycle gives it its turn."
    elif found["remedy"] == "out of reach":
        yield f"No limit and no capacity frees it: {', '.join(found.get('beyond', ()))}"
    else:
        yield "No change was found" + (" within the budget." if found.get("exhausted") else ".")


def _story(found: Explanation, most: int) -> Iterator[str | Rows]:
    table = Rows(("AT", "WHAT", "DETAIL"))
    for each in (found.get("story") or ())[-most:] if most > 0 else ():
        table.add(each["at"], each["what"], each.get("detail", ""))
    if table.rows:
        yield ""
        yield table
