"""What the gateway does with anything that clients can send it: each answer in the contract's words, none that ends the daemon or
charges somebody, on the embedded store and on PostgreSQL."""
import json

import pytest
from dispatch_nodes import node, nodes, postgres
from gateway_nodes import INVALID, SENT, UNKNOWN_USER, count, message, put_config, send, send_all, wait_sent

__all__ = ["node", "nodes", "postgres"]  # fixtures

JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson"}
USER_MAX = 2**31 - 1


def refused(answer, field=None, status=400):
    assert answer.status == status, answer.body
    body = answer.json()
    assert body["status"] == status and body["message"] == INVALID and body["detail"], body
    assert body.get("field") == field, body
    assert body["requestId"] and body["timestamp"] and body["error"]


@pytest.mark.parametrize("value", ["5", 1.5, 1e3, True, None, [], {}, -1, USER_MAX + 1, 10**30, -10**30])
def test_numbers_are_whole_and_in_range(daemon, value):
    put_config(daemon, user=5)
    for field in ("userId", "rateLimit", "timeWindow"):
        body = {"userId": 5, "rateLimit": 1, "timeWindow": 1, field: value}
        refused(daemon.post("/api/config", body), field)
    refused(daemon.post("/api/send", {"userId": value, "message": "x"}), "userId")
    assert daemon.get("/api/config/5").json()["rateLimit"] == 10


@pytest.mark.parametrize("path", ["x", "-1", "1.5", "2147483648", "%20", "5%00", "99999999999999999999", "0x5", "%EF%BC%95"])
def test_users_in_a_path(daemon, path):
    put_config(daemon, user=5)
    refused(daemon.get(f"/api/config/{path}"), "userId")
    refused(daemon.request("DELETE", f"/api/config/{path}"), "userId")


@pytest.mark.parametrize("text", ["", " ", "\n\t \r", "\u0000", "\u0001\u001f ", None, 5, ["x"], {"a": 1}, True])
def test_messages_that_are_none(daemon, text):
    put_config(daemon)
    refused(daemon.post("/api/send", {"userId": 101, "message": text}), "message")
    assert count(daemon) == 0


def test_texts_of_all_kinds_arrive_as_they_are(node):
    put_config(node, limit=100)
    texts = ["ж", "😀" * 70, "\u00a0", "a\u0000b", "\x1b[31m red", "a\nb\r\nc", '"quoted" \\ back', "\ufeffmark",
             "\u202eright to left", "{[^]}~|€\f", "e\u0301", "\U0010ffff", "x" * 153 * 255, "ж" * 67 * 255, "101: 102: nested"]
    ids = []
    for text in texts:
        answer = send(node, message=text)
        assert answer.status == 200 and answer.json()["message"] == SENT, (text[:20], answer.body)
        ids.append(answer.json()["messageId"])
    assert count(node) == len(texts)
    wait_sent(node, *ids)
    lines = [json.loads(line) for line in node.log().splitlines() if '"gateway.sms"' in line]
    logged = {line["message_id"]: line["text"] for line in lines}
    for message_id, text in zip(ids, texts, strict=True):
        assert logged[message_id][:1_000] == f"SMS Sent: 101: {text}"[:1_000], "lines of a log have an end"


@pytest.mark.parametrize("text", ["x" * (153 * 255 + 1), "ж" * (67 * 255 + 1), "€" * (76 * 255 + 1)])
def test_more_parts_than_a_phone_can_join(daemon, text):
    put_config(daemon)
    answer = send(daemon, message=text)
    refused(answer, "message")
    assert "255" in answer.json()["detail"]
    assert count(daemon) == 0


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"null", b"7", b'"x"', b"nonsense", b'{"userId":101,"message":"x"', b'{"userId":101,"message":"x"} tail',
    b'{"userId":101,"userId":101,"message":"x"}', b'{"userId":101,"message":"a","message":"b"}',
    b'{"userId":101,"message":"\xff"}', b'{"userId":101,"message":"\xed\xa0\x80"}', b'{"userId":101,"message":"\\ud800"}',
    b'{"userId":101,"message":"\\udc00\\ud800"}', b'{"userId":101,"message":"\\x"}', b'{"userId":101,"message":"a\nb"}',
    b'{"userId":01,"message":"x"}', b'{"userId":NaN,"message":"x"}', b"[" * 5_000, b'{"a":' * 5_000,
    b'\xef\xbb\xbf{"userId":101,"message":"x"}', '{"userId":101,"message":"x"}'.encode("utf-16")])
def test_bodies_that_are_no_message(daemon, body):
    put_config(daemon)
    for path in ("/api/send", "/api/config"):
        answer = daemon.request("POST", path, body, JSON)
        assert answer.status == 400, (body[:60], answer.body)
        assert answer.json()["message"] == INVALID and answer.json()["detail"]
    assert count(daemon) == 0


def test_unknown_fields_and_nulls_are_nothing(daemon):
    put_config(daemon)
    answer = daemon.post("/api/send", {"userId": 101, "message": "x", "to": None, "idempotencyKey": None, "more": {"a": [1]}})
    assert answer.status == 200, answer.body
    config = {"userId": 7, "rateLimit": 1, "timeWindow": 1, "currentCount": 9}
    assert daemon.post("/api/config", config).json()["currentCount"] == 0


@pytest.mark.parametrize("field, value", [
    ("idempotencyKey", ""), ("idempotencyKey", "k" * 129), ("idempotencyKey", "a b"), ("idempotencyKey", "ж"),
    ("idempotencyKey", "a\u0000"), ("idempotencyKey", 5), ("to", ""), ("to", "+"), ("to", "call me"), ("to", "+49 151"),
    ("to", "1" * 21), ("to", 49), ("to", "٤٩")])
def test_fields_that_are_optional_and_wrong(daemon, field, value):
    put_config(daemon)
    refused(daemon.post("/api/send", {"userId": 101, "message": "x", field: value}), field)
    assert count(daemon) == 0


def test_other_types_and_methods(daemon):
    body = json.dumps({"userId": 101, "message": "x"})
    for kind in ("text/plain", "application/xml", "application/x-www-form-urlencoded"):
        for path in ("/api/send", "/api/config", "/api/send/batch"):
            assert daemon.request("POST", path, body, {"Content-Type": kind}).status == 415
    assert daemon.request("POST", "/api/send", body, NDJSON).status == 415, "lines are for batches"
    for method, path in (("GET", "/api/send"), ("PUT", "/api/send"), ("GET", "/api/send/batch"), ("PATCH", "/api/config/1")):
        answer = daemon.request(method, path)
        assert answer.status == 405 and answer.headers["Allow"]


def test_batches_of_every_size(node):
    put_config(node, limit=1_000_000)
    for entries in (0, 1, 10_000):
        results = send_all(node, [{"userId": 101, "message": "m"}] * entries)
        assert [r["status"] for r in results] == [200] * entries
        assert len({r["messageId"] for r in results}) == entries
    assert count(node) == 10_001
    over = [{"userId": 101, "message": "m"}] * 10_001
    for body, kind in ((json.dumps(over), JSON), ("\n".join(map(json.dumps, over)), NDJSON)):
        answer = node.request("POST", "/api/send/batch", body, kind)
        assert answer.status == 413 and answer.json()["message"] == INVALID
    assert count(node) == 10_001, "none of them"


def test_entries_fail_alone(node):
    put_config(node, user=1, limit=1)
    lines = ['{"userId":1,"message":"a"}', "nonsense", '{"userId":1', "", "[]", '{"userId":1,"userId":1,"message":"x"}',
             '{"userId":2,"message":"b"}', '{"userId":"1","message":"c"}', '{"userId":1.5,"message":"c"}', "   ",
             '{"userId":1,"message":"\\ud800"}', '{"userId":1,"message":"d"}', '{"userId":99999999999,"message":"e"}\r']
    answer = node.request("POST", "/api/send/batch", "\n".join(lines), NDJSON)
    assert answer.status == 200, answer.body
    results = answer.json()["results"]
    assert [r["status"] for r in results] == [200, 400, 400, 400, 400, 404, 400, 400, 400, 429, 400], "blank lines are none"
    reasons = {400: ("Bad Request", INVALID), 404: ("Not Found", UNKNOWN_USER), 429: ("Too Many Requests", "Rate Limit Exceeded")}
    for result in results[1:]:
        assert (result["error"], result["message"]) == reasons[result["status"]]
        assert result["detail"] and "messageId" not in result
    assert count(node, 1) == 1


def test_a_batch_that_is_none(daemon):
    for body in ("{}", "", "[", "nonsense", '[{"userId":1,"message":"x"}', '"x"'):
        refused(daemon.request("POST", "/api/send/batch", body, JSON))


def test_duplicates_in_one_batch(node):
    """The same key twice is one message; without a key, two."""
    put_config(node, limit=10)
    entry = {"userId": 101, "message": "m", "idempotencyKey": "k"}
    results = send_all(node, [entry, {**entry, "message": "other"}, entry,
                              {"userId": 101, "message": "m"}, {"userId": 101, "message": "m"}])
    assert [r["status"] for r in results] == [200, 409, 200, 200, 200]
    assert results[0]["messageId"] == results[2]["messageId"]
    assert len({r["messageId"] for r in results if r["status"] == 200}) == 3 and count(node) == 3


@pytest.mark.parametrize("message_id, status", [
    ("x" * 129, 400), ("%00", 400), ("a%20b", 400), ("%D0%B6", 400), ("nobody", 404), ("-", 404),
    ("01ARZ3NDEKTSV4RRFFQ69G5FAV-5", 404),
    ("01ARZ3NDEKTSV4RRFFQ69G5FAV-99999999999", 404), ("%2e%2e%2f", 404)])
def test_messages_that_nobody_sent(daemon, message_id, status):
    answer = daemon.get(f"/api/messages/{message_id}")
    assert answer.status == status, answer.body
    assert answer.json()["message"] == ("Message Not Found" if status == 404 else INVALID)


def test_the_daemon_is_well_after_all_of_it(daemon):
    put_config(daemon)
    for body in (b"\x00" * 1000, b"{" * 10_000, b'{"userId":' + b"9" * 100_000 + b"}"):
        assert daemon.request("POST", "/api/send", body, JSON).status in (400, 413)
    sent = send(daemon)
    assert sent.status == 200
    wait_sent(daemon, sent.json()["messageId"])
    assert message(daemon, sent.json()["messageId"])["attempts"] == 1
