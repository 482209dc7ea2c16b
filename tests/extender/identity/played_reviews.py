"""Reviews as an API server answers them: users by token, and rights by user."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web

from tests.extender.fake_api import FakeApi
from tests.extender.fake_objects import JSON_TYPE, Request

TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
API_SERVER = "https://kubernetes.default.svc"


@dataclass
class PlayedReviews:
    """``users``: name and audience by token; ``rights``: user, verb, and path or resource.

    A resource may be followed by a space and the name of one object.

    ``asked``: the specs of all reviews, by kind.
    """

    users: dict[str, tuple[str, str]] = field(default_factory=dict)
    rights: set[tuple[str, str, str]] = field(default_factory=set)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def serve(self, api: FakeApi) -> None:
        """Let the fake API server answer reviews."""
        api.break_next(self.answer, method="POST", path="reviews", times=10**6)

    async def answer(self, request: Request) -> web.Response:
        body = request.json
        self.asked.append((body["kind"], body["spec"]))
        status = (self._token if body["kind"] == "TokenReview" else self._access)(body["spec"])
        answer = msgspec.json.encode({**body, "status": status})
        return web.Response(body=answer, status=201, content_type=JSON_TYPE)

    def count(self, kind: str) -> int:
        return sum(asked == kind for asked, _ in self.asked)

    def _token(self, spec: dict[str, Any]) -> dict[str, Any]:
        name, audience = self.users.get(spec["token"], ("", ""))
        if not name or audience not in spec.get("audiences", [API_SERVER]):
            return {"error": f"[invalid bearer token {spec['token']}]"}
        user = {"username": name, "uid": f"uid-of-{name}", "groups": ["system:authenticated"]}
        return {"authenticated": True, "user": user, "audiences": [audience]}

    def _access(self, spec: dict[str, Any]) -> dict[str, Any]:
        named = spec.get("nonResourceAttributes") or spec["resourceAttributes"]
        what = named.get("path") or "/".join(filter(None, (named["resource"], named.get("subresource"))))
        one = f"{what} {named.get('name', '')}"
        asked = {(spec["user"], named["verb"], each) for each in (what, one)}
        return {"allowed": any(right in self.rights for right in asked)}
