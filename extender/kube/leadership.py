"""Whether this process may act on its own account: does the Lease name this pod's host?

Not an election. kube-scheduler elects; the extender beside the replica that leads acts for it (design
section 10). Without a configured Lease the answer is always yes.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from extender.kube.api import KubeError, segment
from extender.kube.client import ApiClient

POLL = 2.0
STALE = 15.0
"""Seconds that the last answer is believed while the API server cannot be asked."""


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None


class _Lease(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


class Leadership:
    """``lease()``: namespace/name, or empty; ``held`` is kept up to date while `run` runs.

    The name comes with the configuration, which is read after this has begun. ``began``: called in the moment
    from which on a Lease is held that was not held before, and when a call shows that it will be; ``ended``:
    when it is seen not to be held.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        lease: Callable[[], str],
        host: str,
        clock: Callable[[], float],
        began: Callable[[], None],
        ended: Callable[[], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._lease = lease
        self._host = host
        self._clock = clock
        self._began = began
        self._ended = ended
        self._acts = True
        self._foretold = False
        self._sleep = sleep
        self._told = -STALE
        self._ours = False

    @property
    def held(self) -> bool:
        if not self._lease():
            return True
        return self._ours and self._clock() - self._told < STALE

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            if self._lease():
                await self.poll()
                self.note_end()
            await self._sleep(POLL)

    async def poll(self) -> None:
        """Ask once. A Lease that cannot be read leaves the last answer in force until it is stale."""
        namespace, _, name = self._lease().partition("/")
        try:
            path = f"/apis/coordination.k8s.io/v1/namespaces/{segment(namespace)}/leases/{segment(name)}"
            body = await self._client.get(path, timeout=POLL)
            holder = msgspec.json.decode(body, type=_Lease).spec.holder_identity or ""
        except (KubeError, msgspec.DecodeError):
            return
        held = self.held
        self._ours, self._told = is_held_by(holder, self._host), self._clock()
        if self._ours and not held:
            self._acts, self._foretold = True, False
            self._began()

    def asked(self) -> None:
        """A verb was called, and only the leader's extender is asked: tell what the next poll will say.

        Else kube-scheduler's first calls would be answered without what the one before has written. Effects
        wait for the poll. Told once until a Lease is held: whoever is asked and never leads would have all
        pods read again and again.
        """
        if not self._acts and not self._foretold:
            self._acts = self._foretold = True
            self._began()

    def note_end(self) -> None:
        """Tell, once, that nothing is held any more; asked for after each poll."""
        if self._acts and not self.held:
            self._acts = False
            self._ended()


def is_held_by(holder: str, host: str) -> bool:
    """kube-scheduler identifies itself as host, underscore, random id: compare all before the last."""
    name, underscore, _ = holder.rpartition("_")
    return bool(underscore) and name == host
