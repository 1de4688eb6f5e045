"""Dispatch by the daemon: how fast it drains, how well it keeps a pace, how late it is.

- drain: 500,000 due items, 300 bytes of context, to the log sink, on PostgreSQL and on the embedded store; beside it, on
  a server of its own in the same run, the loop of bare SQL of bench_dispatch.
- pace, on both stores: to a downstream that notes the kernel's arrival times, at 50, 500 and 5,000 a second: the busiest
  sliding second, and how much of the pace was used over the run.
- late, on both stores: 200 items a second, each due at an instant of its own, capacity free, jitter 0.

Usage: daemon_bench.py BUILD_DIR [drain|pace|late]...
"""
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "http"), str(ROOT / "tools"), str(ROOT / "tests" / "e2e")]

import testserver  # noqa: E402
from downstream import Downstream  # noqa: E402
from harness import Penstock, print_ratio  # noqa: E402

ITEMS = 500_000
CONTEXT = {"note": "x" * 285}
BATCH = 10_000
STORES = ("embedded", "postgres")


def call(url, path, value=None, method=None, kind="application/json"):
    body = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
    request = urllib.request.Request(url + path, body, {"Content-Type": kind},
                                     method=method or ("POST" if body is not None else "GET"))
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def put_type(url, **settings):
    call(url, "/admin/dispatch/types/BENCH", {"jitterWindowMs": 0, **settings}, "PUT")


def counts(url):
    return call(url, "/api/v1/dispatch/BENCH/summary")["counts"]


def instant(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


def enqueue(url, ids, at):
    """`at` is an instant, or a function from an id to one. Items a second."""
    began = time.monotonic()
    for start in range(0, len(ids), BATCH):
        lines = "\n".join(json.dumps({"itemId": i, "scheduledTime": at(i) if callable(at) else at, "context": CONTEXT})
                          for i in ids[start:start + BATCH])
        call(url, "/api/v1/dispatch/BENCH/batch", lines.encode(), kind="application/x-ndjson")
    return len(ids) / (time.monotonic() - began)


def bare_loop(build):
    """Items a second of the SQL loop, as bench_dispatch measures it."""
    text = subprocess.run([str(HERE / "run"), str(build), "drain"], capture_output=True, text=True, check=True).stdout
    return float(re.search(r"bare loop ([\d.]+)", text).group(1))


def wait_for(url, wanted, seconds):
    deadline = time.monotonic() + seconds
    while counts(url)["DISPATCHED"] < wanted:
        if time.monotonic() > deadline:
            raise RuntimeError(f"after {seconds} s: {counts(url)}")
        time.sleep(0.05)


def drain(build, env, name):
    with Penstock(build, "--log-level", "warn", env=env) as daemon:
        url = daemon.url
        put_type(url, enabled=False)
        came = enqueue(url, [f"item-{i:07d}" for i in range(ITEMS)], instant(time.time()))
        began = time.monotonic()
        put_type(url)
        wait_for(url, ITEMS, 300)
        rate = ITEMS / (time.monotonic() - began)
    print(f"drain on {name}: {rate:.0f} items/s to the log sink ({came:.0f} enqueued a second by one client)")
    return rate


@contextlib.contextmanager
def fresh_store(build, name):
    """The environment of a daemon on a store of its own."""
    if name == "embedded":
        yield {}
        return
    postgres = testserver.Postgres()
    postgres.start()
    try:
        env = {"PENSTOCK_STORE_POSTGRES_URL": postgres.url()}
        subprocess.run([str(pathlib.Path(build) / "penstock"), "migrate"], env=env, check=True, capture_output=True)
        yield env
    finally:
        postgres.close()


def measure_drain(build):
    with fresh_store(build, "postgres") as env:
        on_postgres = drain(build, env, "PostgreSQL")
    embedded = drain(build, {}, "the embedded store")
    bare = bare_loop(build)
    print(f"the loop of bare SQL: {bare:.0f} items/s")
    print_ratio("dispatch.daemon_drain_vs_bare_loop", on_postgres / bare, 0.7)
    print_ratio("dispatch.embedded_vs_postgres", embedded / on_postgres, 1.0)


def pace_on(build, store, pace, seconds):
    downstream = Downstream()
    with fresh_store(build, store) as env, Penstock(build, "--log-level", "warn", env=env) as daemon:
        url = daemon.url
        put_type(url, enabled=False)
        items = pace * seconds
        enqueue(url, [f"item-{i}" for i in range(items)], instant(time.time()))
        put_type(url, maxPerSecond=pace, batchSize=1_000, sink={"type": "http", "url": downstream.url, "concurrency": 64})
        wait_for(url, items, seconds * 3 + 20)
        report = downstream.report()
    downstream.close()
    used = (items - 1) / (report["last"] - report["first"]) / pace
    print(f"pace {pace} on {store}: busiest sliding second {report['busiest']}, {100 * used:.1f} % used, "
          f"{len(report['repeated'])} repeats", flush=True)
    print_ratio(f"dispatch.pace_{pace}_kept_{store}", pace / max(report["busiest"], 1), 1.0)
    print_ratio(f"dispatch.pace_{pace}_used_{store}", used, 0.98)


def measure_pace(build):
    for store in STORES:
        for pace, seconds in ((50, 15), (500, 15), (5_000, 12)):
            pace_on(build, store, pace, seconds)


def lateness_on(build, store):
    downstream = Downstream()
    with fresh_store(build, store) as env, Penstock(build, "--log-level", "warn", env=env) as daemon:
        url = daemon.url
        put_type(url, sink={"type": "http", "url": downstream.url, "concurrency": 64})
        begin = time.time() + 5
        due = {f"item-{i}": begin + i / 200 for i in range(4_000)}
        enqueue(url, list(due), lambda i: instant(due[i]))
        wait_for(url, len(due), 60)
        late = sorted(at - int(due[key.split(":")[1]] * 1000) / 1000 for at, key in downstream.calls())
    downstream.close()
    p50, p99, p999 = (1000 * late[int(len(late) * share)] for share in (0.5, 0.99, 0.999))
    print(f"lateness at 200 a second on {store}: p50 {p50:.1f} ms, p99 {p99:.1f} ms, p999 {p999:.1f} ms, "
          f"earliest {1000 * late[0]:.1f} ms", flush=True)
    print_ratio(f"dispatch.lateness_p99_{store}", 50 / p99, 1.0)


def measure_lateness(build):
    for store in STORES:
        lateness_on(build, store)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    parts = {"drain": measure_drain, "pace": measure_pace, "late": measure_lateness}
    for part in sys.argv[2:] or parts:
        parts[part](sys.argv[1])
