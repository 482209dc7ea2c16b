"""A part of kubectl's JSONPath: texts, ``{.a.b}``, ``[2]``, ``[*]`` and ``{"\\n"}``."""

import json
import re
from typing import Any

from extender.plugin.outcome import Problem

_STEP = re.compile(r"\.([\w-]+)|\[(\d+|\*)\]|\['([^']+)'\]")
_BRACED = re.compile(r"\{([^{}]*)\}")


def evaluated(template: str, value: Any) -> str:
    """The text that a template makes of a value. Raises `Problem` for syntax that is not known."""
    found, at = [], 0
    for braced in _BRACED.finditer(template):
        found.append(template[at : braced.start()])
        found.append(_expression(braced[1].strip(), value))
        at = braced.end()
    return "".join([*found, template[at:]])


def _expression(text: str, value: Any) -> str:
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            raise Problem(f"jsonpath: {text} is not text") from None
    values, at = [value], 1 if text in ("@", "$") or text.startswith(("$.", "@.", "$[", "@[")) else 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise Problem(f"jsonpath: {text} is not supported")
        values = [each for one in values for each in _stepped(one, step)]
        at = step.end()
    return " ".join(_written(each) for each in values)


def _stepped(value: Any, step: re.Match[str]) -> list[Any]:
    name, index = step[1] or step[3], step[2]
    if name is not None:
        return [value[name]] if isinstance(value, dict) and name in value else []
    if index == "*":
        return (
            list(value.values())
            if isinstance(value, dict)
            else list(value)
            if isinstance(value, list)
            else []
        )
    return [value[int(index)]] if isinstance(value, list) and int(index) < len(value) else []


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
