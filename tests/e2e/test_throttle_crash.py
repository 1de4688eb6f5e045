"""What kill -9 can give away: at most what was admitted since the last saving of the usage.

A saving begins every `throttle.save-interval` and reads the keys as they are then, so what was admitted more
than an interval (plus the time of one saving) before the kill is on disk. Over all lives of the daemon:

    admitted <= capacity + sum over kills of what was admitted in the last interval before it
"""
import http.client
import json
import random
import threading
import time

from conftest import any_moment
from test_throttle import FIXED, add_policy, check, remaining

ROUNDS = 8
CLIENTS = 3
SAVE_INTERVAL = 0.2
# A saving takes a few milliseconds; the other tests may hold the disk for longer.
SAVE_SLACK = 0.3
SETTINGS = {"PENSTOCK_THROTTLE_SAVE_INTERVAL": f"PT{SAVE_INTERVAL}S"}


class Client(threading.Thread):
    """Asks for one token after the other until the daemon goes away; keeps when each was admitted."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.target = daemon
        self.admitted = []
        self.denied = 0
        self.first_answer = threading.Event()

    def run(self):
        connection = http.client.HTTPConnection(self.target.address, self.target.port, timeout=10)
        body = json.dumps({"key": "k"})
        try:
            while True:
                connection.request("POST", "/api/v1/throttle/check", body, {"Content-Type": "application/json"})
                response = connection.getresponse()
                response.read()
                if response.status == 200:
                    self.admitted.append(time.monotonic())
                else:
                    assert response.status == 429
                    self.denied += 1
                self.first_answer.set()
        except (OSError, http.client.HTTPException):
            pass  # the crash
        finally:
            connection.close()


def drive_until_killed(daemon, chance):
    """What was admitted, and how much of it so late that it may be forgotten."""
    clients = [Client(daemon) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    assert clients[0].first_answer.wait(10)
    any_moment(chance, 1.6)
    killed = time.monotonic()
    daemon.process.kill()
    for client in clients:
        client.join(20)
        assert not client.is_alive()
    daemon.kill()
    admitted = [at for client in clients for at in client.admitted]
    return len(admitted), sum(at > killed - SAVE_INTERVAL - SAVE_SLACK for at in admitted)


def test_a_crash_gives_away_at_most_one_interval(start_daemon):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    daemon = start_daemon(env=SETTINGS)
    # What the clients can ask for in some rounds: the last ones find it used up.
    capacity = 15_000
    add_policy(daemon, "k", capacity=capacity, **FIXED)
    total = forgettable = 0
    for round_number in range(ROUNDS):
        if round_number > 0:
            daemon = start_daemon(env=SETTINGS)
            # What was admitted early enough is remembered.
            assert capacity - remaining(daemon, "k") >= min(capacity, total - forgettable)
        admitted, late = drive_until_killed(daemon, chance)
        total += admitted
        forgettable += late
        print(f"round {round_number}: {admitted} admitted, {late} of them late")
    daemon = start_daemon(env=SETTINGS)
    left = remaining(daemon, "k")
    print(f"{total} admitted in all, capacity {capacity}, {forgettable} could be forgotten, {left} left")
    assert total + left <= capacity + forgettable
    assert total > forgettable > 0


def test_an_orderly_restart_forgets_nothing(start_daemon):
    # No saving but the last comes within the test.
    settings = {"PENSTOCK_THROTTLE_SAVE_INTERVAL": "PT1H"}
    daemon = start_daemon(env=settings)
    add_policy(daemon, "k", capacity=1_000, **FIXED)
    for used in range(0, 500, 100):
        for _ in range(100):
            assert check(daemon, "k").status == 200
        assert daemon.stop() == 0
        daemon = start_daemon(env=settings)
        assert remaining(daemon, "k") == 1_000 - used - 100


def test_a_bucket_is_aged_by_the_time_that_passed(start_daemon):
    daemon = start_daemon()
    add_policy(daemon, "k", capacity=1_000, refillRate=100)
    emptied_before = time.monotonic()
    assert check(daemon, "k", 1_000).status == 200
    emptied_after = time.monotonic()
    assert daemon.stop() == 0
    time.sleep(0.5)  # time that no daemon sees
    daemon = start_daemon()
    asked_after = time.monotonic()
    left = remaining(daemon, "k")
    answered = time.monotonic()
    # Within a tick of the wall clock, by which the daemon reckons the time between its lives.
    assert (asked_after - emptied_after) * 100 - 3 <= left <= (answered - emptied_before) * 100 + 3
    assert left >= 50
