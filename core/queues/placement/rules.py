"""Placement rules of a partition, which choose the queue of an application in order (PL-1 to PL-12)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from core.ids import DEFAULT_QUEUE, RECOVERY_QUEUE, ROOT, QueuePath, parent_path
from core.queues.placement.filters import USER_NAME, passes
from core.queues.queue import Queue
from core.queues.spec import RuleSpec
from core.queues.users.access import may_submit
from core.queues.users.identity import UNKNOWN_IDENTITY
from core.reasons import Code, Refusal

IMPLICIT = (RuleSpec("provided"),)
"""Rules of a document without rules (PL-1)."""

MOST_LEVELS = 50
"""Levels of a path at most. A document cannot nest more of them, and no rule makes more (PL-11)."""

_NAME = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}", re.ASCII)
_PREFIX = "root."
_RECOVERY = RECOVERY_QUEUE.removeprefix(ROOT)
_SHOWN = 64


class Tree(Protocol):
    """Part of the tree that placement needs."""

    def get(self, path: str) -> Queue | None:
        """Queue of that path, or None."""


@dataclass(frozen=True, slots=True)
class PlacementRequest:
    """Facts about an application when it is placed (PL-2).

    ``requested``: queue that its first pod names, or empty. ``groups``: groups that count (ID-4). ``tags``:
    names in lower case. ``forced``: True if that pod is on a node already. ``restored``: True if it ran
    before Paddock could be asked, as after a restart.
    """

    requested: str = ""
    user: str = UNKNOWN_IDENTITY.user
    groups: tuple[str, ...] = (UNKNOWN_IDENTITY.user,)
    tags: Mapping[str, str] = field(default_factory=dict)
    forced: bool = False
    restored: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """Chosen queue. ``create``: missing levels, the topmost first; empty for an existing queue.

    ``passed_over``: reason why the queue named by the first pod is not used (F-6); empty if it is, or none
    was named.
    """

    path: QueuePath
    create: tuple[QueuePath, ...] = ()
    passed_over: str = field(default="", compare=False)


class _Mistaken(Exception):
    """A rule cannot be evaluated, so placement ends here (PL-3)."""


def decide_queue(tree: Tree, rules: Sequence[RuleSpec], request: PlacementRequest) -> Chosen | Refusal:
    """Queue for an application, or the reason why there is none.

    An application with a pod on a node is never refused. It goes to the recovery queue (PL-10).
    """
    placement = _Placement(tree, request)
    try:
        found = placement.first(rules or IMPLICIT)
    except _Mistaken as error:
        found = Refusal(Code.PLACEMENT_FAILED, str(error))
    if found is None:
        found = placement.last_resort()
    if isinstance(found, Refusal) and request.forced:
        found = Chosen(RECOVERY_QUEUE)
    return replace(found, passed_over=placement.passed_over) if isinstance(found, Chosen) else found


def why_passed_over(tree: Tree, rules: Sequence[RuleSpec], request: PlacementRequest) -> str:
    """Reason why the rules do not use the named queue. Empty if they do, or use no name (F-6)."""
    placement = _Placement(tree, request)
    try:
        placement.first(rules or IMPLICIT)
    except _Mistaken as error:
        return str(error)
    return placement.passed_over


@dataclass(slots=True)
class _Placement:
    """A placement in progress. ``stopped``: first reason why a named queue is not used.

    ``passed_over``: reason why the queue named by the pod itself is not used.
    """

    tree: Tree
    request: PlacementRequest
    stopped: Refusal | None = None
    passed_over: str = ""

    def first(self, rules: Sequence[RuleSpec]) -> Chosen | Refusal | None:
        """Result of the first rule that applies, or None."""
        for rule in rules:
            path = self._path(rule)
            if path:
                found = self._taken(path)
                if found is not None:
                    return found
                if rule.kind == "provided":
                    self._pass_over(self.stopped.text if self.stopped else f"{path[:_SHOWN]} takes no pod")
        return None

    def last_resort(self) -> Chosen | Refusal:
        """Fall back to ``root.default`` if it takes the application (PL-9), else refuse.

        A forced application goes to recovery instead (PL-10). Pods from before this process are an exception.
        They may be in ``root.default`` by this rule, and a restart must not move them.
        """
        default = self.tree.get(DEFAULT_QUEUE)
        tried = not self.request.forced or self.request.restored
        if tried and default is not None and self._why_not(default) is None:
            return Chosen(default.path)
        if self.stopped is not None:
            return self.stopped
        asked = self.request.requested
        return Refusal(Code.PLACEMENT_FAILED, f"no queue {asked[:_SHOWN]}" if asked else "no queue named")

    # -- availability of a queue -----------------------------------------------------------------------------

    def _taken(self, path: QueuePath) -> Chosen | Refusal | None:
        """Result for a path. None sends the application on to the next rule (PL-6 to PL-8)."""
        if path == RECOVERY_QUEUE:
            return Chosen(path) if self.request.forced else None
        if _is_too_deep(path):
            raise _Mistaken(_too_deep(path))
        queue = self.tree.get(path)
        if queue is not None:
            reason = self._why_not(queue)
            self.stopped = self.stopped or reason
            return Chosen(queue.path) if reason is None else None
        above = self._nearest(path)
        if not self._may_submit(above):
            self.stopped = self.stopped or Refusal(Code.ACCESS_DENIED, above.path)
            return None
        if above.is_leaf:
            return Refusal(Code.PLACEMENT_FAILED, f"{above.path} is a leaf and takes no child")
        if above.draining:
            return Refusal(Code.QUEUE_DRAINING, above.path)
        levels = tuple(_levels(above.path, path))
        if any(level.endswith(_RECOVERY) for level in levels):
            # No rule makes a queue of that name, at whatever depth (P2).
            raise _Mistaken(f"{path[:_SHOWN]} cannot be made: {_RECOVERY[1:]} is a name of its own")
        return Chosen(path, levels)

    def _why_not(self, queue: Queue) -> Refusal | None:
        if not self._may_submit(queue):
            return Refusal(Code.ACCESS_DENIED, queue.path)
        if queue.draining:
            return Refusal(Code.QUEUE_DRAINING, queue.path)
        return None if queue.is_leaf else Refusal(Code.QUEUE_NOT_LEAF, queue.path)

    def _may_submit(self, queue: Queue) -> bool:
        texts = ((each.spec.submit_acl, each.spec.admin_acl) for each in queue.chain)
        return may_submit(texts, self.request.user, self.request.groups)

    def _nearest(self, path: QueuePath) -> Queue:
        """Closest ancestor that exists."""
        above = parent_path(path)
        while above is not None:
            queue = self.tree.get(above)
            if queue is not None:
                return queue
            above = parent_path(above)
        raise _Mistaken(f"{path[:_SHOWN]} is not below root")

    # -- path of a rule --------------------------------------------------------------------------------------

    def _path(self, rule: RuleSpec) -> QueuePath | None:
        """Path that a rule gives, or None if it does not apply. Raises `_Mistaken`."""
        name = self._name(rule)
        if not name or not passes(rule.filter, self.request.user, self.request.groups):
            return None
        path = self._qualified(rule, name)
        if path is None or (not rule.create and self.tree.get(path) is None):
            if path is not None and rule.kind == "provided":
                self._pass_over(f"{path[:_SHOWN]} does not exist")
            return None
        return path

    def _pass_over(self, why: str) -> None:
        self.passed_over = self.passed_over or why

    def _name(self, rule: RuleSpec) -> str:
        match rule.kind:
            case "provided":
                return self.request.requested
            case "user":
                return self.request.user
            case "tag":
                return self.request.tags.get(rule.value.lower(), "")
            case _:
                return rule.value.lower()

    def _qualified(self, rule: RuleSpec, name: str) -> QueuePath | None:
        if rule.kind == "fixed":
            full = name == ROOT or name.startswith(_PREFIX)
            parts = name.split(".")
        else:
            full = rule.kind in ("provided", "tag") and name.startswith(_PREFIX)
            if full and _is_too_deep(name):
                self._pass_over_deep(rule, name)
                return None
            parts = name.split(".") if full else [name.replace(".", "_dot_")]
        for part in parts[1:] if full else parts:
            if not _NAME.fullmatch(part):
                raise _Mistaken(f"{name[:_SHOWN]} is not the name of a queue")
        if full:
            return QueuePath(name.lower())
        above = self._parent(rule)
        return None if above is None else QueuePath(f"{above}.{'.'.join(parts)}".lower())

    def _pass_over_deep(self, rule: RuleSpec, name: str) -> None:
        """Pass over a path that is too deep to exist. Raises `_Mistaken` if the rule would create it."""
        if rule.create:
            raise _Mistaken(_too_deep(name))
        if rule.kind == "provided":
            self._pass_over(f"{name[:_SHOWN]} does not exist")

    def _parent(self, rule: RuleSpec) -> QueuePath | None:
        """Path of the parent rule, or ``root`` without one. None if it does not apply."""
        if rule.parent is None:
            return ROOT
        path = self._path(rule.parent)
        if path is None:
            return None
        if path == ROOT:
            # `fixed: root`: what does not begin with "root." gets it in front, as in YuniKorn (P1).
            path = QueuePath(f"{_PREFIX}{path}")
        queue = self.tree.get(path)
        if queue is not None and queue.is_leaf:
            raise _Mistaken(f"{path[:_SHOWN]} is a leaf and takes no child")
        return path


def _is_too_deep(path: str) -> bool:
    return path.count(".") >= MOST_LEVELS


def _too_deep(path: str) -> str:
    return f"{path[:_SHOWN]} has more than {MOST_LEVELS} levels"


def _levels(above: QueuePath, path: QueuePath) -> Iterator[QueuePath]:
    """Paths below ``above`` down to ``path``."""
    so_far = str(above)
    for part in path.removeprefix(above + ".").split("."):
        so_far = f"{so_far}.{part}"
        yield QueuePath(so_far)


def is_user_name(text: str) -> bool:
    """True for a user name of the pattern of CFG-14, which a user with groups must match (ID-4)."""
    return USER_NAME.fullmatch(text) is not None
