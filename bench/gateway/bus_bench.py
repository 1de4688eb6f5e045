#!/usr/bin/env python3
"""POST /api/send on PostgreSQL, Redis and Kafka, 64 connections, against the two ways of the design that it comes from
(seed_bench.cc) with 64 threads on the same PostgreSQL and Kafka: many users and one hot user, turn by turn. Phase 0 is the limit
of such a way: each message published and waited for, and nothing else. Then Redis is killed
under that load: the longest answer around the switch, what is left of the speed without it, and the speed once it is back.

Usage: bus_bench.py [BUILD_DIR [SECONDS [ROUNDS]]]     (default build/release, 5 s a run, 2 rounds)
"""
import os
import pathlib
import platform
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "http"), str(HERE), str(ROOT / "tools")]

import testserver  # noqa: E402
from gateway_bench import LIMIT, call, drained, send  # noqa: E402
from harness import Figures, Penstock, interleave, print_ratio  # noqa: E402

USERS = 1_000
CONNECTIONS = 64
STALL_MAX_US = 1e6  # of an answer around the loss of Redis
KINDS = {"one user": 1, "many users": USERS}


def seed(build, phase, servers, users, seconds):
    postgres, kafka, redis = servers
    out = subprocess.run([pathlib.Path(build) / "bench_gateway_seed", str(phase), postgres.url(), kafka.bootstrap,
                          str(redis.port), str(users), str(CONNECTIONS), str(seconds)],
                         capture_output=True, text=True, check=True, timeout=seconds + 60).stdout
    per_second, p50, p99, errors = out.split()
    return Figures(float(per_second), float(p50), float(p99), int(errors))


def wait_for(what, condition):
    for _ in range(600):
        try:
            if condition():
                return
        except urllib.error.URLError:
            pass
        time.sleep(0.1)
    sys.exit(f"bench: {what} did not come")


def ready(url):
    return urllib.request.urlopen(f"{url}/health/ready", timeout=5).status == 200


def cached(url):
    text = urllib.request.urlopen(f"{url}/metrics", timeout=5).read().decode()
    return re.search(r"^penstock_gateway_cache_in_use 1$", text, re.M) is not None


def show(name, figures):
    print(f"{name}: {figures.per_second:,.0f}/s  p99 {figures.p99_us:,.0f} us  longest {figures.max_us:,.0f} us  "
          f"errors {figures.errors}", flush=True)
    return figures


def lose_redis(url, cache, seconds):
    """The runs with Redis killed on the way, without it, and with it again, for each kind of user."""
    during, without, again = {}, {}, {}
    for kind, users in KINDS.items():
        killer = threading.Timer(seconds / 2, cache.kill)
        killer.start()
        during[kind] = show(f"Redis killed on the way, {kind}", send(url, users, seconds))
        killer.join()
        without[kind] = show(f"without Redis, {kind}", send(url, users, seconds))
        cache.start()
        wait_for("the cache", lambda: cached(url))
        again[kind] = show(f"Redis again, {kind}", send(url, users, seconds))
    return during, without, again


def measure(url, build, servers, cache, seconds, rounds):
    """The medians turn by turn, then what the loss of Redis makes of it."""
    contenders = {f"ours, {kind}": lambda n=users: send(url, n, seconds) for kind, users in KINDS.items()}
    for phase in (0, 1, 2):
        for kind, users in KINDS.items():
            contenders[f"phase {phase}, {kind}"] = lambda p=phase, n=users: seed(build, p, servers, n, seconds)
    figures = interleave(contenders, rounds)
    if not cached(url):
        sys.exit("bench: Redis was not used")
    return figures, *lose_redis(url, cache, seconds)


def report(figures, during, without, again):
    if any(each.errors for runs in (figures, during, without, again) for each in runs.values()):
        sys.exit("bench: requests that were refused")
    rate = {name: each.per_second for name, each in figures.items()}
    for phase, goal in ((1, 10), (2, 3)):
        print_ratio(f"gateway.hot_vs_phase_{phase}", rate["ours, one user"] / rate[f"phase {phase}, one user"], goal)
    for phase in (1, 2):
        many, limit = (rate[f"{name}, many users"] / rate[f"phase {phase}, many users"] for name in ("ours", "phase 0"))
        print(f"many users: {many:.2f} x phase {phase}; publishing alone is {limit:.2f} x")
    for kind, name in (("one user", "hot"), ("many users", "many")):
        print_ratio(f"gateway.{name}_without_redis", without[kind].per_second / rate[f"ours, {kind}"], goal=0.3)
        print_ratio(f"gateway.{name}_longest_at_the_switch", STALL_MAX_US / during[kind].max_us, goal=1)


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release"
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    print(f"{os.cpu_count()} cores, Linux {platform.release()}")
    in_memory = {"appendonly": "no"}
    with testserver.Postgres() as postgres, testserver.Kafka() as kafka, testserver.Redis(in_memory) as cache, \
            testserver.Redis(in_memory) as redis:
        env = {"PENSTOCK_STORE_POSTGRES_URL": postgres.create_database("penstock"), "PENSTOCK_GATEWAY_BUS": "kafka",
               "PENSTOCK_KAFKA_BROKERS": kafka.bootstrap, "PENSTOCK_GATEWAY_CACHE": "redis",
               "PENSTOCK_STORE_REDIS_URL": cache.url()}
        subprocess.run([pathlib.Path(build) / "penstock", "migrate"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, **env})
        with Penstock(build, "--log-level", "warn", env=env) as ours:
            wait_for("the daemon", lambda: ready(ours.url) and cached(ours.url))
            for user in range(1, USERS + 1):
                call(ours.url, "/api/config", {"userId": user, "rateLimit": LIMIT, "timeWindow": 600})
            print("messages wait on the topic and in the queue; PostgreSQL and Kafka are the same for all")
            call(ours.url, "/admin/dispatch/types/SMS", {"enabled": False}, "PATCH")
            results = measure(ours.url, build, (postgres, kafka, redis), cache, seconds, rounds)
            call(ours.url, "/admin/dispatch/types/SMS", {"enabled": True}, "PATCH")
            drained(ours.url, None)
    report(*results)


if __name__ == "__main__":
    main()
