"""Dispatch by the real daemon, on the embedded store and on a real PostgreSQL, to a real HTTP downstream."""
import base64
import concurrent.futures
import contextlib
import hashlib
import hmac
import json
import socket
import threading
import time

import pytest
from conftest import daemons_in, wait_until
from dispatch_nodes import (
    ITEMS,
    TYPE,
    counts,
    downstream,
    enqueue,
    instant,
    item,
    node,
    nodes,
    nodes_on_embedded,
    nodes_on_postgres,
    patch_type,
    postgres,
    put_type,
    shared_nodes,
    wait_for_counts,
)
from downstream import Downstream

__all__ = ["downstream", "node", "nodes", "postgres", "shared_nodes"]  # fixtures

AWAY_SECONDS = 60
AWAY_ITEMS = [f"m-{i}" for i in range(200)]


class Away(threading.Thread):
    """Items on a node of each store whose sink is away for a minute and comes back, whatever goes on meanwhile. Until then
    nobody listens on its port, nor does anybody else get it."""

    def __init__(self, nodes):
        super().__init__(daemon=True)
        self.nodes = nodes
        self.seen = []  # of each node at the end of the minute: the counts, and an item
        self.sink = None
        self._ended = threading.Event()
        self._closed = socket.socket()
        self._closed.bind(("127.0.0.1", 0))
        self._port = self._closed.getsockname()[1]
        for each in nodes:  # with the settings an item type has by itself
            put_type(each, None, {"url": f"http://127.0.0.1:{self._port}/work"}, retryBackoffMs=None, retryBackoffMaxMs=None)
            enqueue(each, *AWAY_ITEMS)

    def run(self):
        if self._ended.wait(AWAY_SECONDS):  # the minute itself
            return
        self.seen = [(counts(each), item(each, AWAY_ITEMS[0])) for each in self.nodes]
        self._closed.close()
        self.sink = Downstream(self._port)

    def end(self):
        self._ended.set()
        self.join()
        self._closed.close()
        if self.sink:
            self.sink.close()


@pytest.fixture(scope="module", autouse=True)
def away(tmp_path_factory, postgres, penstock):
    """Begun before the first test and looked at by the last: the minute passes meanwhile."""
    folders = [tmp_path_factory.mktemp(name) for name in ("embedded", "postgres")]
    with contextlib.ExitStack() as ends:
        start, start_shared = (ends.enter_context(contextlib.contextmanager(daemons_in)(folder)) for folder in folders)
        made = Away([nodes_on_embedded(start, folders[0]).start(),
                     nodes_on_postgres(start_shared, folders[1], postgres, penstock).start()])
        made.start()
        ends.callback(made.end)
        yield made


def test_hands_over_signed_and_on_time(node, downstream):
    secrets = ["whsec_" + base64.b64encode(b"k" * 32).decode(), "whsec_" + base64.b64encode(b"o" * 32).decode()]
    shown = put_type(node, downstream, {"secrets": secrets})
    assert shown["sink"]["secrets"] == 2 and secrets[0] not in json.dumps(shown)
    at = instant(1.5)
    body = {"itemId": "p-1", "scheduledTime": at, "context": {"amount": "12.50", "who": "Zoë"}}
    answer = node.post(ITEMS, body)
    assert answer.status == 202
    assert answer.json() == {"itemType": "ORDER", "itemId": "p-1", "status": "READY", "scheduledTime": at}
    assert node.post(ITEMS, body).status == 200
    assert node.post(ITEMS, {**body, "context": {}}).status == 409
    wait_for_counts(node, DISPATCHED=1)
    got = downstream.kept()[0]
    assert got["method"] == "POST" and got["path"] == "/work"
    assert json.loads(got["body"]) == {"itemType": "ORDER", "itemId": "p-1", "scheduledTime": at, "attempt": 1,
                                       "context": body["context"]}
    headers = got["headers"]
    assert headers["idempotency-key"] == headers["webhook-id"] == "ORDER:p-1"
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{got['body']}".encode()
    expected = [base64.b64encode(hmac.new(key * 32, signed, hashlib.sha256).digest()).decode() for key in (b"k", b"o")]
    assert headers["webhook-signature"] == " ".join(f"v1,{each}" for each in expected)
    view = item(node, "p-1")
    assert view["status"] == "DISPATCHED" and view["attempts"] == 1 and view["retryCount"] == 0
    assert [e["action"] for e in view["audit"]] == ["ENQUEUED", "CLAIMED", "DISPATCHED"]
    assert view["claimedAt"] and view["dispatchedAt"] >= at and view["batchId"] == view["audit"][1]["batchId"]
    text = node.get("/metrics").body.decode()
    for name in ("dispatch_batch_claimed_total", "dispatch_workflow_started_total", "dispatch_cycle_duration_seconds",
                 "dispatch_lateness_seconds"):
        assert f'{name}' in text
    assert 'dispatch_workflow_started_total{item_type="ORDER"} 1' in text


def test_lateness_with_capacity_free(node, downstream):
    put_type(node, downstream)
    start = time.time() + 2
    for i in range(40):
        at = start + i * 0.05
        assert node.post(ITEMS, {"itemId": f"l-{i}", "scheduledTime": instant(at - time.time())}).status == 202
    wait_for_counts(node, DISPATCHED=40)
    for line in node.get("/metrics").body.decode().splitlines():
        if line.startswith('dispatch_lateness_seconds_bucket{item_type="ORDER",le="0.2"}'):
            assert float(line.split()[-1]) >= 38  # a busy machine; bench/dispatch measures it


def test_slow_down_pauses_the_type_and_charges_nothing(node, downstream):
    downstream.rules(status=429, headers={"Retry-After": "2"})
    put_type(node, downstream, {"concurrency": 4})
    enqueue(node, *[f"s-{i}" for i in range(20)])
    wait_until(lambda: downstream.report()["calls"] > 0, 20)
    wait_until(lambda: node.get(f"{ITEMS}/summary").json()["pausedUntil"], 20)
    downstream.rules(status=200)
    wait_for_counts(node, DISPATCHED=20)
    report = downstream.report()
    assert report["calls"] - 20 <= 2 * 4, "only what was under way was refused"
    assert report["last"] - report["first"] >= 1.9
    assert all(item(node, f"s-{i}")["retryCount"] == 0 for i in range(20))


def test_failures_are_retried_until_dead_and_redriven(node, downstream):
    downstream.rules(status=200, by_key={"ORDER:bad": {"status": 500}, "ORDER:wrong": {"status": 404},
                                         "ORDER:moved": {"status": 302, "headers": {"Location": "/elsewhere"}}})
    put_type(node, downstream, maxDispatchRetries=3)
    enqueue(node, "bad", "wrong", "moved", "good")
    wait_for_counts(node, DEAD=3, DISPATCHED=1)
    assert (item(node, "bad")["attempts"], item(node, "bad")["retryCount"]) == (3, 3)
    assert "500" in item(node, "bad")["lastError"]
    assert item(node, "wrong")["attempts"] == 1, "a refusal is final at once"
    assert item(node, "moved")["attempts"] == 3
    assert all(call["path"] == "/work" for call in downstream.kept()), "no redirect is followed"
    downstream.rules(status=200)
    answer = node.post(f"{ITEMS}/bad/redrive")
    assert answer.status == 200 and answer.json()["retryCount"] == 0
    wait_for_counts(node, DEAD=2, DISPATCHED=2)
    assert item(node, "bad")["attempts"] == 4
    assert node.post(f"{ITEMS}/bad/redrive").status == 409
    keys = {call["headers"]["idempotency-key"] for call in downstream.kept()}
    assert keys == {f"ORDER:{i}" for i in ("bad", "wrong", "moved", "good")}


def test_a_sink_that_is_down_or_slow_loses_nothing(node, downstream):
    put_type(node, downstream, {"timeoutMs": 300, "concurrency": 8}, maxDispatchRetries=100)
    url = downstream.url
    patch_type(node, sink={"type": "http", "url": "http://127.0.0.1:1/", "timeoutMs": 300})
    enqueue(node, *[f"d-{i}" for i in range(100)])
    wait_until(lambda: item(node, "d-0")["retryCount"] >= 2, 30)
    downstream.rules(status=200, delay=1)  # longer than the time-out
    patch_type(node, sink={"type": "http", "url": url, "timeoutMs": 300})
    wait_until(lambda: downstream.report()["calls"] >= 20, 30)
    downstream.rules(status=200, delay=0.01)
    wait_for_counts(node, DISPATCHED=100)
    assert downstream.report()["keys"] == 100


def test_kill_switch_stops_a_batch_and_gives_the_rest_back(node, downstream):
    put_type(node, downstream, maxPerSecond=100)
    enqueue(node, *[f"k-{i}" for i in range(1_000)])
    wait_until(lambda: downstream.report()["calls"] >= 50, 20)
    patch_type(node, enabled=False)
    switched = time.time()
    wait_for_counts(node, CLAIMED=0)
    time.sleep(1)  # in which nothing may come
    report = downstream.report()
    assert report["last"] - switched < 1.0
    ready = counts(node)["READY"]
    assert ready == 1_000 - report["calls"]
    assert node.get(f"{ITEMS}/summary").json()["predictedDrainSeconds"] is None
    patch_type(node, enabled=True, maxPerSecond=None)
    wait_for_counts(node, DISPATCHED=1_000)
    assert downstream.report()["repeated"] == []
    history = node.get(f"{TYPE}/history").json()
    assert [h["new"]["enabled"] for h in history] == [True, False, True] and history[-1]["old"] is None


def test_pace_holds_in_any_second_and_is_used(nodes, downstream):
    node = nodes.start(goes_first=True)
    put_type(node, downstream, maxPerSecond=500)
    enqueue(node, *[f"p-{i}" for i in range(4_000)])
    wait_for_counts(node, DISPATCHED=4_000)
    report = downstream.report()
    assert report["busiest"] <= 500
    assert report["repeated"] == []
    rate = 3_999 / (report["last"] - report["first"])
    print(f"busiest second {report['busiest']} of 500, {rate:.1f} a second")
    assert rate > 400  # bench/dispatch measures how much of it is used


def test_cancel_and_claim_race_for_one_item(node, downstream):
    put_type(node, downstream)
    outcomes = []
    for i in range(60):
        assert node.post(ITEMS, {"itemId": f"c-{i}", "scheduledTime": instant(0.05)}).status == 202
        time.sleep(0.002 * (i % 40))  # from long before the claim to after it
        outcomes.append(node.request("DELETE", f"{ITEMS}/c-{i}").status)
    assert set(outcomes) <= {204, 409}
    wait_for_counts(node, READY=0, CLAIMED=0)
    keys = {call["headers"]["idempotency-key"] for call in downstream.kept()}
    for i, outcome in enumerate(outcomes):
        assert item(node, f"c-{i}")["status"] == ("CANCELLED" if outcome == 204 else "DISPATCHED")
    assert downstream.report()["keys"] == outcomes.count(409)
    assert not {f"ORDER:c-{i}" for i, o in enumerate(outcomes) if o == 204} & keys


def test_duplicate_enqueues_race_for_one_item(node, downstream):
    put_type(node, downstream)
    at = instant(0.5)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for i in range(10):
            body = {"itemId": f"u-{i}", "scheduledTime": at, "context": {"a": 1, "b": [2]}}
            answers = list(pool.map(lambda _: node.post(ITEMS, body).status, range(16)))
            assert sorted(answers) == [200] * 15 + [202]
    wait_for_counts(node, DISPATCHED=10)
    assert downstream.report()["repeated"] == []


def test_a_slot_is_the_time_of_an_item(node, downstream):
    put_type(node, downstream)
    node.put_config("bank", max_per_window=5, window="PT1S")
    times = []
    for i in range(12):
        answer = node.post(ITEMS, {"itemId": f"w-{i}", "slot": {"config": "bank"}, "context": i})
        assert answer.status == 202, answer.body
        times.append(answer.json()["scheduledTime"])
        slot = node.get(f"/api/v1/slots/ORDER:w-{i}").json()
        assert slot["scheduledTime"] == times[-1]
    assert max(sum(t[:19] == each[:19] for t in times) for each in times) <= 5
    unknown = node.post(ITEMS, {"itemId": "x", "slot": {"config": "none"}})
    assert unknown.status == 404 and node.get(f"{ITEMS}/x").status == 404
    wait_for_counts(node, DISPATCHED=12)


def test_a_cancelled_item_gives_its_slot_back(node, downstream):
    put_type(node, downstream)
    node.put_config("narrow", max_per_window=1, window="PT1S")
    ask = {"config": "narrow", "requestedTime": instant(3_600)}
    first = node.post(ITEMS, {"itemId": "c-1", "slot": ask, "context": 1}).json()
    assert node.request("DELETE", f"{ITEMS}/c-1").status == 204
    assert node.get("/api/v1/slots/ORDER:c-1").json()["status"] == "RELEASED"
    second = node.post(ITEMS, {"itemId": "c-2", "slot": ask, "context": 2}).json()
    assert second["scheduledTime"][:19] == first["scheduledTime"][:19], "the place is free again"


def test_what_was_acknowledged_survives_a_crash(nodes, downstream):
    node = nodes.start(goes_first=True)
    put_type(node, downstream, maxPerSecond=1_000)
    enqueue(node, *[f"a-{i}" for i in range(3_000)])
    wait_until(lambda: downstream.report()["calls"] >= 500, 30)
    node.kill()
    node = nodes.start(goes_first=True)
    wait_for_counts(node, DISPATCHED=3_000)
    report = downstream.report()
    assert report["keys"] == 3_000 and report["busiest"] <= 1_000
    print(f"{len(report['repeated'])} repeated around the crash")
    assert len(report["repeated"]) <= 1_000, "what was not settled yet"


def test_a_stop_repeats_nothing(nodes, downstream):
    node = nodes.start(goes_first=True)
    put_type(node, downstream, maxPerSecond=1_000)
    enqueue(node, *[f"a-{i}" for i in range(2_000)])
    wait_until(lambda: downstream.report()["calls"] >= 300, 30)
    assert node.stop() == 0
    node = nodes.start(goes_first=True)
    wait_for_counts(node, DISPATCHED=2_000)
    report = downstream.report()
    assert report["calls"] == 2_000 and report["busiest"] <= 1_000


def test_nodes_share_types_and_wake_each_other(shared_nodes, downstream):
    first, second = shared_nodes.start(), shared_nodes.start()
    put_type(first, downstream, dispatchIntervalSecs=30)
    wait_until(lambda: second.get(TYPE).status == 200, 5)
    wait_until(lambda: first.get(f"{ITEMS}/summary").json()["leaseHolder"], 10)
    holder = first.get(f"{ITEMS}/summary").json()["leaseHolder"]
    holding, other = (first, second) if str(first.pid) in holder.split("-") else (second, first)
    enqueue(holding, "n-0")
    wait_for_counts(holding, DISPATCHED=1)  # the holder has looked and knows of nothing more; its interval is long
    sent = time.time()
    enqueue(other, "n-1")
    wait_until(lambda: downstream.report()["calls"] == 2, 10)
    assert downstream.report()["last"] - sent < 2
    patch_type(other, enabled=False)
    wait_until(lambda: first.get(TYPE).json()["enabled"] is False, 2)
    wait_until(lambda: second.get(TYPE).json()["enabled"] is False, 2)


@pytest.mark.parametrize("body,field", [
    ({"itemId": "x"}, "scheduledTime"),
    ({"itemId": "x", "scheduledTime": "2030-01-01T00:00:00Z", "slot": {"config": "c"}}, "scheduledTime"),
    ({"itemId": "summary", "scheduledTime": "2030-01-01T00:00:00Z"}, "itemId"),
    ({"itemId": 5, "scheduledTime": "2030-01-01T00:00:00Z"}, "itemId"),
    ({"itemId": "x", "scheduledTime": "2030-01-01T00:00:00"}, "scheduledTime"),
])
def test_bad_items_name_their_field(daemon, downstream, body, field):
    put_type(daemon, downstream)
    answer = daemon.post(ITEMS, body)
    assert answer.status == 400 and answer.json()["field"] == field


def test_contexts_have_a_bound_of_their_own(start_daemon, downstream):
    node = start_daemon(env={"PENSTOCK_DISPATCH_CONTEXT_BYTES_MAX": "2MiB"})
    put_type(node, downstream)
    body = {"itemId": "large", "scheduledTime": instant(), "context": "x" * (2 * 1024 * 1024 - 2)}
    assert node.post(ITEMS, body).status == 202
    wait_for_counts(node, DISPATCHED=1)
    assert len(json.loads(downstream.kept()[0]["body"])["context"]) == 2 * 1024 * 1024 - 2
    assert node.post(ITEMS, {**body, "itemId": "larger", "context": "x" * (2 * 1024 * 1024)}).status == 413


def test_private_addresses_can_be_refused(start_daemon, downstream):
    node = start_daemon(env={"PENSTOCK_DISPATCH_HTTP_REFUSE_PRIVATE_ADDRESSES": "true"})
    put_type(node, downstream, maxDispatchRetries=1)
    enqueue(node, "x")
    wait_for_counts(node, DEAD=1)
    assert "address" in item(node, "x")["lastError"] and downstream.report()["calls"] == 0


def test_items_outlive_a_minute_without_their_sink(away):
    """On both stores at once; the last test of this file, for the sake of that minute."""
    away.join()
    for total, first in away.seen:
        assert total["DEAD"] == 0 and total["DISPATCHED"] == 0
        assert "refused" in first["lastError"]
    for each in away.nodes:
        wait_for_counts(each, 120, DISPATCHED=len(AWAY_ITEMS), READY=0, CLAIMED=0, DEAD=0)
    report = away.sink.report()
    assert (report["keys"], report["calls"]) == (len(AWAY_ITEMS), 2 * len(AWAY_ITEMS)), "each node hands over each item once"
