"""The api token tries to get payments and messages past the rules of their domains."""
import json

import pytest
from conftest import put_log_type, wait_until
from dispatch_nodes import PAYMENT_TYPE, downstream, instant, node, nodes, postgres, put_type

__all__ = ["downstream", "node", "nodes", "postgres"]  # fixtures

FORGED = {"itemId": "forged", "scheduledTime": "2020-01-01T00:00:00Z", "context": {"creditorIban": "XX00"}}
RULES = [{"name": "large", "when": {"currency": "EUR", "amountAbove": "1000"}, "then": "hold", "reason": "look at it"}]
ADMIN, API = "admin-token-of-this-test", "api-token-of-this-test"


def payment(name, amount="5000.00"):
    return {"paymentId": name, "amount": amount, "currency": "EUR", "debtorIban": "DE89370400440532013000",
            "creditorIban": "FR1420041010050500013M02606", "executionTime": instant()}


def hold(node, name):
    answer = node.request("PUT", "/admin/payments/rules", json.dumps(RULES), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    taken = node.post("/api/v1/payments", payment(name))
    assert (taken.status, taken.json()["status"]) == (202, "HELD"), taken.body


@pytest.mark.parametrize(("item_type", "route"), [("PAYMENT", "/api/v1/payments"), ("PAYMENT_NOTICE", "/api/v1/payments"),
                                                  ("SMS", "/api/send")])
def test_generic_routes_refuse_items_of_a_domain(node, item_type, route):
    items = f"/api/v1/dispatch/{item_type}"
    put_log_type(node, item_type)
    for path, body in [(items, FORGED), (f"{items}/batch", [FORGED])]:
        answer = node.post(path, body)
        assert answer.status == 403, answer.body
        assert route in answer.json()["message"]
    assert node.get(f"{items}/forged").status == 404
    assert sum(node.get(f"{items}/summary").json()["counts"].values()) == 0


def test_types_of_a_domain_are_refused_before_they_are_made(node):
    assert node.post("/api/v1/dispatch/PAYMENT", FORGED).status == 403
    assert node.post("/api/v1/dispatch/SMS", FORGED).status == 403


def test_a_held_payment_stays_held(node, downstream):
    put_type(node, downstream, path=PAYMENT_TYPE)
    hold(node, "held")
    assert node.post("/api/v1/dispatch/PAYMENT", {**FORGED, "itemId": "held"}).status == 403
    # A payment that no rule holds passes through the queue afterwards, so the forged one would have arrived before it.
    assert node.post("/api/v1/payments", payment("small", "1.00")).status == 202
    wait_until(lambda: node.get("/api/v1/dispatch/PAYMENT/summary").json()["counts"]["DISPATCHED"] == 1, 30)
    assert node.get("/api/v1/payments/held").json()["status"] == "HELD"
    assert {key for _, key in downstream.calls()} == {"PAYMENT:small"}


def test_payments_are_cancelled_and_redriven_by_their_own_routes(node, downstream):
    put_type(node, downstream, path=PAYMENT_TYPE, enabled=False)
    assert node.post("/api/v1/payments", payment("p", "1.00")).status == 202
    answer = node.request("DELETE", "/api/v1/dispatch/PAYMENT/p")
    assert answer.status == 403 and "/api/v1/payments/{paymentId}/cancel" in answer.json()["message"]
    answer = node.post("/api/v1/dispatch/PAYMENT/p/redrive", {})
    assert answer.status == 403 and "/api/v1/payments/{paymentId}/redrive" in answer.json()["message"]
    assert node.post("/api/v1/payments/p/redrive", {}).status == 409
    cancelled = node.post("/api/v1/payments/p/cancel", {})
    assert (cancelled.status, cancelled.json()["queue"]["status"]) == (200, "CANCELLED")
    assert node.post("/api/v1/payments/p/cancel", {}).status == 409
    assert node.post("/api/v1/payments/nobody/cancel", {}).status == 404
    hold(node, "held")
    assert node.post("/api/v1/payments/held/cancel", {}).status == 409


def test_the_api_token_cannot_release_or_report(start_daemon, tmp_path):
    files = {}
    for name, token in (("admin", ADMIN), ("api", API)):
        files[name] = tmp_path / name
        files[name].write_text(token)
        files[name].chmod(0o600)

    def by(token):
        return {"Authorization": f"Bearer {token}"}

    daemon = start_daemon("--admin-token-file", str(files["admin"]), "--api-token-file", str(files["api"]))
    rules = daemon.request("PUT", "/admin/payments/rules", json.dumps(RULES), {"Content-Type": "application/json", **by(ADMIN)})
    assert rules.status == 200, rules.body
    assert daemon.post("/api/v1/payments", payment("held"), by(API)).json()["status"] == "HELD"
    for action, body, scope in (("release", {}, "payments:release"), ("status", {"status": "FAILED"}, "payments:report")):
        refused = daemon.post(f"/api/v1/payments/held/{action}", body, by(API))
        assert refused.status == 403 and scope in refused.json()["message"], refused.body
        assert daemon.post(f"/api/v1/payments/held/{action}", body).status == 401
        assert daemon.post(f"/api/v1/payments/held/{action}", body, by("x" * 20)).status == 401
    assert daemon.get("/api/v1/payments/held", by(API)).json()["status"] == "HELD"
    assert daemon.post("/api/v1/payments/held/release", {}, by(ADMIN)).status == 200
    assert daemon.post("/api/v1/payments/held/status", {"status": "ACCEPTED"}, by(ADMIN)).status == 200
    history = daemon.get("/api/v1/payments/held", by(API)).json()["history"]
    assert [entry["detail"] for entry in history[1:]] == ["released by admin", "reported by admin"]


def test_an_api_token_alone_opens_no_release(start_daemon, tmp_path):
    (tmp_path / "api").write_text(API)
    (tmp_path / "api").chmod(0o600)
    daemon = start_daemon("--api-token-file", str(tmp_path / "api"))
    assert daemon.post("/api/v1/payments/p/release", {}, {"Authorization": f"Bearer {API}"}).status == 403
    assert daemon.post("/api/v1/payments/p/release", {}).status == 401


def test_two_items_never_share_an_idempotency_key(node):
    answer = node.request("PUT", "/admin/dispatch/types/A%3AB", json.dumps({"sink": {"type": "log"}}),
                          {"Content-Type": "application/json"})
    assert answer.status == 400 and answer.json()["field"] == "itemType", answer.body
    assert node.post("/api/v1/dispatch/A%3AB", FORGED).status == 400
