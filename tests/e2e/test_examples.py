"""The examples that stand beside a daemon: a domain of one's own, by a config row and a file."""
import json
import re
import select
import subprocess
import sys

import pytest
from conftest import READY_SECONDS, ROOT, wait_until

INVOICES = ROOT / "examples" / "invoices"


@pytest.fixture
def executor():
    """examples/invoices/invoices.py on a free port, and what it prints."""
    process = subprocess.Popen([sys.executable, INVOICES / "invoices.py", "--port", "0"], stdout=subprocess.PIPE, text=True)
    readable, _, _ = select.select([process.stdout], [], [], READY_SECONDS)
    found = re.match(r"ready http=(\S+)", process.stdout.readline() if readable else "")
    assert found, "the executor did not start"
    process.url = f"http://{found.group(1)}/invoices"
    yield process
    if process.poll() is None:
        process.kill()
    process.wait(10)
    process.stdout.close()


def invoice(daemon, item_id, context):
    answer = daemon.post("/api/v1/dispatch/INVOICE", {"itemId": item_id, "scheduledTime": "2026-01-01T16:00:00Z",
                                                      "context": context})
    assert answer.status in (200, 202), answer.body


def put_type(daemon, url):
    row = json.loads((INVOICES / "type.json").read_text())
    row["sink"]["url"] = url
    answer = daemon.request("PUT", "/admin/dispatch/types/INVOICE", json.dumps(row), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body


def settled(daemon, item_id):
    return daemon.get(f"/api/v1/dispatch/INVOICE/{item_id}").json()


def test_invoices_are_a_config_row_and_one_file(daemon, executor):
    put_type(daemon, executor.url)
    for i in range(3):
        invoice(daemon, f"inv-{i}", {"customer": "Ada", "total": f"{i}.00"})
    invoice(daemon, "inv-bad", {"customer": "nobody"})
    wait_until(lambda: all(settled(daemon, f"inv-{i}")["status"] == "DISPATCHED" for i in range(3)), 60)
    wait_until(lambda: settled(daemon, "inv-bad")["status"] == "DEAD", 60)
    assert "422" in settled(daemon, "inv-bad")["lastError"]
    executor.kill()
    lines = executor.stdout.read().splitlines()
    assert sorted(lines) == [f"invoice inv-{i}: {i}.00 to Ada" for i in range(3)], "each once"


def test_an_invoice_that_penstock_did_not_sign_is_not_sent(daemon, executor):
    row = json.loads((INVOICES / "type.json").read_text())
    row["sink"].update(url=executor.url, secrets=["whsec_c29tZWJvZHktZWxzZXMtc2VjcmV0"])
    daemon.request("PUT", "/admin/dispatch/types/INVOICE", json.dumps(row), {"Content-Type": "application/json"})
    invoice(daemon, "inv-1", {"customer": "Ada", "total": "1.00"})
    wait_until(lambda: settled(daemon, "inv-1")["status"] == "DEAD", 60)
    executor.kill()
    assert executor.stdout.read() == ""
