"""Throttle over HTTP against the real daemon: every sentence of the API contract about checks and policies."""
import concurrent.futures
import http.client
import itertools
import json
import re
import threading
import urllib.parse

import pytest
from throttle_calls import FIXED, LONG, add_policy, check, error_of, policy_path, put_policy, remaining

# Checks

def test_unknown_keys_have_the_default_policy(daemon):
    answer = check(daemon, "nobody")
    body = answer.json()
    assert answer.status == 200
    assert list(body) == ["allowed", "key", "limit", "remaining", "resetAfterMs", "retryAfterMs", "policy",
                          "limits"]
    assert body["allowed"] is True and body["key"] == "nobody" and body["retryAfterMs"] == 0
    assert (body["limit"], body["remaining"]) == (100, 99)
    assert 0 < body["resetAfterMs"] <= 100  # 10 a second
    assert [limit["key"] for limit in body["limits"]] == ["nobody"]


def test_a_denial_is_an_error_with_the_fields_of_a_decision(daemon):
    add_policy(daemon, "k", capacity=1)
    assert check(daemon, "k").status == 200
    answer = check(daemon, "k")
    body = error_of(answer, 429)
    assert body["error"] == "Too Many Requests"
    assert body["message"] == "Rate limit exceeded for key: k"
    assert body["allowed"] is False and body["key"] == "k" and body["policy"] == "k"
    assert (body["limit"], body["remaining"]) == (1, 0)
    assert 9_000_000 < body["retryAfterMs"] <= 10_000_000
    assert int(answer.headers["Retry-After"]) == -(-body["retryAfterMs"] // 1000)


def test_several_keys_are_charged_all_or_none(daemon):
    add_policy(daemon, "a", capacity=5)
    add_policy(daemon, "b", capacity=2)
    body = check(daemon, ["a", "b"], 2).json()
    assert (body["allowed"], body["key"], body["remaining"]) == (True, "b", 0)  # the least remaining
    assert [limit["remaining"] for limit in body["limits"]] == [3, 0]
    body = error_of(check(daemon, ["a", "b"], 1), 429)
    assert body["key"] == "b" and body["message"] == "Rate limit exceeded for key: b"
    assert [(limit["key"], limit["allowed"]) for limit in body["limits"]] == [("a", True), ("b", False)]
    assert remaining(daemon, "a") == 3 and remaining(daemon, "b") == 0


def test_a_repeated_key_is_charged_once(daemon):
    add_policy(daemon, "a", capacity=5)
    body = check(daemon, ["a", "a", "a"], 2).json()
    assert body["remaining"] == 3 and len(body["limits"]) == 1


def test_cost_0_looks_and_always_passes(daemon):
    add_policy(daemon, "a", capacity=1)
    assert [remaining(daemon, "a") for _ in range(3)] == [1, 1, 1]
    check(daemon, "a")
    answer = check(daemon, "a", 0)
    assert answer.status == 200 and answer.json()["remaining"] == 0


def test_a_negative_cost_gives_back_up_to_the_capacity(daemon):
    add_policy(daemon, "a", capacity=5)
    check(daemon, "a", 4)
    assert check(daemon, "a", -3).json()["remaining"] == 4
    assert check(daemon, "a", -100).json()["remaining"] == 5
    assert check(daemon, "a", 6).status == 429


@pytest.mark.parametrize("policy_type", ["TOKEN_BUCKET", "GCRA", "SLIDING_WINDOW", "SLIDING_WINDOW_COUNTER",
                                         "FIXED_WINDOW"])
def test_a_cost_above_the_capacity_never_passes(shared_daemon, policy_type):
    key = f"cost-{policy_type}"
    add_policy(shared_daemon, key, capacity=5, type=policy_type, windowSeconds=LONG)
    answer = check(shared_daemon, key, 6)
    body = error_of(answer, 429)
    assert body["retryAfterMs"] == -1 and "Retry-After" not in answer.headers
    assert remaining(shared_daemon, key) == 5
    assert check(shared_daemon, key, 5).status == 200  # each type admits its capacity, and not one more
    answer = check(shared_daemon, key)
    assert answer.status == 429 and int(answer.headers["Retry-After"]) >= 1
    assert 0 < answer.json()["retryAfterMs"] <= (50_000_000 if policy_type in ("TOKEN_BUCKET", "GCRA")
                                                 else 2 * LONG * 1000)


@pytest.mark.parametrize("body,field", [
    ({}, "key"),
    ({"key": None}, "key"),
    ({"key": "a", "keys": ["b"]}, "key"),
    ({"key": ""}, "key"),
    ({"key": "x" * 513}, "key"),
    ({"key": "a\nb"}, "key"),
    ({"key": 7}, "key"),
    ({"keys": []}, "keys"),
    ({"keys": ["a", 1]}, "keys"),
    ({"keys": [f"k{i}" for i in range(17)]}, "keys"),
    ({"key": "a", "cost": "1"}, "cost"),
    ({"key": "a", "cost": 1.5}, "cost"),
    ({"key": "a", "cost": 10**13}, "cost"),
])
def test_malformed_checks_are_400_and_name_the_field(shared_daemon, body, field):
    error_of(shared_daemon.post("/api/v1/throttle/check", body), 400, field)


def test_what_is_no_json_object_is_400_and_other_media_types_415(daemon):
    for body in ("", "{", "[]", "7", '{"key":"a","key":"b"}'):
        error_of(daemon.post("/api/v1/throttle/check", body), 400)
    error_of(daemon.post("/api/v1/throttle/check", "key=a", {"Content-Type": "text/csv"}), 415)


def test_keys_are_512_bytes_of_any_utf8(daemon):
    for key in ("x" * 512, "ключ/ü|☃ %2F \"q\"", "batch"):
        assert check(daemon, key).json()["key"] == key


def test_a_batch_decides_each_entry_by_itself_in_order(daemon):
    add_policy(daemon, "a", capacity=3)
    entries = [{"key": "a"}, {"key": "a", "cost": 9}, {"key": "b"}, {"cost": 1}, {"key": "a", "cost": 2},
               {"key": "a"}, {"key": "a", "cost": -1}, 7, {"key": "a", "cost": 1.5}]
    answer = daemon.post("/api/v1/throttle/check/batch", entries)
    results = answer.json()["results"]
    assert answer.status == 200 and len(results) == len(entries)
    assert [r.get("allowed") for r in results] == [True, False, True, None, True, False, True, None, None]
    assert [r.get("remaining") for r in results[:3]] == [2, 2, 99]
    assert results[1]["retryAfterMs"] == -1
    assert results[3]["status"] == 400 and results[3]["field"] == "key" and results[3]["error"]
    assert results[8]["key"] == "a" and results[8]["field"] == "cost"
    assert set(results[0]) >= {"allowed", "key", "limit", "remaining", "resetAfterMs", "retryAfterMs", "policy"}


def test_a_batch_may_be_ndjson_empty_or_too_long(daemon):
    ndjson = {"Content-Type": "application/x-ndjson"}
    answer = daemon.post("/api/v1/throttle/check/batch", '{"key":"a"}\n{bad\n{"key":"a"}\n', ndjson)
    assert [r.get("remaining", r.get("status")) for r in answer.json()["results"]] == [99, 400, 98]
    assert daemon.post("/api/v1/throttle/check/batch", []).json() == {"results": []}
    error_of(daemon.post("/api/v1/throttle/check/batch", [{"key": "a"}] * 10_001), 413)


# Headers

def test_headers_stand_on_both_outcomes(daemon):
    add_policy(daemon, "user:*", capacity=2, type="GCRA", refillRate=0.5)
    seen = [check(daemon, "user:1") for _ in range(3)]
    assert [a.status for a in seen] == [200, 200, 429]
    for answer, left in zip(seen, (1, 0, 0), strict=True):
        assert answer.headers["X-RateLimit-Limit"] == "2"
        assert answer.headers["X-RateLimit-Remaining"] == str(left)
        assert answer.headers["RateLimit-Policy"] == '"user:*";q=2;w=4'
        assert re.fullmatch(rf'"user:\*";r={left};t=[12]', answer.headers["RateLimit"])
        assert ("Retry-After" in answer.headers) == (answer.status == 429)
    wait = int(re.search(r"t=(\d+)", seen[2].headers["RateLimit"]).group(1))
    assert int(seen[2].headers["Retry-After"]) >= wait


def test_each_policy_stands_once_in_the_headers(daemon):
    add_policy(daemon, "a*", capacity=9, **FIXED)
    add_policy(daemon, "b", capacity=3, **FIXED)
    answer = check(daemon, ["a1", "a2", "b"])
    assert answer.headers["RateLimit-Policy"] == f'"a*";q=9;w={LONG}, "b";q=3;w={LONG}'
    assert answer.headers["RateLimit"].startswith('"b";r=2;t=')


# Policies

def test_policies_are_made_read_changed_and_removed(daemon):
    made = daemon.post("/admin/policies", {"key": "user:*", "type": "GCRA", "capacity": 20, "refillRate": 2.50})
    assert made.status == 201 and made.headers["Location"] == "/admin/policies/user%3A%2A"
    policy = made.json()
    assert set(policy) >= {"id", "policyKey", "type", "capacity", "refillRate", "windowSeconds", "shadow",
                           "onStoreFailure", "version"}
    assert policy["policyKey"] == "user:*" and policy["version"] == 1 and policy["refillRate"] == 2.5
    assert (policy["windowSeconds"], policy["shadow"], policy["onStoreFailure"]) == (60, False, "deny")
    assert daemon.get(policy_path("user:*")).json() == policy

    error_of(daemon.post("/admin/policies", {"policyKey": "user:*"}), 409)
    changed = put_policy(daemon, "user:*", capacity=30)
    assert (changed["capacity"], changed["type"], changed["version"]) == (30, "TOKEN_BUCKET", 2)
    history = daemon.get(policy_path("user:*") + "/history").json()
    assert [(v["version"], v["capacity"], v["deleted"]) for v in history] == [(2, 30, False), (1, 20, False)]

    gone = daemon.request("DELETE", policy_path("user:*"))
    assert gone.status == 204 and gone.body == b""
    error_of(daemon.get(policy_path("user:*")), 404)
    error_of(daemon.request("DELETE", policy_path("user:*")), 404)
    error_of(daemon.request("PUT", policy_path("user:*"), "{}", {"Content-Type": "application/json"}), 404)
    assert daemon.get("/admin/policies").json() == []
    assert check(daemon, "user:1").json()["limit"] == 100  # the default again


def test_a_policy_is_merged_by_patch(daemon):
    add_policy(daemon, "user:*", type="GCRA", capacity=20, refillRate=2.5, shadow=True)

    def patch(body, key="user:*"):
        return daemon.request("PATCH", policy_path(key), json.dumps(body), {"Content-Type": "application/json"})

    merged = patch({"capacity": 30, "shadow": None})
    assert merged.status == 200, merged.body
    policy = merged.json()
    expected = {"capacity": 30, "type": "GCRA", "refillRate": 2.5, "shadow": True, "version": 2}
    assert {name: policy[name] for name in expected} == expected
    assert daemon.get(policy_path("user:*")).json() == policy
    assert patch(policy).json()["version"] == 3, "what was shown may be sent back"
    error_of(patch({"capacity": 30}, "none"), 404)
    error_of(patch({"key": "other"}), 400, "key")
    slip = error_of(patch({"capcity": 30}), 400, "capcity")
    assert "did you mean capacity?" in slip["message"]


@pytest.mark.parametrize("body,field", [
    ({}, "policyKey"),
    ({"key": "a", "policyKey": "b"}, "key"),
    ({"key": ""}, "key"),
    ({"key": "a", "type": "LEAKY"}, "type"),
    ({"key": "a", "capacity": 0}, "capacity"),
    ({"key": "a", "capacity": 10**12 + 1}, "capacity"),
    ({"key": "a", "capacity": "5"}, "capacity"),
    ({"key": "a", "capacity": 1.5}, "capacity"),
    ({"key": "a", "refillRate": 0}, "refillRate"),
    ({"key": "a", "refillRate": -1}, "refillRate"),
    ({"key": "a", "refillRate": "1"}, "refillRate"),
    ({"key": "a", "windowSeconds": 0}, "windowSeconds"),
    ({"key": "a", "shadow": 1}, "shadow"),
    ({"key": "a", "onStoreFailure": "shrug"}, "onStoreFailure"),
    ({"key": "a", "refilRate": 1}, "refilRate"),
])
def test_malformed_policies_are_400_and_name_the_field(shared_daemon, body, field):
    error_of(shared_daemon.post("/admin/policies", body), 400, field)


def test_capacity_reaches_a_million_millions(daemon):
    add_policy(daemon, "big", capacity=10**12, **FIXED)
    assert check(daemon, "big", 10**12).json()["remaining"] == 0


def test_exact_wins_then_most_literals_then_the_smaller(daemon):
    for key in ("user:7", "user:*", "*", "*|route:/v1/pay", "user:*|route:/v1/*", "x*b", "xa*"):
        add_policy(daemon, key)

    def policy_of(key):
        return check(daemon, key, 0).json()["policy"]

    assert policy_of("user:7") == "user:7"
    assert policy_of("user:8") == "user:*"
    assert policy_of("ip:192.0.2.1|route:/v1/pay") == "*|route:/v1/pay"
    assert policy_of("user:8|route:/v1/pay") == "user:*|route:/v1/*"
    assert policy_of("xaab") == "x*b"  # two literals each: '*' sorts before 'a'
    assert policy_of("else") == "*"


def test_each_key_of_a_pattern_has_usage_of_its_own(daemon):
    add_policy(daemon, "user:*", capacity=1)
    assert [check(daemon, key).status for key in ("user:1", "user:2", "user:1")] == [200, 200, 429]


@pytest.mark.parametrize("policy_type", ["TOKEN_BUCKET", "GCRA", "SLIDING_WINDOW", "SLIDING_WINDOW_COUNTER",
                                         "FIXED_WINDOW"])
def test_a_change_keeps_the_usage(shared_daemon, policy_type):
    key = f"kept-{policy_type}"
    fields = {"type": policy_type, "windowSeconds": LONG}
    add_policy(shared_daemon, key, capacity=10, **fields)
    check(shared_daemon, key, 4)
    for capacity, left in ((20, 16), (3, 0), (10, 6)):
        put_policy(shared_daemon, key, capacity=capacity, **fields)
        assert remaining(shared_daemon, key) == left
    put_policy(shared_daemon, key, capacity=3, **fields)
    assert check(shared_daemon, key).status == 429


def test_another_type_starts_fresh(daemon):
    add_policy(daemon, "a", capacity=10)
    check(daemon, "a", 10)
    put_policy(daemon, "a", capacity=10, type="SLIDING_WINDOW")
    assert remaining(daemon, "a") == 10


def test_a_shadow_policy_counts_and_never_denies(daemon):
    add_policy(daemon, "a", capacity=1, shadow=True)
    answers = [check(daemon, "a") for _ in range(3)]
    assert [a.status for a in answers] == [200] * 3
    limit = answers[2].json()["limits"][0]
    assert limit["shadow"] is True and limit["allowed"] is False
    assert daemon.metric("penstock_throttle_shadow_denied_total") == 2
    assert daemon.get("/admin/metrics").json()["shadowDeniedTotal"] == 2
    put_policy(daemon, "a", capacity=1)
    assert check(daemon, "a").status == 429


def pages(daemon, path, take):
    """All entries, page by page, as the Link headers lead."""
    seen = []
    while path:
        answer = daemon.get(path)
        assert answer.status == 200, answer.body
        seen.append(take(answer.json()))
        link = answer.headers.get("Link")
        path = re.fullmatch(r'<(.+)>; rel="next"', link).group(1) if link else None
    return seen


def test_lists_are_paged_with_link(daemon):
    keys = sorted(f"p/{i}&x=ü*" for i in range(5))
    for key in keys:
        add_policy(daemon, key)
        check(daemon, key)
    by_two = pages(daemon, "/admin/policies?limit=2", lambda body: [p["policyKey"] for p in body])
    assert [len(page) for page in by_two] == [2, 2, 1] and list(itertools.chain(*by_two)) == keys
    by_two = pages(daemon, "/admin/metrics?limit=2", lambda body: [k["key"] for k in body["keys"]])
    assert [len(page) for page in by_two] == [2, 2, 1] and list(itertools.chain(*by_two)) == keys
    assert pages(daemon, "/admin/policies?limit=5", len) == [5]
    for limit in ("0", "1001", "x"):
        error_of(daemon.get(f"/admin/policies?limit={limit}"), 400, "limit")


# Looking

def test_metrics_of_a_key_have_the_fields_of_the_seed(daemon):
    add_policy(daemon, "user:1", capacity=20, windowSeconds=60)
    check(daemon, "user:1", 13)
    check(daemon, "user:1", 50)  # denied: not counted
    assert daemon.get("/admin/metrics/user%3A1").json() == {
        "key": "user:1", "algorithm": "TOKEN_BUCKET", "currentTokens": 7, "capacity": 20,
        "windowRequestCount": 13, "windowSeconds": 60, "status": "OK"}
    check(daemon, "user:1", 7)
    assert daemon.get("/admin/metrics/user%3A1").json()["status"] == "LIMITED"
    fresh = daemon.get("/admin/metrics/nobody").json()
    assert (fresh["currentTokens"], fresh["windowRequestCount"], fresh["status"]) == (100, 0, "OK")


def test_a_slash_in_a_path_key_is_data(daemon):
    key = "user:1|route:/v1/pay"
    add_policy(daemon, key, capacity=4)
    check(daemon, key, 3)
    assert daemon.get("/admin/metrics/" + urllib.parse.quote(key, safe="")).json()["currentTokens"] == 1
    assert put_policy(daemon, key, capacity=6)["policyKey"] == key
    answer = daemon.post("/admin/reset/" + urllib.parse.quote(key, safe=""))
    assert answer.status == 200 and answer.json()["currentTokens"] == 6
    error_of(daemon.get("/admin/metrics/user:1|route:/v1/pay"), 404)  # another path


def test_reset_forgets_the_usage_of_one_key(daemon):
    add_policy(daemon, "user:*", capacity=2)
    check(daemon, ["user:1", "user:2"], 2)
    answer = daemon.post("/admin/reset/user%3A1")
    assert answer.status == 200 and answer.json()["currentTokens"] == 2
    assert check(daemon, "user:1").status == 200 and check(daemon, "user:2").status == 429


def test_totals_and_prometheus_count_what_passed_and_what_did_not(daemon):
    add_policy(daemon, "a", capacity=2)
    for _ in range(5):
        check(daemon, "a")
    check(daemon, "a", 0)
    check(daemon, "a", -1)
    totals = daemon.get("/admin/metrics").json()
    assert (totals["allowedTotal"], totals["blockedTotal"], totals["policies"]) == (2, 3, 1)
    assert [k["key"] for k in totals["keys"]] == ["a"]
    assert daemon.metric("throttlex_allowed_total") == 2
    assert daemon.metric("throttlex_blocked_total") == 3
    assert daemon.metric("throttlex_latency_ms_count") == 7
    text = daemon.get("/metrics").body.decode()
    assert "# TYPE throttlex_latency_ms histogram" in text and "throttlex_tokens_remaining" not in text


def test_tokens_remaining_is_shown_on_demand(start_daemon):
    daemon = start_daemon(env={"PENSTOCK_THROTTLE_METRICS_TOKENS_REMAINING": "true"})
    add_policy(daemon, "a*", capacity=5)
    check(daemon, "a1", 2)
    assert daemon.metric('throttlex_tokens_remaining{policy="a*"}') == 3


def test_status_says_what_runs(daemon):
    status = daemon.get("/admin/status").json()
    assert status["status"] == "UP" and re.match(r"\d+\.\d+", status["version"])
    assert status["uptimeSeconds"] >= 0 and status["mode"] and status["store"] == "embedded"


def test_wrong_methods_are_405_with_allow(daemon):
    for path in ("/api/v1/throttle/check", "/api/v1/throttle/check/batch", "/admin/reset/a"):
        answer = daemon.get(path)
        error_of(answer, 405)
        assert answer.headers["Allow"] == "POST"


def test_tokens_guard_the_routes(start_daemon, tmp_path):
    for name in ("admin", "api"):
        (tmp_path / name).write_text(f"the-{name}-secret-token")
        (tmp_path / name).chmod(0o600)
    daemon = start_daemon("--admin-token-file", str(tmp_path / "admin"), "--api-token-file", str(tmp_path / "api"))
    admin, api = ({"Authorization": f"Bearer the-{name}-secret-token"} for name in ("admin", "api"))
    for headers, check_status, admin_status in ((None, 401, 401), ({"Authorization": "Bearer x"}, 401, 401),
                                                (api, 200, 401), (admin, 200, 200)):
        assert check(daemon, "a", headers=headers).status == check_status
        assert daemon.post("/api/v1/throttle/check/batch", [], headers).status == check_status
        filtered = daemon.get("/throttle/filter", headers)
        assert filtered.status == (204 if check_status == 200 else 401)
        for path in ("/admin/policies", "/admin/metrics", "/admin/metrics/a", "/admin/status"):
            answer = daemon.get(path, headers)
            assert answer.status == admin_status
            if admin_status == 401:
                assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert daemon.post("/admin/reset/a", headers=headers).status == admin_status
        assert daemon.post("/admin/policies", {}, headers).status == (400 if admin_status == 200 else 401)


# Contention

def at_once(count, work):
    """Runs work(i) on `count` threads that start together; the results."""
    barrier = threading.Barrier(count)

    def run(i):
        barrier.wait(30)
        return work(i)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_of_100_clients_one_gets_the_last_token(daemon):
    add_policy(daemon, "one", capacity=10)
    check(daemon, "one", 9)
    statuses = at_once(100, lambda _: check(daemon, "one").status)
    assert sorted(statuses) == [200] + [429] * 99


def test_all_or_none_holds_under_contention(daemon):
    for key in ("a", "b", "c"):
        add_policy(daemon, key, capacity=1000)
    add_policy(daemon, "scarce", capacity=150)
    pairs = (["a", "b", "scarce"], ["scarce", "c", "a"], ["b", "c"], ["c", "scarce"])
    admitted = dict.fromkeys(("a", "b", "c", "scarce"), 0)

    def client(i):
        connection = http.client.HTTPConnection(daemon.address, daemon.port, timeout=30)
        mine = []
        for j in range(25):
            keys = pairs[(i + j) % len(pairs)]
            connection.request("POST", "/api/v1/throttle/check", json.dumps({"keys": keys}),
                               {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            if response.status == 200:
                mine += keys
            else:
                assert response.status == 429
        connection.close()
        return mine

    for mine in at_once(20, client):
        for key in mine:
            admitted[key] += 1
    assert admitted["scarce"] == 150
    assert {key: 1000 - remaining(daemon, key) for key in ("a", "b", "c")} == \
        {key: admitted[key] for key in ("a", "b", "c")}
    assert remaining(daemon, "scarce") == 0


# Restarts

def test_policies_and_usage_outlive_an_orderly_restart(start_daemon):
    daemon = start_daemon()
    add_policy(daemon, "a", capacity=10, **FIXED)
    add_policy(daemon, "log", capacity=10, type="SLIDING_WINDOW", windowSeconds=LONG)
    add_policy(daemon, "slow", capacity=10)
    policies = daemon.get("/admin/policies").json()
    for key in ("a", "log", "slow"):
        check(daemon, key, 4)
    assert daemon.stop() == 0
    daemon = start_daemon()
    assert daemon.get("/admin/policies").json() == policies
    assert [remaining(daemon, key) for key in ("a", "log", "slow")] == [6, 6, 6]
    daemon.post("/admin/reset/a")
    assert daemon.stop() == 0
    assert remaining(start_daemon(), "a") == 10
