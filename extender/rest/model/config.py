"""Queue document and service keys in force (REST-27). Names of members begin with capitals.

``rename`` lists the members that Go does not merely capitalize.
"""

from msgspec import field

from extender.rest.model.answer import Answer, Nanoseconds, Texts


class ConfigResources(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Quantities of a queue, as in the document."""

    guaranteed: Texts = field(default_factory=dict)
    max: Texts = field(default_factory=dict)


class ConfigTemplate(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Child template of a queue."""

    max_applications: int = 0
    properties: Texts = field(default_factory=dict)
    resources: ConfigResources


class ConfigLimit(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Limit for users and groups."""

    limit: str = ""
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    max_resources: Texts = field(default_factory=dict)
    max_applications: int = 0


class ConfigQueue(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Queue of the document."""

    name: str
    parent: bool = False
    resources: ConfigResources
    max_applications: int = 0
    properties: Texts = field(default_factory=dict)
    admin_acl: str = field(name="AdminACL", default="")
    submit_acl: str = field(name="SubmitACL", default="")
    child_template: ConfigTemplate
    queues: tuple["ConfigQueue", ...] = ()
    limits: tuple[ConfigLimit, ...] = ()


class ConfigFilter(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Filter of a placement rule."""

    type: str
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class ConfigRule(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Placement rule of the document."""

    name: str
    create: bool = False
    filter: ConfigFilter
    parent: "ConfigRule | None" = None
    value: str = ""


class ConfigPreemption(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Preemption switches; null where the document says nothing."""

    enabled: bool | None = None
    quota_preemption_enabled: bool | None = None


class ConfigNodeSort(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Policy for the preference of nodes."""

    type: str = ""
    resource_weights: dict[str, float] = field(default_factory=dict)


class ConfigResolver(Answer, frozen=True, kw_only=True):
    """Source of users' groups."""

    type: str = ""


class ConfigPartition(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Partition of the document."""

    name: str
    queues: tuple[ConfigQueue, ...]
    placement_rules: tuple[ConfigRule, ...] = ()
    limits: tuple[ConfigLimit, ...] = ()
    preemption: ConfigPreemption
    node_sort_policy: ConfigNodeSort
    user_group_resolver: ConfigResolver


class Config(Answer, frozen=True, kw_only=True, rename="pascal"):
    """The configuration in force."""

    partitions: tuple[ConfigPartition, ...] = ()
    #: SHA-256 of the document, in upper-case hexadecimal.
    checksum: str = ""
    #: Time at which this process applied the document. YuniKorn has no such member.
    applied_time: Nanoseconds = 0
    #: All keys of both ConfigMaps, except the document.
    extra: Texts = field(default_factory=dict)
    deadlock_detection_enabled: bool
    deadlock_timeout_seconds: int
