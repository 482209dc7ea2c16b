"""How the played API server answers an eviction or a deletion that Paddock asks for (format, rule 8).

Source: pkg/registry/core/pod/storage/eviction.go.
"""

from typing import Protocol

from core.ids import PodUid
from core.ledger.effects import DeletePod, EvictPod
from core.ledger.outcomes import Answer
from extender.simulator.cluster.api_server import PlayedApi
from extender.simulator.cluster.budgets import PlayedBudgets
from extender.simulator.cluster.played_objects import Pod

DISRUPTED = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


class EvictionObserver(Protocol):
    """Observer of evictions. ``preemptor``: the pod that needs the capacity, or None."""

    def evicted(self, pod: Pod, preemptor: Pod | None, why: str) -> None:
        """Note that a pod leaves now."""
        ...

    def spared(self, pod: Pod, preemptor: Pod | None, why: str) -> None:
        """Note that a pod stays because of a budget."""
        ...


def evict(
    wanted: EvictPod, pod: Pod | None, api: PlayedApi, budgets: PlayedBudgets, onlooker: EvictionObserver
) -> Answer:
    """Evict a pod. ``pod``: the one that is meant, None if it no longer exists."""
    if pod is None:
        return Answer.NOT_FOUND
    preemptor = _known(api, wanted.preemptor)
    objection = budgets.objection(pod)
    if objection:
        onlooker.spared(pod, preemptor, objection)
        return Answer.BUDGET
    if not (pod.deleting or pod.terminal):
        onlooker.evicted(pod, preemptor, wanted.why)
        api.set_status(pod, DISRUPTED)
    api.delete(pod, why="evicted")
    return Answer.DONE


def delete(wanted: DeletePod, pod: Pod | None, api: PlayedApi, onlooker: EvictionObserver) -> Answer:
    """Delete a pod regardless of budgets. A pod of the scenario is a victim, a placeholder is not."""
    if pod is None:
        return Answer.NOT_FOUND
    is_victim = pod.entry is not None
    if is_victim and not (pod.deleting or pod.terminal):
        onlooker.evicted(pod, _known(api, wanted.preemptor), wanted.why)
    grace = 0 if wanted.at_once else None
    api.delete(pod, why="preempted" if is_victim else "deleted", grace=grace)
    return Answer.DONE


def _known(api: PlayedApi, uid: PodUid) -> Pod | None:
    return api.pods.get(uid)
