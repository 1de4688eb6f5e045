"""Payments taken in a second by one daemon on PostgreSQL (fsync on, the default of four connections), in rounds:

- bare: bench_payments, prepared multi-row INSERTs of the very rows that the daemon writes (payment, dispatch_item,
  dispatch_queue, dispatch_change: same tables, same indexes, same order), over four connections; a transaction for each
  1,000 payments, as the calls are, and for each 4,000, as the daemon writes calls that came meanwhile together. The
  faster of the two is the limit.
- REST: POST /api/v1/payments/batch with 1,000 payments of NDJSON a call, by four clients that each wait for their answer.
- Kafka: the same payments from a topic with four partitions that is full before the daemon joins; counted from its
  first batch to its last.

Each has a database of its own on one server; the payments of a round are the same for all three. All share the machine.

Usage: payments_bench.py BUILD_DIR [PAYMENTS]
"""
import http.client
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "http"), str(ROOT / "tools")]

import testserver  # noqa: E402
from harness import Penstock, print_ratio  # noqa: E402

PAYMENTS = 100_000
ROUNDS = 4
NAMES = ("bare1000", "bare4000", "rest", "kafka")
BATCH = 1_000
CONNECTIONS = 4
CLIENTS = 4
DRAIN_SECONDS = 300


def payment(number):
    """Ids land all over the index, as those of real clients do."""
    return {"paymentId": f"pay-{random.Random(number).getrandbits(64):016x}", "amount": "125.50", "currency": "EUR",
            "debtorIban": "DE89370400440532013000", "creditorIban": "GB82WEST12345698765432",
            "executionTime": "2035-01-01T16:00:00Z", "reference": f"invoice {number}", "metadata": {"branch": 12}}


def daemon(build, url, **more):
    return Penstock(build, "--log-level", "warn", env={"PENSTOCK_STORE_POSTGRES_URL": url,
                                                       "PENSTOCK_STORE_POSTGRES_CONNECTIONS": str(CONNECTIONS), **more})


def scheduled(url):
    with urllib.request.urlopen(url + "/metrics", timeout=10) as answer:
        found = re.search(r'^payments_total\{outcome="scheduled"\} (\d+)', answer.read().decode(), re.M)
    return int(found.group(1)) if found else 0


def batch_size(url):
    """Payments in one transaction of the daemon, on average."""
    with urllib.request.urlopen(url + "/metrics", timeout=10) as answer:
        found = dict(re.findall(r"^penstock_payments_batch_size_(sum|count) (\S+)", answer.read().decode(), re.M))
    return float(found["sum"]) / float(found["count"])


def by_bare_insert(build, url, lines, folder, size):
    file = folder / "payments.ndjson"
    file.write_text("\n".join(lines) + "\n")
    out = subprocess.run([f"{build}/bench_payments", str(HERE / "sql"), url, str(file), str(CONNECTIONS), str(size)],
                         stdout=subprocess.PIPE, text=True, check=True, timeout=DRAIN_SECONDS)
    return float(out.stdout)


def by_rest(build, url, lines):
    bodies = ["\n".join(lines[start:start + BATCH]).encode() for start in range(0, len(lines), BATCH)]
    bodies.reverse()
    problems = []

    def client(host, port):
        connection = http.client.HTTPConnection(host, port, timeout=60)
        while bodies and not problems:
            try:
                body = bodies.pop()
            except IndexError:
                break
            connection.request("POST", "/api/v1/payments/batch", body, {"Content-Type": "application/x-ndjson"})
            answer = connection.getresponse().read()
            if answer.count(b'"state":"SCHEDULED"') != body.count(b"\n") + 1:
                problems.append(answer[:300])

    with daemon(build, url) as node:
        host, port = node.url.removeprefix("http://").split(":")
        clients = [threading.Thread(target=client, args=(host, int(port))) for _ in range(CLIENTS)]
        began = time.monotonic()
        for each in clients:
            each.start()
        for each in clients:
            each.join()
        seconds = time.monotonic() - began
        if problems or scheduled(node.url) != len(lines):
            raise RuntimeError(f"not all were taken: {scheduled(node.url)}, {problems[:1]}")
        print(f"  REST: {batch_size(node.url):.0f} payments in a transaction")
    return len(lines) / seconds


def by_kafka(build, url, lines, kafka, topic):
    subprocess.run(["kcat", "-b", kafka.bootstrap, "-P", "-t", topic, "-X", "enable.idempotence=true",
                    "-X", "partitioner=random", "-X", "sticky.partitioning.linger.ms=0"],
                   input="\n".join(lines) + "\n", text=True, check=True, timeout=120, capture_output=True)
    env = {"PENSTOCK_KAFKA_BROKERS": kafka.bootstrap, "PENSTOCK_KAFKA_INTAKE_TOPICS": f"{topic}=PAYMENT",
           "PENSTOCK_KAFKA_INTAKE_GROUP": topic}
    with daemon(build, url, **env) as node:
        deadline = time.monotonic() + DRAIN_SECONDS
        first = 0
        while first == 0:
            first = scheduled(node.url)
            began = time.monotonic()
            time.sleep(0.005)
        taken = first
        while taken < len(lines):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{taken} of {len(lines)} were taken")
            time.sleep(0.02)
            taken = scheduled(node.url)
        seconds = time.monotonic() - began
        print(f"  Kafka: {batch_size(node.url):.0f} payments in a transaction")
    return (len(lines) - first) / seconds


def main():
    build, payments = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else PAYMENTS
    rounds = []
    with testserver.Postgres() as postgres, testserver.Kafka() as kafka, tempfile.TemporaryDirectory() as folder:
        urls = {}
        for name in NAMES:
            postgres.query(f"CREATE DATABASE {name}")
            urls[name] = postgres.url(name)
            subprocess.run([f"{build}/penstock", "migrate"], env={"PENSTOCK_STORE_POSTGRES_URL": urls[name]}, check=True,
                           capture_output=True)
        for number in range(ROUNDS + 1):
            count = payments if number else payments // 10  # the first warms caches and plans
            lines = [json.dumps(payment(number * payments + i), separators=(",", ":")) for i in range(count)]
            contenders = {
                "bare1000": lambda: by_bare_insert(build, urls["bare1000"], lines, pathlib.Path(folder), 1_000),
                "bare4000": lambda: by_bare_insert(build, urls["bare4000"], lines, pathlib.Path(folder), 4_000),
                "rest": lambda: by_rest(build, urls["rest"], lines),
                "kafka": lambda: by_kafka(build, urls["kafka"], lines, kafka, f"payments-{number}")}
            names = list(contenders)
            rates = {name: contenders[name]() for name in names[number % 4:] + names[:number % 4]}
            if number == 0:
                continue
            rounds.append(rates)
            print(f"round {number}: " + ", ".join(f"{name} {rates[name]:.0f}/s" for name in names), flush=True)
    for name in NAMES:
        print(f"{name}: median {statistics.median(each[name] for each in rounds):.0f} payments/s")
    limits = [max(each["bare1000"], each["bare4000"]) for each in rounds]
    print_ratio("payments.rest_vs_bare_insert",
                statistics.median(each["rest"] / limit for each, limit in zip(rounds, limits, strict=True)), 0.4)
    print_ratio("payments.kafka_vs_rest", statistics.median(each["kafka"] / each["rest"] for each in rounds), 1.0)


if __name__ == "__main__":
    main()
