"""Histories of administration: moves, ends, closed queues, time-outs, tenants, restarts and failovers.

Rules for each history:

- The sums equal the audit after each step, in the acting process and in the standby (ACT-30).
- A moved application is where its order says, or waits for the move. The order stays while pods run (ACT-33).
- No move brings a queue, a user or a group above a max, at once or later (ACT-31).
- Only pods of an order's time go, and none that is exempt (ACT-20, ACT-21).
- A pod that may be bound is charged (ACT-20).
- No application goes by a time-out before its time, whatever tenants write and what restarts (ACT-41).
- With protected records, it goes when its time is over (ACT-41).
- Once all pods are gone, nothing is left: no timer, no application, no entry but those of closed queues.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from core.decisions.decision import BindNow
from core.ids import RECOVERY_QUEUE, AppId, QueuePath
from core.ledger import events as on
from core.ledger.pods.record import Held
from core.queues.queue import Closure
from core.queues.users.identity import Identity
from core.workload.application import Application
from core.workload.ending import Ending
from core.workload.pod import PodFacts
from core.workload.states import AppState
from core.workload.timeouts.execution import LEAST_NOTICE
from extender.actions.ending import EndedApplication, EndOrder, ending_for, lifted
from extender.actions.moving import MoveProspect, order_for
from tests.builders import OF_AGENTS, bind_called, filtered
from tests.histories.administration.cluster import Cluster
from tests.histories.administration.scene import (
    APPS,
    CHOICES,
    DOCUMENTS,
    NEVER,
    QUEUES,
    SPANS,
    STEPS,
    UNNOTICED,
    USERS,
    Life,
    forged,
    goes_on,
    limit_of,
)


class History:
    """A cluster, what its tenants and administrators do, and what must hold."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.notes: list[str] = []
        self.cluster = Cluster(self.chance, DOCUMENTS)
        self.lives: dict[AppId, Life] = {}
        self.orders: dict[AppId, list[Ending]] = {}
        self.over: dict[AppId, float] = {}
        self.serial = 0

    # -- tenants ---------------------------------------------------------------------------------------------

    def submit(self) -> None:
        chance, at = self.chance, self.chance.randrange(3)
        self.serial += 1
        facts: dict[str, Any] = {"identity": Identity(USERS[at % 2], ())}
        if chance.random() < 0.2:
            facts["execution_timeout"] = chance.choice(SPANS)
        if chance.random() < 0.1 and not self.cluster.settings.records_protected:
            facts |= forged(self.chance)
        if chance.random() < 0.1:
            facts |= OF_AGENTS if chance.random() < 0.5 else {**OF_AGENTS, "labels": {}}
        if chance.random() < 0.1:
            facts["controller"] = chance.choice(("ReplicaSet.apps/web", "Job.batch/work"))
        if chance.random() < 0.05:
            facts["node"] = "n1"
            facts["scheduled_at"] = float(int(self.cluster.now))
        app = f"app-{at}" if chance.random() < 0.95 else ""
        namespace = "default" if chance.random() < 0.95 else "kube-system"
        queue = chance.choice(QUEUES)
        self.cluster.create(f"p{self.serial}", queue=queue, app=app, cpu=1000, namespace=namespace, **facts)

    def edit(self) -> None:
        """Write annotations or labels, as the author of a pod may."""
        for pod in self.some():
            change = self.chance.randrange(4)
            if change == 0:
                self.cluster.write(replace(pod, execution_timeout=self.chance.choice(SPANS)))
            elif change == 1:
                self.cluster.write(replace(pod, app_id=self.chance.choice(APPS).name))
            elif change == 2:
                self.cluster.write(replace(pod, queue=self.chance.choice(QUEUES)))
            elif not self.cluster.settings.records_protected:
                self.cluster.write(replace(pod, **forged(self.chance)))  # type: ignore[arg-type]

    def delete(self) -> None:
        for pod in self.some():
            self.cluster.delete(pod.name)

    def some(self, wanted: Callable[[PodFacts], bool] = lambda _: True) -> list[PodFacts]:
        found = [pod for _, pod in sorted(self.cluster.pods.items()) if wanted(pod)]
        return [self.chance.choice(found)] if found else []

    # -- kube-scheduler --------------------------------------------------------------------------------------

    def place(self) -> None:
        """Have a pod admitted and bound, or only begin with it."""
        host = self.cluster.leader
        host.catch_up()
        for pod in self.some(lambda each: not each.node and not each.deleting):
            filtered(host.ledger, pod.uid, now=host.heard, effects=host.outbox)
            if self.chance.random() < 0.2:
                return
            verdict = bind_called(host.ledger, pod.uid, now=host.heard, effects=host.outbox)
            if not isinstance(verdict, BindNow) or self.chance.random() < 0.1:
                return
            self.cluster.end_bind(host, pod.uid)

    # -- administrators --------------------------------------------------------------------------------------

    def move(self) -> None:
        cluster, app_id, path = self.cluster, self.chance.choice(APPS), QueuePath(self.chance.choice(QUEUES))
        view, store = cluster.leader.ledger.view, cluster.store
        found, application = MoveProspect.of(view, app_id, path), view.application(app_id)
        if found is None or application is None or found.refusal is not None:
            return
        known, now = store.moved.get(app_id), cluster.leader.heard
        store.moved[app_id] = order_for(found, known, path, by="ann", reason="", now=now)
        over = set(view.over_max)
        cluster.order()
        assert application.queue == path, f"{app_id} is in {application.queue}, not in {path}"
        assert set(view.over_max) <= over, "a move broke a max"
        self.unsettle(app_id)

    def end(self) -> None:
        cluster, app_id = self.cluster, self.chance.choice(APPS)
        application = cluster.leader.ledger.view.application(app_id)
        if application is None or not application.pods:
            return
        found = EndedApplication.of(cluster.leader.ledger.view, app_id)
        assert found is not None
        order = EndOrder("ann", "", self.chance.choice((0, 30, 600)), force=self.chance.random() < 0.3)
        now = cluster.leader.heard
        ending = ending_for(cluster.store.ended.get(app_id), found, order, now=now)
        cluster.store.ended[app_id] = ending
        self.orders.setdefault(app_id, []).append(ending)
        cluster.order()

    def lift(self) -> None:
        for app_id, ending in sorted(self.cluster.store.ended.items()):
            self.cluster.store.ended[app_id] = lifted(ending, now=self.cluster.leader.heard)
        self.cluster.order()

    def close(self) -> None:
        path, now = QueuePath(self.chance.choice(QUEUES)), self.cluster.leader.heard
        until = self.chance.choice((None, now + 60))
        self.cluster.store.closed[path] = Closure("ann", now, "", until)
        self.cluster.order()

    def open(self) -> None:
        self.cluster.store.closed.clear()
        self.cluster.order()

    def configure(self) -> None:
        document = self.chance.choice(DOCUMENTS)
        if any(host.ledger.view.conflicts(document) for host in self.cluster.hosts):
            return
        self.cluster.document = document
        for host in self.cluster.hosts:
            host.learn(on.Configured(document, self.cluster.settings))
        self.unsettle(*self.lives)

    # -- the world -------------------------------------------------------------------------------------------

    def wait(self) -> None:
        self.pass_time(self.chance.choice((1, 5, 31, 61, 120, 290, 400)))

    def pass_time(self, seconds: float) -> None:
        """Let time pass, timer by timer, as the server's loop does."""
        cluster = self.cluster
        until = cluster.now + seconds
        while cluster.now < until:
            host = cluster.leader
            due = host.ledger.view.next_due()
            step = until if due is None else min(until, max(due + cluster.skew, cluster.now + 0.1))
            cluster.now = step
            over, known = set(host.ledger.view.over_max), list(host.ledger.view.applications())
            unplaced = [each for each in known if each.queue is None]
            host.learn(on.TimePassed())
            # What an application that fails leaves is a new one. After the bar it is where its labels say.
            is_same = list(map(id, known)) == list(map(id, host.ledger.view.applications()))
            is_same = is_same and all(each.queue is None for each in unplaced)
            assert not is_same or set(host.ledger.view.over_max) <= over, "a late move broke a max"
            cluster.hosts[1].learn(on.TimePassed())
            cluster.carry_out()
            self.observe(is_on_time=True)

    def terminate(self) -> None:
        for name, pod in sorted(self.cluster.pods.items()):
            if pod.deleting:
                self.cluster.delete(name)

    def shift(self) -> None:
        """Set the clocks apart. A host's own clock never goes back: it stands still until it is right."""
        self.cluster.skew = self.chance.choice((0.0, 0.0, 3.0, 40.0, -40.0))
        for host in self.cluster.hosts:
            host.compare()
        self.unsettle(*self.lives)

    def disturb(self) -> None:
        self.cluster.budget = self.chance.random() < 0.4
        self.cluster.breaks = self.chance.random() < 0.4

    def kill(self) -> None:
        self.tidy()
        if self.chance.random() < 0.5:
            self.cluster.carry_out(self.chance.randrange(4))
        if self.cluster.leader.outbox:
            self.unsettle(*self.lives)
        self.cluster.kill()
        self.restarted()

    def resign(self) -> None:
        self.cluster.carry_out()
        self.cluster.resign()
        self.restarted()

    def restarted(self) -> None:
        self.cluster.leader.catch_up()
        before, self.lives = self.lives, {}
        for application in self.cluster.leader.ledger.view.applications():
            # Pods in the recovery queue belong to it, too, and another instance may have them elsewhere.
            parts = (application.id._replace(recovered=each) for each in (False, True))
            known = [before[each] for each in parts if each in before]
            life = min(known, key=lambda each: NEVER if each.ran is None else each.ran, default=None)
            if life is not None:
                times = self.cluster.times_of(application.pods)
                protected = self.cluster.settings.records_protected
                self.lives[application.id] = life.taken_over(application, times, protected=protected)
            elif not application.pods:
                # What an instance itself remembers counts for an application without pods (ACT-41).
                self.lives[application.id] = Life(application, application.running_since)

    def tidy(self) -> None:
        """Remove entries that are over, as the server does. An order stays while pods of its time run."""
        cluster = self.cluster
        cluster.leader.catch_up()
        self.observe()
        view, store = cluster.leader.ledger.view, cluster.store
        for app_id in [each for each in store.moved if view.moves.is_over(each)]:
            order = store.moved.pop(app_id)
            # It has ended, and what is exempt or was pending then is a new application.
            ended = self.over.get(app_id) == order.since
            held = [
                pod.name
                for pod in cluster.pods.values()
                if (pod.app_id, pod.namespace, pod.taken_as) == (*app_id[:2], "") and pod.node
                if pod.created <= order.since and not pod.deleting and goes_on(view, pod)
            ]
            assert ended or not held, f"the order about {app_id} left {held}"
        now = cluster.leader.heard
        store.ended = {
            each: order for each, order in store.ended.items() if view.is_ended(each) or order.until > now
        }
        store.closed = {
            each: order for each, order in store.closed.items() if order.until is None or order.until > now
        }
        cluster.order()

    # -- what must hold --------------------------------------------------------------------------------------

    def unsettle(self, *app_ids: AppId) -> None:
        for app_id in self.lives.keys() & app_ids:
            self.lives[app_id].steady = False

    def observe(self, *, is_on_time: bool = False) -> None:
        """Note applications and their limits, and judge what was ended. ``is_on_time``: after all timers."""
        cluster, view = self.cluster, self.cluster.leader.ledger.view
        for pod, effect in cluster.ended_now():
            self.judge_removal(pod, effect)
        for app_id in list(self.lives):
            former = self.lives[app_id].application
            if view.application(app_id) is not former:
                del self.lives[app_id]
        # The standby may lead next, so what it has seen counts, too.
        for app_id in {each for host in cluster.hosts for each in host.ended_since()}:
            if app_id in cluster.store.moved:
                self.over[app_id] = cluster.store.moved[app_id].since
        for application in view.applications():
            life = self.lives.setdefault(application.id, Life(application))
            life.note_run(cluster.now, cluster.relabelled)
            limit = limit_of(view, application)
            if limit is not None and limit < life.least:
                life.shortened = cluster.now if life.least is not NEVER or life.ran != cluster.now else None
                life.least = limit
            if cluster.breaks or cluster.budget or cluster.has_wrong_clocks():
                life.steady = False
            if is_on_time:
                self.judge_lateness(application, life, limit)

    def judge_lateness(self, application: Application, life: Life, limit: float | None) -> None:
        on_time = life.steady and life.ran is not None and limit is not None and limit == life.least
        if not on_time or not self.cluster.settings.records_protected or application.ends:
            return
        assert life.ran is not None
        assert limit is not None
        latest = max(life.ran + limit, (life.shortened or 0.0) + LEAST_NOTICE) + 2
        counts = application.state is AppState.RUNNING and application.queue is not None
        assert not counts or self.cluster.now < latest, (
            f"{application.id} runs beyond its time, {life.ran} {limit}"
        )

    def judge_removal(self, pod: PodFacts, effect: object) -> None:
        assert pod.namespace != "kube-system", f"{pod.name} is exempt"
        assert not (pod.daemon_set is not None and pod.labels), f"{pod.name} is of a DaemonSet"
        # Its label may have led to another application when it was taken in.
        if any(pod.created <= each.through for orders in self.orders.values() for each in orders):
            return
        record = self.cluster.leader.ledger.view.pod(pod.uid)
        app_id = record.membership.application if record is not None else None
        life = self.lives.get(app_id) if app_id is not None else None
        if life is None:
            return
        assert life.ran is not None, f"{pod.name} never ran for long"
        earliest = life.ran + life.least - UNNOTICED
        assert self.cluster.now >= earliest, f"{pod.name} went at {self.cluster.now}, before {earliest}"

    def check(self) -> None:
        cluster = self.cluster
        for host in cluster.hosts:
            host.check()
        view = cluster.leader.ledger.view
        for app_id, order in cluster.store.moved.items():
            application = view.application(app_id)
            if application is None or application.ends or view.moves.is_over(app_id):
                continue
            if application.identity.user != order.user:
                # A relabelled pod defines it since a takeover, and its user may not use the target (ACT-33).
                continue
            target = view.tree.get(order.queue)
            usable = target is not None and target.is_leaf and not target.draining
            due, where = view.moves.is_due(app_id), application.queue
            if usable and where is not None and application.state is not AppState.REJECTED:
                assert where == order.queue or due, f"{app_id} is in {where}"
            assert where in (order.queue, None, RECOVERY_QUEUE) or due, f"{app_id} is in {where}"
            for uid in application.pods:
                charge = view.charge_of(uid)
                if charge is not None and charge.held is not Held.PENDING:
                    assert charge.queue == where, f"{uid} counts in {charge.queue}, not in {where}"

    # -- play ------------------------------------------------------------------------------------------------

    def play(self) -> None:
        for _ in range(self.chance.randrange(2, 7)):
            self.step("submit")
            self.step("place")
        for _ in range(STEPS):
            self.step(self.chance.choice(CHOICES))
        self.finish()

    def step(self, name: str) -> None:
        self.notes.append(f"{self.cluster.now - 1_000_000:.1f} {name}")
        (getattr(self, name, None) or getattr(self.cluster, name))()
        if self.chance.random() < 0.9:
            self.cluster.leader.catch_up()
            self.cluster.carry_out()
        if self.chance.random() < 0.5:
            self.cluster.hosts[1].catch_up()
        self.observe()
        self.check()

    def finish(self) -> None:
        """Delete every pod. Nothing is left after all bars and states have ended."""
        cluster = self.cluster
        cluster.budget = cluster.breaks = False
        for name in list(cluster.pods):
            cluster.delete(name)
        self.cluster.end_binds()
        for host in cluster.hosts:
            host.catch_up()
        self.pass_time(700)
        self.pass_time(700)
        self.tidy()
        self.check()
        view = cluster.leader.ledger.view
        assert list(view.applications()) == [], list(view.applications())
        assert (cluster.store.moved, cluster.store.ended) == ({}, {})
        assert view.next_due() is None


def play(seed: int) -> None:
    """Play a history. Raises AssertionError with its steps."""
    history = History(seed)
    try:
        history.play()
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}\n" + "\n".join(history.notes)) from error
