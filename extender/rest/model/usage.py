"""Usage of users and user groups (REST-9)."""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer, Texts


class QueueUsage(Answer, frozen=True, kw_only=True):
    """Usage of a user or user group in a queue and below it."""

    #: Path of the queue.
    queue_path: str
    #: Total size of allocations, including placeholders.
    resource_usage: Amounts = field(default_factory=dict)
    #: Ids of applications that are running or have allocations.
    running_applications: tuple[str, ...] = ()
    #: Limit for the user or group in this queue.
    max_resources: Amounts = field(default_factory=dict)
    #: Highest number of applications that may run there; 0 is unlimited.
    max_applications: int = 0
    #: Usage in the child queues, sorted by name.
    children: tuple["QueueUsage", ...] = ()


class UserUsage(Answer, frozen=True, kw_only=True):
    """Usage of one user."""

    #: Name of the user.
    user_name: str
    #: Group that is counted, by application.
    groups: Texts = field(default_factory=dict)
    #: Usage from the root down; absent without usage.
    queues: QueueUsage | None = None


class GroupUsage(Answer, frozen=True, kw_only=True):
    """Usage of one user group that a limit names."""

    #: Name of the group.
    group_name: str
    #: Ids of the applications that are counted for the group.
    applications: tuple[str, ...] = ()
    #: Usage from the root down; absent without usage.
    queues: QueueUsage | None = None
