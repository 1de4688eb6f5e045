"""Daemons that share one PostgreSQL, a load on them, and what must hold in the database afterwards."""
import http.client
import json
import random
import threading
import time

from conftest import wait_until

BASE = 1_906_545_600  # 2030-06-01T12:00:00Z
SEND_SECONDS = 120  # longer than a node or its database is away


def instant(seconds) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(BASE + seconds))


class Load(threading.Thread):
    """Sends batches of events, some of them known to everybody, to a random node each; a batch that fails is
    sent again until it is answered. Keeps all answers."""

    def __init__(self, nodes, prefix, configs, seed, shared_ids=500):
        super().__init__(daemon=True)
        self.nodes = nodes
        self.prefix = prefix
        self.configs = configs
        self.random = random.Random(seed)
        self.shared_ids = shared_ids
        self.slots = {}
        self.failures = []  # status codes and errors of calls that did not work
        self.problem = None
        self.sent = 0
        self.batches = 0  # answered
        self._ending = threading.Event()

    def run(self):
        try:
            while not self._ending.is_set():
                self._send([self._event() for _ in range(self.random.choice((1, 3, 20, 60)))])
                self.batches += 1
        except Exception as problem:  # the test fails on it
            self.problem = problem

    def end(self):
        self._ending.set()
        self.join(60)
        assert not self.is_alive()
        if self.problem:
            raise self.problem

    def _event(self):
        if self.random.random() < 0.3:
            number = self.random.randrange(self.shared_ids)
            event = f"shared-{number}"
        else:
            self.sent += 1
            event = f"{self.prefix}-{self.sent}"
        spread = self.random.choice((0, 0, self.random.randrange(60)))
        return {"eventId": event, "configName": self.random.choice(self.configs), "requestedTime": instant(spread)}

    def _send(self, events):
        def all_answered():
            nonlocal events
            status, body = self._call(self.random.choice(self.nodes), events)
            results = json.loads(body)["results"] if status == 200 else []
            bad = [each for each in results if "error" in each]
            for slot in results:
                if "error" not in slot:
                    self._keep(slot)
            if status == 200 and not bad:
                return True
            self.failures.append(bad[0]["status"] if bad else status)
            events = [event for event, each in zip(events, results, strict=True) if "error" in each] if bad else events
            return False

        wait_until(all_answered, SEND_SECONDS, lambda: f"an answer for each (last {self.failures[-5:]})", every=0.02)

    def _keep(self, slot):
        known = self.slots.setdefault(slot["eventId"], slot)
        assert known == slot, f"two answers: {known} and {slot}"

    @staticmethod
    def _call(node, events):
        connection = http.client.HTTPConnection(node.address, node.port, timeout=30)
        try:
            connection.request("POST", "/api/v1/slots/batch", json.dumps(events),
                               {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as lost:
            return repr(lost), b""
        finally:
            connection.close()


def start_loads(nodes, configs, count=3):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    loads = [Load(nodes, f"l{i}", configs, seed + i) for i in range(count)]
    for load in loads:
        load.start()
    return loads


def let_work(loads, batches=20):
    """Returns when every load has had so many more batches answered."""
    goals = [load.batches + batches for load in loads]

    def have_worked():
        assert all(load.is_alive() for load in loads), [load.problem for load in loads]
        return all(load.batches >= goal for load, goal in zip(loads, goals, strict=True))

    wait_until(have_worked, 60, "the progress of the loads")


def end_loads(loads):
    """All answers by event; the same event got the same answer everywhere."""
    merged = {}
    for load in loads:
        load.end()
        for event, slot in load.slots.items():
            assert merged.setdefault(event, slot) == slot, f"two answers for {event}"
    return merged


def check_database(query, answers):
    """`query(sql) -> text`: the truth in the database against the answers that clients hold, once the places
    of batches that failed are back. A node must be alive for that."""
    deadline = time.monotonic() + 30
    while query("SELECT count(*) FROM penstock.slot_reservation").strip() != "0":
        assert time.monotonic() < deadline, "places of failed batches were not given back"
    differ = query("""
        WITH counted AS (SELECT c.pool_id, s.window_start_ms, count(*) AS used
                           FROM penstock.event_slot s JOIN penstock.slot_config c USING (config_id) GROUP BY 1, 2)
        SELECT count(*) FROM counted f FULL JOIN penstock.slot_window w USING (pool_id, window_start_ms)
         WHERE coalesce(f.used, 0) <> coalesce(w.used, 0)""")
    assert differ.strip() == "0", "counters differ from rows"
    over = query("""
        SELECT count(*) FROM penstock.slot_window w
         WHERE w.used > (SELECT max(c.max_per_window) FROM penstock.slot_config c WHERE c.pool_id = w.pool_id)""")
    assert over.strip() == "0", "a window is over every maximum it ever had"
    rows = dict(line.split("|") for line in query(
        "SELECT event_id, scheduled_ms FROM penstock.event_slot").splitlines() if line)
    for event, slot in answers.items():
        assert event in rows, f"{event} was acknowledged and is gone"
        text = slot["scheduledTime"]
        millis = int(time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone) * 1000 + int(text[20:23])
        assert millis == int(rows[event]), f"{event}: {text} was answered, {rows[event]} is stored"
