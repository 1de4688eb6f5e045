"""What was acknowledged survives kill -9: clients assign at full speed, the daemon dies at a random
moment, 20 rounds; then every acknowledged slot is there unchanged, no window is over capacity, and the
counters equal the rows."""
import collections
import http.client
import json
import random
import threading

ROUNDS = 20
CLIENTS = 4
MAX_PER_WINDOW = 50
AT = "2030-06-01T12:00:00Z"


class Client(threading.Thread):
    """Assigns batches of random size until the daemon goes away; keeps what was acknowledged."""

    def __init__(self, daemon, prefix, seed):
        super().__init__(daemon=True)
        self.target = daemon
        self.prefix = prefix
        self.random = random.Random(seed)
        self.acknowledged = {}
        self.first_answer = threading.Event()

    def run(self):
        connection = http.client.HTTPConnection(self.target.address, self.target.port, timeout=10)
        sent = 0
        try:
            while True:
                size = self.random.choice((1, 1, 5, 40))
                events = [{"eventId": f"{self.prefix}-{sent + i}", "requestedTime": AT} for i in range(size)]
                sent += size
                connection.request("POST", "/api/v1/slots/batch", json.dumps(events),
                                   {"Content-Type": "application/json"})
                for slot in json.loads(connection.getresponse().read())["results"]:
                    self.acknowledged[slot["eventId"]] = slot
                self.first_answer.set()
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the crash
        finally:
            connection.close()


def test_acknowledged_slots_survive_kill_9(start_daemon, penstock, tmp_path):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    acknowledged = {}
    for round_number in range(ROUNDS):
        daemon = start_daemon()
        if round_number == 0:
            daemon.put_config(max_per_window=MAX_PER_WINDOW)
        clients = [Client(daemon, f"r{round_number}c{i}", chance.random()) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        assert clients[0].first_answer.wait(10)
        killer = threading.Timer(chance.uniform(0, 0.3), daemon.process.kill)
        killer.start()
        for client in clients:
            client.join(20)
            assert not client.is_alive()
        killer.join()
        daemon.kill()
        for client in clients:
            acknowledged.update(client.acknowledged)

    daemon = start_daemon()
    for event, slot in random.Random(seed).sample(sorted(acknowledged.items()), 200):
        assert daemon.post("/api/v1/slots", {"eventId": event, "requestedTime": AT}).json() == slot
    body = daemon.get("/api/v1/windows?from=2030-06-01T00:00:00Z&to=2030-06-03T00:00:00Z").json()
    assert daemon.stop() == 0

    exported = penstock("export", "slots", "--format", "ndjson", "--data-dir", daemon.data_dir)
    assert exported.returncode == 0, exported.stderr
    rows = [json.loads(line) for line in exported.stdout.splitlines()]
    by_event = {row["eventId"]: row for row in rows}
    assert len(by_event) == len(rows)
    for event, slot in acknowledged.items():
        assert by_event[event]["scheduledTime"] == slot["scheduledTime"], event
        assert by_event[event]["windowStart"] == slot["windowStart"], event
    counted = collections.Counter(row["windowStart"] for row in rows)
    assert max(counted.values()) <= MAX_PER_WINDOW
    assert {w["windowStart"]: w["used"] for w in body["windows"]} == dict(counted)
    print(f"{len(acknowledged)} acknowledged, {len(rows)} stored, {len(counted)} windows")
