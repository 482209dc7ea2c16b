"""Leaders that are stopped and resumed: two hosts with real elections, and what the stopped one still does.

``python -m e2e.frozen --rounds 20`` plays 20 rounds and prints each. ``--without-bind`` leaves Bindings to
kube-scheduler, where those under way cannot be fenced (F-3).
"""

import argparse
import asyncio
import signal
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from e2e.cluster.client import Cluster, Object, is_terminal, node_of, path_of
from e2e.programs.control_plane import ControlPlane, Scheduler
from e2e.programs.paddock import PaddockProcess
from e2e.programs.proxy import ApiProxy
from e2e.stands.stand import Stand, eventually, scheduler_config

CONFIG = "sidecar/scheduler-config-plain.yaml"
LEASE = "kube-system/paddock-scheduler"
FROZEN_FOR = 20.0
CORES = 10
WAITING = 30
HOSTS = ("host-a", "host-b")
_BINDING = r"/binding$"


@dataclass
class Host:
    """kube-scheduler and Paddock of one host, each with a proxy of its own to the API server."""

    name: str
    paddock: PaddockProcess
    scheduler: Scheduler
    of_paddock: ApiProxy
    of_scheduler: ApiProxy

    def send(self, number: signal.Signals) -> None:
        """Send a signal to both at once, as an event that stops a host does."""
        self.paddock.send(number)
        self.scheduler.send(number)

    @property
    def bindings(self) -> int:
        """Requests for Bindings that left the host."""
        return self.of_paddock.count("POST", _BINDING) + self.of_scheduler.count("POST", _BINDING)


@dataclass
class Round:
    """The result of a round.

    ``idle``: seconds without a Binding from the freeze on. ``late``: Bindings that the stopped host sent
    after it was resumed. ``breaches``: violations that the observer saw.
    """

    idle: float
    late: int
    breaches: int


@dataclass
class Load:
    """Pods that come as others end, so that the queue is always full and some always wait."""

    cluster: Cluster
    stand: Stand
    bound_at: list[float] = field(default_factory=list)
    _made: int = 0
    _bound: set[str] = field(default_factory=set)

    async def run(self) -> None:
        """Create pods until cancelled."""
        self.stand.pods.listeners.append(self._on_pod)
        while True:
            waiting = len(self.stand.pods.waiting())
            new = [self._pod() for _ in range(min(10, WAITING - waiting))]
            await self.cluster.create_pods(new)
            over = [pod for pod in self.stand.pods.pods.values() if is_terminal(pod)][:20]
            await asyncio.gather(*(self.cluster.delete_pod(pod["metadata"]["name"]) for pod in over))
            await asyncio.sleep(0.1)

    def _pod(self) -> Object:
        self._made += 1
        return self.cluster.pod(f"p{self._made}", queue="root.a", run_for=0.7)

    def _on_pod(self, kind: str, pod: Object) -> None:
        name = pod["metadata"]["name"]
        if node_of(pod) and name not in self._bound:
            self._bound.add(name)
            self.bound_at.append(time.monotonic())


class Hosts:
    """Two hosts, of which one leads."""

    def __init__(self, cluster: Cluster, stand: Stand, load: Load, hosts: list[Host]) -> None:
        self._cluster, self._stand, self._load, self._hosts = cluster, stand, load, hosts

    async def leader(self) -> Host | None:
        namespace, _, name = LEASE.partition("/")
        lease = await self._cluster.request("GET", path_of("Lease", namespace, name))
        holder = str(lease["spec"].get("holderIdentity") or "").rpartition("_")[0]
        return next((each for each in self._hosts if each.name == holder), None)

    async def _leads_other_than(self, host: Host) -> bool:
        return await self.leader() not in (None, host)

    async def until_busy(self, since: float) -> float:
        """The time at which the first pod was bound after a moment."""

        async def ask() -> float:
            return next((at for at in self._load.bound_at if at > since), 0.0)

        return await eventually(ask, "pods are bound", timeout=60)

    async def play(self) -> Round:
        """Stop the leading host for a while and resume it."""
        leader = await eventually(self.leader, "somebody leads", timeout=60)
        assert leader is not None
        await self.until_busy(time.monotonic())
        leader.send(signal.SIGSTOP)
        stopped = time.monotonic()
        try:
            # Requests on their way to the API server when the host stops still arrive.
            await asyncio.sleep(FROZEN_FOR)
            # On a slow machine the other host leads later. The stopped one would rightly go on until then.
            await eventually(lambda: self._leads_other_than(leader), "the other host leads", timeout=60)
        finally:
            before = leader.bindings
            leader.send(signal.SIGCONT)
        resumed = await self.until_busy(stopped + 2)
        await self._until_given_up(leader)
        broken = self._stand.observer.rules.violations
        return Round(resumed - stopped, leader.bindings - before, len(broken))

    def forgive(self) -> list[str]:
        """Forget the observer's violations, for which its end would fail."""
        broken = self._stand.observer.rules.violations
        seen = list(broken)
        broken.clear()
        return seen

    async def _until_given_up(self, host: Host) -> None:
        """Wait until kube-scheduler ends over its lost Lease, and start it again, as a kubelet would."""

        async def ended() -> bool:
            return not host.scheduler.running

        await eventually(ended, "the stopped kube-scheduler finds that another one leads", timeout=60)
        await host.scheduler.start()
        await eventually(lambda: _ready(host.paddock), "its Paddock goes on", timeout=60)


async def _ready(paddock: PaddockProcess) -> bool:
    return (await paddock.get("/readyz"))[0] == 200


@asynccontextmanager
async def hosts(cluster: Cluster, *, bind: bool = True) -> AsyncIterator[Hosts]:
    """Two hosts as the overlay `sidecar` is shipped, and pods without end. ``bind``: with its bind verb."""
    stand = Stand(
        cluster,
        {"a": {"max": {"vcore": str(CORES)}}},
        config=CONFIG,
        lease=LEASE,
        user="paddock",
        scheduler_user="paddock",
        elect=True,
    )
    async with stand, AsyncExitStack() as stack:
        # The stand's own pair takes no part. Its Paddock, which never leads, is asked for the audit.
        await stand.scheduler.stop()
        await cluster.add_nodes(4)
        made = [await _host(stack, cluster.control_plane, name, bind=bind) for name in HOSTS]
        load = Load(cluster, stand)
        running = asyncio.create_task(load.run())
        try:
            yield Hosts(cluster, stand, load, made)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def _host(stack: AsyncExitStack, control_plane: ControlPlane, name: str, *, bind: bool) -> Host:
    of_paddock = await stack.enter_async_context(ApiProxy(control_plane.url))
    of_scheduler = await stack.enter_async_context(ApiProxy(control_plane.url))
    paddock = PaddockProcess(
        control_plane.kubeconfig("paddock", of_paddock.url),
        control_plane.folder,
        arguments=[f"--lease={LEASE}"],
        host=name,
    )
    stack.push_async_callback(paddock.stop)
    await paddock.start()
    config = scheduler_config(CONFIG, paddock.url, elect=True)
    config["clientConnection"]["kubeconfig"] = str(control_plane.kubeconfig("paddock", of_scheduler.url))
    if not bind:
        config["extenders"] = [each for each in config["extenders"] if "bindVerb" not in each]
    scheduler = await control_plane.scheduler(config, user="paddock", host=name)
    stack.push_async_callback(scheduler.stop)
    return Host(name, paddock, scheduler, of_paddock, of_scheduler)


async def main(rounds: int, *, bind: bool) -> int:
    """Play rounds. The exit code is 1 if usage above the quota was seen where bind is fenced."""
    found: list[Round] = []
    async with ControlPlane() as control_plane, Cluster(control_plane) as cluster:
        cluster.namespace = await cluster.create_namespace()
        async with hosts(cluster, bind=bind) as played:
            for number in range(1, rounds + 1):
                found.append(await played.play())
                print(f"round {number}: {found[-1]}", flush=True)
            violations = played.forgive()
    idle = [each.idle for each in found]
    print(f"seconds without a leader: median {statistics.median(idle):.1f}, most {max(idle):.1f}")
    late = [each.late for each in found]
    print(
        f"Bindings that a stopped host sent when it went on: {sum(late)} in {rounds} rounds, most {max(late)}"
    )
    print(f"breaches: {len(violations)}", *violations[:10], sep="\n")
    return int(bind and bool(violations))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--without-bind", action="store_true")
    asked = parser.parse_args()
    raise SystemExit(asyncio.run(main(asked.rounds, bind=not asked.without_bind)))
