"""The page of reason codes, with the texts that the code can make of each."""

from tests.documents.reference.markdown import code, page, table
from tests.interfaces.comparing import recorded_lines
from tests.interfaces.tracing import OPEN

_INTRO = """\
# Reason codes

Codes with which Paddock refuses a pod. They are stable: a new one may come, and none is used for another
meaning.
They are in the order in which the first that applies wins
([FORMAT-10](../specification/scenario-rules.md#format-10)).

A text is `Code: subject limit`. `…` stands for what only the cluster can tell, such as a queue or an
amount. Each code links to what to do.
`NotReady` has further texts while Paddock has not read the cluster, or does not hold its Lease."""

_ELSEWHERE = """\
## Where a code appears

| place | as |
|---|---|
| condition `PodScheduled` of a pod | part of kube-scheduler's message |
| condition `paddock.dev/Admitted` of a gated pod | reason and message |
| Event `ApplicationFailed` | message, for a rejected application |
| `/debug/pods/NAMESPACE/NAME` | `verdict.code` and `verdict.text` |
| metric `paddock_decisions_total` | label `code` |
| `expect` of a scenario | `reason` |"""


def reason_codes_page() -> str:
    shapes = recorded_lines("refusal-shapes")
    rows = [
        (
            f"[{name}](../how-to/troubleshoot.md#{name.lower()})",
            "<br>".join(code(_text_of(shape)) for shape in shapes if shape.startswith(f"{name}: ")),
        )
        for name in recorded_lines("codes")
    ]
    return page(_INTRO, table(("code", "texts"), rows), _ELSEWHERE)


def _text_of(shape: str) -> str:
    """A text with one sign where several values stand side by side."""
    return shape.replace(f"{OPEN} {OPEN}", OPEN)
