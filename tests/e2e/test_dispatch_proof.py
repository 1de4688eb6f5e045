"""The promise of dispatch, kept through crashes. On PostgreSQL: 200,000 items for one instant, three daemons of which one is
killed every few seconds, and the server restarted once. On the embedded store: one daemon, killed every few seconds. One
effect per item, never above the pace, nothing left behind."""
import random
import time

from conftest import any_moment, wait_until
from dispatch_nodes import counts, downstream, embedded_nodes, enqueue, postgres, put_type, shared_nodes

__all__ = ["downstream", "postgres", "shared_nodes"]  # fixtures

PER_SECOND = 3_000  # about a minute; daemons, PostgreSQL and the downstream share two cores
KILL_AFTER = 12_000  # items: some seconds of the pace


def prove(nodes, size, items, downstream, after_kill=lambda kills: None):
    """`after_kill(kills)` is called while the victim is down. How many were killed."""
    chance = random.Random(7)
    daemons = [nodes.start(goes_first=True) for _ in range(size)]
    paced = {"maxPerSecond": PER_SECOND, "batchSize": 1_000, "maxDispatchRetries": 20}
    put_type(daemons[0], downstream, {"concurrency": 64}, enabled=False, **paced)
    wait_until(lambda: all(d.get("/admin/dispatch/types/ORDER").status == 200 for d in daemons), 30)
    started = time.time()
    enqueue(daemons[0], *[f"i-{i}" for i in range(items)])
    print(f"\n{items} enqueued in {time.time() - started:.1f} s")
    put_type(daemons[-1], downstream, {"concurrency": 64}, **paced)
    began = time.monotonic()
    kills = done_at_kill = 0

    def settled():
        for daemon in daemons:
            try:
                return counts(daemon)["DISPATCHED"]
            except (OSError, KeyError, ValueError):
                continue
        return 0

    def is_time_to_kill():
        return done_at_kill + KILL_AFTER <= settled() <= items - KILL_AFTER

    while True:
        left = began + 400 - time.monotonic()
        wait_until(lambda: settled() >= items or is_time_to_kill(), left,
                   lambda: f"the rest of {settled()} of {items}", every=0.1)
        if settled() >= items:
            break
        any_moment(chance, 0.5)  # not just behind what was counted
        done_at_kill = settled()
        kills += 1
        victim = chance.randrange(size)
        daemons[victim].kill()
        after_kill(kills)
        daemons[victim] = nodes.start(goes_first=True)
    took = time.monotonic() - began
    report = downstream.report()
    total = counts(daemons[0])
    print(f"{took:.0f} s, {kills} kills; {report['calls']} calls, {len(report['repeated'])} keys more than once (at most "
          f"{report['most']} times), busiest second {report['busiest']} of {PER_SECOND}")
    assert report["keys"] == items, "every item has arrived"
    assert total == {"READY": 0, "CLAIMED": 0, "DISPATCHED": items, "DEAD": 0, "CANCELLED": 0}
    assert report["busiest"] <= PER_SECOND
    # Repeats: only what was sent and not settled when a node died or the store went away.
    assert len(report["repeated"]) <= (kills + 1) * PER_SECOND
    return kills


def test_every_item_has_one_effect_whatever_crashes(shared_nodes, postgres, downstream):
    def restart_postgres(kills):
        if kills == 3:
            postgres.kill()
            postgres.start()

    assert prove(shared_nodes, 3, 200_000, downstream, restart_postgres) >= 3, "PostgreSQL was restarted too"


def test_every_item_has_one_effect_on_the_embedded_store(request, downstream):
    assert prove(embedded_nodes(request), 1, 90_000, downstream) >= 2
