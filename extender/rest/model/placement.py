"""Placement rules in force (REST-30)."""

from msgspec import field

from extender.rest.model.answer import Answer, Texts


class RuleFilter(Answer, frozen=True, kw_only=True):
    """Users and groups for whom a rule applies."""

    #: Type of the filter: allow or deny.
    type: str
    #: Users by name.
    user_list: tuple[str, ...] = ()
    #: Groups by name.
    group_list: tuple[str, ...] = ()
    #: Regular expression for names of users.
    user_exp: str = ""
    #: Regular expression for names of groups.
    group_exp: str = ""


class Rule(Answer, frozen=True, kw_only=True):
    """Placement rule."""

    #: Kind of the rule.
    name: str
    #: Parameters as configured; boolean values as text.
    parameters: Texts = field(default_factory=dict)
    #: Users and groups for whom the rule applies; absent for everybody.
    filter: RuleFilter | None = None
    #: Rule that chooses the parent queue.
    parent_rule: "Rule | None" = None
