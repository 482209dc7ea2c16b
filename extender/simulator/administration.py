"""Actions of administrators in the simulator. Each is stored first, as the server does, and then acted on."""

from core.ids import AppId, QueuePath
from core.ledger import events as on
from core.ledger.applications.moves.checking import NO_APPLICATION
from core.queues.queue import Closure
from extender.actions.ending import EndedApplication, EndOrder, ending_for, lifted
from extender.actions.moving import MoveProspect, order_for
from extender.simulator.cluster.api_server import Refusal
from extender.simulator.cluster.clock import EPOCH
from extender.simulator.scenario.action_entries import CloseEntry, EndEntry, LiftEntry, MoveEntry
from extender.simulator.simulation import Cluster


def close_queue(cluster: Cluster, closing: CloseEntry) -> None:
    """Close a queue. Raises `Refusal` for an unknown one."""
    until = EPOCH + closing.until / 1000 if closing.until is not None else None
    closure = Closure(closing.by, cluster.clock.seconds, closing.reason, until)
    path = _known(cluster, closing.queue)
    cluster.world.closures[path] = closure
    cluster.recorder.note("queue", f"{path} is closed")
    _act(cluster)


def open_queue(cluster: Cluster, queue: str) -> None:
    """Open a queue. Raises `Refusal` for one that is not closed."""
    path = QueuePath(queue.lower())
    if cluster.world.closures.pop(path, None) is None:
        raise Refusal(f"{queue} is not closed")
    cluster.recorder.note("queue", f"{path} is opened")
    _act(cluster)


def end_application(cluster: Cluster, entry: EndEntry) -> None:
    """End an application. Raises `Refusal` for an unknown one."""
    app_id, now = AppId(entry.application, entry.namespace), cluster.clock.seconds
    found = EndedApplication.of(cluster.paddock.life.view, app_id)
    if found is None:
        raise Refusal(f"there is no application {entry.namespace}/{entry.application}")
    order = EndOrder(entry.by, entry.reason, entry.bar / 1000, force=entry.force)
    cluster.world.endings[app_id] = ending_for(cluster.world.endings.get(app_id), found, order, now=now)
    cluster.recorder.note("application", f"{app_id} is ended")
    _act(cluster)


def lift_bar(cluster: Cluster, entry: LiftEntry) -> None:
    """End the bar of an application. Raises `Refusal` for one that is not barred."""
    app_id = AppId(entry.application, entry.namespace)
    known = cluster.world.endings.get(app_id)
    if known is None:
        raise Refusal(f"{entry.namespace}/{entry.application} is not barred")
    cluster.world.endings[app_id] = lifted(known, now=cluster.clock.seconds)
    cluster.recorder.note("application", f"{app_id} is barred no more")
    _act(cluster)


def move_application(cluster: Cluster, entry: MoveEntry) -> None:
    """Move an application to another leaf. Raises `Refusal` if that must not be, unless it is expected."""
    app_id, view = AppId(entry.application, entry.namespace), cluster.paddock.life.view
    # Orders about applications that have ended are removed, as the server does within a minute.
    for over in [each for each in cluster.world.moves if view.moves.is_over(each)]:
        del cluster.world.moves[over]
    found = MoveProspect.of(view, app_id, entry.queue)
    refusal = found.refusal if found is not None else NO_APPLICATION
    if refusal is not None and refusal.obstacle.value != entry.refused:
        raise Refusal("; ".join((refusal.text, *refusal.shortages)))
    if found is None or refusal is not None:
        cluster.recorder.note("application", f"{app_id} is not moved to {entry.queue}")
        return
    path = _known(cluster, entry.queue)
    known = cluster.world.moves.get(app_id)
    cluster.world.moves[app_id] = order_for(
        found, known, path, by=entry.by, reason=entry.reason, now=cluster.clock.seconds
    )
    cluster.recorder.note("application", f"{app_id} is moved to {path}")
    _act(cluster)


def _known(cluster: Cluster, queue: str) -> QueuePath:
    found = cluster.paddock.life.view.tree.get(queue)
    if found is None:
        raise Refusal(f"there is no queue {queue}")
    return found.path


def _act(cluster: Cluster) -> None:
    # The instance that acts knows what it has stored. A standby sees it with its watch.
    world = cluster.world
    stored = on.ActionsRead(dict(world.closures), dict(world.endings), dict(world.moves))
    cluster.paddock.life.deliver(stored)
    cluster.paddock.hear(stored, due=cluster.clock.now)
