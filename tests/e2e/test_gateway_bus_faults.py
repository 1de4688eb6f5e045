"""The gateway with Kafka as its bus, when the daemon or the store fails under load: the counts of what was acknowledged,
charged and published. After a crash the group of senders waits ten seconds for the one that died. Outages of the broker are in
test_gateway_bus_outages.py, so that both can wait at the same time."""
import collections
import concurrent.futures
import http.client
import os
import random
import signal

from conftest import any_moment, wait_until
from dispatch_nodes import postgres
from gateway_load import judge, start_load
from gateway_nodes import OF_KAFKA, POSTGRES_DOWN, broker, count, nodes_on, on, put_config, records, redis, send
from kafka_calls import OUTAGE_SECONDS

__all__ = ["broker", "postgres", "redis"]  # fixtures


nodes = nodes_on(*OF_KAFKA)


def test_kill_9_between_charge_and_publish(nodes, broker):
    rounds, limit = 8, 60  # used up on the way: what is above it must not come through
    users = list(range(20))
    chance = random.Random(20261116)
    current, load = start_load(nodes, users, limit)
    for _ in range(rounds):
        load.wait_answers(what="an answer of this life")
        any_moment(chance, 0.15)
        current[0].kill()
        current[0] = nodes.start()
    acknowledged = load.finish()
    judge(broker, current[0], nodes.topic, users, limit, acknowledged, f"{rounds} times kill -9")


@on(*[each for each in OF_KAFKA if "postgres" in each])
def test_postgres_restarts_under_load(nodes, broker, postgres):
    limit = 100_000
    users = list(range(10))
    [node], load = start_load(nodes, users, limit)
    load.wait_answers(200)
    postgres.stop()
    try:
        load.wait_answers(503, what="a refusal")  # of a key at once, of a charge by Redis when its term is over

        def refused():
            answer = send(node, user=0)
            assert answer.status == 200 or answer.json()["message"] == POSTGRES_DOWN, answer.body
            return answer.status == 503
        wait_until(refused, OUTAGE_SECONDS, "a refusal of a charge")
        assert refused(), "it lasts as long as PostgreSQL is away"
    finally:
        postgres.start()
    load.wait_answers(200, what="messages again")
    acknowledged = load.finish()
    judge(broker, node, nodes.topic, users, limit, acknowledged, "PostgreSQL restarted")


def test_a_key_that_a_crash_left_is_taken_again(nodes, broker):
    """The broker stands still, and the daemon dies with the key claimed; the repeat goes on with the first's id and charge."""
    node = nodes.start()
    put_config(node, limit=5)
    assert send(node).status == 200
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pending = pool.submit(crashing_send, node)
            wait_until(lambda: count(node) == 2, OUTAGE_SECONDS, "the charge")
            second = send(node, message="Precious", idempotencyKey="k")
            assert second.status == 409 and "still under way" in second.json()["detail"], second.body
            node.kill()
            assert pending.result(60) is None
    finally:
        os.kill(broker.pid, signal.SIGCONT)
    node = nodes.start()
    assert count(node) == 2, "the crash left the charge"

    def again():
        answer = send(node, message="Precious", idempotencyKey="k")
        if answer.status == 409:
            assert "still under way" in answer.json()["detail"]
        return answer.status == 200

    wait_until(again, OUTAGE_SECONDS, "the claim to be left")
    assert count(node) == 2, "not charged twice"
    values = collections.Counter(value for _, value in records(broker, nodes.topic).values())
    assert values["101: Precious"] == 1


def crashing_send(node):
    try:
        return send(node, message="Precious", idempotencyKey="k").status
    except (OSError, http.client.HTTPException):
        return None
