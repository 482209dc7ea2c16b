"""Each alert of ``manifests/monitoring`` fires when it should and not before, by Prometheus' own rule tests.

Needs `promtool` and fails without it.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.programs.prometheus import program_path

ROOT = Path(__file__).parents[3]
MONITORING = ROOT / "manifests" / "monitoring"
SPEC: dict[str, Any] = yaml.safe_load((MONITORING / "rules.yaml").read_text())["spec"]
ALERTS: dict[str, Any] = {rule["alert"]: rule for group in SPEC["groups"] for rule in group["rules"]}

A = 'queue="root.a", resource="vcore", instance="i"'


QUOTA = "QuotaExceeded"


def of_queue(**values: str) -> dict[str, str]:
    return {f"paddock_queue_{name}{{{A}}}": value for name, value in values.items()}


# An alert, the series that make it fire, and those that are close to it and do not. Values are one a minute.
CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "PaddockQueueNearMax": (
        of_queue(allocated="96x300", max="100x300", pending="1x300"),
        of_queue(allocated="96x300", max="100x300", pending="0x300"),
    ),
    "PaddockGuaranteeStarved": (
        of_queue(allocated="4x300", guaranteed="5x300", pending="1x300"),
        of_queue(allocated="5x300", guaranteed="5x300", pending="1x300"),
    ),
    "PaddockPodsWaitLong": (
        {f'paddock_pending_oldest_timestamp_seconds{{code="{QUOTA}"}}': "6000x300"},
        {f'paddock_pending_oldest_timestamp_seconds{{code="{QUOTA}"}}': "7300x300"},
    ),
    "PaddockRefusedOften": (
        {f'paddock_decisions_total{{verb="filter", code="{QUOTA}"}}': "0+600x300"},
        {'paddock_decisions_total{verb="filter", code="Admitted"}': "0+600x300"},
    ),
    "PaddockOverMax": (
        {'paddock_over_max{kind="queue"}': "1x300"},
        {'paddock_over_max{kind="queue"}': "0x300"},
    ),
    "PaddockManyEvictions": (
        {'paddock_preemption_victims_total{kind="guarantee"}': "0+5x300"},
        {'paddock_preemption_victims_total{kind="guarantee"}': "0+1x300"},
    ),
    "PaddockBreach": (
        {"paddock_preemption_breaches_total": "1x300"},
        {"paddock_preemption_breaches_total": "0x300"},
    ),
    "PaddockDrift": ({"paddock_audit_drift": "1x300"}, {"paddock_audit_drift": "0x300"}),
    "PaddockNotLeading": (
        {'paddock_leading{instance="i"}': "0x300", 'paddock_leading{instance="j"}': "0x300"},
        {'paddock_leading{instance="i"}': "1x300", 'paddock_leading{instance="j"}': "0x300"},
    ),
    "PaddockNotReady": ({'paddock_synced{instance="i"}': "0x300"}, {'paddock_synced{instance="i"}': "1x300"}),
    "PaddockWatchStale": (
        {'paddock_watch_stale_seconds{kind="pods", instance="i"}': "61x300"},
        {'paddock_watch_stale_seconds{kind="pods", instance="i"}': "30x300"},
    ),
    "PaddockConfigurationRefused": (
        {"paddock_configuration_refused": "1x300"},
        {"paddock_configuration_refused": "0x300"},
    ),
    "PaddockConfigurationMissing": (
        {"paddock_configuration_missing": "1x300"},
        {"paddock_configuration_missing": "0x300"},
    ),
}
AT = 240
"""Minute at which is asked."""


def judged(
    folder: Path, alert: str, series: dict[str, str], *, fires: bool
) -> subprocess.CompletedProcess[str]:
    """Result of one rule test, which says whether the alert fires."""
    (folder / "rules.json").write_text(json.dumps({"groups": SPEC["groups"]}))
    (folder / "test.json").write_text(json.dumps(_rule_test(alert, series, fires=fires)))
    return subprocess.run(
        [program_path("promtool"), "test", "rules", str(folder / "test.json")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _rule_test(alert: str, series: dict[str, str], *, fires: bool) -> dict[str, Any]:
    """The number of alerts that fire is compared, so that no text of a summary stands here again."""
    counted = f'count(ALERTS{{alertname="{alert}", alertstate="firing"}}) or vector(0)'
    expected = [{"labels": "{}", "value": 1 if fires else 0}]
    return {
        "rule_files": ["rules.json"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [{"expr": counted, "eval_time": f"{AT}m", "exp_samples": expected}],
            }
        ],
    }


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_fires(tmp_path: Path, alert: str) -> None:
    ended = judged(tmp_path, alert, CASES[alert][0], fires=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_does_not_fire_for_what_is_close_to_it(tmp_path: Path, alert: str) -> None:
    ended = judged(tmp_path, alert, CASES[alert][1], fires=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_queue_that_uses_nothing_at_all_is_starved(tmp_path: Path) -> None:
    """An amount of 0 has no series."""
    ended = judged(
        tmp_path, "PaddockGuaranteeStarved", of_queue(guaranteed="5x300", pending="1x300"), fires=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_wrong_expectation_is_noticed(tmp_path: Path) -> None:
    assert judged(tmp_path, "PaddockDrift", CASES["PaddockDrift"][1], fires=True).returncode != 0


def test_each_alert_has_both_cases() -> None:
    assert set(CASES) == set(ALERTS)


@pytest.mark.parametrize("alert", ALERTS)
def test_each_alert_has_a_summary_and_leads_to_its_paragraph(alert: str) -> None:
    notes = ALERTS[alert]["annotations"]
    assert notes["summary"].endswith(".")
    file, _, anchor = notes["runbook_url"].partition("#")
    headings = re.findall(r"^### (\w+)$", (ROOT / file).read_text(), re.MULTILINE)
    assert alert in headings
    assert anchor == alert.lower()
    assert ALERTS[alert]["labels"]["severity"] in {"info", "warning", "critical"}


def test_alerts_and_boards_ask_for_metrics_that_there_are() -> None:
    known = set(re.findall(r"`(paddock_\w+)`", (ROOT / "docs/reference/metrics.md").read_text()))
    asked = {
        re.sub(r"_bucket$", "", name)
        for path in MONITORING.glob("*.yaml")
        for name in re.findall(r"paddock_\w+", path.read_text())
    }
    assert asked
    assert asked <= known
