"""What the tests of throttle share: calls of its routes, and what an error looks like."""
import json
import re
import urllib.parse

LONG = 31_622_400  # the longest window: no run of these tests meets its end
FIXED = {"type": "FIXED_WINDOW", "windowSeconds": LONG}
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def check(daemon, key, cost=None, headers=None):
    body = {"keys": key} if isinstance(key, list) else {"key": key}
    if cost is not None:
        body["cost"] = cost
    return daemon.post("/api/v1/throttle/check", body, headers)


def remaining(daemon, key):
    return check(daemon, key, 0).json()["remaining"]


def policy_path(key):
    return "/admin/policies/" + urllib.parse.quote(key, safe="")


def add_policy(daemon, key, **fields):
    """A policy that does not refill while a test runs, unless told otherwise."""
    answer = daemon.post("/admin/policies", {"key": key, "refillRate": 0.0001, **fields})
    assert answer.status == 201, answer.body
    return answer.json()


def put_policy(daemon, key, **fields):
    answer = daemon.request("PUT", policy_path(key), json.dumps({"refillRate": 0.0001, **fields}),
                            {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    return answer.json()


def error_of(answer, status, field=None):
    body = answer.json()
    assert answer.status == status, body
    assert body["status"] == status and body["error"] and body["message"] and body["requestId"], body
    assert INSTANT.fullmatch(body["timestamp"]), body
    if field:
        assert body["field"] == field and field in body["message"], body
    return body
