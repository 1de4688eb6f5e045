"""The promise of dispatch, kept through crashes: 200,000 items for one instant, three daemons of which one is killed
every few seconds, PostgreSQL restarted once. One effect per item, never above the pace, nothing left behind."""
import random
import time

from conftest import wait_until
from dispatch_nodes import counts, downstream, enqueue, postgres, put_type, shared_nodes

__all__ = ["downstream", "postgres", "shared_nodes"]  # fixtures

ITEMS = 200_000
PER_SECOND = 3_000  # about a minute; three daemons, PostgreSQL and the downstream share two cores
KILL_EVERY = 7


def test_every_item_has_one_effect_whatever_crashes(shared_nodes, postgres, downstream):
    chance = random.Random(7)
    daemons = [shared_nodes.start() for _ in range(3)]
    put_type(daemons[0], downstream, {"concurrency": 64}, maxPerSecond=PER_SECOND, enabled=False, batchSize=1_000,
             maxDispatchRetries=20)
    wait_until(lambda: all(d.get("/admin/dispatch/types/PAYMENT").status == 200 for d in daemons), 5)
    started = time.time()
    enqueue(daemons[0], *[f"i-{i}" for i in range(ITEMS)])
    print(f"\n{ITEMS} enqueued in {time.time() - started:.1f} s")
    put_type(daemons[1], downstream, {"concurrency": 64}, maxPerSecond=PER_SECOND, batchSize=1_000,
             maxDispatchRetries=20)
    began = killed = time.monotonic()
    kills, restarted = 0, False

    def settled():
        for daemon in daemons:
            try:
                return counts(daemon)["DISPATCHED"]
            except (OSError, KeyError, ValueError):
                continue
        return 0

    while settled() < ITEMS:
        assert time.monotonic() - began < 300, f"{settled()} of {ITEMS} after five minutes"
        time.sleep(0.5)
        if time.monotonic() - killed < KILL_EVERY or settled() > ITEMS - KILL_EVERY * PER_SECOND:
            continue
        killed = time.monotonic()
        kills += 1
        victim = chance.randrange(3)
        daemons[victim].kill()
        if kills == 3:
            restarted = True
            postgres.kill()
            postgres.start()
        daemons[victim] = shared_nodes.start()
    took = time.monotonic() - began
    report = downstream.report()
    total = counts(daemons[0])
    print(f"{took:.0f} s, {kills} kills, PostgreSQL restarted: {restarted}; {report['calls']} calls, "
          f"{len(report['repeated'])} keys more than once (at most {report['most']} times), busiest second "
          f"{report['busiest']} of {PER_SECOND}")
    assert kills >= 3 and restarted
    assert report["keys"] == ITEMS, "every item has arrived"
    assert total == {"READY": 0, "CLAIMED": 0, "DISPATCHED": ITEMS, "DEAD": 0, "CANCELLED": 0}
    assert report["busiest"] <= PER_SECOND
    # Repeats: only what was sent and not settled when a node died or the store went away.
    assert len(report["repeated"]) <= (kills + 1) * PER_SECOND
