"""What becomes of slots after their assignment, over HTTP: confirmed, released, expired, and after a crash."""
import datetime

import pytest
from conftest import wait_until
from dispatch_nodes import embedded_nodes, instant, postgres, postgres_nodes
from test_slots import error_of

__all__ = ["postgres"]  # a fixture

AHEAD = "2030-06-01T12:00:00.000Z"
EXPIRY_SECONDS = 10  # what the contract allows the reconciler, after the term itself


@pytest.fixture(params=["embedded", "postgres"])
def nodes(request):
    return {"embedded": embedded_nodes, "postgres": postgres_nodes}[request.param](request)


@pytest.fixture
def node(nodes):
    started = nodes.start()
    started.put_config(max_per_window=1)
    return started


def assign(node, event, at=AHEAD, **more):
    answer = node.post("/api/v1/slots", {"eventId": event, "requestedTime": at, **more})
    assert answer.status == 200, answer.body
    return answer.json()


def confirm(node, event):
    return node.post(f"/api/v1/slots/{event}/confirm")


def release(node, event):
    return node.request("DELETE", f"/api/v1/slots/{event}")


def status(node, event):
    answer = node.get(f"/api/v1/slots/{event}")
    assert answer.status == 200, answer.body
    return answer.json()["status"]


def used(node):
    answer = node.get("/api/v1/windows?from=2030-06-01T00:00:00Z&to=2030-06-02T00:00:00Z")
    return {window["windowStart"]: window["used"] for window in answer.json()["windows"]}


def wait_for_status(node, event, wanted, seconds):
    wait_until(lambda: status(node, event) == wanted, seconds, f"{wanted} of {event}")


def test_confirms_once_and_again(node):
    assign(node, "a", ttl="PT1H")
    assert status(node, "a") == "ASSIGNED"
    for _ in range(2):
        answer = confirm(node, "a")
        assert answer.status == 200 and answer.json()["status"] == "CONFIRMED", answer.body
    assert status(node, "a") == "CONFIRMED"
    error_of(confirm(node, "nobody"), 404)


def test_gives_a_released_place_to_the_next(node):
    assert assign(node, "a")["windowStart"] == AHEAD
    assert assign(node, "b")["windowStart"] != AHEAD
    confirm(node, "b")
    answer = release(node, "a")
    assert answer.status == 204 and answer.body == b"", answer.body
    assert status(node, "a") == "RELEASED" and AHEAD not in used(node)
    assert assign(node, "c")["windowStart"] == AHEAD
    error_of(release(node, "a"), 409)
    error_of(confirm(node, "a"), 409)
    error_of(release(node, "nobody"), 404)
    assert release(node, "b").status == 204, "one that is confirmed may be released too"
    assert used(node) == {AHEAD: 1}
    anew = assign(node, "a")
    assert anew["windowStart"] == "2030-06-01T12:00:04.000Z" and status(node, "a") == "ASSIGNED"
    assert assign(node, "a") == anew


def test_releases_nothing_once_the_window_has_begun(node):
    given = assign(node, "a", at=instant(-60))
    begun = datetime.datetime.fromisoformat(given["windowStart"].replace("Z", "+00:00"))
    assert begun < datetime.datetime.now(datetime.UTC)
    error_of(release(node, "a"), 409)
    assert status(node, "a") == "ASSIGNED"


def test_expires_what_nobody_confirmed(node):
    assign(node, "b", ttl="PT1H")
    assign(node, "c")
    place = assign(node, "a", ttl="PT0.1S")["windowStart"]  # the last: it may be over at any moment
    assert place == "2030-06-01T12:00:08.000Z"
    wait_for_status(node, "a", "EXPIRED", EXPIRY_SECONDS)
    assert [status(node, event) for event in "bc"] == ["ASSIGNED", "ASSIGNED"]
    assert place not in used(node)
    wait_until(lambda: node.metric("penstock_slots_expired_total") == 1, 10)  # counted after the store has answered
    error_of(confirm(node, "a"), 409)
    error_of(release(node, "a"), 409)
    assert assign(node, "d")["windowStart"] == place
    assert assign(node, "a", ttl="PT1H")["windowStart"] == "2030-06-01T12:00:12.000Z"
    assert status(node, "a") == "ASSIGNED"


def test_keeps_it_all_over_a_crash(nodes, node):
    for event in "abd":
        assign(node, event, ttl="PT1H")
    assert confirm(node, "a").status == 200
    assert confirm(node, "d").status == 200
    assign(node, "c", ttl="PT1S")
    assert release(node, "b").status == 204
    node.kill()
    node = nodes.start()
    assert [status(node, event) for event in "abd"] == ["CONFIRMED", "RELEASED", "CONFIRMED"]
    wait_for_status(node, "c", "EXPIRED", EXPIRY_SECONDS + 1)
    node.kill()
    node = nodes.start()
    assert [status(node, event) for event in "abcd"] == ["CONFIRMED", "RELEASED", "EXPIRED", "CONFIRMED"]
    assert used(node) == {AHEAD: 1, "2030-06-01T12:00:08.000Z": 1}
    starts = [assign(node, event)["windowStart"] for event in "efg"]
    assert [start[17:19] for start in starts] == ["04", "12", "16"]


@pytest.mark.parametrize("ttl", ["PT0S", "P367D", "soon", 5])
def test_a_term_that_cannot_be_names_its_field(node, ttl):
    answer = node.post("/api/v1/slots", {"eventId": "x", "requestedTime": AHEAD, "ttl": ttl})
    error_of(answer, 400, "ttl")
