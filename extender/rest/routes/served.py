"""Routes that do not need the ledger: validation, stacks and the OpenAPI document."""

from collections.abc import Callable, Mapping
from typing import Any

from extender.rest.members import encoded
from extender.rest.openapi import openapi_document
from extender.rest.routes.reply import JSON, Ask, Later, Plain, Reply
from extender.rest.routes.table import Names, Route

VALIDATE = "/ws/v1/validate-conf"
STACK = "/debug/stack"
OPENAPI = "/openapi.json"


def served_routes(
    validate: Callable[[bytes], Mapping[str, Any]], stacks: Callable[[], str], version: str
) -> tuple[Route, ...]:
    """Return the routes.

    ``validate(body)``: the verdict of REST-10, which may take a second. ``stacks()``: stacks of all threads
    and tasks.
    """

    def verdict(ask: Ask, _names: Names) -> Reply:
        return Later(lambda: _json(validate(ask.body)))

    def stack(_ask: Ask, _names: Names) -> Reply:
        return Plain(200, stacks())

    def openapi(_ask: Ask, _names: Names) -> Reply:
        return Later(lambda: _json(openapi_document(version)))

    return (
        Route(VALIDATE, verdict, "POST", waits=False),
        Route(STACK, stack, waits=False),
        Route(OPENAPI, openapi, waits=False),
    )


def _json(value: object) -> Plain:
    return Plain(200, encoded(value).decode(), content_type=JSON)
