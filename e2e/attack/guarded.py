"""Requests of a tenant that the API server itself refuses if every shipped policy is in force."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from e2e.attack.scene import MINE, STRATEGIC_PATCH, TENANT, THEIRS, Broken, Scene
from e2e.cluster.client import Object, path_of
from e2e.cluster.permissions import refusal
from e2e.stands.stand import MANIFESTS, eventually, manifest

POLICIES = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
GATE = "paddock.dev/queue"
DOMAIN = "yunikorn.apache.org/"

Ask = Callable[[Scene], Awaitable[object]]
"""A request, sent as a dry run, in which admission takes part."""


def shipped_policies() -> Iterator[Path]:
    """The policies in the files of the manifests."""
    for path in sorted(MANIFESTS.glob("*/*.yaml")):
        name = str(path.relative_to(MANIFESTS))
        if path.name != "kustomization.yaml" and any(each.get("kind") in POLICIES for each in manifest(name)):
            yield path


async def install(here: Scene) -> None:
    for path in shipped_policies():
        for thing in manifest(str(path.relative_to(MANIFESTS))):
            await here.cluster.apply(thing)


async def prepare(here: Scene) -> None:
    """Create the pods that the requests are about."""
    gated = here.pod("gated", app="gated", spec={"schedulingGates": [{"name": GATE}]})
    await here.fill()
    await here.submit(gated)


async def refused(here: Scene, ask: Ask) -> str:
    """The message with which a policy refuses a request. Raises `Broken` without one in time."""

    async def message() -> str:
        said = await refusal(ask(here))
        return said if "AdmissionPolicy" in said else ""

    try:
        return await eventually(message, "it is refused", timeout=30)
    except AssertionError:
        raise Broken("the API server takes it") from None


def _create(here: Scene, pod: Object) -> Awaitable[object]:
    return here.cluster.request(
        "POST", path_of("Pod", here.namespace), pod, params={"dryRun": "All"}, user=TENANT
    )


def _edit(here: Scene, name: str, change: Object, part: str = "") -> Awaitable[object]:
    return here.cluster.request(
        "PATCH",
        path_of("Pod", here.namespace, name) + part,
        change,
        params={"dryRun": "All"},
        content_type=STRATEGIC_PATCH,
        user=TENANT,
    )


def _forced(here: Scene) -> Awaitable[object]:
    return _create(here, here.pod("forced", spec={"nodeName": "n1"}))


def _ungated(here: Scene) -> Awaitable[object]:
    return _edit(here, "gated", {"spec": {"schedulingGates": [{"name": GATE, "$patch": "delete"}]}})


def _moved(here: Scene) -> Awaitable[object]:
    return _edit(here, "fair-0", {"metadata": {"labels": {DOMAIN + "queue": THEIRS}}})


def _renamed(here: Scene) -> Awaitable[object]:
    return _edit(here, "fair-0", {"metadata": {"labels": {DOMAIN + "app-id": "theirs"}}})


def _grown(here: Scene) -> Awaitable[object]:
    container = {"name": "c", "resources": {"requests": {"cpu": "3"}}}
    return _edit(here, "fair-0", {"spec": {"containers": [container]}}, "/resize")


def _recorded(here: Scene) -> Awaitable[object]:
    return _create(here, here.pod("forged", annotations={"paddock.dev/reserved-node": "n1"}))


def _disguised(here: Scene) -> Awaitable[object]:
    notes = {DOMAIN + "user.info": '{"user":"rival","groups":[]}'}
    return _create(here, here.pod("forged", queue=MINE, annotations=notes))


ASKS: list[tuple[str, str, Ask]] = [
    ("F-1", "a node is named on create", _forced),
    ("F-7", "Paddock's gate is taken off", _ungated),
    ("F-23", "a running pod is labelled for another queue", _moved),
    ("F-23", "a running pod is labelled for another application", _renamed),
    ("F-24", "a pod is resized upwards", _grown),
    ("records", "a record of Paddock's is forged", _recorded),
    ("identity", "another user is named", _disguised),
]
