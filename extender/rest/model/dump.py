"""Parts of the state dump that occur in no other answer (REST-14)."""

from msgspec import field

from extender.rest.model.answer import Answer, Moment
from extender.rest.model.placement import Rule


class PlacementRules(Answer, frozen=True, kw_only=True):
    """Placement rules of a partition."""

    #: Name of the partition.
    partition: str
    #: Rules in the order in which they are tried.
    rules: tuple[Rule, ...] = ()


class EventStream(Answer, frozen=True, kw_only=True, rename=None):
    """Open event stream."""

    #: Host name that its reader sent.
    name: str = field(name="Name", default="")
    #: Time of its opening.
    created_at: Moment = field(name="CreatedAt", default="")
