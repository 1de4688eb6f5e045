"""Payments by the real daemon, on the embedded store and on a real PostgreSQL: the REST contract, the rules, and what
becomes of payments at a real HTTP downstream."""
import json

from conftest import wait_until
from dispatch_nodes import PAYMENT_TYPE, downstream, instant, node, nodes, postgres, put_type, shared_nodes

__all__ = ["downstream", "node", "nodes", "postgres", "shared_nodes"]  # fixtures
PAYMENTS = "/api/v1/payments"
RULES = "/admin/payments/rules"
GERMAN, BRITISH, FRENCH = "DE89370400440532013000", "GB82WEST12345698765432", "FR1420041010050500013M02606"
JSON = {"Content-Type": "application/json"}


def payment(name, amount="125.50", at="2200-01-01T00:00:00Z", **more):
    return {"paymentId": name, "amount": amount, "currency": "EUR", "debtorIban": GERMAN, "creditorIban": BRITISH,
            "executionTime": at, **more}


def put_rules(node, *rules):
    answer = node.request("PUT", RULES, json.dumps(rules), JSON)
    assert answer.status == 200, answer.body
    return answer.json()


def shown(node, name):
    answer = node.get(f"{PAYMENTS}/{name}")
    assert answer.status == 200, answer.body
    return answer.json()


def wait_for_status(node, name, status):
    wait_until(lambda: shown(node, name)["status"] == status, seconds=60, what=f"{name} {status}")
    return shown(node, name)


def steps(view):
    return [(note["from"], note["to"]) for note in view["history"]]


LIMIT = {"name": "limit", "when": {"currency": "EUR", "amountAbove": "1000"}, "then": "reject", "reason": "over the limit"}
FRANCE = {"name": "france", "when": {"country": "FR"}, "then": "hold", "reason": "a second pair of eyes"}


def test_a_payment_is_taken_once_and_survives_a_crash(nodes):
    node = nodes.start()
    first = node.post(PAYMENTS, payment("p-1", reference="inv 7", metadata={"k": [1]}))
    assert first.status == 202
    assert first.json() == {"paymentId": "p-1", "status": "SCHEDULED", "scheduledTime": "2200-01-01T00:00:00.000Z"}
    node.kill()
    node = nodes.start()
    again = node.post(PAYMENTS, payment("p-1", amount="125.5", reference="inv 7", metadata={"k": [1.0]}))
    assert again.status == 200 and again.json()["status"] == "SCHEDULED"
    assert node.post(PAYMENTS, payment("p-1")).status == 409
    view = shown(node, "p-1")
    assert view["amount"] == "125.50" and view["reference"] == "inv 7" and view["metadata"] == {"k": [1]}
    assert view["queue"]["status"] == "READY" and view["queue"]["scheduledTime"] == view["scheduledTime"]
    assert steps(view) == [(None, "SCHEDULED")]
    assert node.get("/api/v1/dispatch/PAYMENT/p-1").json()["status"] == "READY"
    bad = node.post(PAYMENTS, payment("p-2", amount="1.234"))
    assert bad.status == 400 and bad.json()["field"] == "amount"
    assert node.get(f"{PAYMENTS}/p-2").status == 404
    assert node.post(PAYMENTS, payment("batch")).status == 400


def test_rules_reach_every_node_within_a_second(shared_nodes):
    first, second = shared_nodes.start(), shared_nodes.start()
    assert put_rules(first, LIMIT, FRANCE) == [LIMIT, FRANCE]
    # A second is promised; a loaded machine gets more before it counts as never.
    wait_until(lambda: second.get(RULES).json() == [LIMIT, FRANCE], seconds=20, what="the rules on the other node")
    refused = second.post(PAYMENTS, payment("r", amount="1000.01"))
    assert refused.status == 422
    assert refused.json()["payment"] == {"paymentId": "r", "status": "REJECTED", "reason": "over the limit"}
    assert first.post(PAYMENTS, payment("r", amount="1000.01")).status == 422
    assert shown(first, "r")["status"] == "REJECTED"


def test_what_is_held_is_released(node):
    put_rules(node, LIMIT, FRANCE)
    held = node.post(PAYMENTS, payment("h", creditorIban=FRENCH))
    assert held.status == 202 and held.json()["status"] == "HELD"
    assert shown(node, "h")["queue"] is None
    assert [each["paymentId"] for each in node.get(f"{PAYMENTS}?status=HELD").json()] == ["h"]
    released = node.post(f"{PAYMENTS}/h/release")
    assert released.status == 200 and released.json()["status"] == "SCHEDULED"
    assert released.json()["queue"]["status"] == "READY"
    assert steps(released.json()) == [(None, "HELD"), ("HELD", "SCHEDULED")]
    assert node.post(f"{PAYMENTS}/h/release").status == 409
    assert node.get(f"{PAYMENTS}?status=HELD").json() == []


def test_executors_report_along_the_arrows(node):
    node.post(PAYMENTS, payment("p"))
    report = lambda status: node.post(f"{PAYMENTS}/p/status", {"status": status})
    assert report("PROCESSING").status == 409
    assert report("ACCEPTED").json()["status"] == "ACCEPTED"
    assert report("ACCEPTED").status == 200
    assert report("PROCESSING").status == 200
    assert report("ACCEPTED").status == 409 and report("FAILED").status == 409 and report("WHAT").status == 400
    assert steps(shown(node, "p")) == [(None, "SCHEDULED"), ("SCHEDULED", "ACCEPTED"), ("ACCEPTED", "PROCESSING")]
    assert node.post(f"{PAYMENTS}/nobody/status", {"status": "ACCEPTED"}).status == 404


def test_batches_in_three_forms(node):
    put_rules(node, LIMIT)
    body = [payment("a"), payment("b", amount="x"), payment("c", amount="2000"), payment("a")]
    results = node.post(f"{PAYMENTS}/batch", body).json()["results"]
    assert [each["status"] for each in results] == [202, 400, 422, 200]
    assert results[2]["payment"]["status"] == "REJECTED" and results[1]["field"] == "amount"
    lines = "\n".join(json.dumps(each) for each in body)
    answer = node.request("POST", f"{PAYMENTS}/batch", lines, {"Content-Type": "application/x-ndjson"})
    assert [each["status"] for each in answer.json()["results"]] == [200, 400, 422, 200]
    rows = "".join(f"{name},125.50,EUR,{GERMAN},{BRITISH},2200-01-01T00:00:00Z\n" for name in ("a", "d"))
    answer = node.request("POST", f"{PAYMENTS}/batch",
                          "paymentId,amount,currency,debtorIban,creditorIban,executionTime\n" + rows,
                          {"Content-Type": "text/csv"})
    assert [each["status"] for each in answer.json()["results"]] == [200, 202]


def test_nothing_is_handed_over_before_somebody_says_where_to(node, downstream):
    assert node.get(PAYMENT_TYPE).status == 404
    answer = node.post(PAYMENTS, payment("p", at=instant(-60)))
    assert answer.status == 202 and answer.json()["scheduledTime"] > instant(-30)  # past times run now
    wait_until(lambda: node.get(PAYMENT_TYPE).status == 200, seconds=20, what="the type")
    assert node.get(PAYMENT_TYPE).json()["enabled"] is False
    assert shown(node, "p")["queue"]["status"] == "READY"
    put_type(node, downstream, path=PAYMENT_TYPE)
    view = wait_for_status(node, "p", "PROCESSING")
    assert steps(view) == [(None, "SCHEDULED"), ("SCHEDULED", "ACCEPTED"), ("ACCEPTED", "PROCESSING")]
    wait_until(lambda: shown(node, "p")["queue"]["status"] == "DISPATCHED", seconds=60, what="the item settled")
    got = downstream.kept()[0]
    assert got["headers"]["idempotency-key"] == "PAYMENT:p"
    context = json.loads(got["body"])["context"]
    assert context["amountMinor"] == 12550 and context["debtorCountry"] == "DE" and context["paymentId"] == "p"


def test_a_dead_item_fails_the_payment_until_it_is_redriven(node, downstream):
    put_type(node, downstream, path=PAYMENT_TYPE)
    downstream.rules(status=400)
    node.post(PAYMENTS, payment("p", at=instant()))
    view = wait_for_status(node, "p", "FAILED")
    assert view["queue"]["status"] == "DEAD" and "400" in view["queue"]["lastError"]
    assert steps(view) == [(None, "SCHEDULED"), ("SCHEDULED", "FAILED")]
    assert node.get(f"{PAYMENTS}?status=FAILED").json()[0]["paymentId"] == "p"
    downstream.rules(status=200)
    assert node.post("/api/v1/payments/p/redrive").status == 200
    view = wait_for_status(node, "p", "PROCESSING")
    assert steps(view)[1:3] == [("SCHEDULED", "FAILED"), ("FAILED", "SCHEDULED")]


def test_an_accepted_payment_is_told_to_whoever_wants_to_know(node, downstream):
    put_type(node, downstream, path=PAYMENT_TYPE)
    sink = {"type": "http", "url": downstream.url.replace("/work", "/notice")}
    answer = node.request("PUT", "/admin/dispatch/types/PAYMENT_NOTICE", json.dumps({"jitterWindowMs": 0, "sink": sink}),
                          JSON)
    assert answer.status == 200
    node.post(PAYMENTS, payment("p", at=instant()))
    wait_for_status(node, "p", "PROCESSING")
    wait_until(lambda: any(each["path"] == "/notice" for each in downstream.kept()), seconds=60, what="the notice")
    notice = next(each for each in downstream.kept() if each["path"] == "/notice")
    context = json.loads(notice["body"])["context"]
    assert context["status"] == "ACCEPTED" and context["payment"]["paymentId"] == "p"
