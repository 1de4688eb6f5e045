"""Throttle of one daemon on the engines that nodes share.

- Rate: POST /api/v1/throttle/check by 64 connections on 1,000 keys and on one. For Redis also CL.THROTTLE by 64 Redis
  clients without a pipeline (penstock bench), and the peer: redis-benchmark calling the daemon's own script for one check at a
  time, 64 clients, no pipeline, in turns.
- Latency: the same call in an open loop at 5,000 a second, on 1,000 keys and on one. What the engine adds is read off the
  daemon's own histogram (throttlex_latency_ms, from the question to the answer): on the embedded store it is some
  microseconds, while what the client sees is mostly the client, which shares the cores.

Usage: daemon_bench.py BUILD_DIR [ENGINE...]
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "http"), str(HERE.parent / "resp"), str(HERE.parent / "throttle"), str(ROOT / "tools")]

import open_loop  # noqa: E402
import testserver  # noqa: E402
from harness import Figures, Penstock, interleave, print_ratio, wrk  # noqa: E402
from throttle_bench import add_policy  # noqa: E402

KEYS = 1_000
SECONDS = 4
HALF_LOAD = 5_000  # a second: half of the goal for a rate
RATE_GOAL = 10_000
ADDED_P99_GOAL_MS = 3.0
REDIS_GOAL = 1.5
# Patient: a benchmark asks how fast it is, not what happens when it is not.
PATIENT = {"PENSTOCK_THROTTLE_DEADLINE": "PT2S"}


def engine_env(name, server):
    if name == "redis":
        return {"PENSTOCK_THROTTLE_STORE": "redis", "PENSTOCK_STORE_REDIS_URL": server.url()}
    if name.startswith("mariadb"):
        return {"PENSTOCK_THROTTLE_STORE": "mariadb", "PENSTOCK_STORE_MARIADB_URL": server.url()}
    return {"PENSTOCK_THROTTLE_STORE": "postgres", "PENSTOCK_SLOTS_STORE": "embedded",
            "PENSTOCK_STORE_POSTGRES_URL": server.url()}


# A commit of the daemon's on PostgreSQL does not wait for the disk (synchronous_commit is off for usage). MariaDB knows that
# only for the whole server: `mariadb` waits for the disk, `mariadb-2` (innodb_flush_log_at_trx_commit = 2) does not.
SERVERS = {"redis": lambda: testserver.Redis({"appendonly": "no"}), "mariadb": testserver.MariaDb,
           "mariadb-2": lambda: testserver.MariaDb(fsync=False), "postgres": testserver.Postgres}


def checks(url, keys):
    return wrk(url, connections=64, seconds=SECONDS, script=HERE.parent / "throttle" / "check.lua",
               env={"KEYS": str(keys)})


def resp_checks(build, port, keys):
    out = subprocess.run([str(pathlib.Path(build) / "penstock"), "bench", "resp", "--resp", f"127.0.0.1:{port}",
                          "--connections", "64", "--threads", "2", "--duration", f"PT{SECONDS}S", "--keys", str(keys), "--json"],
                         capture_output=True, text=True, check=True, timeout=120).stdout
    figures = json.loads(out)
    latency = figures["latencyMicros"]
    return Figures(per_second=figures["perSecond"], p50_us=latency["p50"], p99_us=latency["p99"],
                   errors=sum(figures["errors"].values()) + figures["answers"] - figures["statuses"]["allowed"])


def one_check_script():
    """The daemon's script for one check of one bucket. redis-benchmark cannot send the bytes of its argument, so that
    stands in the script: a little less work than the daemon's calls have."""
    limit = [0, 10**12, 60 * 10**6, 1, 1000]
    packed = struct.pack("<" + "d" * 15, -1, 1000, 1, 1, 1, *limit, 1, 0, 1, 1, 1)
    literal = "".join(f"\\{byte:03d}" for byte in packed)
    return f'local ARGV = {{"{literal}"}}\n'.encode() + (ROOT / "src/store/limits/redis/lua/limits.lua").read_bytes()


def redis_benchmark(port, digest):
    out = subprocess.run(["redis-benchmark", "-p", str(port), "-c", "64", "-n", "100000", "-r", str(KEYS), "--csv",
                          "EVALSHA", digest, "1", "penstock:user:__rand_int__"],
                         capture_output=True, text=True, check=True, timeout=120).stdout
    fields = out.strip().splitlines()[-1].replace('"', "").split(",")
    return Figures(per_second=float(fields[-7]), p50_us=float(fields[-4]) * 1e3, p99_us=float(fields[-2]) * 1e3)


def load_script(server, text):
    return subprocess.run(["redis-cli", "-p", str(server.port), "-x", "script", "load"], input=text,
                          capture_output=True, check=True).stdout.decode().strip()


def check_request(key):
    body = b'{"key":"user:%08d"}' % key
    return (b"POST /api/v1/throttle/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
            + str(len(body)).encode() + b"\r\n\r\n" + body)


def latency(daemon, name, keys):
    """The daemon's own p99 of a decision in milliseconds; prints what the client saw, too."""
    requests = [check_request(key) for key in range(keys)]
    before = histogram(daemon.url)
    port = int(daemon.url.rsplit(":", 1)[1])
    # 617 has no common divisor with the number of keys: neighbours in time are not neighbours in the table.
    (p50, p99, p999), answered = open_loop.run(port, HALF_LOAD, 6, connections=64, answer=b"HTTP/1.1 200", tick_ms=1,
                                               command=lambda number: requests[number * 617 % keys])
    own = quantile(before, histogram(daemon.url), 0.99)
    print(f"{name}, {keys:,} keys: open loop at {HALF_LOAD:,}/s, {answered:,} answered: a decision took p99 {own:.2f} ms in "
          f"the daemon; the client saw p50 {p50 / 1e3:.2f}, p99 {p99 / 1e3:.2f}, p999 {p999 / 1e3:.2f} ms")
    return own


def histogram(url):
    """Upper bound -> decisions so far that took no longer."""
    text = urllib.request.urlopen(f"{url}/metrics", timeout=20).read().decode()
    return {float(bound): float(count)
            for bound, count in re.findall(r'^throttlex_latency_ms_bucket{le="([^"]+)"} (\S+)$', text, re.M)}


def quantile(before, after, share):
    """Of what came between two readings; within a bucket taken as evenly spread."""
    counts = {bound: after[bound] - before[bound] for bound in sorted(after)}
    wanted, low, below = share * max(counts.values()), 0.0, 0.0
    for bound, count in counts.items():
        if count >= wanted:
            return low + (bound - low) * (wanted - below) / max(count - below, 1)
        low, below = bound, count
    return float("inf")


def measure(build, name):
    server = SERVERS[name]()
    server.start()
    try:
        env = engine_env(name, server)
        if name != "redis":
            subprocess.run([str(pathlib.Path(build) / "penstock"), "migrate"], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, **env})
        with Penstock(build, "--resp", "127.0.0.1:0", env={**env, **PATIENT}) as daemon:
            add_policy(daemon.url)
            contenders = {name: lambda: checks(daemon.url, KEYS), f"{name}, one key": lambda: checks(daemon.url, 1)}
            if name == "redis":
                contenders["redis, Redis clients"] = lambda: resp_checks(build, daemon.resp_port, KEYS)
                digest = load_script(server, one_check_script())
                contenders["redis-benchmark, same script"] = lambda: redis_benchmark(server.port, digest)
            figures = interleave(contenders)
            if any(f.errors for f in figures.values()):
                sys.exit("bench: answers that were not 200")
            p99 = latency(daemon, name, KEYS)
            p99_one_key = latency(daemon, name, 1)
            batches, requests = (metric(daemon.url, f"penstock_engine_{what}_total") for what in ("batches", "requests"))
            print(f"{name}: {requests / batches:.1f} decisions in a batch on average; one batch is one round trip")
        if name == "redis":
            peer = figures["redis-benchmark, same script"].per_second
            print(f"over HTTP: {figures['redis'].per_second / peer:.2f} x redis-benchmark")
            print_ratio("engines.redis_vs_redis_benchmark", figures["redis, Redis clients"].per_second / peer, REDIS_GOAL)
        else:
            print_ratio(f"engines.{name}_rate_1000_keys", figures[name].per_second / RATE_GOAL, 1)
            print_ratio(f"engines.{name}_rate_one_key", figures[f"{name}, one key"].per_second / RATE_GOAL, 1)
            print_ratio(f"engines.{name}_added_p99_1000_keys", ADDED_P99_GOAL_MS / p99, 1)
            print_ratio(f"engines.{name}_added_p99_one_key", ADDED_P99_GOAL_MS / p99_one_key, 1)
    finally:
        server.close()


def metric(url, name):
    text = urllib.request.urlopen(f"{url}/metrics", timeout=20).read().decode()
    return float(re.search(rf"^{name} (\S+)$", text, re.M).group(1))


def main():
    build = sys.argv[1]
    with Penstock(build) as daemon:
        add_policy(daemon.url)
        latency(daemon, "embedded", KEYS)
    for name in sys.argv[2:] or SERVERS:
        print(f"-- {name}")
        measure(build, name)


if __name__ == "__main__":
    main()
