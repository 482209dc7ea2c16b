"""Corruptions of indexes of pods. No tests."""

from core.ids import PodUid
from core.ledger.pods.parts import NO_DAEMON_SET
from core.ledger.state.state import State
from core.ledger.touched import touch
from core.workload.daemon_set import DaemonSetKey
from tests.core.ledger.audit.corruptions.busy import Corruption


def _await(state: State, namespace: str, uid: str) -> None:
    state.pods.unclassified[namespace] = {PodUid(uid)}


PODS: list[Corruption] = [
    ("pods.touched", "pods to settle", lambda state: touch(state, state.pods.records[PodUid("uid-bound")])),
    (
        "pods.unclassified",
        "unclassified index of default/uid-bound",
        lambda state: _await(state, "default", "uid-bound"),
    ),
    (
        "pods.unclassified",
        "unclassified index of default/uid-early",
        lambda state: _await(state, "default", "uid-early"),
    ),
    (
        "pods.by_name",
        "name index of default/bound/uid-bound",
        lambda state: state.pods.by_name.pop(("default", "bound")),
    ),
    (
        "pods.by_name",
        "name index",
        lambda state: state.pods.by_name.__setitem__(("default", "bound"), (PodUid("uid-waiting"),)),
    ),
    (
        "pods.unclassified",
        "unclassified index of unseen/uid-early",
        lambda state: state.pods.unclassified.clear(),
    ),
    (
        "pods.unclassified",
        "unclassified index of unseen/ghost",
        lambda state: state.pods.unclassified["unseen"].add(PodUid("ghost")),
    ),
    (
        "cluster.daemon_pods",
        "required node of uid-agent",
        lambda state: setattr(state.pods.records[PodUid("uid-agent")], "daemon", NO_DAEMON_SET),
    ),
    (
        "cluster.daemon_pods",
        "pods of DaemonSet of default/agents/uid-agent",
        lambda state: state.cluster.daemon_pods.clear(),
    ),
    (
        "cluster.daemon_pods",
        "pods of DaemonSet of default/ghosts/uid-agent",
        lambda state: state.cluster.daemon_pods.update(
            {DaemonSetKey("default", "ghosts"): {PodUid("uid-agent")}}
        ),
    ),
]
