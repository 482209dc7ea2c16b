"""Rights to submit and administer: the texts of ACL-1 to ACL-6."""

import pytest

from core.queues.users.access import acl_from, may_administer, may_submit


@pytest.mark.parametrize(
    ("text", "user", "groups", "allowed"),
    [
        ("", "alice", ("dev",), False),
        (" ", "alice", ("dev",), False),
        ("*", "anyone", (), True),
        (" * ", "anyone", (), True),
        ("* ", "anyone", (), True),
        (" *", "anyone", (), True),
        ("alice,bob", "bob", (), True),
        ("alice,bob", "Bob", (), False),
        (" dev", "alice", ("dev",), True),
        (" dev", "dev", (), False),
        ("alice dev,ops", "carol", ("ops",), True),
        ("*,bob", "alice", (), False),
        ("*,bob", "bob", (), True),
        ("al:ice", "al:ice", (), False),
        (" dev.team", "x", ("dev.team",), False),
        ("svc$", "svc$", (), True),
    ],
)
@pytest.mark.rule("ACL-1")
@pytest.mark.rule("ACL-2")
@pytest.mark.rule("ACL-3")
def test_one_list(text: str, user: str, groups: tuple[str, ...], allowed: bool) -> None:
    assert acl_from(text).allows(user, groups) is allowed


@pytest.mark.rule("ACL-4")
@pytest.mark.rule("ACL-5")
def test_grants_add_up_on_the_way_to_the_root() -> None:
    chain = (("bob ", ""), ("", "carol "), (" dev", ""))
    assert may_submit(chain, "bob", ())
    assert may_submit(chain, "carol", ())
    assert may_submit(chain, "alice", ("dev",))
    assert not may_submit(chain, "alice", ("ops",))
    assert may_administer(chain, "carol", ())
    assert not may_administer(chain, "bob", ("dev",))


@pytest.mark.rule("ACL-5")
def test_without_any_list_no_user_may() -> None:
    assert not may_submit((("", ""), ("", "")), "alice", ("dev",))
