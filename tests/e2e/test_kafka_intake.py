"""Items from real Kafka topics: nothing lost or twice, poison to its own topic, offsets only behind what is durable."""
import itertools
import json
import subprocess

from conftest import wait_until
from dispatch_nodes import instant, postgres, postgres_nodes
from kafka_calls import KCAT_SECONDS, OUTAGE_SECONDS, check, consume, environment, headers_of, kafka, kcat, produce

__all__ = ["kafka", "postgres"]  # fixtures

TOPIC = "orders"
INTAKE = {"PENSTOCK_KAFKA_INTAKE_TOPICS": f"{TOPIC}=ORDER"}
ITEMS = "/api/v1/dispatch/ORDER"
PAYMENTS = "/api/v1/payments"


def counts(node):
    return node.get(f"{ITEMS}/summary").json()["counts"]


def item(node, item_id):
    return node.get(f"{ITEMS}/{item_id}").json()


def put_type(node, **more):
    # Nothing leaves: what counts here is what came in.
    body = {"enabled": False, "sink": {"type": "log"}, **more}
    answer = node.request("PUT", "/admin/dispatch/types/ORDER", json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body


def body(at=None, **more):
    return json.dumps({"scheduledTime": at or "2099-01-01T00:00:00Z", "context": {"amount": "1.00"}, **more})


def left_for_the_group(server):
    """What another member of the group would still get: messages behind the committed offsets."""
    got = subprocess.run(["kcat", "-b", server.bootstrap, "-q", "-G", "penstock", "-e", "-K", "|",
                          "-X", "auto.offset.reset=earliest", TOPIC], text=True, capture_output=True,
                         timeout=KCAT_SECONDS)
    return got.stdout.splitlines()


def wait_for_ready(node, total, seconds=OUTAGE_SECONDS):
    """That many items wait; while the store is away nobody can tell."""
    def there():
        answer = node.get(f"{ITEMS}/summary")
        return answer.status == 200 and answer.json()["counts"]["READY"] == total
    wait_until(there, seconds, f"{total} items")


def test_messages_become_items_and_poison_goes_aside(start_daemon, kafka, tmp_path):
    node = start_daemon(env=environment(kafka, **INTAKE), data_dir=tmp_path / "data")
    produce(kafka, TOPIC, ("by-key", body()), ("ignored", body(itemId="by-body")))
    wait_until(lambda: "no item type ORDER" in check(node, "intake.kafka")[1], OUTAGE_SECONDS)
    put_type(node)
    wait_for_ready(node, 2)
    assert item(node, "by-key")["scheduledTime"] == item(node, "by-body")["scheduledTime"]
    produce(kafka, TOPIC, ("by-key", body()), ("by-key", body("2098-01-01T00:00:00Z")), ("x", "no json"),
            ("", body()), ("y", body(slot={"config": "no-such"}, scheduledTime=None)), ("last", body()))
    wait_until(lambda: counts(node)["READY"] == 3, OUTAGE_SECONDS)
    wait_until(lambda: len(consume(kafka, TOPIC + ".dlq")) == 4, OUTAGE_SECONDS)
    letters = {letter["payload"]: headers_of(letter) for letter in consume(kafka, TOPIC + ".dlq")}
    assert "another body" in letters[body("2098-01-01T00:00:00Z")]["penstock-error"]
    assert "itemId" in letters[body()]["penstock-error"]
    assert "no-such" in letters[body(slot={"config": "no-such"}, scheduledTime=None)]["penstock-error"]
    poison = letters["no json"]
    assert poison["penstock-error"] and poison["penstock-topic"] == TOPIC
    [original] = kcat(kafka, "-C", "-q", "-t", TOPIC, "-p", poison["penstock-partition"],
                      "-o", poison["penstock-offset"], "-c", "1").splitlines()
    assert original == "no json"
    wait_until(lambda: check(node, "intake.kafka")[0] == "UP", OUTAGE_SECONDS)
    text = node.get("/metrics").body.decode()
    assert f'penstock_kafka_intake_messages_total{{topic="{TOPIC}",result="poison"}} 4' in text
    assert node.stop() == 0
    assert left_for_the_group(kafka) == []


def test_nothing_is_lost_or_twice_while_broker_store_and_node_come_and_go(request, kafka, postgres):
    nodes = postgres_nodes(request)
    node = nodes.start(**environment(kafka, **INTAKE))
    put_type(node)
    numbers = itertools.count()

    def more(count):
        ids = [f"p-{next(numbers)}" for _ in range(count)]
        produce(kafka, TOPIC, *[(i, body()) for i in ids])
        produce(kafka, TOPIC, *[(i, body()) for i in ids[::10]])  # some of them twice
        return len(ids)

    total = more(3_000)
    wait_until(lambda: counts(node)["READY"] > 0, OUTAGE_SECONDS)
    kafka.kill()
    wait_until(lambda: check(node, "intake.kafka")[0] == "DOWN", OUTAGE_SECONDS)
    kafka.start()
    wait_for_ready(node, total)

    postgres.stop()
    total += more(2_000)
    wait_until(lambda: "messages wait" in check(node, "intake.kafka")[1], OUTAGE_SECONDS)
    postgres.start()
    wait_for_ready(node, total)

    second = nodes.start(**environment(kafka, **INTAKE))  # a rebalance
    total += more(2_000)
    node.kill()  # another, once the group misses it
    total += more(2_000)
    wait_for_ready(second, total, 2 * OUTAGE_SECONDS)
    assert second.stop() == 0
    assert left_for_the_group(kafka) == []
    assert consume(kafka, TOPIC + ".dlq") == []


def test_from_topic_to_topic_on_time(start_daemon, kafka):
    node = start_daemon(env=environment(kafka, **INTAKE))
    put_type(node, enabled=True, jitterWindowMs=0, sink={"type": "kafka", "topic": "out"})
    produce(kafka, TOPIC, *[(f"p-{i}", body(instant(1))) for i in range(200)])
    wait_until(lambda: counts(node)["DISPATCHED"] == 200, OUTAGE_SECONDS)
    assert sorted(m["key"] for m in consume(kafka, "out")) == sorted(f"p-{i}" for i in range(200))
    assert node.get(f"{ITEMS}/p-0").json()["attempts"] == 1


def payment(name, **more):
    return {"paymentId": name, "amount": "12.50", "currency": "EUR", "debtorIban": "DE89370400440532013000",
            "creditorIban": "GB82WEST12345698765432", "executionTime": "2099-01-01T00:00:00Z", **more}


def test_a_topic_of_payments_is_checked_judged_and_kept(start_daemon, kafka, tmp_path):
    node = start_daemon(env=environment(kafka, PENSTOCK_KAFKA_INTAKE_TOPICS="payments=PAYMENT"), data_dir=tmp_path / "data")
    rules = [{"name": "no yen", "when": {"currency": "JPY"}, "then": "reject", "reason": "not our currency"}]
    assert node.request("PUT", "/admin/payments/rules", json.dumps(rules),
                        {"Content-Type": "application/json"}).status == 200
    assert node.post(PAYMENTS, payment("both")).status == 202
    bad, other = payment("bad", creditorIban="GB83WEST12345698765432"), payment("both", amount="99.00")
    messages = [payment("good"), payment("both"), bad, other, payment("yen", currency="JPY", amount="12"), payment("last")]
    produce(kafka, "payments", *[(each["paymentId"], json.dumps(each)) for each in messages])
    wait_until(lambda: node.get(f"{PAYMENTS}/last").status == 200, OUTAGE_SECONDS)
    wait_until(lambda: node.get(f"{PAYMENTS}/yen").status == 200, OUTAGE_SECONDS)
    wait_until(lambda: node.get(f"{PAYMENTS}/good").status == 200, OUTAGE_SECONDS)
    assert node.get(f"{PAYMENTS}/good").json()["queue"]["status"] == "READY"
    refused = node.get(f"{PAYMENTS}/yen").json()
    assert (refused["status"], refused["reason"]) == ("REJECTED", "not our currency")
    wait_until(lambda: len(consume(kafka, "payments.dlq")) == 2, OUTAGE_SECONDS)
    errors = {json.loads(each["payload"])["paymentId"]: headers_of(each)["penstock-error"]
              for each in consume(kafka, "payments.dlq")}
    assert "creditorIban" in errors["bad"] and "another body" in errors["both"]
    assert node.get(f"{PAYMENTS}/bad").status == 404
    assert node.get(f"{PAYMENTS}/both").json()["amount"] == "12.50"
    assert node.stop() == 0
