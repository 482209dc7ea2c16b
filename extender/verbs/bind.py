"""The verb bind: request bytes in, answer bytes out.

A call waits for the other members of its pod's group and for the API server's answer. No decision is made
here. Faults are raised, and the HTTP middleware turns them into answers.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol

import msgspec

from core.decisions.decision import BindNow, BindWaits, BoundAlready, Faulted, Ignored, Refused
from core.errors import PaddockError
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.workload.pod import PodFacts
from extender.engine.engine import Engine
from extender.verbs.confirmation import why_unbindable
from extender.verbs.faults import CallFault, DeadlinePassed, NotReady
from extender.verbs.leading import Lead, NoLease, NotLeading
from extender.verbs.waits import Waits
from extender.wire.calls import extender_v1 as v1

HUNG_UP = "the caller has hung up; nothing was sent"

Answered = asyncio.Future[bytes]
"""The answer of a call, for its caller. Cancelled if the caller has hung up."""


class PostBinding(msgspec.Struct, frozen=True):
    """A Binding that a bind call asks for.

    ``fenced``: True if it may be posted only while this instance holds the Lease (F-3).
    """

    uid: PodUid
    namespace: str
    name: str
    node: NodeName
    fenced: bool = False


class BindOutcome(msgspec.Struct, frozen=True):
    """Result of posting a Binding.

    ``bound``: True if the pod is bound to the node.
    ``certain``: False if the pod is not known to be bound but may still become so.
    ``message``: the API server's reason for a failure.
    """

    bound: bool
    certain: bool = True
    message: str = ""


class Binder(Protocol):
    """Requests to the API server on behalf of a bind call."""

    async def post(self, binding: PostBinding, *, within: float) -> BindOutcome:
        """Post a Binding and find out its result within ``within`` seconds."""
        ...

    async def read_pod(self, namespace: str, name: str, *, within: float) -> PodFacts | None:
        """Current state of a pod on the API server, or None if it does not exist."""
        ...


class BindVerb:
    """Bind calls of one engine.

    ``synced``: set once the caches are synced.
    ``deadline``: seconds for a whole call.
    ``asked()``: called at the start of every call.
    ``lead``: the Lease, None if none is configured.
    ``waits_for()``: the reason why the caches are not synced, or an empty text.
    """

    def __init__(
        self,
        engine: Engine,
        binder: Binder,
        *,
        synced: asyncio.Event,
        deadline: float = 100.0,
        asked: Callable[[], None] = lambda: None,
        lead: Lead | None = None,
        waits_for: Callable[[], str] = str,
    ) -> None:
        self._engine = engine
        self._binder = binder
        self._synced = synced
        self._asked, self._lead, self._waits_for = asked, lead or NoLease(), waits_for
        self.deadline = deadline
        self.waits = Waits()
        self._open: dict[PodUid, asyncio.Task[bytes]] = {}

    async def bind(self, body: bytes) -> bytes:
        """Bind a pod and return the answer. Raises `CallFault` if the pod may not be bound.

        Idempotent. A second call for the same pod waits until the first one has ended.
        Cancel it when the caller hangs up. A call that waits for its group then ends without a Binding.
        A Binding that was already sent is still awaited.
        """
        request = v1.bind_request_from(body)
        self._asked()
        uid = PodUid(request.uid)
        loop = asyncio.get_running_loop()
        until = loop.time() + self.deadline
        while (before := self._open.get(uid)) is not None:
            await asyncio.wait([before])
        # Cancelling this call cancels `answered` only: a Binding may still be under way.
        answered: Answered = loop.create_future()
        self._open[uid] = task = loop.create_task(self._bind(request, until, answered))
        task.add_done_callback(partial(self._close, uid, answered))
        try:
            return await answered
        except asyncio.CancelledError:
            self.waits.end(uid, HUNG_UP)
            raise

    def _close(self, uid: PodUid, answered: Answered, ended: asyncio.Task[bytes]) -> None:
        """Give the caller the answer or the error of a call that has ended."""
        del self._open[uid]
        error = None if ended.cancelled() else ended.exception()
        if answered.done():
            # No caller is left to receive the error, but a bug must still be reported.
            if error is not None and not isinstance(error, PaddockError):
                what = {"message": "bug in a bind call", "exception": error}
                ended.get_loop().call_exception_handler(what)
        elif ended.cancelled():
            answered.cancel()
        elif error is not None:
            answered.set_exception(error)
        else:
            answered.set_result(ended.result())

    async def _bind(self, request: v1.BindRequest, until: float, answered: Answered) -> bytes:
        # Asking asyncio for the loop costs a system call each time.
        loop = answered.get_loop()
        pod = self._shown(request) or await self._read(request, until - loop.time())
        managed = self._engine.is_managed(pod) is not False
        if managed and not self._synced.is_set():
            await self._wait_until_synced(until - loop.time())
            pod = self._shown(request) or await self._read(request, until - loop.time())
        if pod.node:
            return v1.BOUND
        if managed:
            return await self._bind_managed(request, until, answered)
        outcome = await self._binder.post(_binding(request), within=_left(until, answered))
        if not outcome.bound:
            raise CallFault(outcome.message)
        return v1.BOUND

    def _shown(self, request: v1.BindRequest) -> PodFacts | None:
        """The facts that the watch has shown of the pod, or None if they do not allow the Binding (F-18)."""
        record = self._engine.view.pod(PodUid(request.uid))
        if record is None or not record.is_confirmed or why_unbindable(record.facts, request):
            return None
        return record.facts

    async def _read(self, request: v1.BindRequest, within: float) -> PodFacts:
        """The pod's facts from the API server, since those of the watch may be old (F-18).

        Raises `CallFault` if the pod may not be bound to the requested node.
        """
        engine = self._engine
        if engine.view.was_deleted(PodUid(request.uid)):
            raise CallFault("pod is gone")
        facts = await self._binder.read_pod(request.namespace, request.name, within=within)
        why = why_unbindable(facts, request)
        if facts is None or why:
            raise CallFault(why)
        if engine.view.synced:
            engine.learn(on.PodRead(facts))
        return facts

    async def _wait_until_synced(self, within: float) -> None:
        if self._synced.is_set():
            return
        try:
            await asyncio.wait_for(self._synced.wait(), within)
        except TimeoutError:
            raise NotReady(self._waits_for()) from None

    async def _bind_managed(self, request: v1.BindRequest, until: float, answered: Answered) -> bytes:
        uid = PodUid(request.uid)
        if not (self._lead.held or await self._lead.confirm()):
            raise NotLeading(self._lead.problem)
        # A call that can no longer succeed must not count as a waiting member of its group.
        # Nor may its failure end the reservation of an earlier Binding.
        _left(until, answered)
        others = self.waits.begin(uid)
        try:
            verdict = self._admitted(request)
            if isinstance(verdict, BoundAlready):
                return v1.BOUND
            if isinstance(verdict, BindWaits):
                await self._wait_for(others, uid, until)
            return await self._post(_binding(request, fenced=True), until, answered)
        finally:
            self.waits.forget(uid, others)

    def _admitted(self, request: v1.BindRequest) -> BoundAlready | BindWaits | BindNow | Ignored:
        """The engine's decision. Raises `CallFault` if the pod may not be bound."""
        verdict = self._engine.bind(PodUid(request.uid), NodeName(request.node))
        if isinstance(verdict, Refused):
            raise CallFault(verdict.refusal.text)
        if isinstance(verdict, Faulted):
            raise CallFault(verdict.message)
        return verdict

    async def _wait_for(self, others: "asyncio.Future[str]", uid: PodUid, until: float) -> None:
        """Wait until the group is complete. Raises `CallFault` if it fails, or at the deadline."""
        try:
            why = await asyncio.wait_for(others, until - asyncio.get_running_loop().time())
        except TimeoutError:
            self._engine.learn(on.BindFailed(uid, certain=True))
            raise DeadlinePassed("the time for this bind call is over; nothing was sent") from None
        if why == HUNG_UP:
            self._engine.learn(on.BindFailed(uid, certain=True))
        if why:
            raise CallFault(why)

    async def _post(self, binding: PostBinding, until: float, answered: Answered) -> bytes:
        """Post a Binding and report its result to the engine. Raises `CallFault` if the pod is not bound."""
        try:
            within = _left(until, answered)
        except CallFault:
            self._engine.learn(on.BindFailed(binding.uid, certain=True))
            raise
        try:
            outcome = await self._binder.post(binding, within=within)
        except BaseException:
            self._engine.learn(on.BindFailed(binding.uid, certain=False))
            raise
        if outcome.bound:
            self._engine.learn(on.PodBound(binding.uid, binding.node))
            return v1.BOUND
        self._engine.learn(on.BindFailed(binding.uid, certain=outcome.certain))
        raise CallFault(outcome.message)


def _left(until: float, answered: Answered) -> float:
    """Seconds until the deadline. Raises `CallFault` if a Binding must no longer be posted."""
    if answered.cancelled():
        raise CallFault(HUNG_UP)
    left = until - answered.get_loop().time()
    if left <= 0:
        raise DeadlinePassed("the time for this bind call is over; nothing was sent")
    return left


def _binding(request: v1.BindRequest, *, fenced: bool = False) -> PostBinding:
    return PostBinding(PodUid(request.uid), request.namespace, request.name, NodeName(request.node), fenced)
