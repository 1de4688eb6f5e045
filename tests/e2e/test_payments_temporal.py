"""Payments end to end on a real Temporal: Penstock starts a workflow for each, the example worker with the official SDK
executes it, and the status comes back."""
import datetime
import json
import shutil

import pytest
from conftest import wait_until
from demo_downstream import start_downstream
from dispatch_nodes import PAYMENT_ITEMS, PAYMENT_TYPE, counts, instant, wait_for_counts
from payment_files import payment
from temporal_worker import EXAMPLE, executions, history, sdk, start_worker, temporal

__all__ = ["sdk", "start_downstream", "start_worker", "temporal"]  # fixtures

AHEAD_SECONDS = 12  # for a start that comes before its time
EXECUTED_SECONDS = 120  # a workflow is seven steps of worker and server; a loaded machine gets slack


@pytest.fixture
def environment(temporal):
    return {"PENSTOCK_TEMPORAL_ADDRESS": temporal.address, "PENSTOCK_TEMPORAL_NAMESPACE": temporal.namespace}


def put_type(node, **more):
    body = {**json.loads((EXAMPLE / "type.json").read_text()), "retryBackoffMs": 50, "retryBackoffMaxMs": 200, **more}
    answer = node.request("PUT", PAYMENT_TYPE, json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body


def pay(node, name, at, expect=202):
    answer = node.post("/api/v1/payments", payment(name, at))
    assert answer.status == expect, answer.body


def found(node, name):
    return node.get(f"/api/v1/payments/{name}").json()


def wait_for_status(node, name, status="PROCESSING"):
    wait_until(lambda: found(node, name)["status"] == status, EXECUTED_SECONDS, f"{status} (it is {found(node, name)})")


def millis(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


def test_a_payment_is_started_executed_and_comes_back_processing(start_daemon, environment, temporal, start_worker,
                                                                 start_downstream):
    node, bank = start_daemon(env=environment), start_downstream("--max-tps", 1_000)
    worker = start_worker(node.url, bank.url)
    put_type(node)
    pay(node, "now-1", instant())
    later = instant(AHEAD_SECONDS)
    pay(node, "later-1", later)

    wait_for_status(node, "now-1")
    shown = found(node, "now-1")
    assert [step["to"] for step in shown["history"]] == ["SCHEDULED", "ACCEPTED", "PROCESSING"]
    assert shown["queue"]["status"] == "DISPATCHED"

    # Started a minute before its time at most, and run at its time by the delay that it was given.
    wait_until(lambda: found(node, "later-1")["queue"]["status"] == "DISPATCHED", 60)
    event = history(temporal, "exec-PAYMENT-later-1")[0]
    delay = float(event["workflowExecutionStartedEventAttributes"]["firstWorkflowTaskBackoff"].rstrip("s"))
    assert 0 < delay <= AHEAD_SECONDS
    # Its time, and whatever the call took to get there.
    assert -50 <= millis(event["eventTime"]) + delay * 1000 - millis(later) < 30_000
    wait_for_status(node, "later-1")
    events = history(temporal, "exec-PAYMENT-later-1")
    began = next(e for e in events if e["eventType"] == "EVENT_TYPE_WORKFLOW_TASK_STARTED")
    assert millis(began["eventTime"]) >= millis(later) - 50, "not before its time"
    assert bank.stats()["booked"] == 2 and bank.stats()["duplicates"] == 0
    assert len(worker.stop()) == 2


def test_a_finished_workflow_is_not_run_again_after_a_crash(start_daemon, environment, temporal, start_worker, start_downstream,
                                                            tmp_path):
    """Crash after the start and before the settlement: the store is that of before, the workflow has long finished."""
    bank = start_downstream("--max-tps", 1_000)
    before, after = tmp_path / "before", tmp_path / "after"
    node = start_daemon(env=environment, data_dir=before)
    put_type(node, enabled=False)
    pay(node, "once-1", instant())
    assert node.stop() == 0
    shutil.copytree(before, after)

    node = start_daemon(env=environment, data_dir=before)
    worker = start_worker(node.url, bank.url)
    put_type(node)
    wait_for_status(node, "once-1")
    workflow = "exec-PAYMENT-once-1"
    wait_until(lambda: history(temporal, workflow)[-1]["eventType"] == "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED",
               EXECUTED_SECONDS)
    wait_until(lambda: executions(temporal, workflow) == 1, 60)
    steps = len(history(temporal, workflow))
    node.kill()

    node = start_daemon(env=environment, data_dir=after)  # knows nothing of the start
    assert found(node, "once-1")["queue"]["status"] == "READY"
    put_type(node)
    wait_for_counts(node, items=PAYMENT_ITEMS, DISPATCHED=1)
    pay(node, "next-1", instant())  # whoever starts things starts this one later
    wait_until(lambda: bank.stats()["booked"] == 2, EXECUTED_SECONDS)
    assert executions(temporal, workflow) == 1 and len(history(temporal, workflow)) == steps
    assert bank.stats()["duplicates"] == 0 and counts(node, PAYMENT_ITEMS)["DEAD"] == 0
    assert len([line for line in worker.stop() if "booking 1" in line]) == 1
