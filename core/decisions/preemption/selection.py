"""Selection of victims: taking them one by one under the laws, and returning those not needed.

A `Trial` takes victims as PRE-13 does, and gives their capacity to the ask's queue. A `Choice` holds the
victims taken and tells whether they are enough.
"""

from collections.abc import Iterable, Mapping

from core.decisions.preemption import laws
from core.decisions.preemption.case import Case
from core.decisions.preemption.receipts import Victim
from core.ids import NodeName, QueuePath
from core.queues.guarantees import below_common, remaining
from core.queues.queue import Queue

SIZE = "PRE-13"
"""Not a law: the victim is larger than what the ask's queue lacks."""


class Trial:
    """Usage while victims are taken. Each is removed from its queue, and its capacity placed in the ask's."""

    __slots__ = ("_below", "_case", "_excess", "_usage")

    def __init__(self, case: Case) -> None:
        self._case = case
        self._usage = case.usage.before()
        self._below: dict[QueuePath, tuple[Queue, ...]] = {}
        self._excess = _excess(case)

    def take(self, victim: Victim, leaf: Queue) -> str:
        """Take a victim if the laws allow it. Otherwise return what forbids it: LAW-5, LAW-2 or `SIZE`.

        A refused victim is skipped, and the next one is tried (DIV-12).
        """
        case, usage, size = self._case, self._usage, victim.size
        if not laws.is_above_guarantee(remaining(usage, leaf, case.leaf), case.wanted):
            return "LAW-5"
        if not laws.keeps_guarantee(usage, self._below_common(leaf), size):
            return "LAW-2"
        usage.remove(leaf, size)
        lacks = remaining(usage, case.leaf, case.leaf)
        excess = self._excess
        if lacks is None or any(
            amount > lacks[name] + excess.get(name, 0) for name, amount in size.items() if name in lacks
        ):
            usage.place(leaf, size)
            return SIZE
        usage.place(case.leaf, size)
        return ""

    def _below_common(self, leaf: Queue) -> tuple[Queue, ...]:
        below = self._below.get(leaf.path)
        if below is None:
            below = self._below[leaf.path] = below_common(leaf, self._case.leaf)
        return below


def _excess(case: Case) -> Mapping[str, int]:
    """Amounts by which an ask may push its queue above its guarantee (DIV-10)."""
    rest = remaining(case.usage, case.leaf, case.leaf)
    if rest is None or not case.settings.may_exceed_guarantee:
        return {}
    return {name: max(0, amount - rest[name]) for name, amount in case.wanted.items() if name in rest}


class Choice:
    """Victims taken for an ask on one node, and what is still missing after their eviction."""

    __slots__ = ("_case", "_free", "_leaves", "_node", "_usage", "victims")

    def __init__(self, case: Case, node: NodeName, free: Mapping[str, int]) -> None:
        self._case = case
        self._node = node
        self._free = dict(free)
        self._usage = case.usage.before()
        self._leaves: dict[QueuePath, Queue] = {}
        self.victims: list[Victim] = []

    def add(self, victim: Victim, leaf: Queue) -> None:
        """Add a victim."""
        self._leaves[leaf.path] = leaf
        self.victims.append(victim)
        self._usage.remove(leaf, victim.size)
        self._shift(victim, 1)

    def give_back(self, keep: frozenset[Victim] = frozenset()) -> None:
        """Drop victims while the others are enough, the least willing first. ``keep``: victims to leave."""
        for victim in sorted(self.victims, key=lambda each: each.order, reverse=True):
            if victim not in keep:
                self._drop(victim)
                if not self.suffices():
                    self._take_again(victim)

    def suffices(self) -> bool:
        """True if the ask fits its node and its queues after the evictions, within its guarantee."""
        return not (self.lacking() or self.short() or self.uncovered()) and self._stays_below()

    def lacking(self) -> dict[str, int]:
        """Amounts that the node still lacks."""
        return lacking(self._free, self._case.wanted)

    def short(self) -> list[tuple[Queue, str, int]]:
        """Amounts by which the ask would break a max on its way up."""
        found = []
        for queue in self._case.leaf.chain:
            if queue.max is None:
                continue
            used = self._usage.used(queue)
            for name, amount in self._case.wanted.items():
                cap = queue.max.get(name)
                if cap is not None and (excess := used.get(name, 0) + amount - cap) > 0:
                    found.append((queue, name, excess))
        return found

    def uncovered(self) -> dict[str, int]:
        """With ``paddock.preemption.victims: yunikorn``: amounts that victims alone do not cover (PRE-17)."""
        if not self._case.settings.whole_ask:
            return {}
        total: dict[str, int] = {}
        for victim in self.victims:
            for name, amount in victim.size.items():
                total[name] = total.get(name, 0) + amount
        wanted = self._case.wanted
        return {
            name: amount - total.get(name, 0)
            for name, amount in wanted.items()
            if total.get(name, 0) < amount and (name in total or not total)
        }

    def _stays_below(self) -> bool:
        """LAW-4, after the evictions."""
        case = self._case
        rest = remaining(self._usage, case.leaf, case.leaf)
        return laws.is_below_guarantee(rest, case.wanted, may_exceed=case.settings.may_exceed_guarantee)

    def _drop(self, victim: Victim) -> None:
        self.victims.remove(victim)
        self._usage.place(self._leaves[victim.queue], victim.size)
        self._shift(victim, -1)

    def _take_again(self, victim: Victim) -> None:
        self.add(victim, self._leaves[victim.queue])

    def _shift(self, victim: Victim, sign: int) -> None:
        if victim.node == self._node:
            for name, amount in victim.size.items():
                self._free[name] = self._free.get(name, 0) + sign * amount


def lacking(free: Mapping[str, int], wanted: Mapping[str, int]) -> dict[str, int]:
    """Wanted amounts that are not free. Negative free amounts add to them."""
    return {name: amount - free.get(name, 0) for name, amount in wanted.items() if free.get(name, 0) < amount}


def fits(free: Mapping[str, int], wanted: Mapping[str, int]) -> bool:
    """True if nothing is lacking."""
    for name, amount in wanted.items():  # noqa: SIM110 - asked of every node: a generator costs double
        if free.get(name, 0) < amount:
            return False
    return True


def pick_on_node(
    trial: Trial, short: Mapping[str, int], candidates: Iterable[tuple[Victim, Queue]]
) -> list[tuple[Victim, Queue]] | None:
    """Victims that free what a node lacks, in their order. None if they cannot (PRE-13).

    A victim that frees nothing still missing is skipped: it would be the last resort, and is never needed.
    """
    missing = dict(short)
    taken: list[tuple[Victim, Queue]] = []
    for victim, leaf in candidates:
        if not missing:
            break
        helps = any(victim.size.get(name) > 0 for name in missing)
        if helps and not trial.take(victim, leaf):
            taken.append((victim, leaf))
            missing = {
                name: left for name, amount in missing.items() if (left := amount - victim.size.get(name)) > 0
            }
    return taken if not missing else None
