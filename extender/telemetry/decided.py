"""A line of the log about a decision."""

import msgspec


class Decided(msgspec.Struct):
    """A decision's line. ``timestamp`` is filled in when the line is written."""

    verb: str
    code: str
    detail: str
    namespace: str
    pod: str
    uid: str
    application: str
    timestamp: str = ""
    event: str = "decision"
    level: str = "info"
