"""Definitions of objects that others define, on an API server while a test runs."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.programs.definitions import Definitions
from e2e.stands.stand import eventually


@asynccontextmanager
async def defined(cluster: Cluster, *sources: Definitions) -> AsyncIterator[None]:
    """Serve what the sources define until the block ends. Objects of these kinds go with them.

    A definition that is there before stays as it is.
    """
    definitions = [each for source in sources for each in source.read()]
    created: list[str] = []
    try:
        for each in definitions:
            if await _is_created(cluster, each):
                created.append(_name(each))
        for each in definitions:
            await eventually(partial(_is_served, cluster, each), f"{_name(each)} is served", timeout=60)
        yield
    finally:
        await _delete(cluster, created)


async def _is_created(cluster: Cluster, definition: Object) -> bool:
    """Create a definition. False if there is one with its name, such as in a cluster of the user."""
    try:
        await cluster.create(definition)
    except ApiFailure as failure:
        if failure.status != 409:
            raise
        return False
    return True


async def _delete(cluster: Cluster, names: Sequence[str]) -> None:
    """Delete definitions, and wait for their end: until then none with the same name can be created."""
    for name in names:
        await cluster.request("DELETE", path_of("CustomResourceDefinition", name=name))
    for name in names:
        await eventually(partial(_is_deleted, cluster, name), f"{name} is deleted", timeout=60)


async def _is_served(cluster: Cluster, definition: Object) -> bool:
    """True once the API server lists the kind, in each version, among what it serves."""
    spec = definition["spec"]
    groups = (await cluster.request("GET", "/apis"))["groups"]
    listed = {each["groupVersion"] for group in groups for each in group["versions"]}
    wanted = {f"{spec['group']}/{each['name']}" for each in spec["versions"] if each["served"]}
    if not wanted <= listed:
        return False
    try:
        found = [(await cluster.request("GET", f"/apis/{each}"))["resources"] for each in wanted]
    except ApiFailure:
        return False
    return all(spec["names"]["plural"] in [each["name"] for each in resources] for resources in found)


async def _is_deleted(cluster: Cluster, name: str) -> bool:
    try:
        await cluster.request("GET", path_of("CustomResourceDefinition", name=name))
    except ApiFailure as failure:
        return failure.status == 404
    return False


def _name(definition: Object) -> str:
    name: str = definition["metadata"]["name"]
    return name
