"""Normalized host names, and names of loopback."""

import pytest

from extender.wire.host_names import host_name_of, host_names_from, is_loopback


@pytest.mark.parametrize(
    ("authority", "name"),
    [
        ("localhost", "localhost"),
        ("LocalHost:10291", "localhost"),
        ("localhost.:80", "localhost"),
        ("127.0.0.1:10291", "127.0.0.1"),
        ("[::1]:10291", "::1"),
        ("[0:0:0:0:0:0:0:1]", "::1"),
        ("paddock.example", "paddock.example"),
    ],
)
def test_a_name_has_one_spelling(authority: str, name: str) -> None:
    assert host_name_of(authority) == name


@pytest.mark.parametrize(
    "authority",
    [
        "",
        ":80",
        "localhost:",
        "localhost:port",
        "localhost:123456",
        "user@localhost",
        "localhost/evil.example",
        "localhost evil.example",
        "localhost,evil.example",
        "localhost\x00",
        "localhost\n",
        "::1",
        "[::1",
        "[127.0.0.1]",
        "[fe80::1%eth0]",
        "löcalhost",
        "a" * 254,
    ],
)
def test_what_no_host_header_says(authority: str) -> None:
    assert host_name_of(authority) is None


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "127.8.9.10", "::1"])
def test_loopback(name: str) -> None:
    assert is_loopback(name)


@pytest.mark.parametrize(
    "name",
    [
        "evil.example",
        "localhost.evil.example",
        "evil.localhost",
        "127.0.0.1.evil.example",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0.0.0.0",
        "::",
        "10.0.0.1",
        "",
    ],
)
def test_other_names_are_not_loopback(name: str) -> None:
    assert not is_loopback(name)


def test_listed_names() -> None:
    assert host_names_from(" UI.example:9889, [FE80::1] ,::2,,10.0.0.7") == {
        "ui.example",
        "fe80::1",
        "::2",
        "10.0.0.7",
    }
    assert host_names_from("") == frozenset()
    with pytest.raises(ValueError, match="without a scheme"):
        host_names_from("https://ui.example")
