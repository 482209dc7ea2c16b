"""Tokens out of headers: one of a known form, or none."""

import pytest

from extender.identity.bearer import bearer_token_from
from extender.identity.refusals import NotAuthenticated


@pytest.mark.parametrize(
    "header", ["Bearer abc.d-e_f~g+h/i==", "bearer abc.d-e_f~g+h/i==", "BEARER   abc.d-e_f~g+h/i== "]
)
def test_a_token(header: str) -> None:
    assert bearer_token_from([header]) == "abc.d-e_f~g+h/i=="


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [""],
        ["Bearer"],
        ["Bearer "],
        ["Basic YTpi"],
        ["Bearer a b"],
        ["Bearer a,b"],
        ["Bearer a\x00b"],
        ["Bearer a\nb"],
        ["Bearer a\n"],
        ["Bearer tökén"],
        ["Bearer \udc80"],
        ["Bearer =a"],
        ["Bearer a", "Bearer a"],
        ["Bearer a", "Bearer b"],
        ["xBearer a"],
    ],
)
def test_no_token(headers: list[str]) -> None:
    with pytest.raises(NotAuthenticated):
        bearer_token_from(headers)
