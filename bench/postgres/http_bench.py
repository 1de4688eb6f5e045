#!/usr/bin/env python3
"""Single-event requests over HTTP on PostgreSQL: one daemon against one transaction per event, and three daemons
on one database against one.

Usage: http_bench.py BUILD_DIR
"""
import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "bench" / "http"), str(ROOT / "tools")]
import testserver  # noqa: E402
from harness import Penstock, print_ratio, wrk  # noqa: E402

CONNECTIONS = 64
ROUNDS = 3


def baseline_rate(build):
    out = subprocess.run([build / "bench_postgres", HERE / "sql", "--baseline"], cwd=ROOT, capture_output=True,
                         text=True, check=True, timeout=300).stdout
    return float(out.rsplit("baseline ", 1)[1])


def load(url, connections):
    return wrk(url, connections=connections, script=ROOT / "bench" / "http" / "slots.lua",
               env={"BATCH": "1", "RUN": f"p{time.monotonic_ns()}"})


def load_all(nodes):
    """Every node has clients of its own."""
    figures = [None] * len(nodes)

    def run(index, node):
        figures[index] = load(node.url, CONNECTIONS)

    threads = [threading.Thread(target=run, args=each) for each in enumerate(nodes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if any(each.errors for each in figures):
        sys.exit("bench: slots that were refused")
    return sum(each.per_second for each in figures), max(each.p99_us for each in figures)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    before = baseline_rate(build)
    with testserver.Postgres() as server:
        url = server.create_database("penstock")
        option = {"PENSTOCK_STORE_POSTGRES_URL": url}
        subprocess.run([build / "penstock", "migrate"], env=option, check=True, capture_output=True, timeout=60)
        rates = {1: [], 3: []}
        with Penstock(build, env=option) as a, Penstock(build, env=option) as b, Penstock(build, env=option) as c:
            config = json.dumps({"configName": "default", "maxPerWindow": 1_000, "windowSize": "PT4S"})
            urllib.request.urlopen(urllib.request.Request(f"{a.url}/admin/rate-limit/config", config.encode(),
                                                          {"Content-Type": "application/json"}), timeout=20).read()
            for _ in range(ROUNDS):
                for count in rates:
                    rate, p99 = load_all([a, b, c][:count])
                    print(f"  POST /api/v1/slots, {CONNECTIONS} connections each, daemons {count}: {rate:,.0f}/s  "
                          f"p99 {p99:,.0f} us")
                    rates[count].append(rate)
    baseline = statistics.mean((before, baseline_rate(build)))
    one, three = (statistics.median(rates[count]) for count in (1, 3))
    print(f"one transaction per event, 16 clients: {baseline:,.0f}/s; one daemon {one:,.0f}/s, three {three:,.0f}/s")
    print_ratio("postgres.http_vs_baseline", one / baseline, goal=4.0)
    print_ratio("postgres.http_three_vs_one", three / one, goal=1.0)


if __name__ == "__main__":
    main()
