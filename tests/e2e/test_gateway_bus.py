"""The gateway with Kafka as its bus, by the real daemon, a real broker, and the embedded store or a real PostgreSQL: the
properties of the design that a bus has a part in, each over 100 random cases, and faults with their counts."""
import collections
import concurrent.futures
import http.client
import itertools
import json
import os
import random
import re
import signal
import threading
import time

import pytest
import testserver
from conftest import wait_until
from dispatch_nodes import Nodes, instant, postgres
from kafka_calls import OUTAGE_SECONDS, check, consume, environment, headers_of, kcat
from testserver.process import Unavailable, require

__all__ = ["postgres"]  # fixtures

CASES = 100
SENT = "Message Sent Successfully"
KAFKA_DOWN = "Kafka Down : Service Unavailable"
POSTGRES_DOWN = "Postgres Down : Service Unavailable"
DATABASES = itertools.count(1)
TOPICS = itertools.count(1)
DEADLINE_SECONDS = 3


@pytest.fixture(scope="module")
def broker():
    """One for all: each test has a topic of its own, and who stops it starts it again."""
    try:
        require("kcat", "kcat")
        server = testserver.Kafka()
        server.start()
    except Unavailable as missing:
        pytest.skip(str(missing))
    yield server
    server.close()


def bus_nodes(request, broker, store):
    start_daemon, tmp_path = request.getfixturevalue("start_daemon"), request.getfixturevalue("tmp_path")
    topic = f"sms-outbound-{next(TOPICS)}"
    env = environment(broker, PENSTOCK_GATEWAY_BUS="kafka", PENSTOCK_GATEWAY_KAFKA_TOPIC=topic,
                      PENSTOCK_GATEWAY_KAFKA_GROUP=f"group-{topic}",
                      PENSTOCK_GATEWAY_KAFKA_PUBLISH_DEADLINE=f"PT{DEADLINE_SECONDS}S")
    if store == "postgres":
        server, database = request.getfixturevalue("postgres"), f"gateway_{next(DATABASES)}"
        env["PENSTOCK_STORE_POSTGRES_URL"] = server.create_database(database)
        assert request.getfixturevalue("penstock")("migrate", env=env).returncode == 0

    def start(wait=True, **more):
        node = start_daemon(env={**env, **more}, data_dir=tmp_path / "data")
        if wait:
            wait_until(lambda: node.get("/health/ready").status == 200, OUTAGE_SECONDS, "the daemon with its bus")
        return node

    made = Nodes(start, shared=store == "postgres")
    made.topic = topic
    if made.shared:
        made.sql = lambda sql: server.query(sql, database)
    return made


@pytest.fixture(params=["embedded", "postgres"])
def nodes(request, broker):
    return bus_nodes(request, broker, request.param)


def put_config(node, user=101, limit=10, window=60):
    answer = node.post("/api/config", {"userId": user, "rateLimit": limit, "timeWindow": window})
    assert answer.status == 200, answer.body


def count(node, user=101):
    return node.get(f"/api/config/{user}").json()["currentCount"]


def send(node, user=101, message="Hello World", headers=None, **more):
    return node.post("/api/send", {"userId": user, "message": message, **more}, headers or {}, timeout=60)


def send_all(node, entries):
    """One batch; the entry of each."""
    answer = node.post("/api/send/batch", json.dumps(entries), {"Content-Type": "application/json"}, timeout=60)
    assert answer.status == 200, answer.body
    return answer.json()["results"]


def status(node, message_id):
    answer = node.get(f"/api/messages/{message_id}")
    return answer.json()["status"] if answer.status == 200 else answer.status


def wait_sent(node, *message_ids):
    for message_id in message_ids:
        wait_until(lambda i=message_id: status(node, i) == "SENT", OUTAGE_SECONDS, "the sender")


def records(broker, topic):
    """message id -> (user, value), of all that is on the topic, by kcat; a repeat is the same in all parts."""
    found = {}
    for record in consume(broker, topic):
        headers = headers_of(record)
        entry = (record["key"], record["payload"])
        assert found.setdefault(headers["penstock-message-id"], entry) == entry
    return found


def usage(node, user):
    points = node.get(f"/api/analytics/usage?userId={user}").json()["points"]
    return {k: sum(p[k] for p in points) for k in ("sent", "limited", "failed")}


TEXTS = ["a", "Z", "€", "ж", "😀", '"', "\\", " ", "{", ": ", "0", "\t"]


def any_text(chance):
    return "x" + "".join(chance.choice(TEXTS) for _ in range(chance.randrange(60)))


def test_contract(nodes, broker):
    node = nodes.start()
    put_config(node, limit=2)
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    answer = send(node, headers={"traceparent": trace})
    assert answer.status == 200 and answer.json()["message"] == SENT
    message_id = answer.json()["messageId"]
    assert status(node, message_id) in ("PUBLISHED", "QUEUED", "SENDING", "SENT")
    wait_sent(node, message_id)
    shown = node.get(f"/api/messages/{message_id}").json()
    assert shown["userId"] == 101 and shown["attempts"] == 1 and shown["provider"] == "log"
    [record] = consume(broker, nodes.topic)
    headers = headers_of(record)
    assert record["key"] == "101" and record["payload"] == "101: Hello World"
    assert headers["penstock-message-id"] == message_id and headers["traceparent"] == trace
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", headers["penstock-accepted-at"])
    listed = [t for t in json.loads(kcat(broker, "-L", "-J"))["topics"] if t["topic"] == nodes.topic]
    assert len(listed[0]["partitions"]) == 4, "made by the daemon"
    assert send(node).status == 200
    limited = send(node)
    assert limited.status == 429 and limited.json()["message"] == "Rate Limit Exceeded"
    assert send(node, user=7).status == 404
    assert count(node) == 2 and usage(node, 101) == {"sent": 2, "limited": 1, "failed": 0}
    unknown = node.get("/api/messages/01ARZ3NDEKTSV4RRFFQ69G5FAV-101")
    assert unknown.status == 404, "an id that is older than any item"
    assert check(node, "bus.kafka")[0] == "UP" and check(node, "sender.kafka")[0] == "UP"


def test_idempotency_keys(nodes, broker):
    node = nodes.start()
    put_config(node, limit=3)
    first = send(node, idempotencyKey="k-1").json()
    assert send(node, idempotencyKey="k-1").json() == first
    other = send(node, message="Another", idempotencyKey="k-1")
    assert other.status == 409 and other.json()["field"] == "idempotencyKey"
    batch = send_all(node, [{"userId": 101, "message": "b", "idempotencyKey": "k-2"}] * 2)
    assert batch[0]["status"] == batch[1]["status"] == 200 and batch[0]["messageId"] == batch[1]["messageId"]
    assert count(node) == 2
    assert send(node, message="c").status == 200
    assert send(node, message="d", idempotencyKey="k-3").status == 429
    node.kill()
    node = nodes.start()
    assert send(node, idempotencyKey="k-1").json() == first, "though the window is used up, and after a crash"
    assert len(records(broker, nodes.topic)) == 3


def test_records_of_others_are_sent_and_poison_goes_aside(nodes, broker):
    node = nodes.start()
    lines = ["7: from elsewhere", "nonsense", "8: ", "-1: x", "9: last"]
    kcat(broker, "-P", "-t", nodes.topic, messages="".join(f"{line}\n" for line in lines))
    for line in ("7: from elsewhere", "9: last"):
        wait_until(lambda text=line: f"SMS Sent: {text}" in node.log(), OUTAGE_SECONDS, "the line in the log")
    wait_until(lambda: len(consume(broker, nodes.topic + ".dlq")) == 3, OUTAGE_SECONDS, "the dead letters")
    assert {r["payload"] for r in consume(broker, nodes.topic + ".dlq")} == {"nonsense", "8: ", "-1: x"}
    ids = [line["message_id"] for line in logged_messages(node)]
    assert len(ids) == 2
    wait_sent(node, *ids)
    # Read again, they are the same messages.
    node.stop()
    node = nodes.start(PENSTOCK_GATEWAY_KAFKA_GROUP="another-" + nodes.topic)
    wait_until(lambda: len(consume(broker, nodes.topic + ".dlq")) == 6, OUTAGE_SECONDS, "the dead letters again")
    assert node.get("/api/v1/dispatch/SMS/summary").json()["counts"]["DISPATCHED"] == 2


def test_property_3_lazy_refresh(nodes):
    """On PostgreSQL the rows are aged behind the daemon's back; on the embedded store the shortest windows that there are
    come to their end."""
    node = nodes.start()
    chance = random.Random(3)
    users = {user: (chance.randrange(1, 6), chance.randrange(1, 600) if nodes.shared else 1) for user in range(CASES)}
    for user, (limit, window) in users.items():
        put_config(node, user, limit, window)
    results = send_all(node, [{"userId": u, "message": "m"} for u, (limit, _) in users.items() for _ in range(limit + 1)])
    assert collections.Counter(r["status"] for r in results) == \
        {200: sum(limit for limit, _ in users.values()), 429: CASES}
    before = {user: node.get(f"/api/config/{user}").json()["lastRefreshTime"] for user in users}
    if nodes.shared:
        nodes.sql("UPDATE penstock.gateway_quota SET refreshed_us = refreshed_us - window_min * 60000000")
    else:
        last = max(before.values())
        wait_until(lambda: instant(-61) > last, 70, "the end of the windows")
    results = send_all(node, [{"userId": user, "message": "again"} for user in users])
    assert {r["status"] for r in results} == {200}
    for user in users:
        shown = node.get(f"/api/config/{user}").json()
        assert shown["currentCount"] == 1 and shown["lastRefreshTime"] > before[user]


def test_property_4_limit_within_the_active_window(nodes):
    node = nodes.start()
    chance = random.Random(4)
    users = {user: (limit := chance.randrange(1, 9), chance.randrange(0, limit + 1)) for user in range(CASES)}
    for user, (limit, _) in users.items():
        put_config(node, user, limit)
    send_all(node, [{"userId": u, "message": "m"} for u, (_, used) in users.items() for _ in range(used)])
    results = send_all(node, [{"userId": user, "message": "one more"} for user in users])
    for result, (user, (limit, used)) in zip(results, users.items()):
        assert result["status"] == (200 if used < limit else 429)
        assert count(node, user) == min(used + 1, limit)


def test_property_5_no_count_without_confirmation(nodes, broker):
    """The broker is stopped; then it comes back by itself."""
    node = nodes.start()
    chance = random.Random(5)
    users = {user: chance.randrange(1, 8) for user in range(CASES)}
    used = {user: chance.randrange(0, limit) for user, limit in users.items()}
    for user, limit in users.items():
        put_config(node, user, limit)
    before = send_all(node, [{"userId": u, "message": "m"} for u, n in used.items() for _ in range(n)])
    assert {r["status"] for r in before} <= {200}
    broker.stop()
    try:
        # Some before anybody has noticed: they are answered by the deadline; the rest at once.
        started = time.monotonic()
        first = send(node, user=0)
        took = time.monotonic() - started
        assert first.status == 503 and first.json()["message"] == KAFKA_DOWN, first.body
        assert took < DEADLINE_SECONDS + 5
        wait_until(lambda: check(node, "bus.kafka")[0] == "DOWN", OUTAGE_SECONDS, "the check")
        started = time.monotonic()
        results = send_all(node, [{"userId": user, "message": "lost", "idempotencyKey": "k"} for user in users])
        quickly = time.monotonic() - started
        assert {(r["status"], r["message"]) for r in results} == {(503, KAFKA_DOWN)}
        for user in users:
            assert count(node, user) == used[user], user
        assert quickly < DEADLINE_SECONDS, "an outage that is known is answered at once"
        failed = sum(usage(node, user)["failed"] for user in users)
        assert failed == CASES + 1
        ready = node.get("/health/ready")
        assert ready.status == 503
        print(f"{CASES + 1} refused, none counted; first answer after {took:.1f} s, later ones after {quickly * 1e3:.0f} ms")
    finally:
        broker.start()
    wait_until(lambda: send(node, user=0).status == 200, OUTAGE_SECONDS, "the recovery")
    wait_until(lambda: node.get("/health/ready").status == 200, OUTAGE_SECONDS, "the recovery")
    results = send_all(node, [{"userId": user, "message": "lost", "idempotencyKey": "k"} for user in users if user > 0])
    assert {r["status"] for r in results} == {200}, "the key was free again"
    wait_sent(node, *[r["messageId"] for r in results])


def test_property_6_exactly_one_wins_the_last_slot(nodes):
    node = nodes.start()
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for user in range(CASES):
            put_config(node, user=user, limit=1)
            statuses = sorted(pool.map(lambda _, u=user: send(node, user=u).status, range(6)))
            assert statuses == [200] + [429] * 5
            assert count(node, user) == 1


def test_properties_7_and_8_what_is_published_and_what_the_sender_logs(nodes, broker):
    node = nodes.start()
    chance = random.Random(7)
    sent = {}
    entries = []
    for _ in range(CASES):
        user = chance.randrange(1 << 31)
        put_config(node, user=user, limit=1)
        entries.append({"userId": user, "message": any_text(chance)})
    for entry, result in zip(entries, send_all(node, entries)):
        assert result["status"] == 200, result
        sent[result["messageId"]] = (str(entry["userId"]), f'{entry["userId"]}: {entry["message"]}')
    assert records(broker, nodes.topic) == sent
    wait_sent(node, *sent)
    logged = collections.Counter(line["text"] for line in logged_messages(node))
    for _, line in sent.values():
        assert logged[f"SMS Sent: {line}"] == 1, line


def logged_messages(node):
    """What the provider `log` has written."""
    lines = [json.loads(line) for line in node.log().splitlines() if '"gateway.sms"' in line]
    return [line for line in lines if line["event"] == "gateway.sms"]


class Client(threading.Thread):
    """Sends single messages and batches, some with keys, until it is told to stop; keeps what was acknowledged."""

    def __init__(self, target, users, seed):
        super().__init__(daemon=True)
        self.target, self.users, self.random = target, users, random.Random(seed)
        self.acknowledged, self.statuses = [], collections.Counter()
        self.ending = threading.Event()
        self.slowest = 0.0

    def run(self):
        connection = None
        while not self.ending.is_set():
            entries = [{"userId": self.random.choice(self.users), "message": f"m{self.random.random()}"}
                       for _ in range(self.random.choice((1, 1, 5, 40)))]
            for entry in entries[::3]:
                entry["idempotencyKey"] = f"k{self.random.random()}"
            started = time.monotonic()
            try:
                node = self.target()
                connection = connection or http.client.HTTPConnection(node.address, node.port, timeout=30)
                connection.request("POST", "/api/send/batch", json.dumps(entries),
                                   {"Content-Type": "application/json"})
                results = json.loads(connection.getresponse().read())["results"]
            except (OSError, http.client.HTTPException, ValueError):
                connection = None  # the crash
                self.ending.wait(0.02)
                continue
            self.slowest = max(self.slowest, time.monotonic() - started)
            for result in results:
                self.statuses[result["status"]] += 1
                if result["status"] == 200:
                    self.acknowledged.append((result["userId"], result["messageId"]))
                elif result["status"] == 503:
                    assert result["message"] in (KAFKA_DOWN, POSTGRES_DOWN, "Service Unavailable",
                                                 "Store Down : Service Unavailable"), result


def load(target, users, clients=4, seed=None):
    seed = seed if seed is not None else random.randrange(1 << 32)
    print(f"seed {seed}")
    workers = [Client(target, users, seed + i) for i in range(clients)]
    for worker in workers:
        worker.start()
    return workers


def finish(workers):
    for worker in workers:
        worker.ending.set()
    for worker in workers:
        worker.join(60)
        assert not worker.is_alive()
    return [each for worker in workers for each in worker.acknowledged]


def judge(broker, node, topic, users, limit, acknowledged, title):
    """Never more distinct messages of a user than a window allows, none that was acknowledged is missing, and each is sent."""
    found = records(broker, topic)
    repeats = len(consume(broker, topic)) - len(found)
    per_user = collections.Counter(user for user, _ in found.values())
    missing = [message_id for _, message_id in acknowledged if message_id not in found]
    counted = {user: count(node, user) for user in users}
    print(f"{title}: {len(acknowledged)} acknowledged, {len(found)} distinct on the topic and {repeats} repeats, "
          f"{sum(counted.values())} counted, limit {limit * len(users)}")
    assert missing == []
    assert len({message_id for _, message_id in acknowledged}) == len(acknowledged)
    for user in users:
        assert per_user[str(user)] <= counted[user] <= limit, user
    wait_until(lambda: node.get("/api/v1/dispatch/SMS/summary").json()["counts"]["DISPATCHED"] == len(found),
               OUTAGE_SECONDS, "the sender")
    return found


def test_kill_9_between_charge_and_publish(nodes, broker):
    rounds, limit = 8, 30  # most of what is asked for is above it
    users = list(range(20))
    chance = random.Random(20261116)
    node = nodes.start()
    for user in users:
        put_config(node, user=user, limit=limit, window=600)
    current = [node]
    workers = load(lambda: current[0], users)
    for _ in range(rounds):
        wait_until(lambda: current[0].get("/metrics").body.count(b'outcome="sent"} 0') == 0, OUTAGE_SECONDS)
        time.sleep(chance.uniform(0, 0.15))  # at any moment: that is the point
        current[0].kill()
        current[0] = nodes.start()
    acknowledged = finish(workers)
    judge(broker, current[0], nodes.topic, users, limit, acknowledged, f"{rounds} times kill -9")


def test_kafka_restarts_under_load(nodes, broker):
    limit = 100_000
    users = list(range(10))
    node = nodes.start()
    for user in users:
        put_config(node, user=user, limit=limit, window=600)
    workers = load(lambda: node, users)
    for kill in (False, True):
        wait_until(lambda: all(w.acknowledged for w in workers), OUTAGE_SECONDS)
        before = sum(w.statuses[503] for w in workers)
        broker.kill() if kill else broker.stop()
        wait_until(lambda n=before: sum(w.statuses[503] for w in workers) > n, OUTAGE_SECONDS, "a refusal")
        broker.start()
        wait_until(lambda: node.get("/health/ready").status == 200, OUTAGE_SECONDS, "the recovery")
        sent = sum(len(w.acknowledged) for w in workers)
        wait_until(lambda n=sent: sum(len(w.acknowledged) for w in workers) > n, OUTAGE_SECONDS, "messages again")
    acknowledged = finish(workers)
    statuses = sum((w.statuses for w in workers), collections.Counter())
    print(f"answers {dict(statuses)}, slowest {max(w.slowest for w in workers):.1f} s")
    judge(broker, node, nodes.topic, users, limit, acknowledged, "Kafka stopped, then killed")


def test_postgres_restarts_under_load(request, broker, postgres):
    nodes = bus_nodes(request, broker, "postgres")
    limit = 100_000
    users = list(range(10))
    node = nodes.start()
    for user in users:
        put_config(node, user=user, limit=limit, window=600)
    workers = load(lambda: node, users)
    wait_until(lambda: all(w.acknowledged for w in workers), OUTAGE_SECONDS)
    postgres.stop()
    try:
        wait_until(lambda: sum(w.statuses[503] for w in workers) > 0, OUTAGE_SECONDS, "a refusal")
        answer = send(node, user=0)
        assert answer.status == 503 and answer.json()["message"] == POSTGRES_DOWN, answer.body
    finally:
        postgres.start()
    sent = sum(len(w.acknowledged) for w in workers)
    wait_until(lambda: sum(len(w.acknowledged) for w in workers) > sent, OUTAGE_SECONDS, "messages again")
    acknowledged = finish(workers)
    statuses = sum((w.statuses for w in workers), collections.Counter())
    print(f"answers {dict(statuses)}, slowest {max(w.slowest for w in workers):.1f} s")
    judge(broker, node, nodes.topic, users, limit, acknowledged, "PostgreSQL restarted")


def test_a_key_that_a_crash_left_is_taken_again(nodes, broker):
    """The broker stands still, and the daemon dies with the key claimed; the repeat goes on with the first's id and charge."""
    node = nodes.start()
    put_config(node, limit=5)
    assert send(node).status == 200
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pending = pool.submit(crashing_send, node)
            wait_until(lambda: count(node) == 2, OUTAGE_SECONDS, "the charge")
            second = send(node, message="Precious", idempotencyKey="k")
            assert second.status == 409 and "still under way" in second.json()["detail"], second.body
            node.kill()
            assert pending.result(60) is None
    finally:
        os.kill(broker.pid, signal.SIGCONT)
    node = nodes.start()
    assert count(node) == 2, "the crash left the charge"

    def again():
        answer = send(node, message="Precious", idempotencyKey="k")
        if answer.status == 409:
            assert "still under way" in answer.json()["detail"]
        return answer.status == 200

    wait_until(again, OUTAGE_SECONDS, "the claim to be left")
    assert count(node) == 2, "not charged twice"
    values = collections.Counter(value for _, value in records(broker, nodes.topic).values())
    assert values["101: Precious"] == 1


def crashing_send(node):
    try:
        return send(node, message="Precious", idempotencyKey="k").status
    except (OSError, http.client.HTTPException):
        return None
