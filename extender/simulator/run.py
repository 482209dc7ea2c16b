"""The steps of a scenario, played in their order, and the record at the end."""

from collections.abc import Callable, Iterable
from functools import partial

from core.errors import PaddockError
from extender.simulator.administration import (
    close_queue,
    end_application,
    lift_bar,
    move_application,
    open_queue,
)
from extender.simulator.cluster.api_server import Refusal
from extender.simulator.cluster.played_objects import Pod
from extender.simulator.expectations import Expectations
from extender.simulator.report.recording import Difference, Recording
from extender.simulator.scenario.checks import Resize
from extender.simulator.scenario.fields import Named
from extender.simulator.scenario.model import Mistake, Scenario, ScenarioError, Step
from extender.simulator.scenario.objects import config_map_of
from extender.simulator.scheduler.scheduler import Spinning
from extender.simulator.simulation import Between, Cluster

Watch = Callable[[int, int], None]
"""Callback after each instant: time in milliseconds, and attempts so far."""


def run_scenario(
    scenario: Scenario, *, watch: Watch | None = None, between: Between | None = None
) -> Recording:
    """Play a scenario to its last step. ``between``: see `Cluster`.

    Raises `ScenarioError` for a scenario that cannot be played. Examples are a step that names a missing
    object, a first configuration that is refused, and a pod that is tried without end.
    """
    return _Run(scenario, watch, between).play()


class _Run:
    def __init__(self, scenario: Scenario, watch: Watch | None, between: Between | None) -> None:
        self._scenario = scenario
        self._watch = watch
        self._end = scenario.steps[-1].at if scenario.steps else 0
        self._differences: list[Difference] = []
        self._checks = 0
        try:
            self._cluster = Cluster(scenario, between=between)
        except PaddockError as error:
            raise self._error(scenario.config.line, "config", str(error)) from error
        except Refusal as error:
            raise self._error(None, "cluster.nodes", str(error)) from error
        self._config_text = scenario.config.text
        self._settings = dict(scenario.settings)

    def play(self) -> Recording:
        """Play a scenario.

        Calls that are open at the end are broken off, so that nothing of this run continues.
        """
        try:
            return self._played()
        finally:
            self._cluster.paddock.life.end()
            self._cluster.world.loop.drain()

    def _played(self) -> Recording:
        for at, step in enumerate(self._scenario.steps):
            path = f"steps[{at}]"
            try:
                self._cluster.advance(step.at, self._after_instant)
                self._play(step, path)
            except Spinning as error:
                raise self._error(step.line, path, str(error)) from error
            self._after_instant()
        return self._recording()

    def _after_instant(self) -> None:
        if self._watch is not None:
            self._watch(self._cluster.clock.now, self._cluster.attempts)

    def _error(self, line: int | None, path: str, message: str) -> ScenarioError:
        return ScenarioError(self._scenario.file, (Mistake(line, path, message),))

    # -- one step --------------------------------------------------------------------------------------------

    def _play(self, step: Step, path: str) -> None:
        refused = self._act(step, path)
        self._cluster.settle()
        self._check(step, refused)

    def _act(self, step: Step, path: str) -> str:
        """Run every action of a step, in the format's order.

        The answer: why its configuration was refused, or empty.
        """
        refused = self._reconfigure(step)
        if step.clock_ahead is not None:
            self._cluster.recorder.note("clock", f"Paddock's clock is ahead by {step.clock_ahead} ms")
            self._cluster.paddock.life.engine.compare_clocks(-step.clock_ahead / 1000)
        self._administer(step, path)
        self._change_nodes(step, path)
        for at, entry in enumerate(step.submit):
            for name in entry.names:
                self._try(entry.line, f"{path}.submit[{at}]", partial(self._cluster.submit, entry, name))
        self._change_pods(step, path)
        if step.restart:
            self._restart(step, path)
        if step.stop_scheduler:
            self._cluster.recorder.note("restart", "kube-scheduler stops")
            self._cluster.stop_scheduler()
        if step.restart_scheduler:
            self._cluster.recorder.note("restart", "kube-scheduler restarts")
            self._cluster.restart_scheduler()
        if step.kill is not None:
            self._cluster.paddock.kill_after(step.kill.after, step.kill.nth)
        return refused

    def _reconfigure(self, step: Step) -> str:
        """Edit the ConfigMap, once for the document and once for the settings."""
        refused = ""
        if step.config is not None:
            self._config_text = step.config.text
            refused = self._offer("config", "new configuration")
        if step.settings is not None:
            self._settings |= step.settings
            refused = self._offer("settings", "new settings") or refused
        return refused

    def _offer(self, kind: str, what: str) -> str:
        recorder, world = self._cluster.recorder, self._cluster.world
        recorder.config_error = ""
        world.config_map.clear()
        world.config_map.update(config_map_of(self._config_text, self._settings))
        recorder.note(kind, what)
        self._cluster.paddock.configure()
        return recorder.config_error

    def _administer(self, step: Step, path: str) -> None:
        cluster = self._cluster
        for closing in step.close:
            self._try(closing.line, f"{path}.close", partial(close_queue, cluster, closing))
        self._each(step.open, f"{path}.open", partial(open_queue, cluster))
        for ending in step.end:
            self._try(ending.line, f"{path}.end", partial(end_application, cluster, ending))
        for moving in step.move:
            self._try(moving.line, f"{path}.move", partial(move_application, cluster, moving))
        for lifting in step.lift:
            self._try(lifting.line, f"{path}.lift", partial(lift_bar, cluster, lifting))

    def _change_nodes(self, step: Step, path: str) -> None:
        cluster, api = self._cluster, self._cluster.api
        for entry in step.add_nodes:
            self._try(entry.line, f"{path}.addNodes", partial(cluster.add_nodes, entry))
            for name in entry.names:
                cluster.recorder.note("node", "added", node=name)
        self._each(step.remove_nodes, f"{path}.removeNodes", api.remove_node)
        self._each(step.cordon, f"{path}.cordon", lambda name: api.cordon(name, unschedulable=True))
        self._each(step.uncordon, f"{path}.uncordon", lambda name: api.cordon(name, unschedulable=False))

    def _change_pods(self, step: Step, path: str) -> None:
        api, find = self._cluster.api, self._live_pod
        for resize in step.resize:
            self._resize(resize, path)
        self._each(step.complete, f"{path}.complete", lambda name: api.finish(find(name), "Succeeded"))
        self._each(step.fail, f"{path}.fail", lambda name: api.finish(find(name), "Failed"))
        self._each(step.delete, f"{path}.delete", lambda name: api.delete(find(name)))
        self._each(step.ungate, f"{path}.ungate", lambda name: api.open_gate(find(name), noted=False))

    def _resize(self, resize: Resize, path: str) -> None:
        (name, line), requests = resize.pod, resize.requests
        self._try(line, f"{path}.resize", lambda: self._cluster.api.resize(self._live_pod(name), requests))

    def _restart(self, step: Step, path: str) -> None:
        self._cluster.recorder.note("restart", "Paddock restarts")
        try:
            self._cluster.paddock.restart()
        except PaddockError as error:
            raise self._error(step.line, f"{path}.restart", str(error)) from error

    def _live_pod(self, name: str) -> Pod:
        pod = self._cluster.find_pod(name)
        if pod is None:
            raise Refusal(f"there is no pod {name}")
        return pod

    def _each(self, names: Iterable[Named], path: str, act: Callable[[str], object]) -> None:
        for name, line in names:
            self._try(line, path, partial(act, name))

    def _try(self, line: int, path: str, act: Callable[[], object]) -> None:
        try:
            act()
        except Refusal as error:
            raise self._error(line, path, str(error)) from error

    def _check(self, step: Step, refused: str) -> None:
        expect, recorder = step.expect, self._cluster.recorder
        if refused and (expect is None or not expect.config_rejected):
            line = step.config.line if step.config is not None else step.line
            difference = Difference("config", step.at, line, "accepted", f"refused: {refused}")
            self._differences.append(difference)
        if expect is None:
            return
        checked = Expectations(self._cluster).check(expect, config_error=refused)
        self._differences += checked.differences
        self._checks += checked.count
        recorder.since = type(recorder.since)()

    # -- the end ---------------------------------------------------------------------------------------------

    def _recording(self) -> Recording:
        cluster = self._cluster
        recorder, api = cluster.recorder, cluster.api
        return Recording(
            self._scenario.name,
            self._scenario.file,
            self._end,
            tuple(recorder.timeline),
            recorder.queue_histories(),
            recorder.node_histories(api.all_nodes, api.pods),
            recorder.pod_states(api.pods.values()),
            tuple(self._differences),
            self._checks,
            cluster.attempts,
        )
