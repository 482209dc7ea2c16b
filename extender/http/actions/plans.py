"""Plans of requests for actions: the right that each needs, and its change. No I/O."""

from dataclasses import replace
from datetime import UTC, datetime

import msgspec

from core.ids import ROOT, AppId, QueuePath
from core.instants import has_come
from core.workload.ending import Ending
from extender.actions.ending import EndedApplication, EndOrder, ending_for, lifted
from extender.actions.requested import (
    ApplicationRequest,
    EndApplication,
    MoveApplication,
    OpenQueue,
    QueueRequest,
    Request,
    Result,
    action_of,
    changed,
    target_of,
)
from extender.actions.stored import Actions
from extender.http.actions.moves import MovePlan
from extender.http.actions.parts import (
    MOVED_MEANWHILE,
    PODS_SHOWN,
    QUEUE_OF_APPLICATION,
    Acting,
    Plan,
    Refused,
    is_within,
)
from extender.http.aggregated import GROUP, VERSION
from extender.identity.administration import queue_path_from

_DONE = {"close": "is closed", "open": "is open"}
_WOULD = {"close": "would be closed", "open": "would be opened"}


def plan_for(acting: Acting, asked: Request, *, by: str) -> Plan:
    """Plan for a request. Raises `Refused`. ``by``: name of the user."""
    if isinstance(asked, MoveApplication):
        return MovePlan(acting, asked, by).plan()
    if isinstance(asked, QueueRequest):
        return _QueuePlan(acting, asked, by).plan()
    return _ApplicationPlan(acting, asked, by).plan()


class _QueuePlan:
    def __init__(self, acting: Acting, asked: QueueRequest, by: str) -> None:
        self._acting = acting
        self._asked = asked
        self._by = by
        path = queue_path_from(asked.queue)
        if path is None:
            raise Refused(400, "queue is not the path of a queue")
        self._path = path

    def plan(self) -> Plan:
        return Plan({self._path: self._path}, self._change, self._result)

    def _change(self, actions: Actions) -> Actions:
        is_known = isinstance(self._asked, OpenQueue) and self._path in actions.closed
        if self._acting.queue(self._path) is None and not is_known:
            raise Refused(404, "there is no such queue")
        return changed(actions, self._asked, self._path, by=self._by, now=self._acting.wall())

    def _result(self, before: Actions, after: Actions) -> Result:
        is_changed = before.closed.get(self._path) != after.closed.get(self._path)
        return Result(
            api_version=f"{GROUP}/{VERSION}",
            action=action_of(self._asked),
            queue=self._path,
            changed=is_changed,
            dry_run=self._asked.dry_run,
            message=self._sentence(is_changed=is_changed),
        )

    def _sentence(self, *, is_changed: bool) -> str:
        action = action_of(self._asked)
        if not is_changed:
            text = f"{self._path} {_DONE[action]} already"
        else:
            text = f"{self._path} {(_WOULD if self._asked.dry_run else _DONE)[action]}"
        queue = self._acting.queue(self._path)
        above = next((each.path for each in queue.chain[1:] if each.closed), "") if queue else ""
        return f"{text}, but {above} above it is closed" if above and action == "open" else text


class _ApplicationPlan:
    def __init__(self, acting: Acting, asked: ApplicationRequest, by: str) -> None:
        self._acting = acting
        self._asked = asked
        self._by = by
        self._app_id = AppId(asked.application, asked.namespace)
        self._found = acting.application(self._app_id)
        self._allowed = self._queue()

    def plan(self) -> Plan:
        return Plan({self._allowed: QUEUE_OF_APPLICATION}, self._change, self._result)

    def _queue(self) -> QueuePath:
        """Queue whose right is needed: that of the order while the application has none."""
        queue = self._found.queue if self._found is not None else ROOT
        known = self._acting.ending(self._app_id)
        return QueuePath(known.queue) if known is not None and queue == ROOT else queue

    def _change(self, actions: Actions) -> Actions:
        # The rights were asked for meanwhile, and the store was read.
        self._found = self._acting.application(self._app_id)
        if not is_within(self._queue(), self._allowed):
            raise Refused(409, MOVED_MEANWHILE)
        known = actions.ended.get(self._app_id)
        asked = self._asked
        after = self._ended(asked, known) if isinstance(asked, EndApplication) else self._lifted(known)
        return replace(actions, ended={**actions.ended, self._app_id: after})

    def _ended(self, asked: EndApplication, known: Ending | None) -> Ending:
        found, now = self._found, self._acting.wall()
        if found is None and known is not None and not has_come(known.until, now=now):
            # All of it is gone, and the bar stays.
            found = EndedApplication.over(QueuePath(known.queue))
        if found is None:
            raise Refused(404, "there is no such application")
        if found.is_generated and not asked.generated:
            why = "the application has all pods of a namespace that name none: repeat it with generated"
            raise Refused(409, why)
        order = EndOrder(self._by, asked.reason, asked.bar, force=asked.force)
        return ending_for(known, found, order, now=now)

    def _lifted(self, known: Ending | None) -> Ending:
        if known is None:
            raise Refused(404, "there is no such application that was ended")
        return lifted(known, now=self._acting.wall())

    def _result(self, before: Actions, after: Actions) -> Result:
        known, ending = before.ended.get(self._app_id), after.ended[self._app_id]
        found = self._found if isinstance(self._asked, EndApplication) else None
        message = self._sentence(ending, is_changed=known != ending)
        return Result(
            api_version=f"{GROUP}/{VERSION}",
            action=action_of(self._asked),
            queue=ending.queue,
            namespace=self._app_id.namespace,
            application=self._app_id.name,
            changed=known != ending,
            dry_run=self._asked.dry_run,
            message=message,
            controllers=found.controllers[:PODS_SHOWN] if found is not None else msgspec.UNSET,
            pods=found.pods[:PODS_SHOWN] if found is not None else msgspec.UNSET,
            left=found.left[:PODS_SHOWN] if found is not None else msgspec.UNSET,
        )

    def _sentence(self, ending: Ending, *, is_changed: bool) -> str:
        name, until = target_of(self._asked), datetime.fromtimestamp(ending.until, UTC)
        barred = f"its id is barred until {until:%Y-%m-%dT%H:%M:%SZ}"
        if not isinstance(self._asked, EndApplication):
            verb = "would be" if self._asked.dry_run else "is"
            return f"{name} {verb} barred no more" if is_changed else f"{name} is not barred"
        if not is_changed:
            return f"{name} was ended already, and {barred}"
        verb = "would be" if self._asked.dry_run else "is"
        return f"{name} {verb} ended ({_pods(self._found)}), and {barred}"


def _pods(found: EndedApplication | None) -> str:
    count = len(found.pods) if found is not None else 0
    return f"{count} pod" + "s" * (count != 1)
