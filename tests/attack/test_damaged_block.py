"""A damaged block of the data folder: 503 for what is lost with it, and a note that stays."""
from conftest import wait_until

EVENTS = [f"event-{i}" for i in range(50)]


def test_what_a_damaged_block_holds_is_503_and_the_health_says_so(start_daemon, tmp_path):
    daemon = start_daemon()
    daemon.put_config()
    for event in EVENTS:
        assert daemon.post("/api/v1/slots", {"eventId": event, "requestedTime": "2030-01-01T00:00:00Z"}).status == 200
    daemon.stop()
    start_daemon().stop()  # replays the log into tables
    tables = [each for each in (tmp_path / "data").glob("*.sst") if b"event-" in each.read_bytes()]
    assert tables
    for table in tables:
        content = bytearray(table.read_bytes())
        content[20] ^= 0xFF  # in the first block
        table.write_bytes(content)

    daemon = start_daemon()
    assert "message" not in daemon.get("/health/ready").json()["checks"][0]
    for answer in (daemon.get(f"/api/v1/slots/{EVENTS[0]}"),
                   daemon.post("/api/v1/slots", {"eventId": EVENTS[1], "requestedTime": "2030-01-01T00:00:00Z"})):
        assert answer.status == 503, answer.body
        assert answer.headers["Retry-After"] == "5"
    ready = daemon.get("/health/ready")
    store = ready.json()["checks"][0]
    assert ready.status == 200 and store["name"] == "store.embedded" and store["status"] == "DEGRADED"
    assert store["message"].startswith("damage seen: ") and ".sst" in store["message"]
    wait_until(lambda: "store.damaged" in daemon.log(), what="the damage in the log")
    assert daemon.get("/admin/rate-limit/config?configName=default").status == 200, "the rest is served"
