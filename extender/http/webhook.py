"""Endpoint of the webhook that changes new pods. Callers have no login, and learn nothing beyond it."""

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from core.workload.pod import NamespaceFacts
from extender.http.door import DOOR
from extender.http.endpoints import Endpoint
from extender.http.intake import BodyLimits, BodyTooLarge
from extender.mutation.review import BadReview, answer_to, request_from
from extender.mutation.rules import RULES, Known, changes_of

PATH = "/mutate"

SEPARATOR = "."
"""Character between rules in the path. The API server takes no comma in the path of a Service."""

MOST_BYTES = 4 * 2**20
"""Bytes of a review, at most. etcd accepts no object above 1.5 MiB, and an update contains two."""

_LIMITS = BodyLimits(MOST_BYTES, MOST_BYTES)

FindNamespace = Callable[[str], Awaitable[NamespaceFacts | None]]
"""Function that returns a namespace by its name. None if it is not known in time."""


def webhook_endpoints(
    find: FindNamespace, keys: Callable[[], Mapping[str, str] | None], *, own: str
) -> tuple[Endpoint, ...]:
    """Return the endpoint. ``keys``: as in `Known`.

    ``own``: Paddock's namespace, whose pods stay as they are.
    """

    async def mutate(request: web.Request) -> web.Response:
        rules = frozenset(request.match_info["rules"].split(SEPARATOR))
        if not rules <= RULES:
            return _refused(404, f"the rules are {', '.join(sorted(RULES))}")
        if request.content_type != "application/json":
            return _refused(415, "the body must be application/json")
        try:
            review = request_from(await request.app[DOOR].body_of(request, _LIMITS))
            if review.namespace == own:
                return _answered(answer_to(review, ()))
            namespace = await find(review.namespace)
            if namespace is None:
                return _refused(503, "the namespace is not known yet")
            return _answered(answer_to(review, changes_of(review, rules, Known(namespace, keys()))))
        except BodyTooLarge as error:
            return _refused(413, str(error))
        except BadReview as error:
            return _refused(400, str(error))

    return (Endpoint("POST", f"{PATH}/{{rules}}", mutate, "changes new pods, for API servers"),)


def _answered(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")


def _refused(status: int, message: str) -> web.Response:
    response = web.json_response({"error": message}, status=status)
    response.force_close()
    return response
