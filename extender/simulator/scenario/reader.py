"""The reader: a scenario file becomes a `Scenario`, or a list of every mistake in it.

The reader is strict: a key that is not in the format is a mistake. The types in `model` say how each value is
read. Here are the file around them and queue documents in place.
"""

import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import TypeAdapter, ValidationError

from extender.queueconfig.document import (
    MAX_BYTES,
    ListValue,
    MapValue,
    QuotedText,
    Value,
    line_of,
    read_document,
)
from extender.queueconfig.problems import ConfigError, cut, path_text
from extender.simulator.scenario.checks import TOP_KEYS, Reading, raw_name
from extender.simulator.scenario.fields import MOST_MISTAKES, Placed, entry, found_in, wrong
from extender.simulator.scenario.files import NoFile, TooLarge, bytes_of
from extender.simulator.scenario.model import Mistake, Scenario, ScenarioError

_SCENARIO: TypeAdapter[Scenario] = TypeAdapter(Annotated[Scenario, entry(Scenario, *TOP_KEYS)])
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_PLAIN_TAG = "tag:yaml.org,2002:int"


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file. Raises `ScenarioError`, also for a file that cannot be read."""
    try:
        text = bytes_of(path, most=MAX_BYTES)
    except TooLarge as error:
        raise _whole(str(path), f"larger than {MAX_BYTES // 2**20} MiB") from error
    except NoFile as error:
        raise _whole(str(path), "cannot be read: not a regular file") from error
    except OSError as error:
        raise _whole(str(path), f"cannot be read: {error.strerror}") from error
    return scenario_from(text, file=str(path), folder=path.parent)


def scenario_from(text: str | bytes, *, file: str, folder: Path) -> Scenario:
    """A scenario from YAML text. Raises `ScenarioError`.

    ``file``: its name, for messages. ``folder``: the base of paths in it.
    """
    try:
        document = read_document(text)
    except ConfigError as error:
        found = tuple(Mistake(each.line, each.path, each.message) for each in error.problems)
        raise ScenarioError(file, found) from error
    if not isinstance(document.top, MapValue):
        raise _whole(file, "must be a mapping with apiVersion, kind, name, config and steps")
    mistakes = [Mistake(each.line, each.path, each.message) for each in document.repeated]
    top = Placed(document.top, 1)
    reading = Reading(file, frozenset(_classes(top)), _Configs(folder))
    try:
        made = _SCENARIO.validate_python(top, context=reading)
    except ValidationError as error:
        for at, message in islice(found_in(error), max(0, MOST_MISTAKES - len(mistakes))):
            mistakes.append(Mistake(line_of(top, at) or 1, path_text(at), cut(message)))
    if mistakes:
        raise ScenarioError(file, tuple(sorted(mistakes, key=lambda each: each.line or 0)))
    return made


def _whole(file: str, message: str) -> ScenarioError:
    return ScenarioError(file, (Mistake(None, "", message),))


class _Configs:
    """Texts of queue documents, from ``config`` values: a document in place, or the path of one.

    A text of several lines, as in ``config: |``, is the document itself.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, value: Value) -> str:
        if isinstance(value, MapValue):
            return yaml_of(value)
        if isinstance(value, str) and "\n" in value:
            return str(value)
        if isinstance(value, str) and value:
            return self._text_of(str(value))
        raise wrong("must be a queue document, or the path of one")

    def _text_of(self, name: str) -> str:
        try:
            return bytes_of(self._folder / name, most=MAX_BYTES).decode("utf-8")
        except (NoFile, FileNotFoundError) as error:
            raise wrong(f"there is no file {name}") from error
        except TooLarge as error:
            raise wrong(f"{name} is larger than {MAX_BYTES // 2**20} MiB") from error
        except (OSError, UnicodeError) as error:
            why = "it is not UTF-8 text" if isinstance(error, UnicodeError) else error.strerror
            raise wrong(f"{name} cannot be read: {why}") from error


def _classes(top: MapValue) -> Iterator[str]:
    """Names of the file's PriorityClasses, including those of wrong entries."""
    cluster = top.get("cluster")
    listed = cluster.get("priorityClasses") if isinstance(cluster, MapValue) else None
    for each in listed if isinstance(listed, ListValue) else ():
        if isinstance(each, Placed):
            yield raw_name(each)


# -- queue documents ------------------------------------------------------------------------------------


def yaml_of(value: MapValue) -> str:
    """YAML text that the configuration loader reads as exactly this value, without aliases and merges."""
    events: list[yaml.Event] = [yaml.StreamStartEvent(), yaml.DocumentStartEvent(explicit=False)]
    _Emission(events).of(value)
    events += [yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()]
    text: str = yaml.emit(events, Dumper=_DUMPER, allow_unicode=True, width=10**9)
    return text


class _Emission:
    """A collector of the YAML events that express a value."""

    def __init__(self, events: list[yaml.Event]) -> None:
        self._events = events
        self._emitter = yaml.emitter.Emitter(io.StringIO(), allow_unicode=True)

    def of(self, value: Value) -> None:
        if isinstance(value, MapValue):
            self._events.append(yaml.MappingStartEvent(None, None, implicit=True, flow_style=False))
            for key, below in value.items():
                self.of(key)
                self.of(below)
            self._events.append(yaml.MappingEndEvent())
        elif isinstance(value, ListValue):
            self._events.append(yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False))
            for below in value:
                self.of(below)
            self._events.append(yaml.SequenceEndEvent())
        else:
            self._events.append(self._scalar(value))

    def _scalar(self, value: str | None) -> yaml.ScalarEvent:
        if value is None:
            return yaml.ScalarEvent(None, None, (True, False), "null")
        if isinstance(value, QuotedText):
            return yaml.ScalarEvent(None, None, (False, True), str(value), style='"')
        analysis = self._emitter.analyze_scalar(str(value))
        # libyaml quotes characters beyond the basic plane.
        if analysis.allow_block_plain and not analysis.multiline and max(value) < "\ud800":
            return yaml.ScalarEvent(None, None, (True, False), str(value))
        # Quotes alone would make it a text. With this tag the loader still takes it for plain.
        return yaml.ScalarEvent(None, _PLAIN_TAG, (False, False), str(value), style='"')
