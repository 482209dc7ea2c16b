"""Documents in force at each instance of Paddock, which a port-forward to its pod tells."""

import urllib.error
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from extender.plugin.asked import Asked
from extender.plugin.reaching import Forward, pods_of_paddock

ASKED_WITHIN = 10.0
"""Seconds for the answer of one instance."""


@dataclass(frozen=True, slots=True)
class Replica:
    """An instance. ``checksum``: of the document in force; empty if it cannot be asked.

    ``why``: what it has instead, or why it cannot be asked. ``error``: why it refused the latest document.
    """

    name: str
    checksum: str
    why: str
    error: str = ""


class Replicas:
    """The instances in a namespace. Use as a context, since port-forwards must end."""

    def __init__(self, asked: Asked, namespace: str) -> None:
        self._asked = asked
        self._namespace = namespace
        self._forwards: dict[str, Forward] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def found(self) -> list[Replica]:
        """Ask each pod of Paddock that runs, by name. Raises `Problem`."""
        return [self._asked_for(name) for _, name in pods_of_paddock(self._asked, self._namespace)]

    def _asked_for(self, name: str) -> Replica:
        forward = self._forwards.get(name)
        if forward is None:
            forward = self._forwards[name] = Forward(self._asked, self._namespace, name)
            self._stack.callback(forward.end)
        text = _readiness(forward.url) if forward.url else ""
        if not text:
            # A pod that has just begun may answer later.
            del self._forwards[name]
            return Replica(name, "", f"it cannot be asked through a port-forward{forward.failure}")
        lines = dict(each.partition(": ")[::2] for each in text.splitlines())
        found = lines.get("configuration", "")
        error = lines.get("last configuration error", "")
        return Replica(name, found, f"it has {found[:12] or 'no document'}", error)


def _readiness(url: str) -> str:
    """Text of ``/readyz?verbose``, whatever its status; empty without an answer."""
    try:
        with urllib.request.urlopen(f"{url}/readyz?verbose", timeout=ASKED_WITHIN) as answer:  # noqa: S310
            return str(answer.read().decode(errors="replace"))
    except urllib.error.HTTPError as error:
        return error.read().decode(errors="replace")
    except (urllib.error.URLError, OSError):
        return ""
