"""Routing by path and method, and the replies to requests without a route (REST-4, REST-21)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from extender.rest.model.answer import fault
from extender.rest.routes.names import decoded_path, is_escaped_right
from extender.rest.routes.reply import NO_PAGE, Ask, Plain, Refused, Reply, redirect

Names = Mapping[str, str]
"""Parameters of a path by name, decoded once."""

Handler = Callable[[Ask, Names], Reply]


@dataclass(frozen=True, slots=True)
class Route:
    """Route. ``pattern``: a path; a part that begins with a colon is a parameter.

    ``waits``: True if only the leader answers it, after it has read the cluster (REST-43).
    """

    pattern: str
    handler: Handler
    method: str = "GET"
    waits: bool = True

    def match(self, path: str) -> dict[str, str] | None:
        """Return the parameters in a path; None if the path does not match."""
        return self._match(path, fold=False)

    def corrected(self, path: str) -> str | None:
        """Return the correct spelling of a path; None if more than letter case or a final slash differs."""
        bare = path.rstrip("/") or "/"
        names = self._match(bare, fold=True)
        if names is None:
            return None
        parts = [names[each[1:]] if each.startswith(":") else each for each in self.pattern.split("/")]
        right = "/".join(parts)
        return right if right != path else None

    def _match(self, path: str, *, fold: bool) -> dict[str, str] | None:
        wanted, parts = self.pattern.split("/"), path.split("/")
        if len(wanted) != len(parts):
            return None
        names = {}
        for known, part in zip(wanted, parts, strict=True):
            if known.startswith(":"):
                names[known[1:]] = part
            elif known != part and not (fold and known == part.lower()):
                return None
        return names


class Router:
    """Router of all requests. Requests without a route are answered by REST-21."""

    def __init__(self, routes: tuple[Route, ...], unready: Callable[[], str] = lambda: "") -> None:
        """``unready()``: the reason why routes cannot be answered yet, or empty."""
        self.routes = routes
        self._unready = unready

    def answer(self, ask: Ask) -> Reply:
        """Return the route's reply. A `Refused` becomes a fault."""
        if not is_escaped_right(ask.path):
            return Plain(400, "400 Bad Request")
        path = decoded_path(ask.path)
        found = list(self._fitting(path))
        for route, names in found:
            if route.method == ask.method:
                return self._reply_of(route, ask, names)
        if found:
            return _of_another_method(ask, {route.method for route, _ in found})
        return self._elsewhere(ask, path)

    def _reply_of(self, route: Route, ask: Ask, names: Names) -> Reply:
        why = self._unready() if route.waits else ""
        if why:
            return fault(503, why)
        try:
            return route.handler(ask, names)
        except Refused as refused:
            return refused.fault

    def _fitting(self, path: str) -> Iterator[tuple[Route, Names]]:
        for route in self.routes:
            names = route.match(path)
            if names is not None:
                yield route, names

    def _elsewhere(self, ask: Ask, path: str) -> Plain:
        """Reply to a path without a route: redirect to the correct spelling, or 404."""
        for route in self.routes:
            right = route.corrected(path) if route.method == ask.method else None
            if right is not None:
                return redirect(quote(right, safe="/:@!$&'()*+,;=~-._"), 301 if ask.method == "GET" else 307)
        return NO_PAGE


def _of_another_method(ask: Ask, methods: set[str]) -> Plain:
    allowed = {"Allow": ", ".join(sorted({*methods, "OPTIONS"}))}
    return Plain(200, "", allowed) if ask.method == "OPTIONS" else Plain(405, "Method Not Allowed\n", allowed)
