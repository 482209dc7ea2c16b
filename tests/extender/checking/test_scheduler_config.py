"""`paddock check` of a KubeSchedulerConfiguration: credentials in URLs, and calls that anybody could make."""

from pathlib import Path

import pytest

from extender.checking.verdict import check_text

MANIFESTS = Path(__file__).parents[3] / "manifests"
SHIPPED = sorted(MANIFESTS.glob("*/scheduler-config-*.yaml"))


def config(*extenders: str) -> bytes:
    lines = "".join(f"- {extender}\n" for extender in extenders)
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n"
    return (head + lines).encode()


@pytest.mark.parametrize("path", SHIPPED, ids=[f"{path.parent.name}/{path.name}" for path in SHIPPED])
def test_what_is_shipped_is_right(path: Path) -> None:
    verdict = check_text(path.read_bytes(), name="m")
    assert (verdict.problems, verdict.warnings) == ((), ())


@pytest.mark.parametrize(
    "prefix",
    [
        "http://user:secret@127.0.0.1:10290/v1",
        "http://secret@localhost/v1",
        "http://127.0.0.1/v1?token=secret",
    ],
)
def test_credentials_in_a_url_are_a_problem_and_never_shown(prefix: str) -> None:
    verdict = check_text(config(f'urlPrefix: "{prefix}"'), name="m")
    (problem,) = verdict.problems
    assert (problem.path, problem.line) == ("extenders[0].urlPrefix", 4)
    assert "Events" in problem.message
    assert "secret" not in str(verdict)


@pytest.mark.parametrize(
    ("extender", "warned"),
    [
        ('{urlPrefix: "http://127.0.0.1:10290/v1"}', ""),
        ('{urlPrefix: "http://10.0.0.7:10290/v1"}', "without TLS"),
        ('{urlPrefix: "https://10.0.0.7:10290/v1"}', "no client certificate"),
        ('{urlPrefix: "https://10.0.0.7/v1", enableHTTPS: true, tlsConfig: {certFile: a, keyFile: b}}', ""),
        ('{urlPrefix: "http://127.0.0.1/v1", enableHTTPS: true}', "no client certificate"),
    ],
)
def test_calls_that_anybody_could_make_are_warned_of(extender: str, warned: str) -> None:
    verdict = check_text(config(extender), name="m")
    assert verdict.right
    assert [warned in each.message for each in verdict.warnings] == [True] * bool(warned)


@pytest.mark.parametrize("extenders", ["extenders: 5", "extenders: [5, null, {urlPrefix: [1]}]", ""])
def test_other_shapes_are_kube_scheduler_s_to_judge(extenders: str) -> None:
    assert check_text(f"kind: KubeSchedulerConfiguration\n{extenders}\n".encode(), name="m").right


def test_what_is_no_url_is_a_problem() -> None:
    assert not check_text(config('urlPrefix: "http://[::1"'), name="m").right
