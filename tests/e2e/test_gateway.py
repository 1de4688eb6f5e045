"""The gateway by the real daemon: its contract, limits under concurrency, idempotency, and what a crash leaves."""
import base64
import collections
import concurrent.futures
import datetime
import hmac
import http.client
import itertools
import json
import random
import re
import threading

import pytest
from conftest import wait_until
from dispatch_nodes import downstream, node, nodes, postgres
from gateway_nodes import config, message, put_config, rest_of_window, send, usage, wait_sent

__all__ = ["downstream", "node", "nodes", "postgres"]  # fixtures

SMS = "/admin/dispatch/types/SMS"
SECRET = "a-secret-of-the-provider"


def test_contract(node):
    made = put_config(node, limit=2, window=5)
    assert {k: made[k] for k in ("userId", "rateLimit", "timeWindow", "currentCount")} == \
        {"userId": 101, "rateLimit": 2, "timeWindow": 5, "currentCount": 0}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made["lastRefreshTime"])
    assert config(node) == made
    answer = send(node)
    assert answer.status == 200
    body = answer.json()
    assert body["message"] == "Message Sent Successfully" and set(body) == {"message", "messageId"}
    assert send(node).status == 200
    assert config(node)["currentCount"] == 2
    limited = send(node)
    assert limited.status == 429 and limited.json()["message"] == "Rate Limit Exceeded"
    assert abs(int(limited.headers["Retry-After"]) - rest_of_window(config(node))) <= 2, "until the next window"
    assert config(node)["currentCount"] == 2
    unknown = send(node, user=7)
    assert unknown.status == 404 and unknown.json()["message"] == "User Not Found"
    # A changed config begins anew.
    assert put_config(node, limit=3)["currentCount"] == 0
    assert send(node).status == 200
    assert node.request("DELETE", "/api/config/101").status == 204
    assert send(node).status == 404
    for path in ("/api/config/101", "/api/config/7"):
        answer = node.get(path)
        assert answer.status == 404 and answer.json()["message"] == "User Not Found"
    assert node.request("DELETE", "/api/config/101").status == 404
    wait_sent(node, body["messageId"])
    shown = message(node, body["messageId"])
    assert shown["userId"] == 101 and shown["provider"] == "log" and shown["attempts"] == 1 and shown["sentAt"]
    wait_until(lambda: "SMS Sent: 101: Hello World" in node.log(), 30, "the line in the log")
    unknown = node.get("/api/messages/p-1")
    assert unknown.status == 404 and unknown.json()["message"] == "Message Not Found"


@pytest.mark.parametrize("path, body, field", [
    ("/api/config", {"rateLimit": 1, "timeWindow": 1}, "userId"),
    ("/api/config", {"userId": -1, "rateLimit": 1, "timeWindow": 1}, "userId"),
    ("/api/config", {"userId": 1, "rateLimit": 0, "timeWindow": 1}, "rateLimit"),
    ("/api/config", {"userId": 1, "rateLimit": 1, "timeWindow": 0}, "timeWindow"),
    ("/api/config", {"userId": 1, "rateLimit": "5", "timeWindow": 1}, "rateLimit"),
    ("/api/config", "{", None),
    ("/api/send", {"message": "x"}, "userId"),
    ("/api/send", {"userId": 2147483648, "message": "x"}, "userId"),
    ("/api/send", {"userId": 1}, "message"),
    ("/api/send", {"userId": 1, "message": " \n"}, "message"),
    ("/api/send", {"userId": 1, "message": "x", "idempotencyKey": "with space"}, "idempotencyKey"),
    ("/api/send", "nonsense", None),
    ("/api/send/batch", "{}", None),
])
def test_invalid_arguments(daemon, path, body, field):
    answer = daemon.post(path, body)
    assert answer.status == 400, answer.body
    shown = answer.json()
    assert shown["message"] == "Missing/Invalid Arguments" and shown["detail"]
    assert shown.get("field") == field


def test_config_needs_the_admin_token(start_daemon, tmp_path):
    for name in ("admin", "api"):
        (tmp_path / name).write_text(f"the-{name}-token-for-tests\n")
        (tmp_path / name).chmod(0o600)
    daemon = start_daemon("--admin-token-file", str(tmp_path / "admin"), "--api-token-file", str(tmp_path / "api"))
    admin, api = ({"Authorization": f"Bearer the-{name}-token-for-tests"} for name in ("admin", "api"))
    rule = {"userId": 1, "rateLimit": 1, "timeWindow": 1}
    assert daemon.post("/api/config", rule).status == 401
    assert daemon.post("/api/config", rule, api).status == 401
    assert daemon.post("/api/config", rule, admin).status == 200
    assert daemon.get("/api/config/1", api).status == 401
    assert daemon.post("/api/send", {"userId": 1, "message": "x"}).status == 401
    assert daemon.post("/api/send", {"userId": 1, "message": "x"}, api).status == 200


def test_idempotency_key(nodes):
    node = nodes.start()
    put_config(node, limit=2)
    first = send(node, idempotencyKey="k-1").json()
    assert send(node, idempotencyKey="k-1").json() == first
    assert config(node)["currentCount"] == 1
    other = send(node, message="Another", idempotencyKey="k-1")
    assert other.status == 409 and other.json()["field"] == "idempotencyKey"
    assert send(node, message="Another").status == 200
    assert send(node).status == 429
    node.kill()
    node = nodes.start()
    assert send(node, idempotencyKey="k-1").json() == first, "though the window is used up, and after a crash"
    assert config(node)["currentCount"] == 2


def test_batch(node):
    put_config(node, user=1, limit=2)
    put_config(node, user=2, limit=5)
    entries = [{"userId": 1, "message": "a"}, {"userId": 2, "message": "b"}, {"userId": 1, "message": ""},
               {"userId": 3, "message": "c"}, {"userId": 1, "message": "d"}, {"userId": 1, "message": "e"},
               {"message": "f"}]
    for body, kind in ((json.dumps(entries), "application/json"),
                       ("\n".join(map(json.dumps, entries)), "application/x-ndjson")):
        put_config(node, user=1, limit=2, window=5)
        answer = node.post("/api/send/batch", body, {"Content-Type": kind})
        assert answer.status == 200, answer.body
        results = answer.json()["results"]
        assert [r["status"] for r in results] == [200, 200, 400, 404, 200, 429, 400]
        assert [r["userId"] for r in results] == [1, 2, 1, 3, 1, 1, None]
        assert len({r["messageId"] for r in results if r["status"] == 200}) == 3
        assert results[0]["message"] == "Message Sent Successfully"
        assert results[2]["field"] == "message" and results[5]["message"] == "Rate Limit Exceeded"
        assert 1 <= results[5]["retryAfter"] <= 300
    for result in results:
        if result["status"] == 200:
            wait_sent(node, result["messageId"])


def test_segments_cost(start_daemon):
    daemon = start_daemon(env={"PENSTOCK_GATEWAY_COST": "segments"})
    put_config(daemon, limit=5)
    assert send(daemon, message="x" * 160).status == 200
    assert config(daemon)["currentCount"] == 1
    assert send(daemon, message="ж" * 71).status == 200
    assert config(daemon)["currentCount"] == 3
    assert send(daemon, message="x" * 307).status == 429
    assert send(daemon, message="x" * 306).status == 200
    assert config(daemon)["currentCount"] == 5
    never = send(daemon, message="x" * 160 * 6)
    assert never.status == 400 and never.json()["field"] == "message"


def use_http(node, downstream, **settings):
    sink = {"type": "http", "url": downstream.url, "secrets": [SECRET]}
    body = {"sink": sink, "jitterWindowMs": 0, "retryBackoffMs": 20, "retryBackoffMaxMs": 40, "maxDispatchRetries": 2,
            **settings}
    answer = node.request("PUT", SMS, json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    assert SECRET not in answer.body.decode()
    put_config(node)


def test_http_provider_gets_signed_messages(node, downstream):
    use_http(node, downstream)
    sent = send(node, message="Grüße", to="+4915112345678").json()["messageId"]
    wait_sent(node, sent)
    (call,) = downstream.kept()
    got = json.loads(call["body"])
    assert got["itemId"] == sent and got["context"]["messageId"] == sent and got["attempt"] == 1
    assert got["context"]["userId"] == 101 and got["context"]["message"] == "Grüße"
    assert got["context"]["to"] == "+4915112345678"
    headers = call["headers"]
    assert headers["idempotency-key"] == headers["webhook-id"] == f"SMS:{sent}"
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{call['body']}".encode()
    expected = base64.b64encode(hmac.new(SECRET.encode(), signed, "sha256").digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert message(node, sent)["provider"] == "http"
    assert message(node, sent)["delivery"] is None, "this provider says nothing more"


def test_http_provider_with_retries_and_redrive(node, downstream):
    use_http(node, downstream)
    downstream.rules(status=500)
    failing = send(node, message="Down").json()["messageId"]
    wait_until(lambda: message(node, failing)["status"] == "FAILED", 30, "the last attempt")
    shown = message(node, failing)
    assert shown["attempts"] == 2 and shown["lastError"] == "HTTP 500" and shown["nextTryAt"] is None
    assert shown["sentAt"] is None
    assert node.get("/api/v1/dispatch/SMS/summary").json()["counts"]["DEAD"] == 1
    assert [json.loads(each["body"])["attempt"] for each in downstream.kept()] == [1, 2]
    downstream.rules(status=200)
    assert node.post(f"/api/messages/{failing}/redrive", "").status == 200
    wait_sent(node, failing)
    shown = message(node, failing)
    assert shown["attempts"] == 3 and shown["sentAt"]
    assert {each["headers"]["idempotency-key"] for each in downstream.kept()} == {f"SMS:{failing}"}
    assert node.post(f"/api/messages/{failing}/redrive", "").status == 409


def test_a_message_shows_its_next_try(node, downstream):
    use_http(node, downstream, retryBackoffMs=3_600_000, retryBackoffMaxMs=3_600_000)
    downstream.rules(status=503)
    waiting = send(node).json()["messageId"]
    wait_until(lambda: message(node, waiting)["lastError"], 30, "the first attempt")
    shown = message(node, waiting)
    assert shown["status"] == "QUEUED" and shown["attempts"] == 1 and shown["lastError"] == "HTTP 503"
    ahead = datetime.datetime.fromisoformat(shown["nextTryAt"]) - datetime.datetime.now(datetime.UTC)
    assert 3500 < ahead.total_seconds() <= 3600 * 1.1, "an hour, and up to a tenth more"


def test_http_provider_that_asks_for_a_pause_gets_it(node, downstream):
    use_http(node, downstream, maxDispatchRetries=1)
    downstream.rules(status=429, headers={"Retry-After": "1"})
    sent = send(node).json()["messageId"]
    wait_until(lambda: downstream.report()["calls"] >= 2, 30, "another try after the pause")
    downstream.rules(status=200)
    wait_sent(node, sent)
    times = sorted(at for at, _ in downstream.calls())
    assert all(later - before >= 0.95 for before, later in itertools.pairwise(times)), "never before it was asked to"
    item = node.get(f"/api/v1/dispatch/SMS/{sent}").json()
    assert item["retryCount"] == 0, "a pause costs no attempt"


def test_http_provider_that_refuses_is_not_asked_again(node, downstream):
    use_http(node, downstream)
    downstream.rules(status=422)
    refused = send(node).json()["messageId"]
    wait_until(lambda: message(node, refused)["status"] == "FAILED", 30, "the refusal")
    assert message(node, refused)["lastError"] == "HTTP 422" and downstream.report()["calls"] == 1


def test_limit_holds_under_concurrency(node):
    put_config(node, limit=50, window=60)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        statuses = collections.Counter(pool.map(lambda i: send(node, message=f"m{i}").status, range(300)))
    assert statuses == {200: 50, 429: 250}
    assert config(node)["currentCount"] == 50


def test_exactly_one_wins_the_last_slot(node):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for user in range(10):
            put_config(node, user=user, limit=1)
            statuses = sorted(pool.map(lambda _, u=user: send(node, user=u).status, range(8)))
            assert statuses == [200] + [429] * 7


def test_analytics(node):
    put_config(node, user=1, limit=2)
    put_config(node, user=2, limit=1)
    for user, count in ((1, 5), (2, 3)):
        for _ in range(count):
            send(node, user=user)

    assert usage(node, 1) == {"sent": 2, "limited": 3, "failed": 0}
    assert usage(node, 2) == {"sent": 1, "limited": 2, "failed": 0}
    points = node.get("/api/analytics/usage?userId=1&bucket=PT1H&from=2020-01-01T00:00:00Z").json()
    assert points["field"] == "bucket", "too many points"
    points = node.get("/api/analytics/usage?userId=1&bucket=P1D&from=2020-01-01T00:00:00Z").json()["points"]
    assert sum(p["sent"] for p in points) == 2 and points[0]["at"].endswith("T00:00:00.000Z")
    top = node.get("/api/analytics/top-limited").json()
    assert top == [{"userId": 1, "limited": 3}, {"userId": 2, "limited": 2}]
    assert node.get("/api/analytics/top-limited?limit=1").json() == top[:1]
    lines = node.get("/api/analytics/export?from=2020-01-01T00:00:00Z").body.decode().splitlines()
    exported = [json.loads(line) for line in lines]
    for user, sent, limited in ((1, 2, 3), (2, 1, 2)):
        own = [each for each in exported if each["userId"] == user]
        assert (sum(e["sent"] for e in own), sum(e["limited"] for e in own)) == (sent, limited)
    assert all(set(each) == {"at", "userId", "sent", "limited", "failed"} for each in exported), "no text"
    first = node.get("/api/analytics/export?limit=1").body.decode().splitlines()
    mark = f"{json.loads(first[0])['at']},{json.loads(first[0])['userId']}"
    rest = node.get(f"/api/analytics/export?after={mark}").body.decode().splitlines()
    assert first + rest == lines, "pages join"
    for query in ("after=1", "after=x,1", "limit=0", "limit=10001"):
        answer = node.get(f"/api/analytics/export?{query}")
        assert answer.status == 400 and answer.json()["field"] == query.split("=")[0]
    for query, field in (("", "userId"), ("userId=x", "userId"), ("userId=1&bucket=PT30S", "bucket"),
                         ("userId=1&from=yesterday", "from"),
                         ("userId=1&from=2025-01-02T00:00:00Z&to=2025-01-01T00:00:00Z", "from")):
        answer = node.get(f"/api/analytics/usage?{query}")
        assert answer.status == 400 and answer.json()["field"] == field, query


class Client(threading.Thread):
    """Sends until the daemon goes away; keeps what was acknowledged."""

    def __init__(self, node, users, seed):
        super().__init__(daemon=True)
        self.target, self.users, self.random = node, users, random.Random(seed)
        self.acknowledged = []
        self.first_answer = threading.Event()

    def run(self):
        connection = http.client.HTTPConnection(self.target.address, self.target.port, timeout=10)
        try:
            while True:
                entries = [{"userId": self.random.choice(self.users), "message": f"m{self.random.random()}"}
                           for _ in range(self.random.choice((1, 1, 5, 40)))]
                connection.request("POST", "/api/send/batch", json.dumps(entries),
                                   {"Content-Type": "application/json"})
                for result in json.loads(connection.getresponse().read())["results"]:
                    if result["status"] == 200:
                        self.acknowledged.append((result["userId"], result["messageId"]))
                self.first_answer.set()
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the crash
        finally:
            connection.close()


def test_kill_9_loses_no_message_and_never_exceeds_the_limit(nodes):
    rounds, clients, limit = 6, 4, 400
    users = list(range(8))
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    acknowledged = []
    node = nodes.start()
    for user in users:
        put_config(node, user=user, limit=limit, window=600)
    for number in range(rounds):
        if number > 0:
            node = nodes.start()
        workers = [Client(node, users, chance.random()) for _ in range(clients)]
        for worker in workers:
            worker.start()
        assert workers[0].first_answer.wait(20)
        killer = threading.Timer(chance.uniform(0, 0.2), node.process.kill)
        killer.start()
        for worker in workers:
            worker.join(30)
            assert not worker.is_alive()
        killer.join()
        node.kill()
        acknowledged += [each for worker in workers for each in worker.acknowledged]
    node = nodes.start()
    for _, message_id in chance.sample(acknowledged, min(len(acknowledged), 300)):
        message(node, message_id)
    counts = node.get("/api/v1/dispatch/SMS/summary").json()["counts"]
    per_user = collections.Counter(user for user, _ in acknowledged)
    assert len({message_id for _, message_id in acknowledged}) == len(acknowledged)
    counted = 0
    for user in users:
        current = config(node, user)["currentCount"]
        counted += current
        assert per_user[user] <= current <= limit, user
    assert sum(counts.values()) == counted, "every message that counts is there, and no other"
    wait_until(lambda: node.get("/api/v1/dispatch/SMS/summary").json()["counts"]["DISPATCHED"] == counted, 60,
               "the sender")
    print(f"{len(acknowledged)} acknowledged, {counted} counted and stored, limit {limit * len(users)}")
