"""Verdicts are remembered for their time, and no more of them than the bound."""

from extender.identity.caller import AuthenticatedUser
from extender.identity.verdicts import Verdicts

USER = AuthenticatedUser("u")


def test_the_oldest_goes_first_and_one_that_is_renewed_is_new() -> None:
    verdicts = Verdicts(lambda: 0.0, most=2)
    for name in (b"a", b"b", b"a", b"c"):
        verdicts.add(("token", name), USER, begun=0.0)
    assert len(verdicts) == 2
    assert verdicts.current(("token", b"b")) is None
    assert verdicts.current(("token", b"a")) is not None


def test_time_counts_from_the_beginning_of_the_review() -> None:
    now = 100.0
    verdicts = Verdicts(lambda: now)
    verdicts.add(("token", b"a"), USER, begun=45.0)
    assert verdicts.current(("token", b"a")) is not None
    now = 105.0
    assert verdicts.current(("token", b"a")) is None
    assert verdicts.was_accepted(("token", b"a"))


def test_a_refusal_replaces_what_was_accepted() -> None:
    verdicts = Verdicts(lambda: 0.0)
    verdicts.add(("token", b"a"), USER, begun=0.0)
    verdicts.add(("token", b"a"), None, begun=0.0)
    found = verdicts.current(("token", b"a"))
    assert found is not None
    assert found.user is None
    assert not verdicts.was_accepted(("token", b"a"))


def test_kinds_of_reviews_do_not_answer_for_each_other() -> None:
    verdicts = Verdicts(lambda: 0.0)
    verdicts.add(("token", b"a"), USER, begun=0.0)
    assert verdicts.current(("access", b"a")) is None
