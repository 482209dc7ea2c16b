"""Entries of a scenario for the actions of administrators. Declarations only."""

from dataclasses import dataclass

from extender.simulator.scenario.fields import Duration, Line, MaybeDuration, RequiredText, Switch, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseEntry:
    """A line of ``close``."""

    #: Line of the entry in the file.
    line: Line
    #: Path of the queue.
    queue: RequiredText
    #: User who closes it.
    by: Text = "admin"
    #: Reason in the user's words; empty for none.
    reason: Text = ""
    #: Time at which it opens by itself, in milliseconds from the start; None for never.
    until: MaybeDuration = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndEntry:
    """A line of ``end``."""

    #: Line of the entry in the file.
    line: Line
    #: Id of the application.
    application: RequiredText
    #: Namespace of the application.
    namespace: Text = "default"
    #: User who ends it.
    by: Text = "admin"
    #: Reason in the user's words; empty for none.
    reason: Text = ""
    #: Time for which further pods of the id wait, in milliseconds.
    bar: Duration = 600_000
    #: True if pods are deleted, whatever budgets say.
    force: Switch = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftEntry:
    """A line of ``lift``."""

    #: Line of the entry in the file.
    line: Line
    #: Id of the application whose bar ends.
    application: RequiredText
    #: Namespace of the application.
    namespace: Text = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveEntry:
    """A line of ``move``."""

    #: Line of the entry in the file.
    line: Line
    #: Id of the application.
    application: RequiredText
    #: Path of the leaf to which it is moved.
    queue: RequiredText
    #: Namespace of the application.
    namespace: Text = "default"
    #: User who moves it.
    by: Text = "admin"
    #: Reason in the user's words; empty for none.
    reason: Text = ""
    #: Kind of obstacle for which it must be refused: application, target,
    #: no queue, busy or shortage; empty for none.
    refused: Text = ""
