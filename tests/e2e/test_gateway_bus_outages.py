"""The gateway with Kafka as its bus, when the broker fails under load: the counts of what was acknowledged, charged and
published."""
import pytest
from conftest import wait_until
from dispatch_nodes import postgres
from gateway_load import Load, judge
from gateway_nodes import OF_KAFKA, broker, gateway_nodes, put_config, redis
from kafka_calls import OUTAGE_SECONDS

__all__ = ["broker", "postgres", "redis"]  # fixtures


@pytest.fixture(params=OF_KAFKA)
def nodes(request):
    return gateway_nodes(request, request.param)


def test_kafka_restarts_under_load(nodes, broker):
    limit = 100_000
    users = list(range(10))
    node = nodes.start()
    for user in users:
        put_config(node, user=user, limit=limit, window=600)
    load = Load(lambda _: node, users)
    for kill in (False, True):
        load.wait_answers(200)
        broker.kill() if kill else broker.stop()
        load.wait_answers(503, what="a refusal")
        broker.start()
        wait_until(lambda: node.get("/health/ready").status == 200, OUTAGE_SECONDS, "the recovery")
        load.wait_answers(200, what="messages again")
    acknowledged = load.finish()
    judge(broker, node, nodes.topic, users, limit, acknowledged, "Kafka stopped, then killed")
