"""Execution of effects on the API server, and of Bindings for kube-scheduler's bind calls.

Effects run only while this instance holds the Lease, at a bounded rate and with retries. Their outcomes go
back to the core as events. A Binding that is not fenced needs no Lease, since kube-scheduler asked for it.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import assert_never

from core.ledger import events as on
from core.ledger.effect_outcomes import outcome_of
from core.ledger.effects import (
    CreatePlaceholder,
    DeletePod,
    Effect,
    EndWait,
    EvictPod,
    MarkFailed,
    NominateNode,
    OpenGate,
    PostEvent,
    ResolveGroups,
    SetCondition,
    WakePod,
    WriteRecord,
)
from core.ledger.outcomes import Answer
from core.workload.pod import OWN_GATE, PodFacts
from extender.kube.connection.api import (
    STRATEGIC_MERGE_PATCH,
    ApiError,
    Conflict,
    Failure,
    KubeError,
    NotFound,
    ServerError,
    TooMany,
    Unreachable,
    failure_of,
    is_about_budgets,
)
from extender.kube.connection.client import ApiClient
from extender.kube.connection.fencing import HeldBack
from extender.kube.effects.bodies import (
    binding_body,
    binding_path,
    condition_body,
    deletion_body,
    event_body,
    events_path,
    eviction_body,
    eviction_path,
    failed_body,
    nomination_body,
    open_body,
    pod_path,
    record_body,
    status_path,
    wake_body,
)
from extender.kube.effects.effect_order import is_quiet, key_of, pod_of
from extender.kube.effects.pace import Pace
from extender.kube.effects.placeholders import NotTaken, NotYetTaken, create
from extender.kube.effects.pods import read_pod, read_pod_with_retries
from extender.verbs.bind import BindOutcome, PostBinding
from extender.verbs.leading import NotLeading
from extender.wire.placeholder import PlaceholderSettings

WORKERS = 32
"""Effects running at once. This many sustain `RATE` while the API server takes 30 ms each, as under load."""

QUIET_WORKERS, QUIET_BESIDE = 4, 1
"""Events and conditions running at once, and how many of them run beside other effects.

They move no pod, and a backlog causes many of them. The API server would delay the gate that opens meanwhile.
"""

QUEUED = 20_000
ATTEMPTS = 4
_FIRST_PAUSE = 0.2
_CALL_TIMEOUT = 10.0

REPORTED_EVERY = 10.0
"""Seconds between two reports about one kind of effect. A missing right can fail 1,000 effects a second."""

# Outcomes of effects, as the metrics name them. Three more are: not leading, queue full, failed.
_DONE = "done"
_NOT_FOUND = "object gone"
_BUDGET = "budget"
_REFUSED = "refused"

_ANSWERS = {
    _DONE: Answer.DONE,
    _NOT_FOUND: Answer.NOT_FOUND,
    _BUDGET: Answer.BUDGET,
    _REFUSED: Answer.REFUSED,
}

Count = Callable[[str, str], None]
Report = Callable[[str, str, str, str], None]


class Effector:
    """Run effects and report their outcomes.

    ``learn``: receives each outcome as an event.
    ``may_act``: True while this instance holds the Lease.
    ``count(effect, outcome)``: counts an effect that ended, for the metrics.
    ``report(effect, namespace, name, error)``: called when an effect failed, with the reason.
    ``placeholders``: returns the current settings for placeholders.
    ``calls``: returns how many calls kube-scheduler has made.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        learn: Callable[[on.Event], None],
        may_act: Callable[[], bool],
        count: Count,
        report: Report = lambda *_: None,
        placeholders: Callable[[], PlaceholderSettings] = PlaceholderSettings,
        calls: Callable[[], int] = lambda: 0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._learn = learn
        self._may_act = may_act
        self._count = count
        self._report = report
        self._reported: dict[str, float] = {}
        self._placeholders = placeholders
        self._sleep = sleep
        self._queue: OrderedDict[object, Effect] = OrderedDict()
        self._events: OrderedDict[object, Effect] = OrderedDict()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._busy: set[object] = set()
        self._quiet = self._moving = 0
        self._pace = Pace(time.monotonic, calls)
        self._quiet_due: asyncio.TimerHandle | None = None

    # -- effects --------------------------------------------------------------------------------------

    def perform(self, effect: Effect) -> None:
        """Queue an effect. It replaces a queued effect that has the same key.

        Events and conditions wait behind all other effects, since they move no pod.
        """
        if not self._may_act():
            self._end(effect, "not leading")
            return
        queue = self._events if is_quiet(effect) else self._queue
        if len(queue) >= QUEUED:
            self._end(queue.popitem(last=False)[1], "queue full")
        queue[key_of(effect)] = effect
        self._wake_one()

    async def run(self) -> None:
        """Run queued effects until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            effect = self._next()
            if effect is None:
                await self._pause()
                continue
            if self._queue or self._events:
                self._wake_one()
            quiet = is_quiet(effect)
            self._quiet += quiet
            self._moving += not quiet
            if quiet:
                self._pace.begin_quiet()
            elif (wait := self._pace.begin()) > 0:
                await self._sleep(wait)
            await self._carry_out(effect)
            self._quiet -= quiet
            self._moving -= not quiet
            self._busy.discard(pod_of(effect))

    async def _pause(self) -> None:
        """Wait until an effect is queued, or until another worker leaves effects in the queue."""
        woken = asyncio.get_running_loop().create_future()
        self._idle.append(woken)
        await woken

    def _wake_one(self) -> None:
        """Wake one idle worker, which wakes the next if effects are left."""
        # Waking all workers would cost more than most effects.
        while self._idle:
            woken = self._idle.popleft()
            if not woken.done():
                woken.set_result(None)
                return

    def _next(self) -> Effect | None:
        """Take the first effect on whose pod no other effect is running, or None.

        Effects on one pod thus keep their order.
        """
        queues = (self._queue, self._events) if self._may_start_quiet() else (self._queue,)
        for queue in queues:
            for key, effect in queue.items():
                pod = pod_of(effect)
                if pod not in self._busy:
                    del queue[key]
                    if pod:
                        self._busy.add(pod)
                    return effect
        return None

    def _may_start_quiet(self) -> bool:
        """True if a quiet effect may start now. Otherwise a worker is woken when it may.

        Until then it stays in the queue, since other effects on its pod would wait for it.
        """
        if self._quiet >= (QUIET_BESIDE if self._moving else QUIET_WORKERS):
            return False
        wait = self._pace.until_quiet()
        if wait and self._events and self._quiet_due is None:
            self._quiet_due = asyncio.get_running_loop().call_later(wait, self._end_quiet_wait)
        return not wait

    def _end_quiet_wait(self) -> None:
        self._quiet_due = None
        self._wake_one()

    async def _carry_out(self, effect: Effect) -> None:
        failures: list[Failure] = []
        for attempt in range(ATTEMPTS):
            if not self._may_act():
                self._end(effect, "not leading", certain=not any(each.reached for each in failures))
                return
            try:
                await self._call(effect)
            except NotTaken as error:
                self._end(effect, _REFUSED, str(error))
                return
            except (NotFound, Conflict):
                self._end(effect, _NOT_FOUND)
                return
            except HeldBack:
                self._end(effect, "not leading", certain=not any(each.reached for each in failures))
                return
            except (Unreachable, ServerError, TooMany, NotYetTaken) as error:
                if is_about_budgets(error):
                    self._end(effect, _BUDGET)
                    return
                failures.append(failure_of(error))
                await self._sleep(_FIRST_PAUSE * 2.0**attempt)
            except KubeError as error:
                if await self._was_overtaken(effect, error):
                    self._end(effect, _NOT_FOUND)
                    return
                failures.append(failure_of(error))
                break
            else:
                self._end(effect, _DONE)
                return
        self._report_failure(effect, failures[-1].text)
        self._end(effect, "failed", certain=await self._is_undone(effect, failures))

    async def _is_undone(self, effect: Effect, failures: list[Failure]) -> bool:
        """True if a failed effect has certainly changed nothing.

        For a gate, the pod is read to find out (F-2). A request without an answer may still be under way.
        """
        reached = [each for each in failures if each.reached]
        if not isinstance(effect, OpenGate) or any(each.unanswered for each in reached):
            return not reached
        try:
            pod = await self.read_pod(effect.namespace, effect.name, within=_CALL_TIMEOUT)
        except KubeError:
            return False
        return pod is None or pod.uid != effect.uid or OWN_GATE in pod.gates

    async def _was_overtaken(self, effect: Effect, error: KubeError) -> bool:
        """True if a nomination was refused because the pod already has its node, or no longer exists."""
        # ValidatePodStatusUpdate refuses it with a 422, whose reason only the message text would tell.
        match effect, error:
            case NominateNode(uid, namespace, name), ApiError(status=422):
                try:
                    pod = await read_pod(self._client, namespace, name, within=_CALL_TIMEOUT)
                except KubeError:
                    return False
                return pod is None or pod.uid != uid or bool(pod.node)
        return False

    def _report_failure(self, effect: Effect, why: str) -> None:
        """Report a failed effect, at most once in `REPORTED_EVERY` seconds for each kind."""
        if isinstance(effect, ResolveGroups | EndWait):
            return
        kind, now = type(effect).__name__, asyncio.get_running_loop().time()
        if now >= self._reported.get(kind, 0.0):
            self._reported[kind] = now + REPORTED_EVERY
            self._report(kind, effect.namespace, effect.name, why)

    async def _call(self, effect: Effect) -> None:
        match effect:
            case WakePod():
                await self._client.patch(pod_path(effect.namespace, effect.name), wake_body(effect))
            case OpenGate():
                path = pod_path(effect.namespace, effect.name)
                body, kind = open_body(effect), STRATEGIC_MERGE_PATCH
                await self._client.patch(path, body, content_type=kind, may_send=self._may_act)
            case WriteRecord():
                await self._client.patch(pod_path(effect.namespace, effect.name), record_body(effect))
            case NominateNode():
                await self._client.patch(status_path(effect.namespace, effect.name), nomination_body(effect))
            case PostEvent():
                await self._client.post(events_path(effect.namespace), event_body(effect))
            case SetCondition():
                path, body = status_path(effect.namespace, effect.name), condition_body(effect)
                await self._client.patch(path, body, content_type=STRATEGIC_MERGE_PATCH)
            case EvictPod():
                await self._client.post(eviction_path(effect), eviction_body(effect))
            case DeletePod():
                await self._client.delete(pod_path(effect.namespace, effect.name), deletion_body(effect))
            case CreatePlaceholder():
                await create(self._client, effect, self._placeholders())
            case MarkFailed():
                await self._client.patch(status_path(effect.namespace, effect.name), failed_body(effect))
            case ResolveGroups() | EndWait():
                raise AssertionError("not asked of the API server")
            case _:
                assert_never(effect)

    def _end(self, effect: Effect, how: str, why: str = "", *, certain: bool = True) -> None:
        """Count an effect that ended, and pass on its outcome.

        ``how``: the outcome as the metrics name it. ``certain``: False if an answer was lost, so that the
        effect may have been done after all.
        """
        self._count(type(effect).__name__, how)
        outcome = outcome_of(effect, _ANSWERS.get(how, Answer.FAILED), why=why, certain=certain)
        if outcome is not None:
            self._learn(outcome)

    # -- for a bind call ---------------------------------------------------------------------------------

    async def post(self, binding: PostBinding, *, within: float) -> BindOutcome:
        """Post a Binding until its outcome is known or ``within`` seconds have passed (DESIGN-10).

        If a request may have reached the API server and its answer was lost, the pod shows the outcome.
        """
        # A POST that names the uid can be repeated: it binds at most once, and never another pod.
        clock = asyncio.get_running_loop().time
        until = clock() + within
        sent, may_send = False, self._may_act if binding.fenced else None
        while True:
            if (left := until - clock()) <= 0:
                return BindOutcome(False, certain=not sent, message="the API server did not answer in time")
            try:
                path, body = binding_path(binding), binding_body(binding)
                await self._client.post(path, body, timeout=left, may_send=may_send)
            except HeldBack:
                return BindOutcome(False, certain=not sent, message=str(NotLeading()))
            except Unreachable as error:
                sent = sent or error.sent
                await self._sleep(min(_FIRST_PAUSE, left))
            except (ServerError, TooMany):
                sent = True
                await self._sleep(min(_FIRST_PAUSE, left))
            except Conflict as error:
                return await self._after_conflict(binding, error, until)
            except ApiError as error:
                certain = not sent or isinstance(error, NotFound)
                return BindOutcome(False, certain=certain, message=error.message)
            else:
                self._count("PostBinding", "done")
                return BindOutcome(True)

    async def _after_conflict(self, binding: PostBinding, error: Conflict, until: float) -> BindOutcome:
        """Outcome of a Binding that met a conflict: success if the pod is already bound to the same node."""
        # An earlier request of this call may have bound it.
        self._count("PostBinding", "conflict")
        while (left := until - asyncio.get_running_loop().time()) > 0:
            try:
                pod = await read_pod(self._client, binding.namespace, binding.name, within=left)
            except (Unreachable, ServerError, TooMany):
                await self._sleep(min(_FIRST_PAUSE, left))
            except KubeError:
                break
            else:
                bound = pod is not None and (pod.uid, pod.node) == (binding.uid, binding.node)
                return BindOutcome(bound, message="" if bound else error.message)
        return BindOutcome(False, certain=False, message=error.message)

    async def read_pod(self, namespace: str, name: str, *, within: float) -> PodFacts | None:
        """Current state of a pod on the API server, or None if it does not exist. Raises `KubeError`.

        Server errors are retried for ``within`` seconds.
        """
        return await read_pod_with_retries(self._client, namespace, name, within=within, sleep=self._sleep)
