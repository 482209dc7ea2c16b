"""Bodies that are no review, and answers as an API server reads them."""

import json

import pytest

from extender.mutation.review import BadReview, Change, answer_to, escaped, request_from
from tests.extender.mutation.reviews import patch_in, pod, request_of, review_of

DEEP = b"[" * 200_000
WRONG = {
    "nothing": b"",
    "no JSON": b"\xff\xfe",
    "a list": b"[]",
    "another kind": json.dumps({**review_of(pod()), "kind": "Pod"}).encode(),
    "another version": json.dumps({**review_of(pod()), "apiVersion": "admission.k8s.io/v1beta1"}).encode(),
    "no request": json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}).encode(),
    "a response": json.dumps({**review_of(pod()), "request": None}).encode(),
    "half": json.dumps(review_of(pod())).encode()[:-9],
    "half of a character": b'{"apiVersion": "\\ud800"}',
    "a deep object": b'{"request": {"uid": "u", "object": ' + DEEP,
    "a deep field that nobody reads": b'{"other": ' + DEEP,
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_review_is_named_and_not_repeated(name: str) -> None:
    with pytest.raises(BadReview) as caught:
        request_from(WRONG[name])
    assert "AdmissionReview" in str(caught.value)
    assert len(str(caught.value)) < 80


def test_what_is_read() -> None:
    request = request_of(pod(), plural="jobs", namespace="n", user="u", groups=("g",), old={"a": 1})
    assert (request.uid, request.plural, request.namespace) == ("uid-1", "jobs", "n")
    assert (request.user_info.username, request.user_info.groups) == ("u", ("g",))
    assert bytes(request.old_object) == b'{"a":1}'


def test_a_request_without_changes_is_allowed_without_a_patch() -> None:
    found = json.loads(answer_to(request_of(pod()), ()))
    assert found["response"] == {"uid": "uid-1", "allowed": True}
    assert (found["apiVersion"], found["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")


def test_changes_are_a_json_patch_in_base64() -> None:
    body = answer_to(request_of(pod()), [Change("/a", {})])
    assert json.loads(body)["response"]["patchType"] == "JSONPatch"
    assert patch_in(body) == [{"op": "add", "path": "/a", "value": {}}]


def test_keys_are_escaped() -> None:
    assert escaped("a/b~c") == "a~1b~0c"
