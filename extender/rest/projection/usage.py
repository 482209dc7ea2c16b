"""Answers about the usage of users and user groups (REST-9)."""

from collections.abc import Iterable

import msgspec

from core.ids import AppId, QueuePath
from core.queues.queue import Queue
from core.queues.spec import LimitSpec
from core.queues.users.limits import ANY, Tracked, entry_for
from core.resource import Resource
from extender.rest.facts import Facts
from extender.rest.model.usage import GroupUsage, QueueUsage, UserUsage
from extender.rest.projection.counting import Afloat, afloat_of
from extender.rest.projection.units import amounts, limits

USER, GROUP = "user", "group"


def all_users(facts: Facts) -> tuple[UserUsage, ...]:
    """Return all users with usage or with a limit of their own, sorted by name."""
    afloat = afloat_of(facts.view)
    names = _in_use(facts, USER) | _in_limits(facts, USER)
    found = (_user(facts, afloat, name) for name in sorted(names))
    return tuple(each for each in found if each is not None)


def one_user(facts: Facts, name: str) -> UserUsage | None:
    """Return the usage of a user; None for a user without usage whom no limit names."""
    return _user(facts, afloat_of(facts.view), name)


def all_groups(facts: Facts) -> tuple[GroupUsage, ...]:
    """Return the usage of all user groups that a limit names, sorted by name."""
    afloat = afloat_of(facts.view)
    names = _in_use(facts, GROUP) | _in_limits(facts, GROUP)
    found = (_group(facts, afloat, name) for name in sorted(names))
    return tuple(each for each in found if each is not None)


def one_group(facts: Facts, name: str) -> GroupUsage | None:
    """Return the usage of a user group; None for a group that no limit names."""
    return _group(facts, afloat_of(facts.view), name)


def _user(facts: Facts, afloat: Afloat, name: str) -> UserUsage | None:
    queues = _usage(facts, afloat, facts.view.tree.root, USER, name)
    if queues is None:
        return None
    counting = {
        each.id: each.group for each in facts.view.applications() if each.identity.user == name and each.group
    }
    groups = {facts.view.identities.shown(app_id): counting[app_id] for app_id in sorted(counting)}
    return UserUsage(user_name=name, groups=groups, queues=queues)


def _group(facts: Facts, afloat: Afloat, name: str) -> GroupUsage | None:
    queues = _usage(facts, afloat, facts.view.tree.root, GROUP, name)
    if queues is None:
        return None
    counting = (each.id for each in facts.view.applications() if each.group == name)
    return GroupUsage(group_name=name, applications=_shown(facts, counting), queues=queues)


def _usage(facts: Facts, afloat: Afloat, queue: Queue, kind: str, name: str) -> QueueUsage | None:
    """Return the usage in a queue and below it; None without usage and without a limit."""
    tracked = Tracked(kind, name, queue.path)
    usage, limit = facts.view.book.get(tracked), entry_for(facts.view.limits, tracked)
    below = (_usage(facts, afloat, queue.children[path], kind, name) for path in sorted(queue.children))
    children = tuple(each for each in below if each is not None)
    if usage is None and not is_named(limit, kind, name) and not children:
        return None
    held = usage.held.as_resource() if usage is not None else Resource({})
    if tracked in afloat.people:
        held -= afloat.people[tracked]
    running = _shown(facts, usage.applications) if usage is not None else ()
    head = usage_head(queue.path, held=held, running=running, limit=limit)
    return msgspec.structs.replace(head, children=children)


def usage_head(
    path: QueuePath, *, held: Resource, running: tuple[str, ...], limit: LimitSpec | None
) -> QueueUsage:
    """Build the usage in a queue, without the queues below it."""
    return QueueUsage(
        queue_path=path,
        resource_usage=amounts(held),
        running_applications=running,
        max_resources=limits(limit.max) if limit is not None else {},
        max_applications=limit.max_applications if limit is not None else 0,
    )


def is_named(limit: LimitSpec | None, kind: str, name: str) -> bool:
    """True if a limit names a user or user group itself, and not only by the wildcard."""
    return limit is not None and name in (limit.users if kind == USER else limit.groups)


def _shown(facts: Facts, app_ids: Iterable[AppId]) -> tuple[str, ...]:
    return tuple(facts.view.identities.shown(each) for each in sorted(app_ids))


def _in_use(facts: Facts, kind: str) -> set[str]:
    return {tracked.name for tracked, _ in facts.view.book if tracked.kind == kind}


def _in_limits(facts: Facts, kind: str) -> set[str]:
    """Return the names in the document's limits. The wildcard counts as a name of groups only (UGM-5)."""
    entries = [entry for queue in facts.view.tree for entry in queue.spec.limits]
    if kind == GROUP:
        return {name for entry in entries for name in entry.groups}
    return {name for entry in entries for name in entry.users} - {ANY}
