"""The right of this instance to act: whether kube-scheduler's Lease names its host and is in force (F-3).

Paddock runs no election of its own. kube-scheduler elects a leader, and the Paddock on the leader's host
acts (DESIGN-10). Without a configured Lease, this instance always acts.

No other candidate takes a Lease before ``leaseDurationSeconds`` have passed since its last renewal. Each
candidate measures that time on its own clock. Paddock therefore counts from a moment before the renewal,
on a clock that also runs while the process is stopped. `held` is thus correct as soon as the process resumes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

import msgspec

from extender.kube.connection.api import KubeError, NotFound, segment
from extender.kube.connection.client import ApiClient

POLL = 2.0
"""Seconds between two reads of the Lease."""

STALE = 15.0
"""Seconds for which a read counts if the Lease does not say how long it lasts."""

MARGIN = 1.0
"""Seconds before the Lease ends at which no new effect starts, so that sent requests arrive in time."""

NEVER = float("-inf")

CONFIRM_WITHIN = 1.0
"""Seconds that a call waits at most for a read of the Lease, and the least time between two such reads.

A call whose wait ends in vain is answered as on an instance that does not lead.
"""


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: datetime | None = None


class _Lease(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


class Leadership:
    """State of the Lease. `held` is up to date while `run` runs.

    ``lease()``: ``namespace/name``, or empty. It may change, since the configuration is read later.
    ``clock``: seconds on a clock that also runs while the process is stopped.
    ``wall``: seconds since the epoch.
    ``began``: called as soon as this instance is seen to hold the Lease.
    ``ended``: called when this instance is seen to hold it no longer.
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
        self._holder = ""

    @property
    def holder(self) -> str:
        """The host that the Lease named when it was last read, without the random id; empty if none."""
        return self._holder if self._lease() else ""

    @property
    def host(self) -> str:
        """The host of this instance."""
        return self._host

    @property
    def held(self) -> bool:
        """True if this instance may act now."""
        return not self._lease() or self._clock() < self._until

    @property
    def problem(self) -> str:
        """Why the Lease could not be read. Empty if it was read, or if none is configured."""
        return self._problem if self._lease() else ""

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            if self._lease():
                await self.poll()
                self.note_end()
            await self._sleep(POLL)

    async def confirm(self) -> bool:
        """True if the Lease is held. It is read again if it seems not to be held.

        All calls share one read. A read starts at least `CONFIRM_WITHIN` seconds after the one before.
        """
        # kube-scheduler calls only the Paddock beside it, so a call is a hint that this instance leads now.
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
        """Read the Lease once. If that fails, the last answer stays in force until it expires."""
        name, began = self._lease(), self._clock()
        namespace, _, own = name.partition("/")
        try:
            path = f"/apis/coordination.k8s.io/v1/namespaces/{segment(namespace)}/leases/{segment(own)}"
            body = await self._client.get(path, timeout=within)
            spec = msgspec.json.decode(body, type=_Lease).spec
        except NotFound:
            self._until, self._read_at, self._renewed, self._holder = NEVER, None, None, ""
            self._problem = f"the Lease {name} that paddock.lease names does not exist"
            return
        except (KubeError, msgspec.DecodeError) as error:
            self._problem = f"the Lease {name} that paddock.lease names cannot be read: {error}"
            return
        held, self._problem = self.held, ""
        self._note_renewal(spec, began)
        self._holder = host_of(spec.holder_identity or "")
        ours = is_held_by(spec.holder_identity or "", self._host)
        self._until = self._end_of(spec, began) if ours else NEVER
        if self.held and not held:
            self._acts = True
            self._began()

    def _note_renewal(self, spec: _Spec, began: float) -> None:
        """Record a time that is certainly before the last renewal: the last read that did not show it."""
        if spec.renew_time != self._renewed:
            self._renewed, self._renewed_after = spec.renew_time, self._read_at
        self._read_at = began

    def _end_of(self, spec: _Spec, began: float) -> float:
        """Time after which no effect may start, for a Lease that this host held when read at ``began``."""
        if spec.renew_time is None or not spec.lease_duration_seconds:
            return began + STALE
        if self._renewed_after is None:
            # kube-scheduler wrote the renewal on this host, so by the same clock.
            self._renewed_after = began - max(0.0, self._wall() - spec.renew_time.timestamp())
        return self._renewed_after + spec.lease_duration_seconds - MARGIN

    def note_end(self) -> None:
        """Call ``ended`` once after the Lease was lost. Must be called after each poll."""
        if self._acts and not self.held:
            self._acts = False
            self._ended()


def is_held_by(holder: str, host: str) -> bool:
    """True if a Lease's holder identity belongs to this host."""
    return "_" in holder and host_of(holder) == host


def host_of(holder: str) -> str:
    """The host in a Lease's holder identity, empty for an identity of another form."""
    # kube-scheduler's identity is the host, an underscore and a random id. A host may contain underscores.
    return holder.rpartition("_")[0]
