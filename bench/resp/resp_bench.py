"""CL.THROTTLE of the daemon against Redis with a GCRA script and against a server with a fixed reply, by
redis-benchmark: same keys, same run, in turns. Prints ratios; see docs/performance.md."""
import csv
import os
import pathlib
import re
import select
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "http"))
sys.path.insert(0, str(HERE))
import harness  # noqa: E402
import open_loop  # noqa: E402

KEYS = 100_000
# By client threads: how long each measurement takes about, and how often. redis-benchmark with threads rounds its time up to
# 250 ms: less than 3% of 10 s.
SECONDS = {1: 2.0, 2: 10.0}
ROUNDS = {1: 5, 2: 3}
CALL = ["1000000", "1000", "1", "1"]  # burst, count, period, quantity: nothing is denied
TICKS = os.sysconf("SC_CLK_TCK")


class Penstock(harness.Penstock):
    def wait_ready(self):
        readable, _, _ = select.select([self.process.stdout], [], [], harness.START_SECONDS)
        line = self.process.stdout.readline().decode() if readable else ""
        found = re.search(r" resp=127\.0\.0\.1:(\d+)", line)
        if not found:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"the daemon did not start: {line!r}")
        self.port = int(found.group(1))
        self.call = ["CL.THROTTLE", "k:__rand_int__", *CALL]
        return self.port


class Redis(harness.Server):
    def __init__(self):
        import socket
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def command(self, folder):
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                "--dir", str(folder)]

    def cli(self, *arguments):
        return subprocess.run(["redis-cli", "-p", str(self.port), *arguments], capture_output=True, text=True,
                              timeout=20).stdout.strip()

    def wait_ready(self):
        deadline = time.monotonic() + harness.START_SECONDS
        while self.cli("PING") != "PONG":
            if time.monotonic() > deadline:
                raise RuntimeError("redis did not start")
            time.sleep(0.05)
        sha = self.cli("SCRIPT", "LOAD", (HERE / "gcra.lua").read_text())
        first = self.cli("EVALSHA", sha, "1", "probe", "4", "1", "1", "1").split()
        if first != ["0", "5", "4", "-1", "1"]:
            raise RuntimeError(f"the script is wrong: {first}")
        self.call = ["EVALSHA", sha, "1", "k:__rand_int__", *CALL]
        return self.port


class Fixed(harness.Server):
    def __init__(self, build, threads):
        self.binary = str(pathlib.Path(build) / "bench_resp_fixed")
        self.threads = threads

    def command(self, folder):
        return [self.binary, str(self.threads)]

    def wait_ready(self):
        self.port = int(self.process.stdout.readline().split()[1])
        self.call = ["CL.THROTTLE", "k:__rand_int__", *CALL]
        return self.port


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(server, pipeline, threads, clients, requests):
    """(requests per second, server CPU seconds per request)"""
    # One thread is redis-benchmark's own loop; --threads 1 would be another one.
    with_threads = ["--threads", str(threads)] if threads > 1 else []
    before = cpu_seconds(server.process.pid)
    out = subprocess.run(["redis-benchmark", "-h", "127.0.0.1", "-p", str(server.port), "-c", str(clients), "-P",
                          str(pipeline), "-n", str(requests), "-r", str(KEYS), "--csv", *with_threads, *server.call],
                         capture_output=True, text=True, timeout=120).stdout
    used = cpu_seconds(server.process.pid) - before
    rows = list(csv.DictReader(out.splitlines()))
    if len(rows) != 1:
        raise RuntimeError(f"redis-benchmark said {out!r}")
    per_second = float(rows[0]["rps"])
    return per_second, used / requests


def compare(servers, pipeline, threads, clients=50):
    """Of our daemon: rate and CPU against Redis, rate against the fixed reply."""
    sizes = {}
    for name, server in servers.items():
        rate, _ = measure(server, pipeline, threads, clients, 20_000 * threads)
        sizes[name] = int(rate * SECONDS[threads])
    rates = {name: [] for name in servers}
    costs = {name: [] for name in servers}
    for _ in range(ROUNDS[threads]):
        for name, server in servers.items():
            rate, cost = measure(server, pipeline, threads, clients, sizes[name])
            rates[name].append(rate)
            costs[name].append(cost)
    what = f"pipeline {pipeline:2d}, {clients:3d} clients of {threads} threads"
    for name in servers:
        print(f"{what}  {name:9s} {statistics.median(rates[name]):>12,.0f}/s   "
              f"server CPU {statistics.median(costs[name]) * 1e6:6.2f} us per decision", flush=True)
    if min(min(each) for each in costs.values()) <= 0:
        raise RuntimeError("a run was too short for the clock of /proc: the CPU ratios would mean nothing")
    # Per round, then the median: a change of the machine's mood meets all servers of a round.
    ratio = lambda values, a, b: statistics.median(x / y for x, y in zip(values[a], values[b], strict=True))
    for name in servers:
        if name != "redis":
            print(f"{what}  {name:9s} {ratio(rates, name, 'redis'):.2f} x the rate of Redis, {ratio(costs, 'redis', name):.2f} x "
                  f"less CPU, {ratio(rates, name, 'fixed'):.2f} x the fixed reply, which decides nothing", flush=True)
    return (ratio(rates, "penstock", "redis"), ratio(costs, "redis", "penstock"), ratio(rates, "penstock", "fixed"))


def main(build):
    print(subprocess.run(["redis-server", "--version"], capture_output=True, text=True).stdout.strip())
    ratios = []
    with Penstock(build, "--resp", "127.0.0.1:0") as ours, Redis() as peer, Fixed(build, os.cpu_count()) as fixed:
        servers = {"penstock": ours, "redis": peer, "fixed": fixed}
        # One thread of redis-benchmark is busy before our server is: that measures the client, so it is printed, and two
        # threads are what counts, with as many clients as redis-benchmark has unless told otherwise.
        compare(servers, 1, 1)
        compare(servers, 16, 1)
        for pipeline, threads, clients, word, goals in ((16, 2, 50, "pipeline16", (8, 1 / 0.12, 0.8)),
                                                        (1, 2, 100, None, ()),
                                                        (1, 2, 50, "no_pipeline", (1.7, 1 / 0.45, 0.8))):
            values = compare(servers, pipeline, threads, clients)
            for name, value, goal in zip((f"vs_redis_lua_{word}", f"cpu_vs_redis_lua_{word}", f"vs_fixed_reply_{word}"),
                                         values, goals, strict=False):  # those without goals are only printed
                ratios.append((f"resp.{name}", value, goal))
        for per_second in (2_000, 10_000):
            (p50, p99, p999), count = open_loop.run(ours.port, per_second, 5)
            print(f"open loop {per_second:,}/s: p50 {p50:,.0f} us  p99 {p99:,.0f} us  p999 {p999:,.0f} us  ({count:,} answers)")
    for ratio in ratios:
        harness.print_ratio(*ratio)


if __name__ == "__main__":
    main(sys.argv[1])
