"""Workflow starts a second: items that the daemon on the embedded store claims, starts and settles over the sink `temporal`,
against a bare loop of StartWorkflowExecution (bench_temporal) with as many under way at once, the same fields and the
same payloads.

Both go to one development server that keeps its state in memory, in rounds: it slows down as its history grows, so every
round begins with the other of the two, and what stands is the median of the rounds' ratios. No worker runs; the workflows wait.

Usage: temporal_bench.py BUILD_DIR [STARTS]
"""
import json
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "http"), str(HERE.parent / "dispatch"), str(ROOT / "tools")]

import testserver  # noqa: E402
from daemon_bench import CONTEXT, enqueue, instant, put_type, wait_for  # noqa: E402
from harness import Penstock, print_ratio  # noqa: E402

STARTS = 4_000
ROUNDS = 4
CONCURRENCY = 64
SINK = {"type": "temporal", "workflowType": "BenchWorkflow", "taskQueue": "bench", "concurrency": CONCURRENCY}


def by_the_daemon(build, server, name, starts):
    env = {"PENSTOCK_TEMPORAL_ADDRESS": server.address, "PENSTOCK_TEMPORAL_NAMESPACE": server.namespace}
    with Penstock(build, "--log-level", "warn", env=env) as daemon:
        url = daemon.url
        put_type(url, enabled=False, sink=SINK)
        enqueue(url, [f"{name}-{i:07d}" for i in range(starts)], instant(time.time() - 1))
        began = time.monotonic()
        put_type(url, sink=SINK)
        wait_for(url, starts, 300)
        return starts / (time.monotonic() - began)


def by_the_bare_loop(build, server, name, starts):
    out = subprocess.run([f"{build}/bench_temporal", server.address, server.namespace, name, str(starts),
                          str(CONCURRENCY), json.dumps(CONTEXT, separators=(",", ":"))],
                         stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    return float(out.stdout)


def main():
    build, starts = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else STARTS
    contenders = {"daemon": by_the_daemon, "bare loop": by_the_bare_loop}
    server = testserver.Temporal(memory=True)
    server.start()
    try:
        by_the_bare_loop(build, server, "warm", starts // 4)
        rounds = []
        for number in range(ROUNDS):
            rates = {}
            for name in sorted(contenders, reverse=number % 2 == 1):
                rates[name] = contenders[name](build, server, f"{name.split()[0]}-{number}", starts)
            rounds.append(rates)
            print(f"round {number + 1}: " + ", ".join(f"{name} {rate:.0f} starts/s" for name, rate in rates.items()),
                  flush=True)
    finally:
        server.close()
    for name in contenders:
        print(f"{name}: median {statistics.median(each[name] for each in rounds):.0f} starts/s, {CONCURRENCY} under way")
    print_ratio("temporal.starts_vs_bare_loop", statistics.median(each["daemon"] / each["bare loop"] for each in rounds), 0.8)


if __name__ == "__main__":
    main()
