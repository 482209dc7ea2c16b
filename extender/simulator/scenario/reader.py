"""A scenario file to a `Scenario`, or every mistake in it. Strict: what is not in the format is a mistake.

Each function reads one level of the file with `Fields`; the values they make are in `scenario`.
"""

import io
from pathlib import Path

import yaml

from extender.queueconfig.document import MAX_BYTES, ListValue, MapValue, QuotedText, Value, read_document
from extender.queueconfig.problems import ConfigError
from extender.simulator.scenario.cluster_entries import Once, Room, read_cluster, read_nodes
from extender.simulator.scenario.expect_entries import read_expect
from extender.simulator.scenario.fields import Fields, Mistakes
from extender.simulator.scenario.files import NoFile, TooLarge, bytes_of
from extender.simulator.scenario.model import (
    EFFECTS,
    ClusterEntry,
    ConfigText,
    Kill,
    Mistake,
    Named,
    PodEntry,
    Resize,
    Scenario,
    ScenarioError,
    Step,
)
from extender.simulator.scenario.pod_entries import read_pod

API_VERSION = "paddock.dev/v1"
KIND = "Scenario"

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_PLAIN_TAG = "tag:yaml.org,2002:int"


def read_scenario(path: Path) -> Scenario:
    """Raises `ScenarioError`, also for a file that cannot be read."""
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
    """``file``: its name, for messages; ``folder``: where paths in it begin. Raises `ScenarioError`."""
    try:
        document = read_document(text)
    except ConfigError as error:
        found = tuple(Mistake(each.line, each.path, each.message) for each in error.problems)
        raise ScenarioError(file, found) from error
    mistakes = Mistakes()
    for each in document.repeated:
        mistakes.found.append(Mistake(each.line, each.path, each.message))
    if not isinstance(document.top, MapValue):
        raise _whole(file, "must be a mapping with apiVersion, kind, name, config and steps")
    scenario = _Reader(file, folder, mistakes).scenario(document.top)
    if mistakes.found:
        in_order = sorted(mistakes.found, key=lambda each: each.line or 0)
        raise ScenarioError(file, tuple(in_order))
    return scenario


def _whole(file: str, message: str) -> ScenarioError:
    return ScenarioError(file, (Mistake(None, "", message),))


class _Reader:
    def __init__(self, file: str, folder: Path, mistakes: Mistakes) -> None:
        self._file = file
        self._folder = folder
        self._mistakes = mistakes
        self._pods, self._nodes = Room(), Room()

    def scenario(self, value: MapValue) -> Scenario:
        top = Fields(value, (), 1, self._mistakes)
        _must_be(top, "apiVersion", API_VERSION)
        _must_be(top, "kind", KIND)
        name, why = top.required_text("name"), top.text("why", "") or ""
        config = self._config(top)
        if config is None and "config" not in top:
            self._mistakes.add(1, (), "config is missing")
        cluster = read_cluster(top, self._nodes)
        delays, scheduler = top.fields("delays"), top.fields("scheduler")
        made = Scenario(
            file=self._file,
            name=name,
            why=why,
            config=config or ConfigText("", 1),
            settings=top.texts("settings"),
            watch_delay=delays.duration("watch") if delays is not None else 0,
            bind_delay=delays.duration("bind") if delays is not None else 0,
            gates=top.switch("gates"),
            percentage_of_nodes=_percentage(scheduler),
            max_backoff=_max_backoff(scheduler),
            cluster=cluster,
            steps=self._steps(top, cluster),
        )
        for each in (delays, scheduler, top):
            if each is not None:
                each.end()
        return made

    def _config(self, fields: Fields) -> ConfigText | None:
        """A document in place, or the path of one."""
        value = fields.take("config")
        if "config" not in fields:
            return None
        line = fields.line_of("config")
        if isinstance(value, MapValue):
            return ConfigText(yaml_of(value), line)
        if isinstance(value, str) and value:
            return ConfigText(self._text_of(fields, str(value)), line)
        fields.wrong("config", "must be a queue document, or the path of one")
        return None

    def _text_of(self, fields: Fields, name: str) -> str:
        try:
            return bytes_of(self._folder / name, most=MAX_BYTES).decode("utf-8")
        except (NoFile, FileNotFoundError):
            fields.wrong("config", f"there is no file {name}")
        except TooLarge:
            fields.wrong("config", f"{name} is larger than {MAX_BYTES // 2**20} MiB")
        except (OSError, UnicodeError) as error:
            why = "it is not UTF-8 text" if isinstance(error, UnicodeError) else error.strerror
            fields.wrong("config", f"{name} cannot be read: {why}")
        return ""

    # -- steps -----------------------------------------------------------------------------------------------

    def _steps(self, top: Fields, cluster: ClusterEntry) -> tuple[Step, ...]:
        if "steps" not in top:
            self._mistakes.add(1, (), "steps is missing")
        steps: list[Step] = []
        for fields in top.each("steps"):
            last = steps[-1].at if steps else 0
            step = self._step(fields, cluster, last)
            if "at" not in fields:
                self._mistakes.add(fields.line, fields.at, "at is missing")
            elif step.at < last:
                fields.wrong("at", "steps must be in ascending order")
            steps.append(step)
        return tuple(steps)

    def _step(self, fields: Fields, cluster: ClusterEntry, last: int) -> Step:
        """``last``: when the step before it is, which stands in for a time that cannot be read."""
        step = Step(
            line=fields.line,
            at=fields.duration("at", last),
            config=self._config(fields),
            settings=fields.texts("settings") if "settings" in fields else None,
            add_nodes=read_nodes(fields, "addNodes", self._nodes),
            remove_nodes=fields.names("removeNodes"),
            cordon=fields.names("cordon"),
            uncordon=fields.names("uncordon"),
            submit=self._submit(fields, cluster),
            resize=_resize(fields),
            complete=fields.names("complete"),
            fail=fields.names("fail"),
            delete=fields.names("delete"),
            ungate=fields.names("ungate"),
            restart=fields.switch("restart"),
            stop_scheduler=fields.switch("stopScheduler"),
            restart_scheduler=fields.switch("restartScheduler"),
            kill=_kill(fields),
            expect=read_expect(fields),
        )
        fields.end()
        return step

    def _submit(self, fields: Fields, cluster: ClusterEntry) -> tuple[PodEntry, ...]:
        classes = frozenset(each.name for each in cluster.priority_classes)
        entries: list[PodEntry] = []
        once = Once("pod {} is submitted twice in this step")
        for each in fields.each("submit"):
            entry = read_pod(each, classes, self._pods)
            once.see(each, entry.names, entry.namespace)
            entries.append(entry)
        return tuple(entries)


def _must_be(fields: Fields, key: str, wanted: str) -> None:
    found = fields.text(key)
    if key not in fields:
        fields.mistakes.add(1, (), f"{key} is missing; it must be {wanted}")
    elif found != wanted:
        fields.wrong(key, f"must be {wanted}")


def _percentage(scheduler: Fields | None) -> int:
    if scheduler is None:
        return 100
    return scheduler.number("percentageOfNodesToScore", 100, least=0, most=100)


def _max_backoff(scheduler: Fields | None) -> int:
    return 10 if scheduler is None else scheduler.number("podMaxBackoffSeconds", 10, least=1, most=86_400)


def _resize(fields: Fields) -> tuple[Resize, ...]:
    below = fields.fields("resize")
    if below is None:
        return ()
    found = []
    for name in below.value:
        requests = below.amounts(name)
        if requests:
            found.append(Resize(Named(str(name), below.line_of(name)), requests))
        elif isinstance(below.value.get(name), MapValue) and not below.value[name]:
            below.wrong(name, "must name at least one resource")
    return tuple(found)


def _kill(fields: Fields) -> Kill | None:
    below = fields.fields("kill")
    if below is None:
        return None
    after = below.choice("after", EFFECTS)
    if "after" not in below:
        below.mistakes.add(below.line, below.at, "after is missing")
    nth = below.number("nth", 1, least=1, most=1_000_000)
    below.end()
    return Kill(after, nth) if after else None


# -- queue documents ------------------------------------------------------------------------------------


def yaml_of(value: MapValue) -> str:
    """YAML text that the configuration loader reads as exactly this value, aliases and merges written out."""
    events: list[yaml.Event] = [yaml.StreamStartEvent(), yaml.DocumentStartEvent(explicit=False)]
    _Emission(events).of(value)
    events += [yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()]
    text: str = yaml.emit(events, Dumper=_DUMPER, allow_unicode=True, width=10**9)
    return text


class _Emission:
    """Collects the events that say a value."""

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
        # libyaml puts what is beyond the basic plane in quotes.
        if analysis.allow_block_plain and not analysis.multiline and max(value) < "\ud800":
            return yaml.ScalarEvent(None, None, (True, False), str(value))
        # Quotes alone would make it a text; with this tag the loader takes it for plain still.
        return yaml.ScalarEvent(None, _PLAIN_TAG, (False, False), str(value), style='"')
