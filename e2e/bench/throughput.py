"""(a) Cluster throughput: pods bound per second without an extender, with an echo, and with Paddock.

500 fake nodes, 2,000 pods in 50 leaf queues, identical scheduler settings. Rounds alternate, and ratios are
medians. Then the same again while 10,000 gated pods wait in full queues. Paddock's CPU time is printed
because rates depend on how busy the machine is.
"""

import os
import statistics

from e2e.bench.worlds.arena import LEAVES, NODES, PODS, Arena, arena, backlog, bound_while_created, extenders
from e2e.bench.worlds.echo import start_echo
from e2e.bench.worlds.report import ratio, show

ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "3"))
VERBS = {
    "four verbs": ("filter", "prioritize", "preempt", "bind"),
    "filter and preempt": ("filter", "preempt"),
}
WAITING, FULL = 10_000, 20
"""Pods of the backlog, and the queues in which they wait."""

ROUNDS_WITH_BACKLOG = min(ROUNDS, 2)
CPU = "paddock's CPU"

Rates = dict[str, list[float]]
Ratios = dict[str, float]


async def run() -> None:
    """Print pods bound per second and the ratios, without and with the backlog."""
    full = {f"full{at}": {"max": {"vcore": "0", "memory": "1"}} for at in range(FULL)}
    tree = {f"q{at}": {"max": {"vcore": "1000"}} for at in range(LEAVES)}
    async with arena(tree | full) as here:
        echo = start_echo(here.cluster.control_plane, here.stack)
        rates = await _rounds(here, echo, ROUNDS)
        without = _ratios(rates)
        _show("cluster throughput", rates, rounds=ROUNDS, ratios=without)
        seconds = await backlog(here, WAITING, [f"root.{name}" for name in full])
        rates = await _rounds(here, echo, ROUNDS_WITH_BACKLOG)
    ratios = _ratios(rates)
    _show(
        "cluster throughput, with a gated backlog",
        rates,
        rounds=ROUNDS_WITH_BACKLOG,
        ratios=ratios,
        waiting=WAITING,
        seconds_until_all_were_told=round(seconds, 1),
        against_without={name: round(ratio / without[name], 3) for name, ratio in ratios.items()},
        target="1, within noise",
    )


async def _rounds(here: Arena, echo: str, rounds: int) -> Rates:
    """Pods bound per second; for `CPU`, seconds per round with filter and preempt."""
    rates: Rates = {}
    for _ in range(rounds):
        rates.setdefault("none", []).append(await bound_while_created(here, []))
        for name, verbs in VERBS.items():
            for kind, url in (("echo", echo), ("paddock", here.url)):
                before = here.paddock.cpu_seconds
                rate = await bound_while_created(here, extenders(url, verbs))
                rates.setdefault(f"{kind}, {name}", []).append(rate)
        rates.setdefault(CPU, []).append(here.paddock.cpu_seconds - before)
    return rates


def _ratios(rates: Rates) -> Ratios:
    ratios: Ratios = {}
    for name in VERBS:
        ratios[f"echo/none, {name}"] = ratio(rates[f"echo, {name}"], rates["none"])
        ratios[f"paddock/none, {name}"] = ratio(rates[f"paddock, {name}"], rates["none"])
        ratios[f"paddock/echo, {name}"] = ratio(rates[f"paddock, {name}"], rates[f"echo, {name}"])
    return ratios


def _show(what: str, rates: Rates, **more: object) -> None:
    figures = {name: round(statistics.median(each), 1) for name, each in rates.items() if name != CPU}
    cpu = round(statistics.median(rates[CPU]) / PODS * 1e6)
    show(what, unit="pods/s", nodes=NODES, pods=PODS, **figures, **more, paddock_cpu_us_per_pod=cpu)
