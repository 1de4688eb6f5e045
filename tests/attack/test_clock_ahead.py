"""The clock was ahead for a while: nobody waits longer than a window for it, and nothing that is known is forgotten."""
import pathlib
import re

from clock import clock_ahead
from conftest import wait_until
from dispatch_nodes import instant
from gateway_nodes import put_config, send


def ticks(daemon, thread):
    """How often a thread of the daemon has gone to sleep: once for each of its rounds at least."""
    for task in pathlib.Path(f"/proc/{daemon.pid}/task").iterdir():
        if (task / "comm").read_text().strip() == thread:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M).group(1))
    raise KeyError(thread)


def test_a_user_waits_one_window_at_most(start_daemon):
    ahead = start_daemon(env=clock_ahead("1d"))
    put_config(ahead, limit=1, window=1)
    assert send(ahead).status == 200
    assert send(ahead).status == 429
    ahead.stop()
    daemon = start_daemon()
    first = send(daemon)
    assert first.status == 429
    assert int(first.headers["Retry-After"]) <= 60
    # The window stands where it was put: it does not begin anew with every call.
    wait_until(lambda: int(send(daemon).headers["Retry-After"]) < int(first.headers["Retry-After"]), 5, "the end coming nearer")


def test_a_message_is_not_sent_again(start_daemon):
    daemon = start_daemon()
    put_config(daemon, limit=10, window=1)
    first = send(daemon, idempotencyKey="order-1")
    assert first.status == 200
    daemon.stop()
    ahead = start_daemon(env=clock_ahead("100d"))
    again = send(ahead, idempotencyKey="order-1")
    assert (again.status, again.json()["messageId"]) == (200, first.json()["messageId"])


def test_an_event_keeps_its_slot(start_daemon):
    daemon = start_daemon()
    daemon.put_config()
    slot = daemon.post("/api/v1/slots", {"eventId": "e", "requestedTime": instant(-3600)}).json()
    daemon.stop()
    ahead = start_daemon(env={**clock_ahead("100d"), "PENSTOCK_SLOTS_RETENTION_KEEP": "P90D",
                              "PENSTOCK_SLOTS_RETENTION_INTERVAL": "PT0.1S"})
    before = ticks(ahead, "slot-prune")
    wait_until(lambda: ticks(ahead, "slot-prune") >= before + 5, 10, "a few rounds of retention")
    found = ahead.get("/api/v1/slots/e")
    assert found.status == 200, "retention believed the clock"
    assert found.json()["scheduledTime"] == slot["scheduledTime"]
