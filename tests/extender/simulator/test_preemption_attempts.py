"""Evictions by a tenant who creates pods, lets them evict and deletes them, for an hour (F-25)."""

from pathlib import Path

import pytest

from extender.simulator.run import run_scenario
from extender.simulator.scenario.reader import scenario_from

HEAD = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: s
config:
  partitions:
    - name: default
      queues:
        - name: root
          submitacl: "*"
          queues:
            - name: a
              resources: {{guaranteed: {{vcore: {pods}}}}}
              properties: {{preemption.delay: {delay}s}}
            - {{name: b}}
cluster: {{nodes: [{{name: n, count: {pods}, cpu: 1}}]}}
steps:
  - at: 0s
    submit: [{{name: v, count: {pods}, app: v, queue: root.b, cpu: 1, recreate: true, grace: 3s}}]
"""


def evictions_in_an_hour(*, pods: int, delay: int, every: int) -> int:
    """``pods`` are created at once, deleted a second after their evictions, and created again."""
    text = HEAD.format(pods=pods, delay=delay)
    for number, at in enumerate(range(10, 3610, every)):
        names = ", ".join(f"q{number}-{each}" for each in range(pods))
        pod = f"{{name: q{number}, count: {pods}, app: q{number}, queue: root.a, cpu: 1}}"
        text += f"  - at: {at}s\n    submit: [{pod}]\n  - at: {at + delay + 1}s\n    delete: [{names}]\n"
    played = run_scenario(scenario_from(f"{text}  - at: 3610s\n", file="s.yaml", folder=Path("/nowhere")))
    return sum(each.kind == "evicted" for each in played.timeline)


@pytest.mark.rule("F-25")
@pytest.mark.parametrize(
    ("pods", "delay", "every", "most"),
    [(1, 1, 8, 20), (1, 30, 40, 20), (5, 30, 40, 60)],
    ids=["short delay", "one by one", "five at once"],
)
def test_evicting_in_vain_does_not_pay(pods: int, delay: int, every: int, most: int) -> None:
    """Without the waits it would be 450, 90 and 450 in an hour."""
    assert 0 < evictions_in_an_hour(pods=pods, delay=delay, every=every) <= most
