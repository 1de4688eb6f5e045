"""Dispatch to a real Temporal server: starts, delays, repeats, and a server that is away or lacks the namespace."""
import json
import shutil
import sys

import pytest
from conftest import ROOT, wait_until
from dispatch_nodes import ITEMS, TYPE, counts, enqueue, instant, item, wait_for_counts

sys.path.insert(0, str(ROOT / "tools"))
import testserver

OUTAGE_SECONDS = 60  # a restart of the server takes some seconds, more on a busy machine


@pytest.fixture
def temporal():
    """One for each test: some of them stop it."""
    try:
        server = testserver.Temporal()
        server.start()
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))
    yield server
    server.close()


def environment(server, namespace=None):
    return {"PENSTOCK_TEMPORAL_ADDRESS": server.address,
            "PENSTOCK_TEMPORAL_NAMESPACE": namespace or server.namespace}


def put_type(node, **more):
    body = {"jitterWindowMs": 0, "retryBackoffMs": 50, "retryBackoffMaxMs": 200, "maxDispatchRetries": 1,
            "sink": {"type": "temporal", "workflowType": "PaymentExecWorkflow", "taskQueue": "payment-exec-task-queue"},
            **more}
    answer = node.request("PUT", TYPE, json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body


def check(node):
    """The sink's line of /health/ready: (status, message)."""
    answer = node.get("/health/ready")
    checks = {c["name"]: c for c in answer.json()["checks"]}
    line = checks.get("sink.temporal", {"status": "not shown"})
    assert answer.status == 503 or line["status"] != "DOWN"
    return line["status"], line.get("message", "")


def wait_for_trouble(node, words):
    def trouble():  # in one look: it may be over at the next
        status, message = check(node)
        return status == "DOWN" and words in message

    wait_until(trouble, OUTAGE_SECONDS, f"{words!r} in {check(node)}")


def wait_until_ready(node):
    wait_until(lambda: check(node)[0] == "UP", OUTAGE_SECONDS, f"the sink (it is {check(node)})")


def started_event(server, workflow_id):
    history = json.loads(server.cli("workflow", "show", "--workflow-id", workflow_id, "--output", "json"))
    return history["events"][0]["workflowExecutionStartedEventAttributes"]


def runs(server, workflow_id):
    listed = server.cli("workflow", "list", "--query", f"WorkflowId = '{workflow_id}'", "--output", "json")
    return [run["execution"]["runId"] for run in json.loads(listed or "[]")]


def describe(server, workflow_id):
    return json.loads(server.cli("workflow", "describe", "--workflow-id", workflow_id, "--output", "json"))


def test_starts_early_with_the_time_left_as_delay(start_daemon, temporal):
    node = start_daemon(env=environment(temporal))
    put_type(node, preStartBufferMins=60)
    wait_until_ready(node)
    at = instant(1800)
    context = {"amount": "12.50", "who": "Zoë"}
    assert node.post(ITEMS, {"itemId": "p/1", "scheduledTime": at, "context": context}).status == 202
    wait_for_counts(node, DISPATCHED=1)
    started = started_event(temporal, "exec-ORDER-p/1")
    assert started["workflowType"]["name"] == "PaymentExecWorkflow"
    assert started["taskQueue"]["name"] == "payment-exec-task-queue"
    assert started["input"] == ["p/1", context] or len(started["input"]["payloads"]) == 2
    delay = float(started["firstWorkflowTaskBackoff"].rstrip("s"))
    assert 1700 < delay <= 1800
    view = item(node, "p%2F1")
    assert view["attempts"] == 1 and view["audit"][-1]["detail"] == "started"


def test_a_finished_workflow_is_not_run_again(start_daemon, temporal, tmp_path):
    """Crash after the start and before the settlement: the store is that of before, the workflow is over."""
    node = start_daemon(env=environment(temporal), data_dir=tmp_path / "data")
    put_type(node, enabled=False)
    enqueue(node, "p-1")
    node.stop()
    shutil.copytree(tmp_path / "data", tmp_path / "before")
    workflow = "exec-ORDER-p-1"
    for data in ("data", "before"):
        node = start_daemon(env=environment(temporal), data_dir=tmp_path / data)
        put_type(node)
        wait_for_counts(node, DISPATCHED=1)
        if data == "data":
            temporal.cli("workflow", "terminate", "--workflow-id", workflow)
        node.stop()
    wait_until(lambda: runs(temporal, workflow), 30, "the list")
    assert len(runs(temporal, workflow)) == 1
    assert "TERMINATED" in describe(temporal, workflow)["workflowExecutionInfo"]["status"].upper()


def test_a_workflow_that_another_started_counts_as_started(start_daemon, temporal):
    start = ["workflow", "start", "--type", "Sample", "--task-queue", "nobody_polls", "--workflow-id"]
    temporal.cli(*start, "exec-ORDER-running")
    temporal.cli(*start, "exec-ORDER-over")
    temporal.cli("workflow", "terminate", "--workflow-id", "exec-ORDER-over")
    node = start_daemon(env=environment(temporal))
    put_type(node)
    enqueue(node, "running", "over")
    wait_for_counts(node, DISPATCHED=2)
    for one in ("running", "over"):
        assert item(node, one)["audit"][-1]["detail"] == "already started"
        assert started_event(temporal, f"exec-ORDER-{one}")["workflowType"]["name"] == "Sample"


def test_items_wait_for_a_server_that_is_away(start_daemon, temporal):
    """Away at the start, and again under load; maxDispatchRetries 1, so that one charge would be the end of an item."""
    temporal.stop()
    node = start_daemon(env=environment(temporal))
    assert check(node)[0] == "not shown", "no type uses it"
    put_type(node, maxPerSecond=200)
    enqueue(node, *[f"a-{i}" for i in range(50)])
    wait_for_trouble(node, "UNAVAILABLE")
    wait_until(lambda: item(node, "a-0")["attempts"] >= 1, 30)
    temporal.start()
    wait_for_counts(node, DISPATCHED=50, seconds=OUTAGE_SECONDS)
    wait_until_ready(node)

    enqueue(node, *[f"b-{i}" for i in range(1_000)])
    wait_until(lambda: counts(node)["DISPATCHED"] > 150, 30)
    temporal.kill()
    wait_for_trouble(node, "UNAVAILABLE")
    left = 1_050 - counts(node)["DISPATCHED"]
    assert left > 0
    temporal.start()
    wait_for_counts(node, DISPATCHED=1_050, seconds=2 * OUTAGE_SECONDS)
    assert all(item(node, f"b-{i}")["retryCount"] == 0 for i in range(0, 1_000, 50))
    assert counts(node)["DEAD"] == 0
    wait_until_ready(node)


def test_items_wait_for_a_namespace_that_is_missing(start_daemon, temporal):
    node = start_daemon(env=environment(temporal, "to-be-made"))
    put_type(node)
    enqueue(node, "p-1")
    wait_for_trouble(node, "there is no namespace to-be-made")
    temporal.namespace = "to-be-made"
    temporal.cli("operator", "namespace", "create")
    wait_for_counts(node, DISPATCHED=1, seconds=OUTAGE_SECONDS)
    wait_until_ready(node)
    assert item(node, "p-1")["retryCount"] == 0


def test_items_wait_for_a_busy_server(start_daemon):
    """The real limiter of the frontend, set so low that a busy machine cannot stay below it either."""
    try:
        server = testserver.Temporal(settings={"frontend.namespaceRPS": 5, "frontend.namespaceBurstRatio": 1})
        server.start()
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))
    with server:
        node = start_daemon(env=environment(server))
        put_type(node)
        enqueue(node, *[f"p-{i}" for i in range(50)])
        wait_for_counts(node, DISPATCHED=50, seconds=OUTAGE_SECONDS)
        # What /health/ready says meanwhile may be gone before somebody looks; the count stays.
        assert node.metric('dispatch_slow_downs_total{item_type="ORDER"}') > 0
        assert all(item(node, f"p-{i}")["retryCount"] == 0 for i in range(50))


def test_says_that_the_address_is_missing(start_daemon):
    node = start_daemon()
    put_type(node)
    enqueue(node, "p-1")
    wait_for_trouble(node, "temporal.address is not set")
    assert counts(node)["READY"] + counts(node)["CLAIMED"] == 1
