"""Verdicts of the programs that `make` runs: the last lines say whether it held, and if not, why.

Of a long output often only the end is kept.
"""

import traceback
from collections.abc import Callable, Iterator

MOST = 5
"""Reasons that are printed, at most."""
TEXT = 400
"""Characters of a reason, at most."""


def judged(name: str, run: Callable[[], list[str]]) -> int:
    """Run a program, print its verdict, and return the exit code.

    ``run``: returns what was broken, a sentence each. An exception of it is a reason, too.
    """
    try:
        reasons = run()
    except Exception as error:  # noqa: BLE001 - any reason must stand in the last lines
        traceback.print_exception(error)
        reasons = list(reasons_of(error))
    for line in lines(name, reasons):
        print(line, flush=True)
    return 1 if reasons else 0


def lines(name: str, reasons: list[str]) -> Iterator[str]:
    """The lines of a verdict."""
    if not reasons:
        yield f"{name}: held"
        return
    for reason in reasons[:MOST]:
        yield f"{name}: FAILED: {' '.join(reason.split())[:TEXT]}"
    if len(reasons) > MOST:
        yield f"{name}: FAILED: {len(reasons) - MOST} more reasons above"


def reasons_of(error: BaseException) -> Iterator[str]:
    """The reasons in an exception, which may be a group of them."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from reasons_of(each)
    else:
        yield f"{type(error).__name__}: {error}"
