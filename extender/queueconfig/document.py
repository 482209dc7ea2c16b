"""Parser of YAML text into mappings, lists and texts with line numbers. Knows nothing about queues.

Size and depth are bounded. Scalars stay text, since YuniKorn decodes them by the type of the field:
``name: 007`` is the text "007". Only a null becomes None. The schema decodes numbers and switches.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import yaml

from extender.queueconfig.problems import MAX_REPORTED, ConfigError, Location, Problem, cut, path_text, shown

MAX_BYTES = 16 * 1024 * 1024
"""Bytes of a document."""

MAX_NODES = 160_000
"""Nodes of a document with its aliases expanded. That is enough for 8,000 queues with twenty nodes each.

A long text counts once more for every `LONG_TEXT` characters, since aliases may repeat it 100,000 times.
"""

LONG_TEXT = 64
"""Characters of a text that count as one node."""

MAX_DEPTH = 100
"""Levels of nested mappings and lists. Each level of queues takes two."""

MAX_TAG_DIRECTIVES = 100
"""Tag directives of a document. The parser compares each with all before it."""

_RULE = "CFG-2"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_CORE_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(_CORE_TAG + name for name in ("null", "bool", "int", "float"))
_TEXT_TAGS = frozenset(("!", _CORE_TAG + "str"))
_MERGE = "<<"
_KEY_IS_TEXT = "a key must be text, not empty, a mapping or a list; write a name before the colon"


class QuotedText(str):
    """A scalar that was quoted or tagged as text, so that it is no number, as in ``maxapplications: "5"``."""

    __slots__ = ()


class MapValue(dict[str, "Value"]):
    """A mapping. ``lines``: the line of each key."""

    __slots__ = ("lines",)

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


class ListValue(list["Value"]):
    """A list. ``lines``: the line of each item."""

    __slots__ = ("lines",)

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


Value = MapValue | ListValue | str | None


@dataclass(slots=True)
class Document:
    """The first document of a stream. ``repeated``: errors about duplicate keys. The first key counts."""

    top: Value
    repeated: list[Problem]


def read_document(text: str | bytes) -> Document:
    """Parse the first YAML document of a text. An empty document is None (CFG-2).

    Merge keys work as in YuniKorn's parser: a mapping's own key wins over a merged one.
    Raises `ConfigError` for text that is not UTF-8, not YAML, or beyond a limit.
    Cost: linear in the nodes with aliases expanded, of which there are at most `MAX_NODES`.
    """
    builder = _Builder()
    try:
        decoded = _decoded(text)
        events = yaml.parse(decoded, Loader=_LOADER)
        for event in events:
            if isinstance(event, yaml.DocumentEndEvent):
                _refuse_directive(decoded, events, event)
                break
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        message = f"not valid YAML: {error.problem or error.context}; correct the syntax there or above"
        raise _refusal(message, line=line) from error
    except yaml.YAMLError as error:
        message = f"not valid YAML: {getattr(error, 'reason', error)}; remove what is not text"
        raise _refusal(message) from error
    return Document(builder.top, builder.repeated)


def _refuse_directive(text: str, events: Iterator[yaml.Event], end: yaml.DocumentEndEvent) -> None:
    """Refuse a ``%YAML`` or ``%TAG`` that cuts the document off: it has no ``---`` after it (C9)."""
    mark = end.end_mark
    if end.explicit or mark is None or text[mark.index : mark.index + 1] != "%":
        return
    try:
        next(events, None)
    except yaml.MarkedYAMLError as error:
        message = "a line that begins with % ends the document, and what follows would not be read; remove it"
        raise _refusal(message, line=mark.line + 1) from error


def line_of(top: Value, at: Location) -> int | None:
    """Line of a location, or of the nearest location above it that exists in the document."""
    node, line = top, None
    for step in at:
        if isinstance(node, MapValue) and isinstance(step, str):
            line = node.lines.get(step, line)
            node = node.get(step)
        elif isinstance(node, ListValue) and isinstance(step, int) and step < len(node):
            line = node.lines[step]
            node = node[step]
        else:
            break
    return line


def _decoded(text: str | bytes) -> str:
    try:
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        if len(data) > MAX_BYTES:
            raise _refusal(f"larger than {MAX_BYTES // 1024**2} MiB; leave only queue configuration in it")
        decoded = data.decode("utf-8-sig")
    except UnicodeError as error:
        raise _refusal("not UTF-8 text; save the document as UTF-8") from error
    if decoded.count("%TAG") > MAX_TAG_DIRECTIVES:
        raise _refusal(f"more than {MAX_TAG_DIRECTIVES} %TAG directives; leave them out")
    return decoded


def _refusal(message: str, *, at: Location = (), line: int | None = None) -> ConfigError:
    return ConfigError((Problem(path_text(at), _RULE, cut(message), line),))


@dataclass(slots=True)
class _Open:
    """An unfinished mapping or list. ``nodes``: its nodes so far, including itself, with aliases expanded."""

    value: MapValue | ListValue
    anchor: str | None
    line: int
    nodes: int = 1
    key: str | None = None
    key_line: int = 0
    merged: list[MapValue] = field(default_factory=list)
    merges: bool = False


class _Builder:
    """Builder of values from parser events. Works without recursion, and counts nodes before storing them."""

    def __init__(self) -> None:
        self.top: Value = None
        self.repeated: list[Problem] = []
        self._open: list[_Open] = []
        self._anchors: dict[str | None, tuple[Value, int]] = {}
        self._nodes = 0

    def take(self, event: yaml.Event) -> None:
        """Process the next event of the parser. Raises `ConfigError`."""
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.ScalarEvent):
            nodes = 1 + len(event.value) // LONG_TEXT
            self._count(nodes, line)
            value = self._scalar(event, line)
            self._remember(event.anchor, value, nodes)
            self._put(value, line, nodes)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._count(1, line)
            self._begin(event, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._put_alias(event.anchor, line)

    def _count(self, nodes: int, line: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            what = f"more than {MAX_NODES} values when aliases are written out"
            raise self._refused(f"{what}; leave only queue configuration in it", line)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> str | None:
        text: str = event.value
        if event.tag in _TEXT_TAGS or (event.tag is None and not event.implicit[0]):
            return QuotedText(text)
        if event.tag is None or event.tag in _PLAIN_TAGS:
            return None if text in _NULLS else text
        raise self._refused(f"tag {shown(event.tag)} is not known here; leave the tag out", line)

    def _begin(self, event: yaml.CollectionStartEvent, line: int) -> None:
        is_map = isinstance(event, yaml.MappingStartEvent)
        if event.tag not in (None, "!", _CORE_TAG + ("map" if is_map else "seq")):
            raise self._refused(f"tag {shown(event.tag)} is not known here; leave the tag out", line)
        if len(self._open) == MAX_DEPTH:
            raise self._refused(f"nested deeper than {MAX_DEPTH} levels; use fewer", line)
        if self._awaits_key():
            raise self._refused(_KEY_IS_TEXT, line)
        self._anchors.pop(event.anchor, None)
        self._open.append(_Open(MapValue() if is_map else ListValue(), event.anchor, line))

    def _end(self) -> None:
        ended = self._open.pop()
        if isinstance(ended.value, MapValue):
            _merge(ended.merged, ended.value)
        self._remember(ended.anchor, ended.value, ended.nodes)
        self._put(ended.value, ended.line, ended.nodes)

    def _put_alias(self, anchor: str | None, line: int) -> None:
        if anchor not in self._anchors:
            inside = any(one.anchor == anchor for one in self._open)
            why = "refers to the value it stands in" if inside else "has no anchor before it"
            raise self._refused(f"alias {shown(anchor or '')} {why}; write the value out", line)
        value, nodes = self._anchors[anchor]
        self._count(nodes, line)
        self._put(value, line, nodes)

    def _remember(self, anchor: str | None, value: Value, nodes: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, nodes)

    def _put(self, value: Value, line: int, nodes: int) -> None:
        if not self._open:
            self.top = value
            return
        parent = self._open[-1]
        parent.nodes += nodes
        if isinstance(parent.value, ListValue):
            parent.value.append(value)
            parent.value.lines.append(line)
        elif parent.key is None:
            self._put_key(parent, value, line)
        else:
            self._put_entry(parent, parent.value, value)

    def _put_key(self, parent: _Open, key: Value, line: int) -> None:
        if not isinstance(key, str):
            raise self._refused(_KEY_IS_TEXT, line)
        parent.key = key if isinstance(key, QuotedText) else sys.intern(key)
        parent.key_line = line

    def _put_entry(self, parent: _Open, mapping: MapValue, value: Value) -> None:
        key = parent.key
        assert key is not None  # noqa: S101 - the caller saw it
        if key == _MERGE and not isinstance(key, QuotedText):
            self._note_merge(parent, value)
        elif key in mapping:
            self._note_repeated(key, parent.key_line)
        else:
            mapping[key] = value
            mapping.lines[key] = parent.key_line
        parent.key = None

    def _note_merge(self, parent: _Open, value: Value) -> None:
        sources: Iterable[Value] = value if isinstance(value, ListValue) else (value,)
        if parent.merges:
            self._note_repeated(_MERGE, parent.key_line)
            return
        parent.merges = True
        for source in sources:
            if not isinstance(source, MapValue):
                message = "a merge takes a mapping or a list of mappings; write <<: *name"
                raise self._refused(message, parent.key_line)
            parent.merged.append(source)

    def _note_repeated(self, key: str, line: int) -> None:
        if len(self.repeated) <= MAX_REPORTED:
            path = path_text(self._location())
            self.repeated.append(Problem(path, _RULE, f"key {shown(key)} occurs twice; keep one", line))

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, MapValue) and self._open[-1].key is None

    def _location(self) -> Location:
        steps: list[str | int] = []
        for one in self._open:
            if isinstance(one.value, ListValue):
                steps.append(len(one.value))
            elif one.key is not None:
                steps.append(str(one.key))
        return tuple(steps)

    def _refused(self, message: str, line: int) -> ConfigError:
        return _refusal(message, at=self._location(), line=line)


def _merge(sources: Iterable[MapValue], into: MapValue) -> None:
    for source in sources:
        for key, value in source.items():
            if key not in into:
                into[key] = value
                into.lines[key] = source.lines[key]
