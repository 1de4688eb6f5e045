"""A flood of made-up keys: memory stays bounded, and whoever is denied stays denied."""
import http.client
import json
import threading

from test_throttle import FIXED, add_policy, check

MAX_KEYS = 50_000
FLOOD_KEYS = 1_000_000  # twenty times what may be held; 8 s, or minutes on a busy machine
BATCH = 5_000
CLIENTS = 2
# A key of this length takes about 130 bytes, and a little more while it waits to be saved. The rest is the store's
# write buffers and cache, which the flood fills, and the bodies of the batches.
GROWTH_MIB_MAX = 100


class Flood(threading.Thread):
    """Asks once for each key of its share."""

    def __init__(self, daemon, share):
        super().__init__(daemon=True)
        self.target = daemon
        self.share = share
        self.allowed = 0
        self.error = None

    def run(self):
        connection = http.client.HTTPConnection(self.target.address, self.target.port, timeout=60)
        try:
            for start in range(self.share, FLOOD_KEYS, BATCH * CLIENTS):
                body = "[" + ",".join(f'{{"key":"flood:{n:026d}"}}' for n in range(start, start + BATCH)) + "]"
                connection.request("POST", "/api/v1/throttle/check/batch", body,
                                   {"Content-Type": "application/json"})
                response = connection.getresponse()
                self.allowed += response.read().count(b'"allowed":true')
        except Exception as error:  # shown by the test
            self.error = error
        finally:
            connection.close()


def test_a_flood_of_keys_takes_bounded_memory_and_frees_nobody(start_daemon):
    daemon = start_daemon(env={"PENSTOCK_THROTTLE_MAX_KEYS": str(MAX_KEYS)})
    add_policy(daemon, "busy:*", capacity=5, **FIXED)
    # Long enough to be worth remembering: none of these is idle again within the test.
    add_policy(daemon, "flood:*", capacity=10, **FIXED)
    limited = [f"busy:{i}" for i in range(20)]
    for key in limited:
        assert check(daemon, key, 5).status == 200
        assert check(daemon, key).status == 429
    before = daemon.rss_kib()

    floods = [Flood(daemon, i * BATCH) for i in range(CLIENTS)]
    for flood in floods:
        flood.start()
    highest = looks = 0
    while any(flood.is_alive() for flood in floods):
        answers = daemon.post("/api/v1/throttle/check/batch", [{"key": key} for key in limited])
        assert [r["allowed"] for r in answers.json()["results"]] == [False] * len(limited)
        highest = max(highest, daemon.rss_kib())
        looks += 1
        floods[0].join(0.05)
    assert [flood.error for flood in floods] == [None] * CLIENTS
    assert sum(flood.allowed for flood in floods) == FLOOD_KEYS

    for key in limited:
        assert check(daemon, key).status == 429
    keys = daemon.metric("penstock_throttle_keys")
    growth = (highest - before) / 1024
    print(f"{FLOOD_KEYS} keys, {keys:.0f} held, {looks} looks; RSS {before / 1024:.0f} MiB before, "
          f"{growth:.0f} MiB more at its highest, table {daemon.metric('penstock_throttle_bytes') / 1e6:.1f} MB")
    assert keys <= MAX_KEYS
    assert growth < GROWTH_MIB_MAX
    page = daemon.get("/admin/metrics?limit=1000").json()
    assert {k["key"] for k in page["keys"] if k["status"] == "LIMITED"} == set(limited)

    # What was saved is bounded too: a restart takes it up and still knows who was limited.
    assert daemon.stop() == 0
    daemon = start_daemon(env={"PENSTOCK_THROTTLE_MAX_KEYS": str(MAX_KEYS)})
    restored = next(entry for entry in map(json.loads, daemon.log().splitlines())
                    if entry["event"] == "throttle.restored")
    assert restored["keys"] <= MAX_KEYS
    for key in limited:
        assert check(daemon, key).status == 429
