"""Dispatch beside the job queues of Node.js, in one run on the same servers.

- drain: 50,000 due jobs of 300 bytes for each peer and 200,000 items for the daemon, all put in before the clock starts;
  a handler that does nothing, the log sink for the daemon. BullMQ on Redis; pg-boss, graphile-worker and the daemon on
  one PostgreSQL, a database each. A peer's figure is the best of its settings below.
- pace: 5,000 jobs at 500 a second, by BullMQ's limiter and by the daemon: the busiest sliding second, and how much of
  the pace was used. BullMQ's times are those of its handler's calls, the daemon's those of the arrivals downstream.

Usage: peers_bench.py BUILD_DIR [drain|pace]...
"""
import json
import pathlib
import shutil
import subprocess
import sys
import time

from daemon_bench import Downstream, Penstock, enqueue, instant, print_ratio, put_type, testserver, wait_for
from downstream import Counter

PEERS = pathlib.Path(__file__).resolve().parent / "peers"
JOBS = 50_000
ITEMS = 200_000
PACE = 500
PACED_JOBS = 5_000
GOAL = 3.0

# The best of a search by hand on 2 cores; the first of graphile-worker is the one its documentation publishes.
SETTINGS = {
    "bullmq": [{"processes": 1, "workers": 1, "concurrency": 50},
               {"processes": 1, "workers": 1, "concurrency": 100},
               {"processes": 2, "workers": 1, "concurrency": 50}],
    "pgboss": [{"processes": 1, "workers": 2, "batchSize": 2_000},
               {"processes": 1, "workers": 4, "batchSize": 2_000},
               {"processes": 1, "workers": 1, "batchSize": 5_000}],
    "graphile": [{"processes": 2, "concurrentJobs": 24, "maxPoolSize": 25, "localQueue": {"size": 500},
                  "completeJobBatchDelay": 0},
                 {"processes": 1, "concurrentJobs": 100, "maxPoolSize": 10, "localQueue": {"size": 2_000},
                  "completeJobBatchDelay": 0},
                 {"processes": 2, "concurrentJobs": 100, "maxPoolSize": 10, "localQueue": {"size": 2_000},
                  "completeJobBatchDelay": 0}],
    "daemon": [{"batchSize": 500}, {"batchSize": 2_000}, {"batchSize": 5_000}],
}


def install(build):
    """The folder with the programs and their packages; None, with the reason printed, if those cannot be had."""
    if not shutil.which("npm"):
        return print("skipped: npm is missing (tools/setup bench)")
    folder = pathlib.Path(build).resolve() / "dispatch_peers"
    lock = folder / "node_modules" / "installed.json"
    if not lock.exists() or lock.read_bytes() != (PEERS / "package-lock.json").read_bytes():
        shutil.copytree(PEERS, folder, dirs_exist_ok=True)
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder,
                              capture_output=True, text=True)
        if done.returncode != 0:
            return print(f"skipped: npm ci failed: {' '.join(done.stderr.split())[-300:]}")
        shutil.copy(PEERS / "package-lock.json", lock)
    shutil.copytree(PEERS, folder, dirs_exist_ok=True)
    return folder


def run(folder, peer, **settings):
    done = subprocess.run(["node", f"{peer}.mjs", json.dumps(settings)], cwd=folder, capture_output=True, text=True,
                          timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{peer} with {settings}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def best_drain(folder, peer, fresh_url):
    """Jobs a second with the best settings. fresh_url() gives an empty place on the server."""
    rates = []
    for settings in SETTINGS[peer]:
        result = run(folder, peer, url=fresh_url(), jobs=JOBS, **settings)
        rates.append(JOBS / result["seconds"])
        print(f"  {peer} {json.dumps(settings)}: {rates[-1]:,.0f} jobs/s ({JOBS / result['filled']:,.0f} put in a second)",
              flush=True)
    print(f"drain by {peer}: {max(rates):,.0f} jobs/s", flush=True)
    return max(rates)


def drain_by_daemon(build, url, **settings):
    """Items a second on PostgreSQL."""
    env = {"PENSTOCK_STORE_POSTGRES_URL": url}
    subprocess.run([str(pathlib.Path(build) / "penstock"), "migrate"], env=env, check=True, capture_output=True)
    with Penstock(build, "--log-level", "warn", env=env) as daemon:
        put_type(daemon.url, enabled=False)
        put_in = enqueue(daemon.url, [f"item-{i:07d}" for i in range(ITEMS)], instant(time.time()))
        began = time.monotonic()
        put_type(daemon.url, **settings)
        wait_for(daemon.url, ITEMS, 120)
        rate = ITEMS / (time.monotonic() - began)
    print(f"  daemon {json.dumps(settings)}: {rate:,.0f} items/s ({put_in:,.0f} put in a second)", flush=True)
    return rate


def measure_drain(build, folder):
    def fresh_redis():
        redis.cli("flushall")
        return redis.url()

    def fresh_database():
        fresh_database.count += 1
        return postgres.create_database(f"peer_{fresh_database.count}")

    fresh_database.count = 0
    with testserver.Redis() as redis:
        bullmq = best_drain(folder, "bullmq", fresh_redis)
    with testserver.Postgres() as postgres:
        pgboss = best_drain(folder, "pgboss", fresh_database)
        graphile = best_drain(folder, "graphile", fresh_database)
        ours = max(drain_by_daemon(build, fresh_database(), **settings) for settings in SETTINGS["daemon"])
    print(f"drain by the daemon: {ours:,.0f} items/s", flush=True)
    print_ratio("dispatch.vs_bullmq", ours / bullmq, GOAL)
    print_ratio("dispatch.vs_pgboss", ours / pgboss, GOAL)
    print(f"graphile-worker {graphile:,.0f} jobs/s, the daemon {ours:,.0f}: {ours / graphile:.2f} times (no goal)")


def pace_by_bullmq(folder):
    with testserver.Redis() as redis:
        times = run(folder, "bullmq", url=redis.url(), jobs=PACED_JOBS, note=True, processes=1, workers=1, concurrency=100,
                    limiter={"max": PACE, "duration": 1000})["times"]
    counter = Counter()  # the downstream's own way of counting
    counter.calls = [(at, str(number)) for number, at in enumerate(times)]
    return counter.report()


def pace_by_daemon(build):
    downstream = Downstream()
    with Penstock(build, "--log-level", "warn") as daemon:
        put_type(daemon.url, enabled=False)
        enqueue(daemon.url, [f"item-{i}" for i in range(PACED_JOBS)], instant(time.time()))
        put_type(daemon.url, maxPerSecond=PACE, batchSize=1_000,
                 sink={"type": "http", "url": downstream.url, "concurrency": 64})
        wait_for(daemon.url, PACED_JOBS, 60)
        report = downstream.report()
    downstream.close()
    return report


def measure_pace(build, folder):
    for name, report in (("BullMQ's limiter", pace_by_bullmq(folder)), ("the daemon", pace_by_daemon(build))):
        used = (report["calls"] - 1) / (report["last"] - report["first"]) / PACE
        print(f"pace {PACE} by {name}: busiest sliding second {report['busiest']}, {100 * used:.1f} % used", flush=True)


def main():
    build = sys.argv[1]
    folder = install(build)
    parts = {"drain": measure_drain, "pace": measure_pace}
    for part in (sys.argv[2:] or parts) if folder else ():
        parts[part](build, folder)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
