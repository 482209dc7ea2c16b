"""The time to simulate a large scenario, and whether two runs give the same bytes.

10,000 pods of three priorities run in 200 queues over 500 nodes, half of them over their quota at any time.
2,000 complete in twenty waves, and others take their place. Times are CPU seconds, so a busy machine changes
nothing.
"""

import hashlib
import resource
import time
from pathlib import Path

from e2e.bench.worlds.report import show
from extender.simulator.report.json_report import json_of
from extender.simulator.run import run_scenario
from extender.simulator.scenario.reader import scenario_from

QUEUES, NODES, EACH, WAVES = 200, 500, 50, 20


def scenario() -> str:
    """The scenario file, as text."""
    lines = ["apiVersion: paddock.dev/v1", "kind: Scenario", "name: ten thousand pods", "config:"]
    lines += ["  partitions:", "  - name: default", "    queues:", "    - name: root", "      submitacl: '*'"]
    lines += ["      queues:"]
    lines += [f"      - {{name: q{at}, resources: {{max: {{vcore: {EACH // 2}}}}}}}" for at in range(QUEUES)]
    lines += ["cluster:", f"  nodes: [{{name: n, count: {NODES}, cpu: 16, memory: 64Gi}}]", "steps:"]
    lines += ["  - at: 0s", "    submit:"]
    for queue in range(QUEUES):
        for level in range(3):
            count = EACH // 3 + (level < EACH % 3)
            pod = f"name: p{queue}-{level}, count: {count}, app: a{queue}, queue: root.q{queue}"
            lines.append(f"    - {{{pod}, cpu: 1, memory: 1Gi, priority: {level * 100}}}")
    churn = [f"p{at % QUEUES}-2-{at // QUEUES}" for at in range(QUEUES * EACH // 5)]
    for wave in range(WAVES):
        names = ", ".join(churn[wave * len(churn) // WAVES : (wave + 1) * len(churn) // WAVES])
        lines.append(f"  - {{at: {(wave + 1) * 10}s, complete: [{names}]}}")
    return "\n".join(lines) + "\n"


async def run() -> None:
    text, digests, seconds, attempts = scenario(), [], [], 0
    for _ in range(2):
        started = time.process_time()
        recording = run_scenario(scenario_from(text, file="bench.yaml", folder=Path()))
        data = json_of(recording)
        seconds.append(round(time.process_time() - started, 2))
        digests.append(hashlib.sha256(data.encode()).hexdigest())
        attempts = recording.attempts
    show(
        "simulation",
        pods=QUEUES * EACH,
        attempts=attempts,
        cpu_seconds=seconds,
        same_bytes=digests[0] == digests[1],
        rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    )
