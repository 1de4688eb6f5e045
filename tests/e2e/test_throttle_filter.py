"""The throttle filter as a proxy calls it, against the real daemon."""

from throttle_calls import add_policy, error_of, remaining


def filter_(daemon, headers=None, mode="", method="GET"):
    return daemon.request(method, "/throttle/filter" + (f"?mode={mode}" if mode else ""), headers=headers)


def test_the_filter_answers_204_then_429_or_403(daemon):
    add_policy(daemon, "ip:*", capacity=3)
    for method, left in (("GET", 2), ("POST", 1), ("DELETE", 0)):
        answer = filter_(daemon, method=method)
        assert answer.status == 204 and answer.body == b""
        assert answer.headers["X-RateLimit-Remaining"] == str(left)
        assert answer.headers["RateLimit-Policy"].startswith('"ip:*";q=3')
    for mode, status in (("", 429), ("forward", 429), ("nginx", 403)):
        answer = filter_(daemon, mode=mode)
        body = error_of(answer, status)
        assert body["message"] == "Rate limit exceeded for key: ip:127.0.0.1"
        assert int(answer.headers["Retry-After"]) >= 1 and answer.headers["RateLimit"]
    error_of(filter_(daemon, mode="haproxy"), 400, "mode")


def test_a_made_up_api_key_buys_nothing(daemon):
    add_policy(daemon, "ip:*", capacity=3)
    add_policy(daemon, "apiKey:*", capacity=100)
    statuses = [filter_(daemon, {"X-API-Key": f"made-up-{i}"}).status for i in range(5)]
    assert statuses == [204, 204, 204, 429, 429]
    assert remaining(daemon, "apiKey:made-up-0") == 99
    assert remaining(daemon, "apiKey:made-up-4") == 100  # all or none


def test_an_api_key_has_a_limit_of_its_own(daemon):
    add_policy(daemon, "apiKey:*", capacity=1)
    assert filter_(daemon, {"X-API-Key": "k"}).status == 204
    answer = filter_(daemon, {"X-API-Key": "k"})
    assert answer.status == 429 and answer.json()["key"] == "apiKey:k"
    assert filter_(daemon).status == 204


def test_a_spoofed_forwarded_for_of_an_untrusted_peer_buys_nothing(daemon):
    add_policy(daemon, "ip:*", capacity=3)
    statuses = [filter_(daemon, {"X-Forwarded-For": f"198.51.100.{i}", "X-User-Id": f"u{i}",
                                 "X-Real-IP": f"198.51.100.{i}", "Forwarded": f"for=198.51.100.{i}"}).status
                for i in range(5)]
    assert statuses == [204, 204, 204, 429, 429]
    assert remaining(daemon, "ip:198.51.100.1") == 3


def test_of_a_chain_of_trusted_proxies_the_right_most_stranger_is_the_client(start_daemon):
    daemon = start_daemon(env={"PENSTOCK_THROTTLE_FILTER_TRUSTED_PROXIES": "127.0.0.1,10.0.0.0/8"})
    add_policy(daemon, "ip:*", capacity=2)
    chains = ["203.0.113.9, 10.1.1.1", "1.1.1.1, 203.0.113.9, 10.1.1.1, 10.2.2.2", "2.2.2.2,203.0.113.9"]
    assert [filter_(daemon, {"X-Forwarded-For": chain}).status for chain in chains] == [204, 204, 429]
    assert remaining(daemon, "ip:203.0.113.9") == 0
    assert remaining(daemon, "ip:1.1.1.1") == 2 and remaining(daemon, "ip:127.0.0.1") == 2


def test_rules_compose_user_and_route_in_a_fixed_order(start_daemon):
    daemon = start_daemon(env={"PENSTOCK_THROTTLE_FILTER_TRUSTED_PROXIES": "127.0.0.1",
                               "PENSTOCK_THROTTLE_FILTER_RULES": "route+user"})
    add_policy(daemon, "*|route:/v1/pay", capacity=2)
    facts = {"X-User-Id": "123", "X-Forwarded-For": "203.0.113.9"}
    for uri in ("/v1/pay?x=1", "/v1//pa%79"):
        assert filter_(daemon, {**facts, "X-Original-URI": uri}).status == 204
    answer = filter_(daemon, {**facts, "X-Forwarded-Uri": "/v1/./pay"})
    assert answer.status == 429 and answer.json()["key"] == "user:123|route:/v1/pay"
    assert filter_(daemon, {**facts, "X-Original-URI": "/v1/other"}).status == 204
