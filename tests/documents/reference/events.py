"""The page of Events, of conditions and of the reasons of failed pods."""

from collections.abc import Iterator

from tests.documents.reference.markdown import code, page, sentence, table
from tests.documents.reference.meanings import meanings
from tests.interfaces.comparing import recorded_lines
from tests.interfaces.tracing import OPEN

_INTRO = """\
# Events and conditions

Reports that Paddock writes about pods and ConfigMaps, for people. Programs read [metrics](metrics.md) and
[reason codes](reason-codes.md) instead.

Events on pods are read with `kubectl get events --field-selector involvedObject.name=NAME`."""

_CONDITION = """\
## Conditions

A gated pod has the condition `paddock.dev/Admitted`. `False` has a [reason code](reason-codes.md) as its
reason, and the text of the refusal as its message.
`True` has the reason `Admitted`: the gate is open."""

_FAILED = """\
## Reasons of failed pods

Paddock sets a pod to phase `Failed` in two cases only."""


def events_page() -> str:
    lines = [line.split() for line in recorded_lines("events")]
    named = meanings("events", (_key(line) for line in lines))
    rows = [
        (code(line[0]), line[1], _object(line[2]), code("".join(line[3:])), sentence(named[_key(line)]))
        for line in lines
    ]
    return page(
        _INTRO,
        "## Events",
        table(("reason", "type", "object", "action", "meaning"), rows),
        _CONDITION,
        _FAILED,
        table(("reason", "meaning"), _failed()),
    )


def _key(line: list[str]) -> str:
    """Reason, and the action if there is one."""
    return "/".join([line[0], *line[3:]])


def _object(kind: str) -> str:
    """Only reports about the configuration name no kind in the code: that of its source."""
    return "ConfigMap" if kind == OPEN else kind


def _failed() -> Iterator[tuple[str, str]]:
    prefix = "phase Failed "
    reasons = [each.removeprefix(prefix) for each in recorded_lines("conditions") if each.startswith(prefix)]
    named = meanings("failed", reasons)
    yield from ((code(reason), sentence(named[reason])) for reason in reasons)
