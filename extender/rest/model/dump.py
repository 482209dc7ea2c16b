"""Parts of the state dump that no other answer has (REST-14)."""

from msgspec import field

from extender.rest.model.answer import Answer, Moment
from extender.rest.model.placement import Rule


class PlacementRules(Answer, frozen=True, kw_only=True):
    """Placement rules of a partition."""

    #: Name of the partition.
    partition: str
    #: Rules as they are tried.
    rules: tuple[Rule, ...] = ()


class EventStream(Answer, frozen=True, kw_only=True, rename=None):
    """Open event stream."""

    #: Host that its reader named.
    name: str = field(name="Name", default="")
    #: Time at which it was opened.
    created_at: Moment = field(name="CreatedAt", default="")
