"""The web page on a listener: static files without a login. What they show is asked of the other paths.

Names of pods and labels are hostile. The policy lets no script run but the files of the page, lets nothing be
asked of another origin, and lets no text become markup.
"""

from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from extender.http.endpoints import inner_path
from extender.page.files import PageFile, page_files

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""Content-Security-Policy of the page."""


def page_shown() -> Middleware:
    """A middleware that answers the paths of the page and passes on all others.

    Placed before a guard it asks no login. A program that does not accept HTML gets from ``/`` what it got.
    """
    known = page_files()

    @web.middleware
    async def shown(request: web.Request, handler: Handler) -> web.StreamResponse:
        path = inner_path(request)
        found = known.get(path) if request.method in ("GET", "HEAD") else None
        if found is None or (path == "/" and not _accepts_html(request)):
            response = await handler(request)
            # A refusal has no header that tells of a path.
            if path == "/" and response.status < 400 and not response.prepared:
                response.headers.add("Vary", "Accept")
            return response
        return _answer(request, found)

    return shown


def _accepts_html(request: web.Request) -> bool:
    return any("text/html" in each.lower() for each in request.headers.getall("Accept", []))


def _answer(request: web.Request, found: PageFile) -> web.Response:
    headers = {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": POLICY,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "ETag": found.tag,
        "Vary": "Accept",
    }
    if found.tag in (each.strip() for each in request.headers.get("If-None-Match", "").split(",")):
        return web.Response(status=304, headers=headers)
    return web.Response(body=found.body, headers={**headers, "Content-Type": found.content_type})
