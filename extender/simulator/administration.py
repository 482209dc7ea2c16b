"""Actions of administrators in the simulator. Each is stored first, as the server does, and then acted on."""

from core.ids import AppId, QueuePath
from core.ledger import events as on
from core.queues.queue import Closure
from extender.actions.ending import EndedApplication, EndOrder, ending_for, lifted
from extender.simulator.cluster.api_server import Refusal
from extender.simulator.cluster.clock import EPOCH
from extender.simulator.scenario.action_entries import CloseEntry, EndEntry, LiftEntry
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


def _known(cluster: Cluster, queue: str) -> QueuePath:
    found = cluster.paddock.life.view.tree.get(queue)
    if found is None:
        raise Refusal(f"there is no queue {queue}")
    return found.path


def _act(cluster: Cluster) -> None:
    # The instance that acts knows what it has stored. A standby sees it with its watch.
    stored = on.ActionsRead(dict(cluster.world.closures), dict(cluster.world.endings))
    cluster.paddock.life.deliver(stored)
    cluster.paddock.hear(stored, due=cluster.clock.now)
