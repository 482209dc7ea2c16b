"""Usage of users and of groups (REST-9)."""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer, Texts


class QueueUsage(Answer, frozen=True, kw_only=True):
    """Usage of a user or group in a queue and below."""

    #: Path of the queue.
    queue_path: str
    #: Sizes of allocations, placeholders included.
    resource_usage: Amounts = field(default_factory=dict)
    #: Ids of applications that run, or have allocations.
    running_applications: tuple[str, ...] = ()
    #: Most that the user or group may use there.
    max_resources: Amounts = field(default_factory=dict)
    #: Most applications it may run there; 0 is unlimited.
    max_applications: int = 0
    #: Usage in the queues below, by name.
    children: tuple["QueueUsage", ...] = ()


class UserUsage(Answer, frozen=True, kw_only=True):
    """Usage of one user."""

    #: Name of the user.
    user_name: str
    #: Group that counts, by application.
    groups: Texts = field(default_factory=dict)
    #: Usage from the root down; absent for a user of nothing.
    queues: QueueUsage | None = None


class GroupUsage(Answer, frozen=True, kw_only=True):
    """Usage of one group that a limit names."""

    #: Name of the group.
    group_name: str
    #: Ids of the applications that count for it.
    applications: tuple[str, ...] = ()
    #: Usage from the root down; absent for a group of nothing.
    queues: QueueUsage | None = None
