"""Dispatch to a real Kafka: what a message looks like, and a broker that is away, killed or lacks the topic."""
import json

from conftest import wait_until
from dispatch_nodes import TYPE, counts, enqueue, instant, item, wait_for_counts
from kafka_calls import OUTAGE_SECONDS, check, consume, environment, headers_of, kafka

__all__ = ["kafka"]  # a fixture


def put_type(node, **more):
    body = {"jitterWindowMs": 0, "retryBackoffMs": 50, "retryBackoffMaxMs": 200, "maxDispatchRetries": 1,
            "sink": {"type": "kafka", "topic": "handed-over"}, **more}
    answer = node.request("PUT", TYPE, json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body


def test_a_message_has_key_envelope_and_headers(start_daemon, kafka):
    node = start_daemon(env=environment(kafka))
    put_type(node, preStartBufferMins=60)
    wait_until(lambda: check(node, "sink.kafka")[0] == "UP", OUTAGE_SECONDS)
    at = instant(2)
    context = {"amount": "12.50", "who": "Zoë"}
    body = {"itemId": "p/1", "scheduledTime": at, "context": context}
    assert node.post("/api/v1/dispatch/ORDER", body).status == 202
    wait_for_counts(node, DISPATCHED=1)
    [message] = consume(kafka, "handed-over")
    assert message["key"] == "p/1"
    assert json.loads(message["payload"]) == {"itemType": "ORDER", "itemId": "p/1", "scheduledTime": at,
                                              "attempt": 1, "context": context}
    assert headers_of(message) == {"idempotency-key": "ORDER:p/1", "penstock-item-type": "ORDER",
                                   "penstock-attempt": "1", "penstock-scheduled-time": at}
    view = item(node, "p%2F1")
    assert view["dispatchedAt"] >= at, "never early"
    assert f"offset {message['offset']}" in view["audit"][-1]["detail"]


def test_a_message_that_the_broker_refuses_is_dead(start_daemon, kafka):
    node = start_daemon(env=environment(kafka, PENSTOCK_DISPATCH_CONTEXT_BYTES_MAX="4MiB"))
    put_type(node)
    big = {"itemId": "big", "scheduledTime": instant(), "context": "x" * 2_000_000}
    assert node.post("/api/v1/dispatch/ORDER", big).status == 202
    enqueue(node, "small")
    wait_for_counts(node, DISPATCHED=1, DEAD=1)
    assert "too large" in item(node, "big")["lastError"].lower()


def test_nothing_is_lost_while_the_broker_comes_and_goes(start_daemon, kafka):
    """Away at the start, stopped and killed under load; maxDispatchRetries 1: one charge is the end of an item."""
    kafka.stop()
    node = start_daemon(env=environment(kafka))
    assert check(node, "sink.kafka")[0] == "not shown", "no type uses it"
    put_type(node, maxPerSecond=300)
    ids = [f"a-{i}" for i in range(4_000)]
    enqueue(node, *ids)
    wait_until(lambda: check(node, "sink.kafka")[0] == "DOWN", OUTAGE_SECONDS)
    assert node.get("/health/ready").status == 503
    kafka.start()
    for end in (kafka.stop, kafka.kill):
        before = counts(node)["DISPATCHED"]
        wait_until(lambda: counts(node)["DISPATCHED"] > before + 300, OUTAGE_SECONDS)
        end()
        wait_until(lambda: check(node, "sink.kafka")[0] == "DOWN", OUTAGE_SECONDS)
        kafka.start()
    wait_for_counts(node, DISPATCHED=len(ids), seconds=2 * OUTAGE_SECONDS)
    assert counts(node)["DEAD"] == 0
    wait_until(lambda: check(node, "sink.kafka")[0] == "UP", OUTAGE_SECONDS)
    got = consume(kafka, "handed-over")
    assert {message["key"] for message in got} == set(ids)
    # Outages were shorter than the producer's own patience, in which a repeat does not become two.
    repeats = len(got) - len(ids)
    assert repeats <= sum(item(node, i)["attempts"] - 1 for i in ids[::1] if repeats), "only what was given back"


def test_says_that_the_brokers_are_missing(start_daemon):
    node = start_daemon()
    put_type(node)
    enqueue(node, "p-1")
    wait_until(lambda: "kafka.brokers is not set" in check(node, "sink.kafka")[1], 30)
    now = counts(node)
    assert now["READY"] + now["CLAIMED"] == 1
