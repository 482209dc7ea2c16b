"""Actions of administrators in the simulator. Each is stored first, as the server does, and then acted on."""

from core.ids import QueuePath
from core.ledger import events as on
from core.queues.queue import Closure
from extender.simulator.cluster.api_server import Refusal
from extender.simulator.cluster.clock import EPOCH
from extender.simulator.scenario.model import CloseEntry
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


def _known(cluster: Cluster, queue: str) -> QueuePath:
    found = cluster.paddock.life.view.tree.get(queue)
    if found is None:
        raise Refusal(f"there is no queue {queue}")
    return found.path


def _act(cluster: Cluster) -> None:
    # The instance that acts knows what it has stored. A standby sees it with its watch.
    stored = on.ActionsRead(cluster.world.closures)
    cluster.paddock.life.deliver(stored)
    cluster.paddock.hear(stored, due=cluster.clock.now)
