"""Explanations: what stands between a pod, an application or a pod group and running.

What the caller may not read is summed by queue, without names.
"""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer, Moment


class ObjectName(Answer, frozen=True, kw_only=True):
    """Name of an object in its namespace."""

    #: Namespace.
    namespace: str
    #: Name.
    name: str


class Others(Answer, frozen=True, kw_only=True):
    """A pod or an application of others, or all of a queue together."""

    #: Queue; empty for pods in no queue.
    queue: str = ""
    #: Namespace; empty where others are summed.
    namespace: str = ""
    #: Name; empty where others are summed.
    name: str = ""
    #: Number of pods or applications that are summed.
    count: int = 1
    #: Amount that they hold of what is missing, in base units.
    amount: int = 0


class LimitFigures(Answer, frozen=True, kw_only=True):
    """A limit with its figures, in base units, or in applications."""

    #: ``cluster``, ``queue``, ``user`` or ``group``.
    kind: str
    #: Queue of the limit.
    queue: str
    #: User or user group; empty for others.
    name: str = ""
    #: Resource; empty for a number of applications.
    resource: str = ""
    #: The limit itself.
    max: int
    #: Amount that is needed.
    needed: int
    #: Amount that is left; negative above a limit that was lowered.
    free: int
    #: Amount that is missing.
    short: int


class ExplainedObstacle(Answer, frozen=True, kw_only=True):
    """Obstacle between a pod and a node."""

    #: Reason code.
    code: str
    #: Queue, user, user group, pod group, application or node that it comes from.
    subject: str = ""
    #: Sentence without usage and without names of other pods.
    text: str
    #: Limit that is short.
    limit: LimitFigures | None = None
    #: Amounts that are needed, if there is no limit but there are figures.
    needed: Amounts = field(default_factory=dict)
    #: Amounts that are free.
    free: Amounts = field(default_factory=dict)
    #: Amounts that are missing.
    short: Amounts = field(default_factory=dict)
    #: Time at which it ends by itself.
    until: Moment = ""
    #: Largest holders of what is missing, the largest first.
    holders: tuple[Others, ...] = ()
    #: Pods that it comes from.
    others: tuple[Others, ...] = ()


class NodesSeen(Answer, frozen=True, kw_only=True):
    """Nodes by what they lack for a pod."""

    #: Nodes that were judged.
    judged: int = 0
    #: Nodes that were not judged within the budget.
    left: int = 0
    #: Nodes that would take the pod.
    fitting: int = 0
    #: Other nodes by obstacle: ``affinity``, ``taint``, ``cordon``, ``capacity`` or ``reserved``.
    unfit: dict[str, int] = field(default_factory=dict)
    #: Node that lacks least.
    nearest: str = ""


class PodsBefore(Answer, frozen=True, kw_only=True):
    """Pending pods that go first: of an application, or of a queue and below it."""

    #: ``priority``, ``share``, ``age``, ``demand``, ``name`` or ``others``.
    why: str
    #: Queue.
    queue: str
    #: Namespace of the application; empty for a whole queue, and where others are summed.
    namespace: str = ""
    #: Id of the application; empty for a whole queue, and where others are summed.
    application: str = ""
    #: Number of pods.
    pods: int


class LawInQueue(Answer, frozen=True, kw_only=True):
    """Queue whose pods stay, with the law that protects them."""

    #: Queue.
    queue: str
    #: Rule id of the law.
    law: str
    #: Figures of the law.
    text: str


class PreemptionOutlook(Answer, frozen=True, kw_only=True):
    """Part of preemption. Neither ``possible`` nor ``stop``: not known within the budget."""

    #: Time of the last attempt.
    tried_at: Moment = ""
    #: Time from which the next attempt is made.
    tried_next: Moment = ""
    #: True while a plan is carried out, or offered to kube-scheduler.
    under_way: bool = False
    #: True if a plan could be made now.
    possible: bool = False
    #: Reason against a plan.
    stop: str = ""
    #: Rule id of the law that forbids it.
    law: str = ""
    #: Figures of the law.
    text: str = ""
    #: Queue whose guarantee decides.
    queue: str = ""
    #: Resource whose guarantee decides.
    resource: str = ""
    #: Queues whose pods stay.
    queues: tuple[LawInQueue, ...] = ()
    #: Victims of a plan.
    victims: tuple[Others, ...] = ()


class RaisedLimit(Answer, frozen=True, kw_only=True):
    """A limit that would have to be raised."""

    #: ``queue``, ``user`` or ``group``.
    kind: str
    #: Queue of the limit.
    queue: str
    #: User or user group; empty for others.
    name: str = ""
    #: Resource; empty for a number of applications.
    resource: str = ""
    #: Raise, in base units or in applications.
    by: int


class FreeingChange(Answer, frozen=True, kw_only=True):
    """A change that would give the pod its turn. With less of any component the pod keeps waiting."""

    #: Sentence about the change, without names of other pods.
    text: str
    #: Limits that are raised.
    raises: tuple[RaisedLimit, ...] = ()
    #: Allocatable amounts of one new node.
    node: Amounts = field(default_factory=dict)
    #: Labels of the new node.
    labels: dict[str, str] = field(default_factory=dict)
    #: Running pods that end.
    ended: tuple[Others, ...] = ()


class RemediesFound(Answer, frozen=True, kw_only=True):
    """Changes that would free a pod."""

    #: ``nothing``, ``found``, ``none found`` or ``out of reach``.
    remedy: str
    #: Changes, each sufficient by itself: raised limits, a new node, ended pods.
    changes: tuple[FreeingChange, ...] = ()
    #: Codes of obstacles that no such change lifts.
    beyond: tuple[str, ...] = ()
    #: Number of cycles that were played.
    trials: int = 0
    #: True if the budget ended the search.
    exhausted: bool = False


class StoryEntry(Answer, frozen=True, kw_only=True):
    """An event or a decision in the life of a pod."""

    #: Time.
    at: Moment
    #: Name of the event, or code of the decision.
    what: str
    #: Details.
    detail: str = ""
    #: Number of repetitions in a row.
    times: int = 1


class ExplainedPod(Answer, frozen=True, kw_only=True):
    """Everything that stands between one pod and running."""

    #: Namespace and name of the pod.
    pod: ObjectName
    #: Queue; empty for none.
    queue: str = ""
    #: Id of its application.
    application: str = ""
    #: ``unmanaged``, ``bound``, ``reserved``, ``leaving``, ``pending`` or ``gated``.
    standing: str
    #: Verdict in one sentence, without usage and without names of other pods: the text of a waiting pod's
    #: condition, else what holds it.
    sentence: str
    #: Obstacles in the order of their codes.
    obstacles: tuple[ExplainedObstacle, ...] = ()
    #: Nodes in the eyes of the pod.
    nodes: NodesSeen | None = None
    #: Pods that go first, nearest level first.
    before: tuple[PodsBefore, ...] = ()
    #: Part of preemption.
    preemption: PreemptionOutlook | None = None
    #: Changes that would free it.
    remedies: RemediesFound | None = None


class MemberNumbers(Answer, frozen=True, kw_only=True):
    """Pods of a task group, or of a pod group."""

    #: Name of the task group or pod group.
    name: str
    #: Number that must start together.
    needed: int
    #: Number on nodes.
    placed: int
    #: Number that waits.
    waiting: int


class Explanation(Answer, frozen=True, kw_only=True):
    """Explanation of a pod, an application or a pod group, as of one moment."""

    #: Always ``Explanation``.
    kind: str
    #: Always ``paddock.dev/v1alpha1``.
    api_version: str
    #: Namespace and name of what is explained.
    metadata: ObjectName
    #: ``pod``, ``application`` or ``podgroup``.
    of: str
    #: Time of the explanation.
    at: Moment
    #: True if others are named; false if they are summed by queue, since the caller may not read them.
    names_others: bool
    #: False if something changed while it was made, so that its figures are of several moments.
    one_moment: bool
    #: Verdict in one sentence, without usage and without names of other pods: the text of a waiting pod's
    #: condition, else what holds it.
    sentence: str
    #: Queue; empty for none.
    queue: str = ""
    #: State of the application, or standing of the pod group; empty for a pod.
    phase: str = ""
    #: Phase of the application's gang.
    gang_phase: str = ""
    #: Task groups, or the pod group itself.
    members: tuple[MemberNumbers, ...] = ()
    #: End of a wait or of a back-off.
    until: Moment = ""
    #: Number of its pods by standing.
    pods: dict[str, int] = field(default_factory=dict)
    #: The pod, or the first pending pod.
    pod: ExplainedPod | None = None
    #: Story of the pod, oldest first; only if others are named.
    story: tuple[StoryEntry, ...] = ()


class Simulation(Answer, frozen=True, kw_only=True):
    """Fate of pods that do not exist, if they were created now."""

    #: Always ``Simulation``.
    kind: str
    #: Always ``paddock.dev/v1alpha1``.
    api_version: str
    #: Namespace and name of the first pod.
    metadata: ObjectName
    #: Time of the simulation.
    at: Moment
    #: True if others are named; false if they are summed by queue, since the caller may not read them.
    names_others: bool
    #: False if something changed while it was made, so that its figures are of several moments.
    one_moment: bool
    #: Verdict in one sentence, without usage and without names of other pods: the text of a waiting pod's
    #: condition, else what holds it.
    sentence: str
    #: Queue that the placement rules choose; empty for none.
    queue: str = ""
    #: Application of the pods.
    application: str = ""
    #: Number of pods, or of placeholders of a gang.
    pods: int
    #: Number that would get their turn now; null if that is not known.
    placed: int | None = None
    #: First pod that would wait, with what holds it.
    pod: ExplainedPod | None = None
