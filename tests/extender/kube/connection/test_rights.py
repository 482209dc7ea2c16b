"""Rights that the API server refused, as its texts name them."""

import pytest

from extender.kube.connection.api import error_from
from extender.kube.connection.rights import MOST, REPORTED_FOR, MissingRights, Right, right_refused

EVICTION = (
    'pods "a" is forbidden: User "system:serviceaccount:paddock-system:paddock" cannot create resource '
    '"pods/eviction" in API group "" in the namespace "team"'
)
REVIEW = (
    'tokenreviews.authentication.k8s.io is forbidden: User "paddock" cannot create resource "tokenreviews" '
    'in API group "authentication.k8s.io" at the cluster scope'
)
GATES = (
    "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'protect-gates.paddock.dev' with binding 'x' denied "
    "request: it may be removed only with the verb open-paddock-gates on pods"
)
OWNERS = (
    'pods "tg-a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you '
    "can't set finalizers on: , <nil>"
)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (EVICTION, Right("create", "pods/eviction", "")),
        (REVIEW, Right("create", "tokenreviews", "authentication.k8s.io")),
        (GATES, Right("open-paddock-gates", "pods", "")),
        (OWNERS, Right("update", "pods/finalizers", "")),
        ('pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1', None),
        ('User "x" cannot create resource "s3cr3t_T0KEN" in API group ""', None),
    ],
)
def test_a_refusal_names_the_right(text: str, right: Right | None) -> None:
    assert right_refused(error_from(403, _status(text))) == right


def test_no_other_status_names_one() -> None:
    assert right_refused(error_from(500, _status(EVICTION))) is None


def test_a_right_is_reported_for_some_minutes() -> None:
    now = 0.0
    rights = MissingRights(lambda: now)
    rights.note(error_from(403, _status(REVIEW)))
    now = REPORTED_FOR - 1
    rights.note(error_from(403, _status(EVICTION)))
    eviction, review = Right("create", "pods/eviction", ""), right_refused(error_from(403, _status(REVIEW)))
    assert rights.current() == (eviction, review)
    now = REPORTED_FOR
    assert rights.current() == (eviction,)
    assert str(eviction) == 'create pods/eviction in API group ""'


def test_texts_of_others_do_not_fill_the_memory() -> None:
    rights = MissingRights(lambda: 0.0)
    for at in range(MOST + 1):
        rights.note(error_from(403, _status(f'cannot get resource "things{at}" in API group "example.com"')))
    assert len(rights.current()) == MOST


def _status(message: str) -> bytes:
    escaped = message.replace('"', '\\"')
    return f'{{"kind":"Status","reason":"Forbidden","message":"{escaped}"}}'.encode()
