"""The ``expect`` entries of a scenario file."""

from collections.abc import Mapping
from typing import Any

from core.reasons import Code
from extender.queueconfig.document import MapValue
from extender.queueconfig.problems import shown
from extender.simulator.scenario.fields import Fields
from extender.simulator.scenario.model import Expect
from extender.simulator.scenario.rest_subsets import unknown_members

REASONS = frozenset((*(code.value for code in Code), "Unschedulable", ""))
"""Codes that ``reason`` may hold; none when the pod is bound."""

_PHASES = ("Pending", "Running", "Succeeded", "Failed", "")
_MOST = 10**9
_KINDS = {"queues": "queue", "applications": "application", "users": "user", "groups": "group"}


def read_expect(step: Fields) -> Expect | None:
    fields = step.fields("expect")
    if fields is None:
        return None
    expect = Expect(
        line=fields.line,
        placed=fields.optional_names("placed"),
        placed_any_order=fields.optional_names("placedAnyOrder"),
        evicted=fields.optional_names("evicted"),
        running=_counts(fields, "running"),
        pending=_counts(fields, "pending"),
        pods=_pods(fields),
        queues=_objects(fields, "queues"),
        applications=_objects(fields, "applications"),
        users=_objects(fields, "users"),
        groups=_objects(fields, "groups"),
        exists=_exists(fields),
        placeholders=_counts(fields, "placeholders"),
        config_rejected=fields.switch("configRejected") if "configRejected" in fields else None,
        message=fields.pattern("message"),
        lines=_lines(fields),
    )
    if "message" in fields and not expect.config_rejected:
        fields.wrong("message", "needs configRejected: true")
    fields.end()
    return expect


def _counts(fields: Fields, key: str) -> Mapping[str, int] | None:
    below = fields.fields(key)
    return (
        None if below is None else {name: below.number(name, 0, least=0, most=_MOST) for name in below.value}
    )


def _exists(fields: Fields) -> Mapping[str, bool] | None:
    below = fields.fields("exists")
    return None if below is None else {name: below.switch(name) for name in list(below.value)}


def _pods(fields: Fields) -> Mapping[str, Mapping[str, str]] | None:
    below = fields.fields("pods")
    if below is None:
        return None
    found: dict[str, Mapping[str, str]] = {}
    for name in list(below.value):
        pod = below.fields(name)
        if pod is not None:
            found[name] = _pod(pod)
    return found


def _pod(pod: Fields) -> Mapping[str, str]:
    values = {
        "node": pod.text("node"),
        "phase": pod.choice("phase", _PHASES),
        "reason": _reason(pod),
        "nominatedNode": pod.text("nominatedNode"),
        "message": pod.pattern("message"),
    }
    pod.end()
    return {key: value for key, value in values.items() if value is not None}


def _reason(pod: Fields) -> str | None:
    found = pod.text("reason")
    if found is not None and found not in REASONS:
        pod.wrong("reason", f"{shown(found)} is not a refusal code")
        return None
    return found


def _objects(fields: Fields, key: str) -> Mapping[str, Mapping[str, Any]] | None:
    below = fields.fields(key)
    if below is None:
        return None
    found: dict[str, Mapping[str, Any]] = {}
    for name in list(below.value):
        if below.fields(name) is not None:
            subset = below.free(name)
            for member in unknown_members(_KINDS[key], subset):
                below.wrong(name, f"the {_KINDS[key]} object has no member {member}")
            found[name] = subset
    return found


def _lines(fields: Fields) -> Mapping[str, int]:
    """Of every key, and of every name below one."""
    lines: dict[str, int] = {}
    for key, value in fields.value.items():
        lines[key] = fields.value.lines[key]
        if isinstance(value, MapValue):
            lines |= {f"{key}.{name}": value.lines[name] for name in value}
    return lines
