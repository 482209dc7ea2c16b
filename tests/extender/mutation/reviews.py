"""Reviews as an API server sends them, and what its patch makes of an object."""

import base64
import copy
from typing import Any

import msgspec

from core.workload.pod import NamespaceFacts
from extender.mutation.review import Change, Request, request_from
from extender.mutation.rules import Known, changes_of
from tests.extender.fake_objects import patched

Json = dict[str, Any]


def review_of(
    thing: Json,
    *,
    plural: str = "pods",
    namespace: str = "team",
    user: str = "alice",
    groups: tuple[str, ...] = ("system:authenticated",),
    old: Json | None = None,
) -> Json:
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "uid-1",
            "kind": {"group": "", "version": "v1", "kind": "Thing"},
            "resource": {"group": "", "version": "v1", "resource": plural},
            "namespace": namespace,
            "operation": "UPDATE" if old else "CREATE",
            "userInfo": {"username": user, "groups": [*groups]},
            "object": thing,
            "oldObject": old,
            "dryRun": False,
            "options": None,
        },
    }


def request_of(thing: Json, **review: Any) -> Request:
    return request_from(msgspec.json.encode(review_of(thing, **review)))


def pod(**spec: Any) -> Json:
    """A pod as an API server writes it. ``labels`` and ``annotations`` are of its metadata."""
    keys = {name: spec.pop(name) for name in ("labels", "annotations") if name in spec}
    container = {"name": "c", "image": "i", "resources": {}}
    known = {"schedulerName": "default-scheduler", "containers": [container]}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", **keys}, "spec": known | spec}


def changed(
    thing: Json,
    *rules: str,
    keys: dict[str, str] | None = None,
    enabled: str = "",
    generates: str = "",
    namespace: str = "team",
    **review: Any,
) -> Json:
    """The object after the changes of these rules. ``keys``: of the ConfigMap."""
    facts = NamespaceFacts(namespace, enabled=enabled, generate_app_id=generates)
    request = request_of(thing, namespace=namespace, **review)
    return applied(thing, changes_of(request, rules, Known(facts, keys)))


def applied(thing: Json, changes: list[Change]) -> Json:
    return patched(copy.deepcopy(thing), msgspec.to_builtins(changes))


def patch_in(answer: bytes) -> list[Json]:
    """The patch of an answer; empty without one."""
    response = msgspec.json.decode(answer)["response"]
    found: list[Json] = msgspec.json.decode(base64.b64decode(response.get("patch", "W10=")))
    return found
