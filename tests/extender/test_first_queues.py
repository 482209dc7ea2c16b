"""F-4, F-5: the first queues are copied once, and a document that was lost afterwards is missing."""

from collections.abc import Iterator
from typing import Any

import pytest

from extender.configuration.sources import CONFIGS_NAME
from extender.first_queues import INITIAL_NAME, MARKER_NAME
from tests.extender.app_bench import CONFIG_MAPS, Server, document, kubeconfig, server, undone
from tests.extender.reflector_bench import until

__all__ = ["kubeconfig", "server", "undone"]

NAMESPACE = "paddock-system"
NOTE = "/readyz?verbose"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extender.first_queues.CHECKED_EVERY", 0.01)


def put(server: Server, name: str, **data: str) -> None:
    server.api.apply(CONFIG_MAPS, {"metadata": {"name": name, "namespace": NAMESPACE}, "data": data})


def data(server: Server, name: str) -> dict[str, str] | None:
    found = server.api.find(CONFIG_MAPS, name, NAMESPACE)
    return None if found is None else found["data"]


def created(server: Server) -> Iterator[Any]:
    """Names of the ConfigMaps that Paddock asked for."""
    asked = (each for each in server.api.requests if each.method == "POST")
    return (each.json["metadata"]["name"] for each in asked if each.path.endswith("/configmaps"))


async def marked(server: Server, origin: str) -> None:
    await until(lambda: data(server, MARKER_NAME) == {"origin": origin})


async def test_the_first_document_is_copied_with_the_marker(server: Server) -> None:
    put(server, INITIAL_NAME, **{"queues.yaml": document()})
    await server.started()
    assert data(server, CONFIGS_NAME) == {"queues.yaml": document()}
    await marked(server, INITIAL_NAME)


async def test_a_document_that_is_there_is_only_marked(server: Server) -> None:
    put(server, INITIAL_NAME, **{"queues.yaml": "partitions: []"})
    server.configure(document())
    await server.started()
    await marked(server, CONFIGS_NAME)
    assert data(server, CONFIGS_NAME) == {"queues.yaml": document()}


async def test_a_document_that_was_deleted_is_missing_and_not_copied_again(server: Server) -> None:
    put(server, INITIAL_NAME, **{"queues.yaml": document()})
    put(server, MARKER_NAME, origin=CONFIGS_NAME)
    server.start()
    await server.until_shown(NOTE, f"first queues: there were queues before, so {INITIAL_NAME} is not copied")
    assert (await server.get("/readyz"))[0] == 503
    assert data(server, CONFIGS_NAME) is None


async def test_a_config_map_without_a_document_is_left_to_its_owner(server: Server) -> None:
    put(server, INITIAL_NAME, **{"queues.yaml": document()})
    put(server, CONFIGS_NAME, **{"paddock.turn.lease": "3s"})
    server.start()
    await server.until_shown(NOTE, f"first queues: ConfigMap {CONFIGS_NAME} has no document")
    assert data(server, CONFIGS_NAME) == {"paddock.turn.lease": "3s"}
    assert data(server, MARKER_NAME) is None


async def test_without_a_first_document_nothing_is_written(server: Server) -> None:
    server.start()
    await server.until_shown("/readyz", "[-] configured: ConfigMap")
    assert list(created(server)) == []


@pytest.mark.parametrize(
    ("text", "why"), [("partitions: [", "document"), ("", f"ConfigMap {INITIAL_NAME} has no queues.yaml")]
)
async def test_a_first_document_that_is_wrong_is_named_and_not_copied(
    server: Server, text: str, why: str
) -> None:
    put(server, INITIAL_NAME, **{"queues.yaml": text})
    server.start()
    await server.until_shown(NOTE, f"first queues: {why}")
    assert data(server, CONFIGS_NAME) is None
    put(server, INITIAL_NAME, **{"queues.yaml": document()})
    await marked(server, INITIAL_NAME)


async def test_a_right_that_is_missing_is_named(server: Server) -> None:
    put(server, INITIAL_NAME, **{"queues.yaml": document()})
    server.api.fail_next(403, method="POST", path=CONFIG_MAPS, times=1_000)
    server.start()
    await server.until_shown(NOTE, "first queues: 403")


async def test_only_the_leader_copies(server: Server) -> None:
    put(server, INITIAL_NAME, **{"queues.yaml": document()})
    server.start(overrides={"lease": "kube-system/kube-scheduler"})
    await server.until_shown("/readyz", "[-] configured: ConfigMap")
    assert list(created(server)) == []
    assert data(server, CONFIGS_NAME) is None
