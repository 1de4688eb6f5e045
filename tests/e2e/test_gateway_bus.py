"""The gateway with Kafka as its bus, by the real daemon and a real broker, on the embedded store, on a real PostgreSQL, and
with a real Redis before that: the contract, keys, and records that others put on the topic. Faults are in
test_gateway_bus_faults.py and test_gateway_bus_outages.py."""
import json
import re

from conftest import wait_until
from dispatch_nodes import postgres
from gateway_nodes import (
    LIMITED,
    OF_KAFKA,
    SENT,
    UNKNOWN_USER,
    broker,
    config,
    count,
    logged,
    message,
    nodes_on,
    put_config,
    records,
    redis,
    rest_of_window,
    send,
    send_all,
    usage,
    wait_sent,
)
from kafka_calls import OUTAGE_SECONDS, check, consume, headers_of, kcat

__all__ = ["broker", "postgres", "redis"]  # fixtures


nodes = nodes_on(*OF_KAFKA)


def test_contract(nodes, broker):
    node = nodes.start()
    put_config(node, limit=2)
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    answer = send(node, headers={"traceparent": trace})
    assert answer.status == 200 and answer.json()["message"] == SENT
    message_id = answer.json()["messageId"]
    assert message(node, message_id)["status"] in ("PUBLISHED", "QUEUED", "SENDING", "SENT")
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
    assert limited.status == 429 and limited.json()["message"] == LIMITED
    assert abs(int(limited.headers["Retry-After"]) - rest_of_window(config(node))) <= 2, "until the next window"
    unknown = send(node, user=7)
    assert unknown.status == 404 and unknown.json()["message"] == UNKNOWN_USER
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
    ids = [line["message_id"] for line in logged(node, "gateway.sms")]
    assert len(ids) == 2
    wait_sent(node, *ids)
    # Read again, they are the same messages.
    node.stop()
    node = nodes.start(PENSTOCK_GATEWAY_KAFKA_GROUP="another-" + nodes.topic)
    wait_until(lambda: len(consume(broker, nodes.topic + ".dlq")) == 6, OUTAGE_SECONDS, "the dead letters again")
    assert node.get("/api/v1/dispatch/SMS/summary").json()["counts"]["DISPATCHED"] == 2
