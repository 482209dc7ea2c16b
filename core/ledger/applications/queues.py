"""Tree of queues: the document in force, and the dynamic queues of applications (PL-11)."""

from core.ids import RECOVERY_QUEUE, QueuePath
from core.ledger.state.state import State
from core.ledger.usage.over_max import recount_queue
from core.queues.placement.rules import Chosen
from core.queues.spec import PartitionSpec
from core.workload.application import Application


def configure_queues(state: State, partition: PartitionSpec) -> None:
    """Apply a document to the running tree. Usage is carried over by path."""
    state.config.tree.apply(partition)


def queue_for(state: State, application: Application, chosen: Chosen) -> QueuePath:
    """Queue that placement chose, created if missing, with its limits from the namespace (NS-5)."""
    if chosen.path == RECOVERY_QUEUE:
        return recovery_queue(state)
    queue = state.config.tree.create(chosen.create) if chosen.create else state.config.tree.get(chosen.path)
    namespace = state.cluster.namespaces.get(application.namespace)
    if queue is not None and namespace is not None:
        state.config.tree.limit(
            queue,
            max=namespace.max,
            guaranteed=namespace.guaranteed,
            max_applications=namespace.max_applications,
        )
        recount_queue(state, queue)
    return chosen.path


def recovery_queue(state: State) -> QueuePath:
    """Queue of running pods that no queue takes, created if missing (PL-12)."""
    return state.config.tree.recovery_queue().path


def remove_idle_queues(state: State) -> None:
    """Remove queues that are empty and that no document names (Q-10)."""
    state.config.tree.remove_idle()
