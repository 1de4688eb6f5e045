#!/usr/bin/env python3
"""The HTTP front against nginx (the same small answer, client and cores, turn by turn), and the slot routes
against what the disk can do.

Usage: http_bench.py [BUILD_DIR]     (default build/release)
"""
import json
import os
import pathlib
import platform
import subprocess
import sys
import time
import urllib.request

from harness import Nginx, Penstock, interleave, print_ratio, wrk

IDLE_RSS_MIB_GOAL = 40
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def health_vs_nginx(build):
    print("GET /health/live, 64 connections")
    with Penstock(build) as ours, Nginx() as peer:
        figures = interleave({"penstock": lambda: wrk(f"{ours.url}/health/live"),
                              "nginx": lambda: wrk(f"{peer.url}/")})
    if figures["penstock"].errors or figures["nginx"].errors:
        sys.exit("bench: answers that were not 200")
    return figures["penstock"].per_second / figures["nginx"].per_second


def store_limits(build):
    """Events/s of a bare RocksDB loop in synced groups of 256, and with one synced write per event."""
    out = subprocess.run([str(pathlib.Path(build) / "bench_store"), "--limits"], capture_output=True,
                         text=True, check=True, timeout=120).stdout
    rates = {name: float(rate) for name, rate in (line.split() for line in out.splitlines())}
    print(f"store: bare loop {rates['bare']:,.0f} events/s, one sync per event {rates['single']:,.0f} events/s")
    return rates


def slots_vs_store(build):
    """POST /api/v1/slots and its batch route, between two looks at what the disk can do."""
    before = store_limits(build)
    script = pathlib.Path(__file__).with_name("slots.lua")
    with Penstock(build) as ours:
        config = json.dumps({"configName": "default", "maxPerWindow": 1_000, "windowSize": "PT4S"})
        urllib.request.urlopen(urllib.request.Request(
            f"{ours.url}/admin/rate-limit/config", config.encode(),
            {"Content-Type": "application/json"}), timeout=20).read()

        def load(run, batch, connections):
            return wrk(ours.url, connections=connections, script=script,
                       env={"BATCH": str(batch), "RUN": f"{run}{time.monotonic_ns()}"})

        print("POST /api/v1/slots, 64 connections; …/batch, 1,000 events a call, 4 connections")
        figures = interleave({"single": lambda: load("s", 1, 64), "batch": lambda: load("b", 1_000, 4)})
    if figures["single"].errors or figures["batch"].errors:
        sys.exit("bench: slots that were refused")
    after = store_limits(build)
    limit = {name: (before[name] + after[name]) / 2 for name in before}
    return (figures["single"].per_second / limit["single"],
            figures["batch"].per_second * 1_000 / limit["bare"])


def idle_rss(build):
    with Penstock(build) as ours:
        urllib.request.urlopen(f"{ours.url}/health/ready", timeout=20).read()
        rss = ours.rss_mib()
    print(f"idle RSS {rss:.1f} MiB")
    return rss


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release"
    print(f"{os.cpu_count()} cores, Linux {platform.release()}, {Nginx.version()}")
    rss = idle_rss(build)
    ratio = health_vs_nginx(build)
    single, batch = slots_vs_store(build)
    print_ratio("http.idle_rss", IDLE_RSS_MIB_GOAL / rss, goal=1.0)
    print_ratio("http.health_vs_nginx", ratio, goal=0.6)
    print_ratio("http.slots_vs_single_sync", single, goal=5.0)
    print_ratio("http.batch_vs_bare_loop", batch, goal=0.6)


if __name__ == "__main__":
    main()
