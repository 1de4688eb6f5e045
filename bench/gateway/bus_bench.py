#!/usr/bin/env python3
"""POST /api/send with Kafka as the bus and PostgreSQL as the store, 64 connections, against the two ways of the design that it
comes from (seed_bench.cc) with 64 threads on the same servers: many users and one hot user, turn by turn.

Usage: bus_bench.py [BUILD_DIR]     (default build/release)
"""
import os
import pathlib
import platform
import subprocess
import sys
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
SECONDS = 5
CONNECTIONS = 64


def seed(build, phase, postgres, kafka, redis, users):
    out = subprocess.run([pathlib.Path(build) / "bench_gateway_seed", str(phase), postgres.url(), kafka.bootstrap,
                          str(redis.port), str(users), str(CONNECTIONS), str(SECONDS)],
                         capture_output=True, text=True, check=True, timeout=SECONDS + 60).stdout
    per_second, p50, p99, errors = out.split()
    return Figures(float(per_second), float(p50), float(p99), int(errors))


def wait_ready(url):
    for _ in range(600):
        try:
            return urllib.request.urlopen(f"{url}/health/ready", timeout=5).read()
        except urllib.error.URLError:
            time.sleep(0.1)
    sys.exit("bench: the daemon is not ready")


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release"
    print(f"{os.cpu_count()} cores, Linux {platform.release()}")
    with testserver.Postgres() as postgres, testserver.Kafka() as kafka, \
            testserver.Redis({"appendonly": "no"}) as redis:
        env = {"PENSTOCK_STORE_POSTGRES_URL": postgres.create_database("penstock"), "PENSTOCK_GATEWAY_BUS": "kafka",
               "PENSTOCK_KAFKA_BROKERS": kafka.bootstrap}
        subprocess.run([pathlib.Path(build) / "penstock", "migrate"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, **env})
        with Penstock(build, "--log-level", "warn", env=env) as ours:
            wait_ready(ours.url)
            for user in range(1, USERS + 1):
                call(ours.url, "/api/config", {"userId": user, "rateLimit": LIMIT, "timeWindow": 600})
            print("messages wait on the topic and in the queue; PostgreSQL and Kafka are the same for all")
            call(ours.url, "/admin/dispatch/types/SMS", {"enabled": False}, "PATCH")
            figures = interleave({
                "ours, many users": lambda: send(ours.url, USERS),
                "ours, one user": lambda: send(ours.url, 1),
                "phase 1, many users": lambda: seed(build, 1, postgres, kafka, redis, USERS),
                "phase 1, one user": lambda: seed(build, 1, postgres, kafka, redis, 1),
                "phase 2, many users": lambda: seed(build, 2, postgres, kafka, redis, USERS),
                "phase 2, one user": lambda: seed(build, 2, postgres, kafka, redis, 1)}, rounds=2)
            call(ours.url, "/admin/dispatch/types/SMS", {"enabled": True}, "PATCH")
            drained(ours.url, None)
    if any(each.errors for each in figures.values()):
        sys.exit("bench: requests that were refused")
    rate = {name: each.per_second for name, each in figures.items()}
    print_ratio("gateway.kafka_hot_vs_phase_1", rate["ours, one user"] / rate["phase 1, one user"], goal=10)
    print_ratio("gateway.kafka_hot_vs_phase_2", rate["ours, one user"] / rate["phase 2, one user"], goal=3)
    print_ratio("gateway.kafka_many_vs_phase_1", rate["ours, many users"] / rate["phase 1, many users"], goal=1)
    print_ratio("gateway.kafka_many_vs_phase_2", rate["ours, many users"] / rate["phase 2, many users"], goal=3)


if __name__ == "__main__":
    main()
