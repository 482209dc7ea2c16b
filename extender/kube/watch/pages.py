"""Pages of lists and lines of watches, decoded as far as a reflector needs them."""

import msgspec

from extender.kube.connection.api import ObjectMeta


class ListMeta(msgspec.Struct):
    """Metadata of a list."""

    resource_version: str = msgspec.field(default="", name="resourceVersion")
    next: str = msgspec.field(default="", name="continue")


class Page(msgspec.Struct):
    """A page of a list."""

    metadata: ListMeta
    items: list[msgspec.Raw] | None = None


class WatchEvent(msgspec.Struct):
    """A line of a watch."""

    type: str
    object: msgspec.Raw


class Identified(msgspec.Struct):
    """An object, of which only the metadata is read."""

    metadata: ObjectMeta


page_from = msgspec.json.Decoder(Page).decode
event_from = msgspec.json.Decoder(WatchEvent).decode
identified_from = msgspec.json.Decoder(Identified).decode
