"""The public slot routes are turned against the slots of queue items: neither their times nor their windows change."""
import csv
import io
import json

import pytest
from conftest import put_log_type
from dispatch_nodes import node, nodes, postgres

__all__ = ["node", "nodes", "postgres"]  # fixtures

AT = "2098-01-01T00:00:00.000Z"
LATE = "2099-01-01T00:00:00.000Z"


@pytest.fixture
def queue(node):
    """Windows of a minute that hold two; nothing is due for long."""
    node.put_config("two", max_per_window=2, window="PT1M")
    put_log_type(node, "L")
    return node


def enqueue(daemon, name):
    """The time of a new item that takes a slot."""
    answer = daemon.post("/api/v1/dispatch/L", {"itemId": name, "slot": {"config": "two", "requestedTime": AT}})
    assert answer.status == 202, answer.body
    return answer.json()["scheduledTime"]


def slot(daemon, name):
    return daemon.get(f"/api/v1/slots/L%3A{name}")


def release(daemon, name):
    return daemon.request("DELETE", f"/api/v1/slots/L%3A{name}")


def test_releasing_by_the_public_route_makes_no_room_in_the_window_of_an_item(queue):
    times = [enqueue(queue, f"i{i}") for i in range(2)]
    for i in range(2):
        for answer in (release(queue, f"i{i}"), queue.post(f"/api/v1/slots/L%3Ai{i}/confirm", {})):
            assert answer.status == 409, answer.body
            assert f"L:i{i}" in answer.json()["message"]
        shown = slot(queue, f"i{i}").json()
        assert (shown["eventId"], shown["owner"], shown["status"]) == (f"L:i{i}", "dispatch", "ASSIGNED")
        assert shown["scheduledTime"] == times[i]
    times += [enqueue(queue, f"i{i}") for i in range(2, 4)]
    assert sorted(time[:16] for time in times) == [AT[:16]] * 2 + ["2098-01-01T00:01"] * 2


def test_a_public_event_of_the_same_id_does_not_move_an_item(queue):
    public = queue.post("/api/v1/slots", {"eventId": "L:victim", "configName": "two", "requestedTime": LATE})
    assert public.status == 200, public.body
    assert enqueue(queue, "victim")[:16] == AT[:16]
    shown = slot(queue, "victim").json()
    assert shown["scheduledTime"] == public.json()["scheduledTime"] and "owner" not in shown
    assert release(queue, "victim").status == 204  # the public one
    assert slot(queue, "victim").json()["status"] == "RELEASED"
    assert queue.get("/api/v1/dispatch/L/victim").json()["scheduledTime"][:16] == AT[:16]


def test_cancelling_an_item_gives_back_its_own_slot_only(queue):
    assert queue.post("/api/v1/slots", {"eventId": "L:a", "configName": "two", "requestedTime": LATE}).status == 200
    enqueue(queue, "a")
    enqueue(queue, "b")
    assert queue.request("DELETE", "/api/v1/dispatch/L/a").status == 204
    assert slot(queue, "a").json()["status"] == "ASSIGNED"
    assert enqueue(queue, "c")[:16] == AT[:16], "the place of the cancelled item is free"


def test_exports_say_whose_slot_it_is(start_daemon, penstock):
    daemon = start_daemon()
    daemon.put_config("two", max_per_window=2, window="PT1M")
    put_log_type(daemon, "L")
    assert daemon.post("/api/v1/slots", {"eventId": "L:a", "configName": "two", "requestedTime": LATE}).status == 200
    enqueue(daemon, "a")
    assert "\x20L:" not in daemon.log()
    daemon.stop()
    for more in ((), ("--event-prefix", "L:"), ("--event-prefix", "L:a")):
        rows = [json.loads(line) for line in
                penstock("export", "slots", "--data-dir", daemon.data_dir, *more).stdout.splitlines()]
        assert [(row["eventId"], row.get("owner")) for row in rows] == [("L:a", "dispatch"), ("L:a", None)]
        table = penstock("export", "slots", "--data-dir", daemon.data_dir, "--format", "csv", *more).stdout
        assert [(row["eventId"], row["owner"]) for row in csv.DictReader(io.StringIO(table))] == [
            ("L:a", "dispatch"), ("L:a", "")]
