#!/usr/bin/env python3
"""POST /api/v1/throttle/check against nginx answering 200 to the same POST: the same client, requests and cores,
turn by turn. nginx decides nothing: the ratio says what a decision costs on top of HTTP.

Usage: throttle_bench.py [BUILD_DIR]     (default build/release)
"""
import json
import os
import pathlib
import platform
import statistics
import sys
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "http"))

from harness import Nginx, Penstock, interleave, print_ratio, wrk  # noqa: E402

GOAL = 0.55
KEYS = 10_000
SECONDS = 5
# As long as the answer of a check, so that both send as much.
BODY = json.dumps({"allowed": True, "key": "user:00000001", "limit": 10**12, "remaining": 10**12 - 1,
                   "resetAfterMs": 100, "retryAfterMs": 0, "policy": "user:*",
                   "limits": [{"allowed": True, "key": "user:00000001", "limit": 10**12, "remaining": 10**12 - 1,
                               "resetAfterMs": 100, "retryAfterMs": 0, "policy": "user:*"}]},
                  separators=(",", ":"))


def add_policy(url):
    """One that admits all: every answer is a 200, and every decision is charged."""
    policy = json.dumps({"key": "user:*", "type": "TOKEN_BUCKET", "capacity": 10**12, "refillRate": 1000})
    urllib.request.urlopen(urllib.request.Request(f"{url}/admin/policies", policy.encode(),
                                                  {"Content-Type": "application/json"}), timeout=20).read()


def cpu_seconds(server):
    """User and system time of a server and its workers so far."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # ended meanwhile
        if server.process.pid in (int(stat.parent.name), int(fields[1])):
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def check_vs_nginx(build):
    cpu_micros = {}  # of each run, a request's: says something on a busy machine, too

    def load(server, keys):
        def run():
            before = cpu_seconds(server)
            figures = wrk(server.url, connections=64, seconds=SECONDS, script=HERE / "check.lua",
                          env={"KEYS": str(keys)})
            used = (cpu_seconds(server) - before) / (figures.per_second * SECONDS)
            cpu_micros.setdefault((type(server).__name__, keys), []).append(used * 1e6)
            return figures
        return run

    with Penstock(build) as ours, Nginx(body=BODY) as peer:
        add_policy(ours.url)
        print(f"POST /api/v1/throttle/check, 64 connections: random of {KEYS:,} keys, one key; nginx `return 200`")
        figures = interleave({"penstock": load(ours, KEYS), "penstock, one key": load(ours, 1),
                              "nginx": load(peer, KEYS)})
    for (name, keys), used in cpu_micros.items():
        print(f"{name}, {keys:,} keys: {statistics.median(used):.1f} us of CPU a request")
    if any(f.errors for f in figures.values()):
        sys.exit("bench: answers that were not 200")
    return [figures[name].per_second / figures["nginx"].per_second for name in ("penstock", "penstock, one key")]


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release"
    print(f"{os.cpu_count()} cores, Linux {platform.release()}, {Nginx.version()}")
    many, one = check_vs_nginx(build)
    print_ratio("throttle.check_vs_nginx", many, goal=GOAL)
    print_ratio("throttle.hot_key_vs_nginx", one, goal=GOAL)


if __name__ == "__main__":
    main()
