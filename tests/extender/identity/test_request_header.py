"""Users in headers of the API server's proxy, and the ConfigMap that says which to believe."""

import json
from typing import Any

import pytest

from extender.identity.caller import AuthenticatedUser
from extender.identity.refusals import NotAuthenticated
from extender.identity.request_header import BadFrontProxy, FrontProxy, common_name_of, front_proxy_from

PEM = "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n"
FRONT, USERS = PEM.format("front"), PEM.format("users")


def data(**changed: Any) -> dict[str, str]:
    found: dict[str, Any] = {
        "client-ca-file": USERS,
        "requestheader-client-ca-file": FRONT,
        "requestheader-allowed-names": ["front-proxy-client"],
        "requestheader-username-headers": ["X-Remote-User"],
        "requestheader-group-headers": ["X-Remote-Group"],
        "requestheader-uid-headers": ["X-Remote-Uid"],
        "requestheader-extra-headers-prefix": ["X-Remote-Extra-"],
    } | {name.replace("_", "-"): value for name, value in changed.items()}
    return {name: each if isinstance(each, str) else json.dumps(each) for name, each in found.items()}


@pytest.fixture
def proxy() -> FrontProxy:
    return front_proxy_from(data())


# -- headers -----------------------------------------------------------------------------------------------


def test_a_user_with_all_that_is_known(proxy: FrontProxy) -> None:
    headers = [
        ("X-Remote-User", "jane"),
        ("X-Remote-Group", "b"),
        ("x-remote-group", "a"),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Extra-Scopes", "x"),
        ("X-Remote-Extra-Scopes", "y"),
        ("X-Remote-Extra-Example.com%2FThing", "z"),
        ("Authorization", "Bearer of-another"),
    ]
    assert proxy.user_from(headers) == AuthenticatedUser(
        "jane", ("b", "a"), "7", (("example.com/thing", ("z",)), ("scopes", ("x", "y")))
    )


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("X-Remote-User", "")],
        [("X-Remote-Group", "system:masters")],
        [("X-Remote-User", "jane"), ("X-Remote-User", "admin")],
        [("X-Remote-User", "jane"), ("x-remote-user", "")],
        [("X-Remote-User", "jane"), ("X-Remote-Uid", "1"), ("X-Remote-Uid", "2")],
        [("X_Remote_User", "jane")],
        [("X-Remote-User", "jane\x00")],
        [("X-Remote-User", "jane\nX-Remote-Group: system:masters")],
        [("X-Remote-User", "jane\x1b[2J")],
        [("X-Remote-User", "jane\u202e")],
        [("X-Remote-User", "\udcff")],
        [("X-Remote-User", "jane"), ("X-Remote-Group", "a\tb")],
        [("X-Remote-User", "jane"), ("X-Remote-Extra-A%0aB", "c")],
        [("X-Remote-User", "jane"), ("X-Remote-Extra-A", "\x7f")],
    ],
)
def test_headers_that_name_no_one_user(proxy: FrontProxy, headers: list[tuple[str, str]]) -> None:
    with pytest.raises(NotAuthenticated):
        proxy.user_from(headers)


def test_names_beyond_ascii_are_names(proxy: FrontProxy) -> None:
    assert proxy.user_from([("X-Remote-User", "zoë o'neill")]).name == "zoë o'neill"


# -- the ConfigMap -----------------------------------------------------------------------------------------


def test_only_a_listed_name_is_the_proxy_s(proxy: FrontProxy) -> None:
    assert proxy.is_proxy("front-proxy-client")
    assert not proxy.is_proxy("Front-Proxy-Client")
    assert not proxy.is_proxy("")


def test_without_names_any_certificate_of_its_authority_is_the_proxy_s() -> None:
    assert front_proxy_from(data(requestheader_allowed_names=[])).is_proxy("anything")


@pytest.mark.parametrize("shared", [FRONT, USERS + FRONT.replace("front", "\r\nfront\r\n")])
def test_without_names_users_must_have_another_authority(shared: str) -> None:
    """Kubernetes documents this trap: else the certificate of any user would do."""
    with pytest.raises(BadFrontProxy, match="no allowed name"):
        front_proxy_from(data(requestheader_allowed_names=[], client_ca_file=shared))
    assert front_proxy_from(data(client_ca_file=shared)).names == {"front-proxy-client"}


@pytest.mark.parametrize(
    "changed",
    [
        {"requestheader_client_ca_file": ""},
        {"requestheader_client_ca_file": "no certificate"},
        {"requestheader_username_headers": []},
        {"requestheader_username_headers": [""]},
        {"requestheader_username_headers": "X-Remote-User"},
        {"requestheader_allowed_names": "front-proxy-client"},
        {"requestheader_allowed_names": [1]},
        {"requestheader_group_headers": "{}"},
    ],
)
def test_a_config_map_that_names_no_proxy(changed: dict[str, Any]) -> None:
    with pytest.raises(BadFrontProxy):
        front_proxy_from(data(**changed))


def test_an_empty_config_map_says_nothing() -> None:
    with pytest.raises(BadFrontProxy):
        front_proxy_from({})


# -- certificates ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("certificate", "name"),
    [
        ({"subject": ((("organizationName", "o"),), (("commonName", "a"),))}, "a"),
        ({"subject": ((("commonName", "a"),), (("commonName", "b"),))}, None),
        ({"subject": ((("commonName", "a"), ("commonName", "b")),)}, None),
        ({"subject": ()}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_certificate_has_one_name_or_none(certificate: Any, name: str | None) -> None:
    assert common_name_of(certificate) == name
