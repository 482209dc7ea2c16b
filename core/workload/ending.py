"""Orders of administrators to end applications (ACT-20). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.ids import AppId
from core.workload.pod import PodFacts

SYSTEM = "kube-system"

CLOCKS_APART = 5.0
"""Seconds by which the clocks of Paddock and of the API server may differ unnoticed."""

_JOB = "Job.batch/"


@dataclass(frozen=True, slots=True)
class Ending:
    """Order to end an application."""

    #: User who gave it.
    by: str
    #: Time of the order, in seconds since the epoch.
    since: float
    #: End of the bar, in seconds since the epoch.
    until: float
    #: Creation of the application's youngest pod at the order. Younger pods are not ended.
    through: float
    #: Path of the queue whose right the order needed.
    queue: str
    #: Reason in the user's words; empty for none.
    reason: str = ""
    #: True if pods are deleted with their grace period, whatever budgets say.
    force: bool = False
    #: True if the application's execution time-out gave it, and no user (ACT-42).
    timed_out: bool = False


Endings = Mapping[AppId, Ending]
"""Applications that are ended or barred, by id and namespace."""


def is_exempt(pod: PodFacts, *, of_daemon_set: bool) -> bool:
    """True for a pod that no order ends: of kube-system, a mirror pod, or of a DaemonSet.

    ``of_daemon_set``: True if a DaemonSet has created it. Its owner reference alone is only text.
    """
    return pod.namespace == SYSTEM or pod.mirror or of_daemon_set


def is_left_failed(pod: PodFacts) -> bool:
    """True for a pod that may be marked Failed while it is pending: it has no controller, or a Job.

    Any other controller would replace it at once, and the new pod would only wait as this one does.
    """
    return not pod.controller or pod.controller.startswith(_JOB)


def got_node_after(ending: Ending, placed: float, *, skew: float) -> bool:
    """True for a pod that got its node after the end of the bar, by the API server's clock.

    No pod gets a node shortly before that end, since its id is barred. So clocks may differ a little there.

    ``placed``: time at which it got its node. ``skew``: seconds by which that clock is known to be ahead.
    """
    doubtful = min(CLOCKS_APART, (ending.until - ending.since) / 2)
    return placed - skew >= ending.until - doubtful


def concerns(ending: Ending, pod: PodFacts, *, of_daemon_set: bool) -> bool:
    """True if an order is about a pod of its application, by the pod's creation."""
    return pod.created <= ending.through and not is_exempt(pod, of_daemon_set=of_daemon_set)
