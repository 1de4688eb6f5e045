"""deploy/prometheus and deploy/grafana, judged by Prometheus's own tool: the alerts are valid and call when they
should, and every query of the dashboard can be read and asks for metrics that Penstock has."""
import json
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

PROMTOOL = shutil.which("promtool", path="/usr/bin:/usr/local/bin")
PROMETHEUS = ROOT / "deploy" / "prometheus"
RULES = PROMETHEUS / "penstock-dispatch.rules.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "penstock-dispatch.json"
# What dispatch reports, and its labels beside `le` and those that Prometheus adds.
METRICS = {
    "dispatch_batch_claimed_total", "dispatch_workflow_started_total", "dispatch_workflow_start_failures_total",
    "dispatch_cycle_duration_seconds", "dispatch_queue_depth", "dispatch_lateness_seconds",
    "dispatch_pace_used_ratio", "dispatch_paused", "dispatch_lease_held",
}

pytestmark = pytest.mark.skipif(PROMTOOL is None,
                                reason="skipped: promtool is not installed (tools/setup servers)")


def promtool(*arguments):
    run = subprocess.run([PROMTOOL, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def dashboard_queries():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def metrics_of(text):
    return {re.sub("_bucket$", "", name) for name in re.findall(r"\bdispatch_[a-z_]+", text)}


def test_the_alerts_are_valid():
    assert "8 rules found" in promtool("check", "rules", RULES)


def test_the_alerts_call_when_they_should():
    assert "SUCCESS" in promtool("test", "rules", PROMETHEUS / "penstock-dispatch.test.yml")


def test_every_alert_is_seen_calling():
    names = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    tests = (PROMETHEUS / "penstock-dispatch.test.yml").read_text()
    assert names == set(re.findall(r"alertname: (\w+)\n\s+exp_alerts", tests))


def test_every_query_of_the_dashboard_can_be_read(tmp_path):
    lines = ["groups:", "- name: dashboard", "  rules:"]
    for number, query in enumerate(dashboard_queries()):
        query = query.replace("$__rate_interval", "1m").replace("$item_type", ".*")
        assert "$" not in query, query
        lines += [f"  - record: query_{number}", f"    expr: {json.dumps(query)}"]
    rules = tmp_path / "dashboard.yml"
    rules.write_text("\n".join(lines) + "\n")
    promtool("check", "rules", rules)


def test_alerts_and_dashboard_ask_for_metrics_that_exist():
    assert metrics_of(RULES.read_text()) <= METRICS
    assert metrics_of("\n".join(dashboard_queries())) == METRICS
