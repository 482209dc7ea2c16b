"""Verdict on a queue document, its differences from the one in force, and its consequences (REST-51)."""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer


class ConfigFinding(Answer, frozen=True, kw_only=True):
    """Error or warning about the document."""

    #: Place in the document; absent for the whole document.
    path: str = ""
    #: Id of the rule.
    rule: str
    message: str
    #: Line of the document, from 1; absent if it is not known.
    line: int = 0


class ConfigField(Answer, frozen=True, kw_only=True):
    """Field that differs. An absent member stands for an absent value."""

    name: str
    before: str = ""
    after: str = ""


class ConfigQueueChange(Answer, frozen=True, kw_only=True):
    """Change of a queue of the document."""

    queue: str
    #: added, removed or changed.
    change: str
    #: Number of applications that run in it and below.
    running_apps: int = 0
    fields: tuple[ConfigField, ...] = ()


class ConfigExcess(Answer, frozen=True, kw_only=True):
    """Running applications that would exceed a limit of the document."""

    queue: str
    #: User or user group that the limit is about; absent for the limit of the queue.
    user: str = ""
    group: str = ""
    #: Amounts above the max.
    over: Amounts = field(default_factory=dict)
    #: Running applications above the limit on their number.
    apps_over: int = 0
    #: True if the document in force is exceeded by as much.
    exceeded_now: bool = False
    #: The first of these applications, as ``namespace/id``, and the number of all.
    applications: tuple[str, ...]
    count: int


class ConfigPreemptible(Answer, frozen=True, kw_only=True):
    """Pods that could be preempted because of the document."""

    queue: str
    #: quota or guarantee.
    why: str
    #: Amounts that these pods may lose.
    amounts: Amounts
    #: Whole seconds until the first is evicted, for quota.
    delay: int = 0
    #: The first of these pods, as ``namespace/name``, and the number of all.
    pods: tuple[str, ...]
    count: int


class ConfigTarget(Answer, frozen=True, kw_only=True):
    """Place in which the document is to be written."""

    namespace: str
    name: str
    #: Entry of ``data``.
    key: str


class ConfigComparison(Answer, frozen=True, kw_only=True):
    """Verdict on a document, and what it would change. Nothing is changed."""

    #: True if Paddock would accept it.
    allowed: bool
    problems: tuple[ConfigFinding, ...] = ()
    warnings: tuple[ConfigFinding, ...] = ()
    #: Checksum of the document, and of the one in force.
    checksum: str
    in_force: str = ""
    #: ConfigMap that it belongs into; absent if the document in force comes from a file.
    config_map: ConfigTarget | None = None
    #: True if it would count only after a restart, because hot refresh is off.
    needs_restart: bool = False
    #: Fields of the partition that differ.
    partition: tuple[ConfigField, ...] = ()
    queues: tuple[ConfigQueueChange, ...] = ()
    above: tuple[ConfigExcess, ...] = ()
    preemptible: tuple[ConfigPreemptible, ...] = ()
