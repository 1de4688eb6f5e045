"""The clock was an hour ahead, and is set back while the daemon is down: dispatch goes on at once."""
import pytest
from clock import clock_ahead
from conftest import put_log_type, wait_until

TYPE = "CLOCK"
PAST = "2020-01-01T00:00:00Z"


def counts(daemon) -> dict:
    return daemon.get(f"/api/v1/dispatch/{TYPE}/summary").json()["counts"]


def enqueue(daemon, name, items):
    body = [{"itemId": f"{name}-{i}", "scheduledTime": PAST} for i in range(items)]
    answer = daemon.post(f"/api/v1/dispatch/{TYPE}/batch", body)
    assert answer.status == 200, answer.body


@pytest.fixture
def ahead(start_daemon):
    """A daemon with the clock ahead that holds the lease and has handed something over."""
    daemon = start_daemon(env=clock_ahead("1h"))
    put_log_type(daemon, TYPE, maxPerSecond=20, burst=1, batchSize=50)
    enqueue(daemon, "first", 60)
    wait_until(lambda: counts(daemon)["DISPATCHED"] > 0, 10, "the first hand-over")
    return daemon


def expect_all(daemon):
    assert counts(daemon)["DISPATCHED"] < 60, "some were to be left"
    wait_until(lambda: counts(daemon)["DISPATCHED"] == 60, 15, "every hand-over")


def test_dispatch_goes_on_at_once_after_a_crash_with_the_clock_ahead(ahead, start_daemon):
    ahead.kill()
    expect_all(start_daemon())


def test_items_given_back_with_the_clock_ahead_go_at_once(ahead, start_daemon):
    assert ahead.stop() == 0
    daemon = start_daemon()
    expect_all(daemon)
