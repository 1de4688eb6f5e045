"""The examples: a domain of one's own, and a sink of one's own, each by a config row and a file."""
import json
import re
import select
import subprocess
import sys

import pytest
from conftest import READY_SECONDS, ROOT, wait_until

INVOICES = ROOT / "examples" / "invoices"
FILE_SINK = ROOT / "examples" / "file_sink"
FILE_DAEMON = "penstock_file_sink"  # built with PENSTOCK_EXTENSIONS=examples/file_sink/file_sink.cc


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


def put_file_type(daemon, path, **more):
    row = json.loads((FILE_SINK / "type.json").read_text()) | more
    row["sink"]["settings"]["path"] = str(path)
    return daemon.request("PUT", "/admin/dispatch/types/INVOICE", json.dumps(row), {"Content-Type": "application/json"})


def counts(daemon):
    return daemon.get("/api/v1/dispatch/INVOICE/summary").json()["counts"]


def check(daemon, name):
    checks = {each["name"]: each for each in daemon.get("/health/ready").json()["checks"]}
    return checks.get(name)


def test_a_sink_is_a_config_row_and_one_file(start_daemon, tmp_path):
    out = tmp_path / "out.ndjson"
    out.write_text('{"torn')  # as a crash within a write leaves it
    daemon = start_daemon(program=FILE_DAEMON)
    answer = put_file_type(daemon, out, staleClaimThresholdMins=1)
    assert answer.status == 200 and answer.json()["sink"]["settings"] == {"path": str(out)}, answer.body
    for i in range(300):
        invoice(daemon, f"inv-{i}", {"total": f"{i}.00"})
    wait_until(lambda: counts(daemon)["DISPATCHED"] >= 50, 60)
    daemon.kill()
    daemon = start_daemon(program=FILE_DAEMON)
    # Those under way at the crash come back when their claim is stale.
    wait_until(lambda: counts(daemon)["DISPATCHED"] == 300, 240)
    torn, *lines = out.read_text().splitlines()
    assert torn == '{"torn'
    written = [json.loads(line) for line in lines]
    assert {each["itemId"]: each["context"]["total"] for each in written} == {f"inv-{i}": f"{i}.00" for i in range(300)}
    assert len(written) - 300 <= 64, "only what was under way at the crash is there twice"
    assert settled(daemon, "inv-0")["status"] == "DISPATCHED"


def test_what_a_sink_from_outside_cannot_follow_is_refused_by_name(start_daemon, daemon, tmp_path):
    refused = put_file_type(daemon, tmp_path / "out.ndjson")
    assert refused.status == 400 and refused.json()["field"] == "sink.type", refused.body
    assert "this build has log, http, kafka, temporal" in refused.json()["message"]
    other = start_daemon(program=FILE_DAEMON, data_dir=tmp_path / "other")
    refused = put_file_type(other, "relative")
    assert refused.status == 400 and refused.json()["field"] == "sink.settings.path", refused.body


def test_items_wait_where_a_sink_from_outside_is_missing(start_daemon, tmp_path):
    daemon = start_daemon(program=FILE_DAEMON)
    out = tmp_path / "not-yet" / "out.ndjson"
    assert put_file_type(daemon, out, retryBackoffMs=10, maxDispatchRetries=1000).status == 200
    invoice(daemon, "inv-1", {"total": "1.00"})
    wait_until(lambda: "cannot open" in (settled(daemon, "inv-1")["lastError"] or ""), 60)
    assert daemon.stop() == 0
    plain = start_daemon()
    wait_until(lambda: (check(plain, "sink.extensions") or {}).get("status") == "DOWN", 60)
    assert "INVOICE: sink.type: is file" in check(plain, "sink.extensions")["message"]
    assert plain.stop() == 0
    out.parent.mkdir()
    daemon = start_daemon(program=FILE_DAEMON)
    assert check(daemon, "sink.extensions")["status"] == "UP"
    wait_until(lambda: settled(daemon, "inv-1")["status"] == "DISPATCHED", 60)
    assert [json.loads(line)["itemId"] for line in out.read_text().splitlines()] == ["inv-1"]
