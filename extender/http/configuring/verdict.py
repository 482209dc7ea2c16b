"""Verdict on a queue document that is to be written: all errors, and conflicts with what runs. No I/O."""

from dataclasses import dataclass

from core.ledger.view import LedgerView
from extender.configuration.edit import MOST_BYTES
from extender.configuration.sources import checksum, has_content
from extender.queueconfig.load import Loaded, check_document, load
from extender.queueconfig.problems import ConfigError, Problem
from extender.queueconfig.surprises.warnings import warnings_of

PROBLEMS_SHOWN = 5
"""Errors that one message lists."""

_EMPTY = "the document is empty, which Paddock takes for a loss; the queues in force would stay"


@dataclass(frozen=True, slots=True)
class DocumentVerdict:
    """A document that was checked. ``loaded``: None if it has errors."""

    text: str
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...] = ()
    loaded: Loaded | None = None

    @property
    def checksum(self) -> str:
        """Checksum of the document (SRC-9)."""
        return checksum(self.text)

    @property
    def reason(self) -> str:
        """The first errors, for one message; empty without errors."""
        shown = "; ".join(str(each) for each in self.problems[:PROBLEMS_SHOWN])
        more = len(self.problems) - PROBLEMS_SHOWN
        return f"{shown}; and {more} more" if more > 0 else shown


def verdict_on(body: bytes, *, zero_blocks: bool, acts_by_acl: bool) -> DocumentVerdict:
    """Check a document. Never raises. Costs up to a second, so it runs in a thread.

    ``zero_blocks``, ``acts_by_acl``: values of the settings that decide what it means.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        return _refused("", f"not UTF-8 at byte {error.start}")
    if len(body) > MOST_BYTES:
        return _refused("", f"larger than {MOST_BYTES} bytes, which no ConfigMap holds")
    if not has_content(text):
        return _refused(text, _EMPTY)
    problems = check_document(text)
    if problems:
        return DocumentVerdict(text, problems)
    try:
        loaded = load(text, zero_blocks=zero_blocks)
    except ConfigError as error:
        return DocumentVerdict(text, error.problems)
    return DocumentVerdict(text, (), tuple(warnings_of(text, acts_by_acl=acts_by_acl)), loaded)


def against(view: LedgerView, verdict: DocumentVerdict) -> DocumentVerdict:
    """Add conflicts with applications that run, for which a reload would refuse the document (APPLY-5)."""
    if verdict.loaded is None:
        return verdict
    found = tuple(Problem("", "APPLY-5", each) for each in view.conflicts(verdict.loaded.partition))
    return DocumentVerdict(verdict.text, found, verdict.warnings, None if found else verdict.loaded)


def _refused(text: str, why: str) -> DocumentVerdict:
    return DocumentVerdict(text, (Problem("", "CFG-2", why),))
