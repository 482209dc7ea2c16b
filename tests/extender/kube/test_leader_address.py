"""Address of the leader: of its pod or of its node, by the host in the Lease."""

from extender.kube.connection.client import ApiClient
from extender.kube.leader_address import FRESH, SEARCHED_APART, LeaderAddress
from tests.extender.fake_api import FakeApi
from tests.extender.fake_objects import Json

PODS, NODES = "/api/v1/namespaces/paddock-system/pods", "/api/v1/nodes"


class Search:
    """A search with a clock moved by hand. ``holder``: the host that the Lease names."""

    def __init__(self, client: ApiClient, holder: str = "paddock-0") -> None:
        self.holder, self.now = holder, 0.0
        self.address = LeaderAddress(
            client,
            namespace="paddock-system",
            holder=lambda: self.holder,
            host="paddock-1",
            clock=lambda: self.now,
        )


def pod(name: str, address: str) -> Json:
    return {"metadata": {"name": name}, "status": {"podIP": address}}


def node(name: str, *addresses: tuple[str, str]) -> Json:
    listed = [{"type": kind, "address": address} for kind, address in addresses]
    return {"metadata": {"name": name}, "status": {"addresses": listed}}


async def test_a_host_that_is_a_pod(api: FakeApi, client: ApiClient) -> None:
    api.apply(PODS, pod("paddock-0", "10.0.0.7"))
    api.apply(PODS, pod("paddock-2", "10.0.0.8"))
    api.apply(NODES, node("paddock-0", ("InternalIP", "192.0.2.1")))
    assert await Search(client).address.find() == "10.0.0.7"


async def test_a_host_that_is_a_node(api: FakeApi, client: ApiClient) -> None:
    api.apply(NODES, node("other", ("InternalIP", "192.0.2.2")))
    api.apply(NODES, node("paddock-0", ("Hostname", "paddock-0"), ("InternalIP", "192.0.2.1")))
    assert await Search(client).address.find() == "192.0.2.1"


async def test_a_pod_of_another_namespace_is_not_the_leader(api: FakeApi, client: ApiClient) -> None:
    api.apply("/api/v1/namespaces/tenant/pods", pod("paddock-0", "10.0.0.66"))
    assert await Search(client).address.find() == ""


async def test_without_a_holder_and_for_the_own_host_none_is_asked_for(
    api: FakeApi, client: ApiClient
) -> None:
    api.apply(PODS, pod("paddock-1", "10.0.0.6"))
    for holder in ("", "paddock-1"):
        assert await Search(client, holder).address.find() == ""
    assert not [each for each in api.requests if "paddock-1" in each.path]


async def test_a_holder_that_no_object_can_be_named_after_is_not_asked_for(
    api: FakeApi, client: ApiClient
) -> None:
    before = len(api.requests)
    assert await Search(client, "../../secrets").address.find() == ""
    assert len(api.requests) == before


async def test_a_new_holder_counts_at_once_and_a_new_address_a_little_later(
    api: FakeApi, client: ApiClient
) -> None:
    api.apply(PODS, pod("paddock-0", "10.0.0.7"))
    api.apply(PODS, pod("paddock-2", "10.0.0.8"))
    search = Search(client)
    assert await search.address.find() == "10.0.0.7"
    search.holder = "paddock-2"
    assert await search.address.find() == "10.0.0.8"
    api.apply(PODS, pod("paddock-2", "10.0.0.9"))
    assert await search.address.find() == "10.0.0.8"
    search.now += FRESH
    assert await search.address.find() == "10.0.0.9"


async def test_one_that_is_not_found_is_searched_for_again_once_a_second(
    api: FakeApi, client: ApiClient
) -> None:
    search = Search(client)
    assert await search.address.find() == ""
    api.apply(PODS, pod("paddock-0", "10.0.0.7"))
    assert await search.address.find() == ""
    search.now += SEARCHED_APART
    assert await search.address.find() == "10.0.0.7"


async def test_what_was_found_holds_while_the_api_server_does_not_answer(
    api: FakeApi, client: ApiClient
) -> None:
    api.apply(PODS, pod("paddock-0", "10.0.0.7"))
    search = Search(client)
    assert await search.address.find() == "10.0.0.7"
    search.now += FRESH
    api.fail_next(500, path=PODS)
    assert await search.address.find() == "10.0.0.7"
    search.holder = "paddock-2"
    api.fail_next(500, path=PODS)
    assert await search.address.find() == ""
