"""The scenario format, found by trying the reader: the keys in each place, and the forms of their values."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from extender.simulator.scenario.model import ScenarioError
from extender.simulator.scenario.reader import scenario_from
from tests.interfaces.names import held, written
from tests.interfaces.product import parts

NONSENSE = "zzqx"
_UNKNOWN, _KNOWN = "unknown key", "known here: "
_RIGHT: Mapping[str, Any] = {
    "apiVersion": "paddock.dev/v1",
    "kind": "Scenario",
    "name": "x",
    "config": {},
    "steps": [],
}

_SCALARS: Mapping[str, Any] = {"text": NONSENSE, "number": 1, "switch": True, "duration": "1s"}
_BELOW_NAMES = {"texts": NONSENSE, "counts": 1, "switches": True, "objects": {}, "amounts": {"cpu": 1}}
_PROBES: Mapping[str, Any] = {
    **_SCALARS,
    "names": [NONSENSE],
    **{f"{form} by name": {NONSENSE: value} for form, value in _BELOW_NAMES.items()},
}
_WORD = re.compile(r"[A-Z][A-Za-z]+|[a-z]+(-[a-z]+)+")
_AT_ONCE = 100

Step = str | int
Place = tuple[Step, ...]


class Said(NamedTuple):
    """A mistake that the reader names: ``path`` as in ``steps[0].submit[0].cpuu``."""

    path: str
    message: str


def scenario_format() -> list[str]:
    """``PLACE.KEY: FORM, …`` of every key; ``[]`` is any entry of a list, ``*`` is any name."""
    key_names = _key_names()
    keys = list(_keys(()))
    return sorted(
        [
            *(f"{_shown(place)}: {', '.join(_forms(place, key_names))}".rstrip(": ") for place in keys),
            *(f"{_shown(place)}.*.{member}" for place in keys for member in _members(place)),
        ]
    )


def _keys(level: Place) -> Iterator[Place]:
    """Every key of a level and of the levels below."""
    for key in known(level):
        place = (*level, key)
        yield place
        for below in ((*place, 0), place, (*place, NONSENSE)):
            if known(below):
                yield from _keys(below)
                break


def known(level: Place) -> list[str]:
    """The keys of a level; none for a place without own keys."""
    wanted = _path((*level, NONSENSE))
    for path, message in mistakes(level, {NONSENSE: NONSENSE}):
        if path == wanted and message.startswith(_UNKNOWN) and _KNOWN in message:
            return message.partition(_KNOWN)[2].split(", ")
    return []


def _forms(place: Place, key_names: list[str]) -> list[str]:
    taken = [name for name, value in _PROBES.items() if takes(place, value)]
    if known((*place, 0)) or takes(place, [{NONSENSE: NONSENSE}]):
        taken.append("entries")
    if known(place):
        taken.append("keys")
    return taken or sorted(word for word in key_names if takes(place, word))


def _members(place: Place) -> list[str]:
    """Members that an object below a name may have, where any other member is a mistake."""
    below = (*place, NONSENSE)
    wanted = _path(below)
    if known(below) or not any(
        path == wanted and message.endswith(NONSENSE)
        for path, message in mistakes(below, {NONSENSE: NONSENSE})
    ):
        return []
    names = sorted({word for _, tree in parts() for word in written(tree) if word.isidentifier()})
    found: list[str] = []
    for begin in range(0, len(names), _AT_ONCE):
        some = names[begin : begin + _AT_ONCE]
        wrong = {message.rpartition(" ")[2] for _, message in mistakes(below, dict.fromkeys(some, 1))}
        found += [name for name in some if name not in wrong]
    return found


def takes(place: Place, value: Any) -> bool:
    """True if the reader finds nothing wrong with that value at that place."""
    path = _path(place)
    return not any(each.path.startswith(path) for each in mistakes(place, value))


def _key_names() -> list[str]:
    """Texts in the reader's package, or in a collection that it holds."""
    package = scenario_from.__module__.rpartition(".")[0]
    found: set[str] = set()
    for module, tree in parts():
        if module.__name__.startswith(package):
            found |= {word for word in (*held(vars(module)), *written(tree)) if _WORD.fullmatch(word)}
    return sorted({*found, _RIGHT["apiVersion"]})


def mistakes(place: Place, value: Any) -> list[Said]:
    """Mistakes in a file that has the value at the place, and little else."""
    document: Any = value
    for step in reversed(place):
        document = {step: document} if isinstance(step, str) else [document]
    try:
        # JSON is YAML.
        scenario_from(json.dumps({**_RIGHT, **document}), file="x", folder=Path("/nowhere"))
    except ScenarioError as error:
        return [Said(each.path, each.message) for each in error.mistakes]
    return []


def _path(place: Place) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def _shown(place: Place) -> str:
    return _path(place).replace("[0]", "[]").replace(NONSENSE, "*")
