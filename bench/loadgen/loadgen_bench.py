#!/usr/bin/env python3
"""`penstock bench` against wrk and redis-benchmark: the same daemon, requests, connections and threads, turn by turn.
The ratio says whether our load generator can press a daemon as hard as those that people know.

Usage: loadgen_bench.py [BUILD_DIR]     (default build/release)
Environment: ROUNDS (5), SECONDS (3): of each measurement.
"""
import csv
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "http"))

from harness import Figures, Penstock, print_ratio, wrk  # noqa: E402

GOAL = 0.8
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = int(os.environ.get("SECONDS", "3"))
CONNECTIONS = 64
KEYS = 10_000
LIMIT = {"burst": 1_000_000, "count": 1_000, "period": 1, "cost": 1}  # nothing is denied
CLIENTS = 50  # redis-benchmark's own default


def post(url, value):
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(value).encode(), {"Content-Type": "application/json"}),
                           timeout=20).read()


def ours(binary, *arguments):
    """One run of `penstock bench`; all of its requests must have gone well."""
    run = subprocess.run([binary, "bench", *map(str, arguments), "--duration", f"PT{SECONDS}S", "--json"],
                         capture_output=True, text=True, timeout=SECONDS + 60)
    if run.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, arguments))}: {run.stdout}{run.stderr}")
    out = json.loads(run.stdout)
    return Figures(out["perSecond"], out["latencyMicros"]["p50"], out["latencyMicros"]["p99"])


def redis_benchmark(port, pipeline, threads, requests):
    with_threads = ["--threads", str(threads)] if threads > 1 else []
    out = subprocess.run(["redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-c", str(CLIENTS), "-P", str(pipeline),
                          "-n", str(requests), "-r", str(KEYS), "--csv", *with_threads, "CL.THROTTLE", "k:__rand_int__",
                          *map(str, LIMIT.values())], capture_output=True, text=True, timeout=120).stdout
    rows = list(csv.DictReader(out.splitlines()))
    if len(rows) != 1:
        sys.exit(f"bench: redis-benchmark said {out!r}")
    row = rows[0]
    return Figures(float(row["rps"]), float(row["p50_latency_ms"]) * 1e3, float(row["p99_latency_ms"]) * 1e3)


def compare(title, name, peer_name, ours_run, peer_run):
    """Median of the ratios of each round: a change of the machine's mood meets both."""
    print(title, flush=True)
    rates = {"penstock bench": [], peer_name: []}
    for _ in range(ROUNDS):
        for who, run in (("penstock bench", ours_run), (peer_name, peer_run)):
            figures = run()
            if figures.errors:
                sys.exit(f"bench: {who}: {figures.errors} answers that were not 200")
            rates[who].append(figures.per_second)
            print(f"  {who:16s} {figures.per_second:>10,.0f}/s  p50 {figures.p50_us:,.0f} us  p99 {figures.p99_us:,.0f} us",
                  flush=True)
    ratio = statistics.median(a / b for a, b in zip(rates["penstock bench"], rates[peer_name], strict=True))
    print("  " + "; ".join(f"{who}: median {statistics.median(each):,.0f}/s" for who, each in rates.items()), flush=True)
    return (f"loadgen.{name}", ratio)


def http_ratios(binary, daemon, threads):
    post(f"{daemon.url}/admin/policies", {"key": "user:*", "type": "TOKEN_BUCKET", "capacity": 10**12, "refillRate": 1000})
    common = ("--url", daemon.url, "--connections", CONNECTIONS, "--threads", threads)
    yield compare(f"POST /api/v1/throttle/check, {CONNECTIONS} connections, {threads} thread(s), {KEYS:,} keys",
                  f"throttle_vs_wrk_{threads}t", "wrk",
                  lambda: ours(binary, "throttle", *common, "--keys", KEYS, "--key-prefix", "user:"),
                  lambda: wrk(daemon.url, connections=CONNECTIONS, seconds=SECONDS, threads=threads,
                              script=HERE.parent / "throttle" / "check.lua", env={"KEYS": str(KEYS)}))
    post(f"{daemon.url}/admin/rate-limit/config",
         {"configName": "default", "maxPerWindow": 1_000, "windowSize": "PT4S"})
    yield compare(f"POST /api/v1/slots, {CONNECTIONS} connections, {threads} thread(s), every event new",
                  f"slots_vs_wrk_{threads}t", "wrk",
                  lambda: ours(binary, "slots", *common, "--at", "2030-06-01T12:00:00Z"),
                  lambda: wrk(daemon.url, connections=CONNECTIONS, seconds=SECONDS, threads=threads,
                              script=HERE.parent / "http" / "slots.lua",
                              env={"BATCH": "1", "RUN": f"w{time.monotonic_ns()}"}))


def resp_ratios(binary, daemon, threads):
    for pipeline in (1, 16):
        # Sized by a short run, so that both measure about as long.
        rate = redis_benchmark(daemon.resp_port, pipeline, threads, 20_000).per_second
        limit = [word for name, value in LIMIT.items() for word in (f"--{name}", value)]
        yield compare(f"CL.THROTTLE, {CLIENTS} connections, {threads} thread(s), pipeline {pipeline}, {KEYS:,} keys",
                      f"resp_pipeline{pipeline}_vs_redis_benchmark_{threads}t", "redis-benchmark",
                      lambda: ours(binary, "resp", "--resp", f"127.0.0.1:{daemon.resp_port}", "--connections", CLIENTS,
                                   "--threads", threads, "--pipeline", pipeline, "--keys", KEYS, "--key-prefix", "k:",
                                   *limit),
                      lambda: redis_benchmark(daemon.resp_port, pipeline, threads, int(rate * SECONDS)))


def versions():
    words = subprocess.run(["wrk", "-v"], capture_output=True, text=True)
    redis = subprocess.run(["redis-benchmark", "--version"], capture_output=True, text=True).stdout.strip()
    found = re.search(r"wrk \S+", words.stdout + words.stderr)
    return f"{found.group(0) if found else 'wrk'}, {redis}"


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release")
    binary = str(build / "penstock")
    print(f"{os.cpu_count()} cores, Linux {platform.release()}, {versions()}, {ROUNDS} rounds of {SECONDS} s")
    ratios = []
    with Penstock(build, "--resp", "127.0.0.1:0") as daemon:
        ratios += http_ratios(binary, daemon, threads=1)
        for threads in (1, 2):
            ratios += resp_ratios(binary, daemon, threads)
    for name, value in ratios:
        print_ratio(name, value, goal=GOAL)


if __name__ == "__main__":
    main()
