"""deploy/prometheus, deploy/grafana and docs/runbook.md, judged by Prometheus's own tool and by real daemons: the alerts are
valid and call when they should, each has its section in the runbook, every query of the dashboards can be read, and all of
them ask for metrics that a daemon reports."""
import json
import re
import shutil
import subprocess

import pytest
from conftest import ROOT, wait_until

PROMTOOL = shutil.which("promtool", path="/usr/bin:/usr/local/bin")
RULES = sorted((ROOT / "deploy" / "prometheus").glob("*.rules.yml"))
DASHBOARDS = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
RUNBOOK = ROOT / "docs" / "runbook.md"
# What our metrics begin with; `up` is Prometheus's own.
METRIC = re.compile(r"\b(?:dispatch|penstock|throttlex|rate_limiter|gateway|payments)_[a-z_]+")

needs_promtool = pytest.mark.skipif(PROMTOOL is None,
                                    reason="skipped: promtool is not installed (tools/setup servers)")


def name_of(path):
    return path.name.split(".")[0]


def promtool(*arguments):
    run = subprocess.run([PROMTOOL, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def alerts_of(rules):
    return re.findall(r"- alert: (\w+)", rules.read_text())


def queries_of(dashboard):
    panels = json.loads(dashboard.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def expressions_of(rules):
    """The queries alone: words in summaries are no metrics."""
    blocks = re.findall(r"expr: (.*?)\n        (?:for|labels):", rules.read_text(), re.DOTALL)
    assert len(blocks) == len(alerts_of(rules))
    return blocks


def metrics_of(texts):
    names = set()
    for text in texts:
        without_labels = re.sub(r"\{[^}]*\}|\((?:item_type|topic|instance|outcome|status|le)[^)]*\)", "", text)
        names |= set(METRIC.findall(without_labels))
    return names


@needs_promtool
@pytest.mark.parametrize("rules", RULES, ids=name_of)
def test_the_alerts_are_valid(rules):
    assert f"{len(alerts_of(rules))} rules found" in promtool("check", "rules", rules)


@needs_promtool
@pytest.mark.parametrize("rules", RULES, ids=name_of)
def test_the_alerts_call_when_they_should(rules):
    assert "SUCCESS" in promtool("test", "rules", rules.with_name(f"{name_of(rules)}.test.yml"))


@pytest.mark.parametrize("rules", RULES, ids=name_of)
def test_every_alert_is_seen_calling_and_keeping_quiet(rules):
    tests = rules.with_name(f"{name_of(rules)}.test.yml").read_text()
    names = set(alerts_of(rules))
    assert names == set(re.findall(r"alertname: (\w+)\n\s+exp_alerts", tests))
    assert names <= set(re.findall(r"\{eval_time: 45m, alertname: (\w+)\}", tests))


@needs_promtool
@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=name_of)
def test_every_query_of_the_dashboard_can_be_read(dashboard, tmp_path):
    lines = ["groups:", "- name: dashboard", "  rules:"]
    for number, query in enumerate(queries_of(dashboard)):
        query = query.replace("$__rate_interval", "1m").replace("$item_type", ".*").replace("$instance", ".*")
        assert "$" not in query, query
        lines += [f"  - record: query_{number}", f"    expr: {json.dumps(query)}"]
    rules = tmp_path / "dashboard.yml"
    rules.write_text("\n".join(lines) + "\n")
    promtool("check", "rules", rules)


def test_dashboards_have_ids_of_their_own_and_panels_that_do_not_overlap():
    boards = [json.loads(each.read_text()) for each in DASHBOARDS]
    assert len({each["uid"] for each in boards}) == len(boards)
    for path, board in zip(DASHBOARDS, boards, strict=True):
        assert board["uid"] == name_of(path)
        assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
        places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]}
        assert len(places) == len(board["panels"])


def test_every_alert_has_a_section_in_the_runbook_and_every_section_an_alert():
    alerts = [name for rules in RULES for name in alerts_of(rules)]
    assert len(set(alerts)) == len(alerts)
    book = RUNBOOK.read_text()
    assert sorted(re.findall(r"^### (\w+)$", book, re.MULTILINE)) == sorted(alerts)
    for section in book.split("\n### ")[1:]:
        for part in ("**Means.**", "**Look.**", "**Do.**"):
            assert part in section, section.splitlines()[0]


def test_every_alert_points_to_its_section():
    for rules in RULES:
        text = rules.read_text()
        for name in alerts_of(rules):
            assert f"runbook_url: docs/runbook.md#{name.lower()}\n" in text, name


def test_the_runbook_says_the_severity_of_each_alert():
    book = RUNBOOK.read_text()
    for rules in RULES:
        for name, severity in re.findall(r"- alert: (\w+)\n.*?labels: \{severity: (\w+)\}", rules.read_text(), re.DOTALL):
            assert f"### {name}\n*{severity}*\n" in book, name


def test_the_runbook_names_other_alerts_that_exist():
    alerts = {name for rules in RULES for name in alerts_of(rules)}
    alert = re.compile(r"\*((?:Penstock|Throttle|Slots|Dispatch|Gateway|Smpp|Payments|Kafka|Resp)\w+)\*")
    for named in alert.findall(RUNBOOK.read_text()):
        assert named in alerts, named


def reported(daemon):
    return set(re.findall(r"^# TYPE (\S+)", daemon.get("/metrics").body.decode(), re.MULTILINE))


@pytest.fixture
def all_metrics(start_daemon, tmp_path, kafka, redis_server):
    """What two daemons report together: one alone with all that is optional, one on a shared engine."""
    alone = start_daemon("--resp", "127.0.0.1:0", data_dir=tmp_path / "alone", env={
        "PENSTOCK_KAFKA_BROKERS": kafka.bootstrap, "PENSTOCK_KAFKA_INTAKE_TOPICS": "in=ORDER",
        "PENSTOCK_GATEWAY_BUS": "kafka", "PENSTOCK_SLOTS_RETENTION_KEEP": "P1D",
        "PENSTOCK_GATEWAY_EXPORT_OPENSEARCH_URL": "http://127.0.0.1:9"})
    shared = start_daemon(data_dir=tmp_path / "shared", env={
        "PENSTOCK_STORE_REDIS_URL": redis_server.url(), "PENSTOCK_THROTTLE_STORE": "redis"})
    settings = {"sink": {"type": "log"}, "maxPerSecond": 100}
    answer = alone.request("PUT", "/admin/dispatch/types/ORDER", json.dumps(settings), {"Content-Type": "application/json"})
    assert answer.status in (200, 201), answer.body
    wait_until(lambda: "dispatch_queue_depth" in reported(alone), 30, "the metrics of the item type")
    return reported(alone) | reported(shared)


def test_alerts_and_dashboards_ask_for_metrics_that_daemons_report(all_metrics):
    def missing(texts):
        names = {re.sub("_(?:bucket|count|sum)$", "", name) if name not in all_metrics else name for name in metrics_of(texts)}
        return names - all_metrics

    for rules in RULES:
        assert missing(expressions_of(rules)) == set(), rules.name
    for dashboard in DASHBOARDS:
        assert missing(queries_of(dashboard)) == set(), dashboard.name


def test_nearly_every_metric_is_on_a_dashboard(all_metrics):
    """What is left out is left out on purpose."""
    left_out = {
        "penstock_dispatch_enqueue_batch_size", "penstock_dispatch_forgotten_total", "penstock_payments_batch_size",
        "penstock_payments_forgotten_total", "dispatch_late_turns_total", "dispatch_slow_downs_total"}
    shown = metrics_of(query for dashboard in DASHBOARDS for query in queries_of(dashboard))
    shown |= {re.sub("_(?:bucket|count|sum)$", "", name) for name in shown}
    assert all_metrics - shown <= left_out
