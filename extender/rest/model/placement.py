"""Placement rules in force (REST-30)."""

from msgspec import field

from extender.rest.model.answer import Answer, Texts


class RuleFilter(Answer, frozen=True, kw_only=True):
    """Users and groups that a rule is for."""

    #: allow or deny.
    type: str
    #: Users by name.
    user_list: tuple[str, ...] = ()
    #: Groups by name.
    group_list: tuple[str, ...] = ()
    #: Expression that users match.
    user_exp: str = ""
    #: Expression that groups match.
    group_exp: str = ""


class Rule(Answer, frozen=True, kw_only=True):
    """A placement rule."""

    #: Kind of the rule.
    name: str
    #: Parameters as configured; switches as text.
    parameters: Texts = field(default_factory=dict)
    #: Users and groups that it is for; absent for everybody.
    filter: RuleFilter | None = None
    #: Rule that finds the parent queue.
    parent_rule: "Rule | None" = None
