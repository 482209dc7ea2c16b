"""Values of YAML as the reader gives them, made from plain ones."""

from extender.queueconfig.document import ListValue, MapValue, Value


def mapping_of(entries: dict[str, Value]) -> MapValue:
    made = MapValue()
    made.update(entries)
    return made


def list_of(items: list[Value]) -> ListValue:
    made = ListValue()
    made.extend(items)
    return made
