"""Doing what core asks for: Bindings for kube-scheduler's bind calls, and everything else on our own account.

Effects on our own account run only while the Lease says so, at a bounded rate, with retries; their outcomes
go back as events. A Binding needs no Lease, since kube-scheduler asked for it.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import assert_never
from urllib.parse import quote

import msgspec

from core.ledger import events as on
from core.ledger.effects import (
    Effect,
    LookUpGroups,
    MarkFailed,
    NominateNode,
    OpenGate,
    PostBinding,
    PostEvent,
    SetCondition,
    WakePod,
    WriteRecord,
)
from core.workload.pod import OWN_GATE, PodFacts
from extender.kube.api import (
    STRATEGIC_MERGE_PATCH,
    ApiError,
    Conflict,
    KubeError,
    NotFound,
    ServerError,
    TooMany,
    Unreachable,
)
from extender.kube.client import ApiClient
from extender.verbs import Outcome
from extender.wire.translate import POD, pod_from

WAKE_ANNOTATION = "paddock.dev/wake"
RATE = 200.0
"""Effects a second on our own account, at most."""

WORKERS = 16
QUEUED = 20_000
TRIES = 4
_FIRST_PAUSE = 0.2
_CALL_TIMEOUT = 10.0

Count = Callable[[str, str], None]


class Effector:
    """Runs effects. ``learn`` takes outcomes; ``may_act`` is the Lease; ``count(effect, outcome)``."""

    def __init__(
        self,
        client: ApiClient,
        *,
        learn: Callable[[on.Event], None],
        may_act: Callable[[], bool],
        count: Count,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._learn = learn
        self._may_act = may_act
        self._count = count
        self._sleep = sleep
        self._queue: OrderedDict[object, Effect] = OrderedDict()
        self._events: OrderedDict[object, Effect] = OrderedDict()
        self._filled = asyncio.Event()
        self._next_start = 0.0

    # -- on our own account ---------------------------------------------------------------------------

    def perform(self, effect: Effect) -> None:
        """Queue an effect; one for the same pod that still waits is replaced by it.

        Events and conditions wait behind everything else: they move no pod.
        """
        if not self._may_act():
            self._drop(effect, "not leading")
            return
        queue = self._events if isinstance(effect, PostEvent | SetCondition) else self._queue
        if len(queue) >= QUEUED:
            self._drop(queue.popitem(last=False)[1], "queue full")
        queue[_key(effect)] = effect
        self._filled.set()

    async def run(self) -> None:
        """Work through the queue until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            await self._filled.wait()
            queue = self._queue or self._events
            if not queue:
                self._filled.clear()
                continue
            _, effect = queue.popitem(last=False)
            await self._pace()
            await self._carry_out(effect)

    async def _pace(self) -> None:
        now = asyncio.get_running_loop().time()
        start = max(now, self._next_start)
        self._next_start = start + 1.0 / RATE
        if start > now:
            await self._sleep(start - now)

    async def _carry_out(self, effect: Effect) -> None:
        for attempt in range(TRIES):
            if not self._may_act():
                self._drop(effect, "not leading")
                return
            try:
                await self._call(effect)
            except (NotFound, Conflict):
                self._drop(effect, "object gone")
                return
            except (Unreachable, ServerError, TooMany):
                await self._sleep(_FIRST_PAUSE * 2.0**attempt)
            except KubeError:
                break
            else:
                self._done(effect)
                return
        self._drop(effect, "failed")

    async def _call(self, effect: Effect) -> None:
        match effect:
            case WakePod():
                await self._client.patch(_pod_path(effect.namespace, effect.name), _wake_body(effect))
            case OpenGate():
                path = _pod_path(effect.namespace, effect.name)
                await self._client.patch(path, _open_body(effect), content_type=STRATEGIC_MERGE_PATCH)
            case WriteRecord():
                await self._client.patch(_pod_path(effect.namespace, effect.name), _record_body(effect))
            case NominateNode():
                path = _pod_path(effect.namespace, effect.name) + "/status"
                await self._client.patch(path, _nomination_body(effect))
            case PostEvent():
                path = f"/api/v1/namespaces/{quote(effect.namespace)}/events"
                await self._client.post(path, _event_body(effect))
            case SetCondition():
                path = _pod_path(effect.namespace, effect.name) + "/status"
                body = _condition_body(effect)
                await self._client.patch(path, body, content_type=STRATEGIC_MERGE_PATCH)
            case MarkFailed():
                path = _pod_path(effect.namespace, effect.name) + "/status"
                await self._client.patch(path, _failed_body(effect))
            case PostBinding():
                await self.post(effect, within=_CALL_TIMEOUT)
            case LookUpGroups():
                raise AssertionError("asked of the host, not of the API server")
            case _:
                assert_never(effect)

    def _done(self, effect: Effect) -> None:
        self._count(type(effect).__name__, "done")
        self._tell(effect, reached=True)

    def _drop(self, effect: Effect, why: str) -> None:
        self._count(type(effect).__name__, why)
        self._tell(effect, reached=False)

    def _tell(self, effect: Effect, *, reached: bool) -> None:
        """How an effect ended, where the ledger waits for it."""
        match effect:
            case WakePod() | OpenGate():
                self._learn(on.PodWoken(effect.uid, reached=reached))
            case NominateNode():
                self._learn(on.NodeNominated(effect.uid, effect.node, reached=reached))
            case WriteRecord():
                self._learn(on.RecordWritten(effect.uid, effect.entries, reached=reached))
            case SetCondition() if not reached:
                self._learn(on.GateToldNot(effect.uid))
            case _:
                pass

    # -- for a bind call ---------------------------------------------------------------------------------

    async def post(self, binding: PostBinding, *, within: float) -> Outcome:
        """Post a Binding and see it through (design section 10).

        Once a request may have reached the server, the answer is what the pod shows: a POST with the uid
        can be repeated, since it binds at most once and never another pod.
        """
        until = asyncio.get_running_loop().time() + within
        sent = False
        while True:
            left = until - asyncio.get_running_loop().time()
            if left <= 0:
                return Outcome(False, certain=not sent, message="the API server did not answer in time")
            try:
                await self._client.post(_binding_path(binding), _binding_body(binding), timeout=left)
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
                return Outcome(False, certain=certain, message=error.message)
            else:
                self._count("PostBinding", "done")
                return Outcome(True)

    async def _after_conflict(self, binding: PostBinding, error: Conflict, until: float) -> Outcome:
        """A pod that is bound to the same node already is a success: it may have been our own doing."""
        self._count("PostBinding", "conflict")
        while (left := until - asyncio.get_running_loop().time()) > 0:
            try:
                pod = await self.read_pod(binding.namespace, binding.name, within=left)
            except (Unreachable, ServerError, TooMany):
                await self._sleep(min(_FIRST_PAUSE, left))
            except KubeError:
                break
            else:
                bound = pod is not None and (pod.uid, pod.node) == (binding.uid, binding.node)
                return Outcome(bound, message="" if bound else error.message)
        return Outcome(False, certain=False, message=error.message)

    async def read_pod(self, namespace: str, name: str, *, within: float) -> PodFacts | None:
        """The pod as the API server has it now, None when there is none. Raises `KubeError`."""
        try:
            body = await self._client.get(_pod_path(namespace, name), timeout=max(within, 0.001))
        except NotFound:
            return None
        return pod_from(POD.decode(body))


def _key(effect: Effect) -> object:
    """What a later effect replaces. Of records of one pod each is written: they may have other keys."""
    if isinstance(effect, PostEvent | LookUpGroups | WriteRecord):
        return effect
    return type(effect), effect.uid


def _pod_path(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(name)}"


def _binding_path(binding: PostBinding) -> str:
    return _pod_path(binding.namespace, binding.name) + "/binding"


def _binding_body(binding: PostBinding) -> bytes:
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": binding.name, "namespace": binding.namespace, "uid": binding.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": binding.node},
        }
    )


def _wake_body(wake: WakePod) -> bytes:
    """The uid makes the patch fail for another pod of the same name."""
    return msgspec.json.encode({"metadata": {"uid": wake.uid, "annotations": {WAKE_ANNOTATION: wake.token}}})


def _open_body(opening: OpenGate) -> bytes:
    """Merged by name on the server, so that the gates of others stay as they are by then."""
    return msgspec.json.encode(
        {
            "metadata": {"uid": opening.uid},
            "spec": {"schedulingGates": [{"$patch": "delete", "name": OWN_GATE}]},
        }
    )


def _record_body(record: WriteRecord) -> bytes:
    return msgspec.json.encode({"metadata": {"uid": record.uid, "annotations": dict(record.entries)}})


def _nomination_body(nomination: NominateNode) -> bytes:
    status = {"nominatedNodeName": nomination.node or None}
    return msgspec.json.encode({"metadata": {"uid": nomination.uid}, "status": status})


def _failed_body(marking: MarkFailed) -> bytes:
    status = {"phase": "Failed", "reason": marking.reason, "message": marking.message[:1000]}
    return msgspec.json.encode({"metadata": {"uid": marking.uid}, "status": status})


def _condition_body(wanted: SetCondition) -> bytes:
    """Merged by type on the server, so that the conditions of others stay as they are."""
    condition = {
        "type": wanted.kind,
        "status": "True" if wanted.status else "False",
        "reason": wanted.reason,
        "message": wanted.message[:1000],
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return msgspec.json.encode({"metadata": {"uid": wanted.uid}, "status": {"conditions": [condition]}})


def _event_body(event: PostEvent) -> bytes:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{event.name}.", "namespace": event.namespace},
            "involvedObject": {
                "kind": event.kind,
                "apiVersion": "v1",
                "namespace": event.namespace,
                "name": event.name,
                **({"uid": event.uid} if event.uid else {}),
            },
            "reason": event.reason,
            "message": event.message[:1000],
            "type": "Warning" if event.warning else "Normal",
            "source": {"component": "paddock"},
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
        }
    )
