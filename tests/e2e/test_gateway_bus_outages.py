"""The gateway with Kafka as its bus, when the broker fails under load: the counts of what was acknowledged, charged and
published."""
from conftest import wait_until
from dispatch_nodes import postgres
from gateway_load import judge, start_load
from gateway_nodes import OF_KAFKA, broker, nodes_on, redis
from kafka_calls import OUTAGE_SECONDS

__all__ = ["broker", "postgres", "redis"]  # fixtures


nodes = nodes_on(*OF_KAFKA)


def test_kafka_restarts_under_load(nodes, broker):
    limit = 100_000
    users = list(range(10))
    [node], load = start_load(nodes, users, limit)
    for kill in (False, True):
        load.wait_answers(200)
        broker.kill() if kill else broker.stop()
        load.wait_answers(503, what="a refusal")
        broker.start()
        wait_until(lambda: node.get("/health/ready").status == 200, OUTAGE_SECONDS, "the recovery")
        load.wait_answers(200, what="messages again")
    acknowledged = load.finish()
    judge(broker, node, nodes.topic, users, limit, acknowledged, "Kafka stopped, then killed")
