"""Plans of requests to move applications: rights, change and answer (ACT-30 to ACT-36). No I/O."""

from dataclasses import replace

from core.ids import ROOT, AppId, QueuePath
from core.ledger.applications.moves.checking import MoveObstacle, MoveRefusal
from core.workload.moving import MoveOrder
from extender.actions.moving import MoveProspect, order_for
from extender.actions.requested import MoveApplication, Result, action_of
from extender.actions.stored import Actions
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


class MovePlan:
    """A request to move an application. ``by``: name of the user. Raises `Refused`."""

    def __init__(self, acting: Acting, asked: MoveApplication, by: str) -> None:
        self._acting = acting
        self._asked = asked
        self._by = by
        path = queue_path_from(asked.queue)
        if path is None:
            raise Refused(400, "queue is not the path of a queue")
        self._path = path
        self._app_id = AppId(asked.application, asked.namespace)
        self._found = self._prospect()
        self._source = self._queue_of(self._found)

    def plan(self) -> Plan:
        """Return the plan, which needs the rights to both queues (ACT-2)."""
        rights = {self._path: str(self._path), self._source: QUEUE_OF_APPLICATION}
        return Plan(rights, self._change, self._result)

    def _prospect(self) -> MoveProspect | None:
        return self._acting.prospect(self._app_id, self._path)

    def _queue_of(self, found: MoveProspect | None) -> QueuePath:
        """Queue whose right is needed beside that of the target."""
        return found.source or ROOT if found is not None else ROOT

    def _change(self, actions: Actions) -> Actions:
        found, known = self._prospect(), actions.moved.get(self._app_id)
        queue = self._queue_of(found)
        if not (is_within(queue, self._source) or queue == self._path):
            raise Refused(409, MOVED_MEANWHILE)
        if found is None:
            raise Refused(404, "there is no such application")
        if found.is_generated and not self._asked.generated:
            why = "the application has all pods of a namespace that name none: repeat it with generated"
            raise Refused(409, why)
        if self._is_done(found, known):
            return actions
        if found.refusal is not None:
            raise Refused(_status_of(found.refusal), _text_of(found.refusal))
        now = self._acting.wall()
        order = order_for(found, known, self._path, by=self._by, reason=self._asked.reason, now=now)
        return replace(actions, moved={**actions.moved, self._app_id: order})

    def _is_done(self, found: MoveProspect, known: MoveOrder | None) -> bool:
        """True if the application is in the queue, or is to be moved there already."""
        if known is None or known.queue == self._path:
            return found.source == self._path or (known is not None and found.is_due)
        return False

    def _result(self, before: Actions, after: Actions) -> Result:
        is_changed = before.moved.get(self._app_id) != after.moved.get(self._app_id)
        # Rights were checked, and the plan was carried out, so there was one.
        found = self._found or MoveProspect(None, "", False, False, None, (), ())
        return Result(
            api_version=f"{GROUP}/{VERSION}",
            action=action_of(self._asked),
            queue=self._path,
            source=self._source,
            namespace=self._app_id.namespace,
            application=self._app_id.name,
            changed=is_changed,
            dry_run=self._asked.dry_run,
            message=self._sentence(is_changed=is_changed),
            changes=found.changes,
            pods=found.pods[:PODS_SHOWN],
        )

    def _sentence(self, *, is_changed: bool) -> str:
        name = f"{self._app_id.namespace}/{self._app_id.name}"
        count = len(self._found.pods) if self._found is not None else 0
        pods = f"{count} pod" + "s" * (count != 1)
        if is_changed and self._asked.dry_run:
            return f"{name} would be moved from {self._source} to {self._path} ({pods})"
        if self._queue_of(self._prospect()) != self._path:
            return f"{name} is moved to {self._path} as soon as nothing of it is under way ({pods})"
        if not is_changed:
            return f"{name} is in {self._path} already"
        return f"{name} is moved from {self._source} to {self._path} ({pods})"


def _status_of(refusal: MoveRefusal) -> int:
    return 404 if refusal.obstacle is MoveObstacle.NO_QUEUE else 409


def _text_of(refusal: MoveRefusal) -> str:
    """Message of a refusal: Busy, or the shortages, in full."""
    if refusal.obstacle is MoveObstacle.BUSY:
        return f"Busy: {refusal.text}"
    return "; ".join((refusal.text, *refusal.shortages))
