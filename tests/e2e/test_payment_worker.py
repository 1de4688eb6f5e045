"""The example worker against a real Temporal, without Penstock around it: a workflow that somebody started books the payment
once and reports back."""
import http.server
import json
import threading

import pytest
from conftest import wait_until
from demo_downstream import start_downstream
from payment_files import payment
from temporal_worker import history, sdk, start_worker, temporal

__all__ = ["sdk", "start_downstream", "start_worker", "temporal"]  # fixtures


@pytest.fixture
def reports():
    """Takes status reports as a daemon would: in order, each once."""
    class Handler(http.server.BaseHTTPRequestHandler):
        taken = []
        failures = []  # status codes to answer first

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if Handler.failures:
                return self.answer(Handler.failures.pop(0))
            if body["status"] in Handler.taken:
                return self.answer(409)
            Handler.taken.append(body["status"])
            self.answer(200)

        def do_GET(self):
            self.answer(200, {"status": Handler.taken[-1]})

        def answer(self, status, body=None):
            data = json.dumps(body or {}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Handler.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield Handler
    server.shutdown()
    server.server_close()


def start_workflow(temporal, name):
    temporal.cli("workflow", "start", "--type", "PaymentExecWorkflow", "--task-queue", "payment-exec-task-queue",
                 "--workflow-id", f"exec-PAYMENT-{name}", "--input", json.dumps(name), "--input", json.dumps(payment(name)))


def ended(temporal, name):
    last = history(temporal, f"exec-PAYMENT-{name}")[-1]["eventType"]
    return last if ("COMPLETED" in last and "EXECUTION" in last) or "EXECUTION_FAILED" in last else None


def test_a_started_workflow_books_the_payment_and_reports_back(temporal, start_worker, start_downstream, reports):
    bank = start_downstream()
    reports.failures.append(503)  # the daemon restarts: the report is repeated
    worker = start_worker(reports.url, bank.url)
    start_workflow(temporal, "w-1")
    wait_until(lambda: ended(temporal, "w-1"), 120)
    assert ended(temporal, "w-1") == "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED"
    assert reports.taken == ["ACCEPTED", "PROCESSING"]
    assert bank.stats()["booked"] == 1 and bank.stats()["duplicates"] == 0
    assert worker.stop() == ["12.50 EUR went to GB29NWBK60161331926819 (booking 1)"]


def test_a_payment_that_the_bank_refuses_is_reported_failed(temporal, start_worker, reports):
    # A bank that answers 400 to everything without a body worth reading: the reports' own server, asked to.
    reports.failures.append(400)
    start_worker(reports.url, reports.url + "/bank")
    start_workflow(temporal, "w-2")
    wait_until(lambda: ended(temporal, "w-2"), 120)
    assert ended(temporal, "w-2") == "EVENT_TYPE_WORKFLOW_EXECUTION_FAILED"
    assert reports.taken == ["FAILED"]
