"""The promise of payments, kept through crashes: payments for one instant come in by several ways at
once, with duplicates between them and some that are wrong; daemons are killed all the while. Every valid one is
booked once, every other one is reported with its reason, and the bank refuses nothing for pace."""
import concurrent.futures
import json
import random
import subprocess
import time

import pytest
from conftest import any_moment, binary, clean_environment, wait_until
from demo_downstream import start_downstream
from dispatch_nodes import DATABASES, PAYMENT_ITEMS, counts, instant, postgres
from kafka_calls import consume, environment, headers_of, kafka, produce
from payment_files import write_csv
from payment_intake import FLAWS, RULES, RestIntake, all_payments, payments_for
from testserver import ports

__all__ = ["kafka", "postgres", "start_downstream"]  # fixtures

KILL_AFTER = 4  # seconds of the pace, by what is booked
TOPIC = "payments"


class Cluster:
    """Daemons on one store that come back on the port they had."""

    def __init__(self, start_daemon, env, folders, size):
        self._start, self._env, self._folders = start_daemon, env, folders
        self._reserved = [ports.reserve() for _ in range(size)]
        self.ports = [port.number for port in self._reserved]
        self.daemons = [self.start(i) for i in range(size)]
        self.kills = 0

    def start(self, i):
        return self._start("--http", f"127.0.0.1:{self.ports[i]}", env=self._env, data_dir=self._folders(i), goes_first=True)

    def kill_and_restart(self, i):
        self.daemons[i].kill()
        self.kills += 1
        self.daemons[i] = self.start(i)

    def close(self):
        for port in self._reserved:
            port.release()


@pytest.fixture
def embedded_cluster(start_daemon, tmp_path):
    cluster = Cluster(start_daemon, {}, lambda i: tmp_path / "data", 1)
    yield cluster
    cluster.close()


@pytest.fixture
def postgres_cluster(start_daemon, penstock, postgres, kafka, tmp_path):
    env = environment(kafka, PENSTOCK_KAFKA_INTAKE_TOPICS=f"{TOPIC}=PAYMENT",
                      PENSTOCK_STORE_POSTGRES_URL=postgres.create_database(f"payments_{next(DATABASES)}"))
    assert penstock("migrate", env=env).returncode == 0
    cluster = Cluster(start_daemon, env, lambda i: tmp_path / f"node{i}", 3)
    yield cluster
    cluster.close()


def put(daemon, path, value):
    answer = daemon.request("PUT", path, json.dumps(value), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body


def prove(cluster, start_downstream, tmp_path, good, per_second, kills_wanted, broker=None):
    chance = random.Random(7)
    book = tmp_path / "book.ndjson"
    bank = start_downstream("--max-tps", per_second, "--book", book, goes_first=True)
    first = cluster.daemons[0]
    put(first, "/admin/payments/rules", RULES)
    put(first, "/admin/dispatch/types/PAYMENT", {
        "maxPerSecond": per_second, "jitterWindowMs": 0, "batchSize": 1_000, "maxDispatchRetries": 20, "retryBackoffMs": 50,
        "retryBackoffMaxMs": 200, "sink": {"type": "http", "url": bank.url, "concurrency": 64}})
    # Rules are live on the node that took them; the others follow within a second.
    wait_until(lambda: all(d.get("/admin/payments/rules").json() == first.get("/admin/payments/rules").json()
                           and len(d.get("/admin/payments/rules").json()) == len(RULES) for d in cluster.daemons), 30)

    made = payments_for(instant(5), good, each_flaw=good // 1_000, refused=good // 500, held=good // 1_000)
    part = lambda begin, end: made[len(made) * begin // 10:len(made) * end // 10]
    # A fifth comes two ways.
    by_file, by_rest, by_kafka = (part(0, 4), part(3, 7), part(6, 10)) if broker else (part(0, 6), part(4, 10), [])
    began = time.monotonic()
    rejects = tmp_path / "rejects.ndjson"
    importer = subprocess.Popen(
        [binary(), "payments", "import", write_csv(tmp_path / "payments.csv", [p for p, _ in by_file]), "--url", first.url,
         "--rejects", rejects, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())
    rest = RestIntake(("127.0.0.1", cluster.ports[-1]), [p for p, _ in by_rest])
    rest.start()
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        if broker:
            produced = beside.submit(produce, broker, TOPIC, *[(p["paymentId"], json.dumps(p)) for p, _ in by_kafka])
        wait_until(lambda: rest.results, 60, "the first answers", every=0.001)
        cluster.kill_and_restart(0)  # while it takes payments in
    if broker:
        produced.result()
    out, err = importer.communicate(timeout=300)
    assert importer.returncode == 1, err
    summary = json.loads(out)
    rest.end(300)
    intake_seconds = time.monotonic() - began

    fates = {p["paymentId"]: fate for p, fate in made}
    to_book = {name for name, fate in fates.items() if fate == "book"}
    booked = lambda: bank.stats()["booked"]
    next_kill = booked() + KILL_AFTER * per_second
    while booked() < len(to_book):
        left = began + 400 - time.monotonic()
        wait_until(lambda: booked() >= min(next_kill, len(to_book)), left, bank.stats, every=0.1)
        if booked() < len(to_book):
            any_moment(chance, 0.5)  # not just behind what was counted
            cluster.kill_and_restart(chance.randrange(len(cluster.daemons)))
            next_kill = booked() + KILL_AFTER * per_second
    node = cluster.daemons[0]
    wait_until(lambda: counts(node, PAYMENT_ITEMS)["DISPATCHED"] == len(to_book), 120, "all hand-overs settled")
    took = time.monotonic() - began
    stats = bank.stats()
    twice = len(by_file) + len(by_rest) + len(by_kafka) - len(made)
    print(f"\n{len(made)} payments: {len(by_file)} by import, {len(by_rest)} by REST, {len(by_kafka)} by Kafka, "
          f"{twice} of them two "
          f"ways; import and REST took {intake_seconds:.1f} s ({summary['batchesRetried']} batches of the import "
          f"and {rest.again} by REST sent again)")
    print(f"import: {summary['accepted']} accepted, {summary['alreadyKnown']} already known, {summary['held']} held, "
          f"{summary['rejected']} rejected")
    print(f"{took:.0f} s, {cluster.kills} kills: {stats['booked']} booked, {stats['duplicates']} duplicates, "
          f"{stats['refused']} refused, busiest second {stats['busiestSecond']} of {per_second}")
    check_reports(fates, by_file, by_rest, rejects, summary, rest)
    if broker:
        check_dead_letters(broker, {p["paymentId"]: fate for p, fate in by_kafka if fate in FLAWS})
    assert cluster.kills >= kills_wanted
    assert stats["refused"] == 0, "nothing is refused for pace"

    # What a rule held is booked once somebody lets it go, and not before.
    held = {name for name, fate in fates.items() if fate == "hold"}
    assert all_payments(node, "HELD") == held
    for name in held:
        assert node.post(f"/api/v1/payments/{name}/release", {}).status == 200
    wait_until(lambda: bank.stats()["booked"] == len(to_book) + len(held), 60)
    wait_until(lambda: counts(node, PAYMENT_ITEMS)["DISPATCHED"] == len(to_book) + len(held), 60)
    end = bank.end()
    keys = [json.loads(line)["idempotencyKey"] for line in book.read_text().splitlines()]
    assert sorted(keys) == sorted(f"PAYMENT:{name}" for name in to_book | held), "every valid one, once, and no other"
    assert end["refused"] == 0 and end["failed"] == 0 and end["busiestSecond"] <= per_second
    # Repeats: only what was handed over and not settled when a daemon died.
    assert end["duplicates"] <= cluster.kills * per_second
    assert all_payments(node, "PROCESSING") == to_book | held
    assert all_payments(node, "REJECTED") == {name for name, fate in fates.items() if fate == "refuse"}


def check_reports(fates, by_file, by_rest, rejects, summary, rest):
    """Every payment that is not to be booked was reported, by the way it came, with its reason."""
    reported = {line["paymentId"]: line["reason"] for line in map(json.loads, rejects.read_text().splitlines())}
    assert set(reported) == {p["paymentId"] for p, fate in by_file if fate in FLAWS or fate == "refuse"}
    for name, reason in reported.items():
        fate = fates[name]
        words = "422 Unprocessable Content: account is blocked" if fate == "refuse" else f"400 Bad Request: {fate}"
        assert words in reason, reason
    assert summary["rejected"] == len(reported) and summary["failed"] == 0
    assert summary["accepted"] + summary["alreadyKnown"] + summary["held"] == len(by_file) - len(reported)
    assert set(rest.results) == {p["paymentId"] for p, _ in by_rest}
    for name, result in rest.results.items():
        fate = fates[name]
        if fate in FLAWS:
            assert result["status"] == 400 and result["field"] == fate, result
        elif fate == "refuse":
            assert result["status"] == 422 and result["message"] == "account is blocked", result
        else:
            assert result["status"] in (200, 202), result


def check_dead_letters(broker, flawed):
    """Each wrong payment that came by Kafka lies there, with the field that is at fault; after a kill perhaps twice."""
    def letters():
        return {json.loads(each["payload"])["paymentId"]: headers_of(each)["penstock-error"]
                for each in consume(broker, f"{TOPIC}.dlq")}
    wait_until(lambda: len(letters()) >= len(flawed), 60, "the dead letters")
    errors = letters()
    assert set(errors) == set(flawed)
    assert all(field in errors[name] for name, field in flawed.items())


def test_every_payment_is_booked_once_on_one_node(embedded_cluster, start_downstream, tmp_path):
    prove(embedded_cluster, start_downstream, tmp_path, good=12_000, per_second=1_000, kills_wanted=3)


def test_every_payment_is_booked_once_whatever_crashes(postgres_cluster, start_downstream, kafka, tmp_path):
    prove(postgres_cluster, start_downstream, tmp_path, good=100_000, per_second=1_500, kills_wanted=5, broker=kafka)
