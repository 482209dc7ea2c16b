"""Answers to scrapes: texts of metrics, compressed if the client accepts it (REST-16, REST-23)."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from aiohttp import web

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Scraped(Protocol):
    """Source of a text of metrics."""

    async def text(self, *, gzipped: bool) -> bytes:
        """Return the present text. ``gzipped``: True to compress it."""
        ...


def scrape_handler(scraped: Scraped) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Make a handler that compresses a body at most once and names the encoding."""

    async def scrape(request: web.Request) -> web.Response:
        gzipped = takes_gzip(request.headers.getall("Accept-Encoding", []))
        headers = {"Content-Type": CONTENT_TYPE, "Vary": "Accept-Encoding"}
        if gzipped:
            headers["Content-Encoding"] = "gzip"
        return web.Response(body=await scraped.text(gzipped=gzipped), headers=headers)

    return scrape


def takes_gzip(accepted: list[str]) -> bool:
    """True if the values of ``Accept-Encoding`` accept gzip with a weight other than 0."""
    for each in ",".join(accepted).split(","):
        coding, *parameters = (part.strip().lower() for part in each.split(";"))
        if coding == "gzip":
            weights = [part[2:].strip() for part in parameters if part.startswith("q=")]
            return not any(_is_zero(weight) for weight in weights)
    return False


def _is_zero(weight: str) -> bool:
    try:
        return float(weight) == 0
    except ValueError:
        return False
