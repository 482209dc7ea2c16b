"""Verdict on a document, and what it would change, as lines for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from extender.plugin.amounts import age, amounts

SHOWN = 10
"""Names of applications and pods in one line."""

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def refusal_of(found: Mapping[str, Any]) -> Iterator[str]:
    """Lines for a document that is refused."""
    yield "The document is refused:"
    for each in found.get("problems") or ():
        line = f" (line {each['line']})" if each.get("line") else ""
        yield f"  {each.get('path') or 'document'}{line}: {each.get('message')} [{each.get('rule')}]"


def lines_of(found: Mapping[str, Any], *, raw: bool) -> Iterator[str]:
    """Lines for what a document would change, with its warnings."""
    for each in found.get("warnings") or ():
        line = f" (line {each['line']})" if each.get("line") else ""
        yield f"warning: {each.get('path') or 'document'}{line}: {each.get('message')}"
    queues, partition = found.get("queues") or (), found.get("partition") or ()
    if not queues and not partition:
        yield "No queue and no limit changes."
        return
    yield from (f"~ {_field(each)}" for each in partition)
    for each in queues:
        yield from _queue(each)
    for each in found.get("above") or ():
        yield from _above(each, raw=raw)
    for each in found.get("preemptible") or ():
        yield from _preemptible(each, raw=raw)


def _queue(change: Mapping[str, Any]) -> Iterator[str]:
    running = change.get("runningApps") or 0
    drains = change.get("change") == "removed" and running
    text = f": {_counted(running, 'application')} run on until they end" if drains else ""
    yield f"{_SIGNS.get(str(change.get('change')), '~')} {change.get('queue')}{text}"
    yield from (f"    {_field(each)}" for each in change.get("fields") or ())


def _field(change: Mapping[str, Any]) -> str:
    return f"{change.get('name')}: {change.get('before') or 'none'} -> {change.get('after') or 'none'}"


def _above(excess: Mapping[str, Any], *, raw: bool) -> Iterator[str]:
    named = [f"{kind} {excess[kind]} in " for kind in ("user", "group") if excess.get(kind)]
    over = [amounts(excess["over"], raw=raw)] if excess.get("over") else []
    over += [_counted(excess["appsOver"], "application")] if excess.get("appsOver") else []
    now = " (as now)" if excess.get("exceededNow") else ""
    yield f"! {''.join(named)}{excess.get('queue')} would be above its limit by {', '.join(over)}{now}"
    yield from _names(excess.get("applications") or (), excess.get("count") or 0)


def _preemptible(found: Mapping[str, Any], *, raw: bool) -> Iterator[str]:
    count = _counted(found.get("count") or 0, "pod")
    over = amounts(found.get("amounts"), raw=raw)
    if found.get("why") == "quota":
        delay = age(found.get("delay") or 0)
        yield f"! {count} of {found.get('queue')} would be evicted after {delay}, above the max by {over}"
    else:
        yield f"! {count} of {found.get('queue')} could be preempted, above the guarantee by {over}"
    yield from _names(found.get("pods") or (), found.get("count") or 0)


def _names(names: Sequence[str], count: int) -> Iterator[str]:
    yield from (f"    {each}" for each in names[:SHOWN])
    if count > SHOWN:
        yield f"    and {count - SHOWN} more"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + "s" * (count != 1)
