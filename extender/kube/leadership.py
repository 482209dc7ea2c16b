"""The Lease as the right to act and admit: does it name this pod's host, and is it in force? (F-3)

Not an election. kube-scheduler elects; the extender beside the replica that leads acts for it
(DESIGN-10). Without a configured Lease the answer is always yes.

Nobody else takes a Lease before ``leaseDurationSeconds`` have passed since its last renewal, which every
candidate measures on a clock of its own. So what is known of a Lease counts from a moment before that
renewal, on a clock that goes on while this process is stopped: when it wakes up, `held` is right at once.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

import msgspec

from extender.kube.connection.api import KubeError, NotFound, segment
from extender.kube.connection.client import ApiClient

POLL = 2.0
STALE = 15.0
"""Seconds that the last answer is believed for a Lease that does not say how long it lasts."""

MARGIN = 1.0
"""Seconds before another may take the Lease at which nothing is begun any more: what was sent must arrive."""

NEVER = float("-inf")

CONFIRM_WITHIN = 1.0
"""Seconds, at most, that a call waits for the Lease to be read, before it is told that another one leads; and
seconds, at least, between two such reads."""


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: datetime | None = None


class _Lease(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


class Leadership:
    """``lease()``: namespace/name, or empty; ``held`` is kept up to date while `run` runs.

    The name comes with the configuration, which is read after this has begun. ``clock``: seconds, of a clock
    that goes on while the process is stopped; ``wall``: seconds since the epoch. ``began``: called in the
    moment from which on a Lease is held that was not held before; ``ended``: when it is seen not to be held.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        lease: Callable[[], str],
        host: str,
        clock: Callable[[], float],
        wall: Callable[[], float],
        began: Callable[[], None],
        ended: Callable[[], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._lease = lease
        self._host = host
        self._clock = clock
        self._wall = wall
        self._began = began
        self._ended = ended
        self._sleep = sleep
        self._acts = True
        self._until = NEVER
        self._renewed: datetime | None = None
        self._renewed_after: float | None = None
        self._read_at: float | None = None
        self._confirming: asyncio.Task[None] | None = None
        self._confirmed_at = NEVER
        self._problem = ""

    @property
    def held(self) -> bool:
        return not self._lease() or self._clock() < self._until

    @property
    def problem(self) -> str:
        """Why nothing is known of the Lease; empty when it was read, and without one."""
        return self._problem if self._lease() else ""

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            if self._lease():
                await self.poll()
                self.note_end()
            await self._sleep(POLL)

    async def confirm(self) -> bool:
        """Whether the Lease is held, read anew if it seems not to be: kube-scheduler asks its leader only.

        All calls share one read, and none is begun within `CONFIRM_WITHIN` seconds of the one before.
        """
        if not self.held and self._confirming is None:
            if self._clock() < self._confirmed_at + CONFIRM_WITHIN:
                return False
            self._confirming = asyncio.get_running_loop().create_task(self._read_for_calls())
        if self._confirming is not None:
            await asyncio.shield(self._confirming)
        return self.held

    async def _read_for_calls(self) -> None:
        try:
            await self.poll(within=CONFIRM_WITHIN)
        finally:
            self._confirmed_at, self._confirming = self._clock(), None

    async def poll(self, *, within: float = POLL) -> None:
        """Read it once. A Lease that cannot be read leaves the last answer in force until that is over."""
        name, began = self._lease(), self._clock()
        namespace, _, own = name.partition("/")
        try:
            path = f"/apis/coordination.k8s.io/v1/namespaces/{segment(namespace)}/leases/{segment(own)}"
            body = await self._client.get(path, timeout=within)
            spec = msgspec.json.decode(body, type=_Lease).spec
        except NotFound:
            self._until, self._read_at, self._renewed = NEVER, None, None
            self._problem = f"the Lease {name} that paddock.lease names does not exist"
            return
        except (KubeError, msgspec.DecodeError):
            self._problem = f"the Lease {name} that paddock.lease names cannot be read"
            return
        held, self._problem = self.held, ""
        self._note_renewal(spec, began)
        ours = is_held_by(spec.holder_identity or "", self._host)
        self._until = self._end_of(spec, began) if ours else NEVER
        if self.held and not held:
            self._acts = True
            self._began()

    def _note_renewal(self, spec: _Spec, began: float) -> None:
        """Keep a moment that is not after the last renewal: that of the read which did not show it yet."""
        if spec.renew_time != self._renewed:
            self._renewed, self._renewed_after = spec.renew_time, self._read_at
        self._read_at = began

    def _end_of(self, spec: _Spec, began: float) -> float:
        """When nothing may be begun any more, of a Lease that a read begun at ``began`` showed as ours."""
        if spec.renew_time is None or not spec.lease_duration_seconds:
            return began + STALE
        if self._renewed_after is None:
            # It was written on this host, so by the same clock.
            self._renewed_after = began - max(0.0, self._wall() - spec.renew_time.timestamp())
        return self._renewed_after + spec.lease_duration_seconds - MARGIN

    def note_end(self) -> None:
        """Tell, once, that nothing is held any more; asked for after each poll."""
        if self._acts and not self.held:
            self._acts = False
            self._ended()


def is_held_by(holder: str, host: str) -> bool:
    """kube-scheduler identifies itself as host, underscore, random id: compare all before the last."""
    name, underscore, _ = holder.rpartition("_")
    return bool(underscore) and name == host
