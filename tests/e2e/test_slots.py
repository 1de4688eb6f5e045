"""Slots over HTTP against the real daemon: names, codes and meanings of the API contract."""
import concurrent.futures
import datetime
import json
import re

import pytest

AT = "2030-06-01T12:00:00Z"


def assign(daemon, event, at=AT, **more):
    return daemon.post("/api/v1/slots", {"eventId": event, "requestedTime": at, **more})


def instant(text):
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text), text
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def error_of(answer, status, field=None):
    body = answer.json()
    assert answer.status == status, body
    assert body["status"] == status and body["error"] and body["message"] and body["requestId"], body
    instant(body["timestamp"])
    if field:
        assert body["field"] == field and field in body["message"], body
    return body


def test_assigns_the_earliest_slot(daemon):
    daemon.put_config(max_per_window=2)
    seen = [assign(daemon, f"e{i}").json() for i in range(5)]
    starts = [slot["windowStart"] for slot in seen]
    assert starts == ["2030-06-01T12:00:00.000Z"] * 2 + ["2030-06-01T12:00:04.000Z"] * 2 + \
        ["2030-06-01T12:00:08.000Z"]
    for slot in seen:
        offset = (instant(slot["scheduledTime"]) - instant(slot["windowStart"])).total_seconds()
        assert 0 <= offset < 4
        delay = instant(slot["scheduledTime"]) - instant("2030-06-01T12:00:00.000Z")
        assert slot["delayMs"] == round(delay.total_seconds() * 1000)
        assert slot["configName"] == "default"


def test_same_event_gets_its_first_answer_whatever_else_the_call_says(daemon):
    daemon.put_config()
    first = assign(daemon, "once").json()
    assert assign(daemon, "once", at="2031-01-01T00:00:00Z").json() == first
    assert assign(daemon, "once", configName="no-such-config").json() == first
    error_of(assign(daemon, "once", at="yesterday"), 400, "requestedTime")
    windows = daemon.get(f"/api/v1/windows?from={AT}&to=2030-06-01T13:00:00Z").json()
    assert [w["used"] for w in windows["windows"]] == [1]


def test_get_shows_the_record(daemon):
    daemon.put_config()
    given = assign(daemon, "a/b").json()
    record = daemon.get("/api/v1/slots/a%2Fb").json()
    assert {k: record[k] for k in given} == given
    assert record["status"] == "ASSIGNED" and record["configVersion"] == 1
    instant(record["createdAt"])
    error_of(daemon.get("/api/v1/slots/unknown"), 404)


def test_an_event_may_be_named_batch(daemon):
    daemon.put_config()
    given = assign(daemon, "batch").json()
    assert daemon.get("/api/v1/slots/batch").json()["scheduledTime"] == given["scheduledTime"]


def test_first_window_offers_only_its_rest(daemon):
    daemon.put_config(max_per_window=10)
    # 1 s of 4 is left: floor(10 * 1000 / 4000) = 2 places, none before the requested instant.
    slots = [assign(daemon, f"m{i}", at="2030-06-01T12:00:03Z").json() for i in range(3)]
    assert [s["windowStart"][17:19] for s in slots] == ["00", "00", "04"]
    assert all(instant(s["scheduledTime"]) >= instant("2030-06-01T12:00:03.000Z") for s in slots)


@pytest.mark.parametrize("body,field", [
    ({"requestedTime": AT}, "eventId"),
    ({"eventId": "", "requestedTime": AT}, "eventId"),
    ({"eventId": "x" * 129, "requestedTime": AT}, "eventId"),
    ({"eventId": "a b", "requestedTime": AT}, "eventId"),
    ({"eventId": 5, "requestedTime": AT}, "eventId"),
    ({"eventId": "x"}, "requestedTime"),
    ({"eventId": "x", "requestedTime": "2030-06-01T12:00:00"}, "requestedTime"),
    ({"eventId": "x", "requestedTime": "1969-12-31T23:59:59Z"}, "requestedTime"),
    ({"eventId": "x", "requestedTime": "2262-01-01T00:00:00Z"}, "requestedTime"),
    ({"eventId": "x", "requestedTime": AT, "maxDelay": "P1M"}, "maxDelay"),
    ({"eventId": "x", "requestedTime": AT, "maxDelay": 5}, "maxDelay"),
    ({"eventId": "x", "requestedTime": AT, "configName": "ä"}, "configName"),
])
def test_malformed_calls_name_the_field(shared_daemon, body, field):
    shared_daemon.put_config()
    error_of(assign_raw(shared_daemon, body), 400, field)


def assign_raw(daemon, body):
    return daemon.post("/api/v1/slots", body)


def test_null_is_absent_and_unknown_fields_are_ignored(daemon):
    daemon.put_config()
    body = {"eventId": "n", "requestedTime": AT, "configName": None, "maxDelay": None, "x": [1]}
    assert assign_raw(daemon, body).status == 200
    error_of(daemon.post("/api/v1/slots", '{"eventId":"a","eventId":"b"}'), 400)


def test_unknown_config_is_404_and_full_depth_is_503(daemon):
    error_of(assign(daemon, "x", configName="nope"), 404)
    daemon.put_config(max_per_window=1)
    assert assign(daemon, "a", maxDelay="PT0S").status == 200
    full = assign(daemon, "b", maxDelay="PT0S")
    error_of(full, 503)
    assert int(full.headers["Retry-After"]) >= 1
    # A window whose start is exactly at the depth may be used.
    assert assign(daemon, "b", maxDelay="PT4S").json()["windowStart"] == "2030-06-01T12:00:04.000Z"
    error_of(assign(daemon, "c", maxDelay="PT4S"), 503)
    assert daemon.metric("rate_limiter_slot_assignment_failures_total") == 2


def test_media_types(daemon):
    daemon.put_config()
    plain = daemon.post("/api/v1/slots", "{}", headers={"Content-Type": "text/plain"})
    error_of(plain, 415)
    charset = {"Content-Type": "application/json; charset=utf-8"}
    assert daemon.post("/api/v1/slots", {"eventId": "c", "requestedTime": AT}, headers=charset).status == 200


def test_batch_answers_in_order_and_fails_per_event(daemon):
    daemon.put_config(max_per_window=2)
    batch = [{"eventId": "a", "requestedTime": AT}, {"eventId": "b"}, 7,
             {"eventId": "a", "requestedTime": AT},
             {"eventId": "c", "requestedTime": AT, "configName": "nope"},
             {"eventId": "d", "requestedTime": AT}, {"eventId": "e", "requestedTime": AT}]
    answer = daemon.post("/api/v1/slots/batch", batch)
    assert answer.status == 200
    results = answer.json()["results"]
    assert [r.get("status", 200) for r in results] == [200, 400, 400, 200, 404, 200, 200]
    assert results[0] == results[3]
    assert results[1]["eventId"] == "b" and results[1]["field"] == "requestedTime"
    assert results[4]["eventId"] == "c" and results[4]["error"] and results[4]["message"]
    assert [results[i]["windowStart"][17:19] for i in (0, 5, 6)] == ["00", "00", "04"]
    assert daemon.post("/api/v1/slots/batch", []).json() == {"results": []}
    error_of(daemon.post("/api/v1/slots/batch", {}), 400)


def test_batch_takes_ndjson(daemon):
    daemon.put_config()
    lines = "".join(json.dumps({"eventId": f"n{i}", "requestedTime": AT}) + "\n" for i in range(3))
    for media in ("application/x-ndjson", "application/ndjson"):
        answer = daemon.post("/api/v1/slots/batch", lines + "{broken\n\n", headers={"Content-Type": media})
        results = answer.json()["results"]
        assert [r.get("status", 200) for r in results] == [200, 200, 200, 400]


def test_batch_of_ten_thousand_passes_and_one_more_is_413(daemon):
    daemon.put_config(max_per_window=100)
    events = [{"eventId": f"big{i}", "requestedTime": AT} for i in range(10_001)]
    answer = daemon.post("/api/v1/slots/batch", events[:-1])
    starts = [r["windowStart"] for r in answer.json()["results"]]
    assert len(starts) == 10_000 and len(set(starts)) == 100
    error_of(daemon.post("/api/v1/slots/batch", events), 413)


def test_windows_show_occupancy(daemon):
    daemon.put_config(max_per_window=2, pool="shared")
    daemon.put_config(name="other", max_per_window=5, pool="shared")
    for i in range(3):
        assign(daemon, f"w{i}")
    body = daemon.get("/api/v1/windows?config=other&from=2030-06-01T12:00:00Z&to=2030-06-01T12:00:04Z").json()
    assert body == {"config": "other", "pool": "shared", "windowSize": "PT4S",
                    "windows": [{"windowStart": "2030-06-01T12:00:00.000Z", "used": 2, "max": 5}]}
    error_of(daemon.get("/api/v1/windows?config=nope"), 404)
    error_of(daemon.get("/api/v1/windows?from=bad"), 400, "from")


def test_raising_opens_and_lowering_closes_windows_at_once(daemon):
    daemon.put_config(max_per_window=1)
    assert assign(daemon, "r1").json()["windowStart"][17:19] == "00"
    assert assign(daemon, "r2").json()["windowStart"][17:19] == "04"
    daemon.put_config(max_per_window=2)
    assert assign(daemon, "r3").json()["windowStart"][17:19] == "00"
    daemon.put_config(max_per_window=1)
    assert assign(daemon, "r4").json()["windowStart"][17:19] == "08"


def test_unrelated_configs_do_not_share_windows(daemon):
    daemon.put_config(max_per_window=1)
    daemon.put_config(name="other", max_per_window=1)
    assert assign(daemon, "u1").json()["windowStart"][17:19] == "00"
    assert assign(daemon, "u2", configName="other").json()["windowStart"][17:19] == "00"


def test_config_versions_and_history(daemon):
    first = daemon.put_config(max_per_window=5).json()
    assert first["version"] == 1 and first["active"] and first["pool"] == "default"
    answer = daemon.post("/admin/rate-limit/config",
                         {"configName": "default", "maxPerWindow": 6, "windowSizeSecs": 4})
    assert answer.json()["version"] == 2 and answer.json()["windowSize"] == "PT4S"
    assert daemon.get("/admin/rate-limit/config?name=default").json() == answer.json()
    assert daemon.get("/admin/rate-limit/config").json() == answer.json()
    history = daemon.get("/admin/rate-limit/config/history?name=default").json()
    assert [(h["version"], h["active"], h["maxPerWindow"]) for h in history] == [(2, True, 6), (1, False, 5)]
    error_of(daemon.get("/admin/rate-limit/config?name=nope"), 404)


def test_a_config_is_merged_by_patch(daemon):
    daemon.put_config(max_per_window=5, pool="bank")
    patch = lambda body, name="default": daemon.request("PATCH", f"/admin/rate-limit/config?name={name}", json.dumps(body),
                                                        {"Content-Type": "application/json"})
    merged = patch({"maxPerWindow": 6, "pool": None})
    assert merged.status == 200, merged.body
    config = merged.json()
    assert (config["maxPerWindow"], config["windowSize"], config["pool"], config["version"]) == (6, "PT4S", "bank", 2)
    assert daemon.get("/admin/rate-limit/config?name=default").json() == config
    assert patch({"windowSizeSecs": 8}, "").json()["windowSize"] == "PT8S", "an empty name is the default config"
    error_of(patch({"maxPerWindow": 6}, "none"), 404)
    error_of(patch({"configName": "other"}), 400, "configName")
    slip = error_of(patch({"maxPerWindows": 6}), 400, "maxPerWindows")
    assert "did you mean maxPerWindow?" in slip["message"]


@pytest.mark.parametrize("change,field", [
    ({"maxPerWindow": 0}, "maxPerWindow"), ({"maxPerWindow": -1}, "maxPerWindow"),
    ({"maxPerWindow": 10_000_001}, "maxPerWindow"), ({"maxPerWindow": "5"}, "maxPerWindow"),
    ({"maxPerWindow": 1.5}, "maxPerWindow"), ({"windowSize": "PT0S"}, "windowSize"),
    ({"windowSize": "P1DT1S"}, "windowSize"), ({"windowSize": "4s"}, "windowSize"),
    ({"windowSize": None}, "windowSize"), ({"configName": ""}, "configName"),
    ({"windowSize": None, "windowSizeSecs": 0}, "windowSizeSecs"), ({"pool": "a b"}, "pool"),
    ({"pol": "a"}, "pol"),
])
def test_bad_configs_are_refused(shared_daemon, change, field):
    body = {"configName": "bad", "maxPerWindow": 5, "windowSize": "PT4S", **change}
    error_of(shared_daemon.post("/admin/rate-limit/config", body), 400, field)
    error_of(shared_daemon.get("/admin/rate-limit/config?name=bad"), 404)


def test_window_size_changes_only_while_nothing_lies_ahead(daemon):
    daemon.put_config(window="PT4S")
    daemon.put_config(window="PT8S")
    assign(daemon, "ahead")
    body = {"configName": "default", "maxPerWindow": 5, "windowSize": "PT4S"}
    error_of(daemon.post("/admin/rate-limit/config", body), 409)
    other = {"configName": "other", "maxPerWindow": 5, "windowSize": "PT1S", "pool": "default"}
    error_of(daemon.post("/admin/rate-limit/config", other), 409)


def test_cache_flush_makes_the_next_look_up_a_miss(daemon):
    daemon.put_config()
    assign(daemon, "f1")
    misses = daemon.metric("rate_limiter_config_cache_misses_total")
    assign(daemon, "f2")
    assert daemon.metric("rate_limiter_config_cache_misses_total") == misses
    assert daemon.metric("rate_limiter_config_cache_hits_total") >= 1
    assert daemon.post("/admin/rate-limit/cache/flush", "").status == 204
    assign(daemon, "f3")
    assert daemon.metric("rate_limiter_config_cache_misses_total") == misses + 1


def test_metrics_carry_the_names_people_know(daemon):
    daemon.put_config(max_per_window=1)
    assign(daemon, "m1")
    assign(daemon, "m2")
    text = daemon.get("/q/metrics").body.decode()
    for name in ("rate_limiter_slot_assignment_duration_seconds_count 2",
                 "rate_limiter_window_contention_total 0", "rate_limiter_window_lookahead_depth_sum 1",
                 "rate_limiter_config_cache_hits_total", "rate_limiter_config_cache_misses_total",
                 "rate_limiter_slot_assignment_failures_total 0"):
        assert name in text, name


def test_many_clients_never_overfill_a_window(daemon):
    daemon.put_config(max_per_window=7)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        # Every event twice, from different connections at once.
        answers = list(pool.map(lambda i: assign(daemon, f"c{i % 200}").json(), range(400)))
    by_event = {}
    for slot in answers:
        assert by_event.setdefault(slot["eventId"], slot) == slot
    body = daemon.get(f"/api/v1/windows?from={AT}&to=2030-06-02T12:00:00Z").json()
    used = [w["used"] for w in body["windows"]]
    assert sum(used) == 200 and max(used) <= 7 and len(used) == 29


def test_restart_keeps_everything(start_daemon, tmp_path):
    first = start_daemon()
    first.put_config(max_per_window=1)
    given = [assign(first, f"k{i}").json() for i in range(3)]
    assert first.stop() == 0
    second = start_daemon()
    assert [assign(second, f"k{i}").json() for i in range(3)] == given
    assert assign(second, "k3").json()["windowStart"][17:19] == "12"
    assert second.get("/admin/rate-limit/config").json()["version"] == 1
