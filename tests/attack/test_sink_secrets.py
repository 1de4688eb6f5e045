"""Whoever may change where a sink points must not get what was meant for another place."""
import json

from dispatch_nodes import ITEMS, TYPE, downstream, instant, node, nodes, patch_type, postgres, put_type, wait_for_counts

__all__ = ["downstream", "node", "nodes", "postgres"]  # fixtures

SECRET = "whsec_c2VjcmV0LW9mLXRoZS1wcm92aWRlcg=="


def secrets_of(node):
    return node.get(TYPE).json()["sink"]["secrets"]


def test_secrets_do_not_follow_a_sink_to_another_place(node, downstream):
    put_type(node, None, sink={"url": "http://127.0.0.1:1/bank", "secrets": [SECRET]})
    assert secrets_of(node) == 1
    patch_type(node, sink={"timeoutMs": 2_000})
    assert secrets_of(node) == 1, "the place is the same"
    patch_type(node, sink={"url": downstream.url})
    assert secrets_of(node) == 0
    answer = node.post(ITEMS, {"itemId": "i", "scheduledTime": instant(), "context": {}})
    assert answer.status == 202, answer.body
    wait_for_counts(node, DISPATCHED=1)
    kept = downstream.kept()
    assert kept and "webhook-signature" not in json.dumps(kept).lower()
    patch_type(node, sink={"url": "http://127.0.0.1:1/other", "secrets": [SECRET]})
    assert secrets_of(node) == 1, "they were sent again"
    patch_type(node, sink={"url": downstream.url, "secrets": None})
    assert secrets_of(node) == 0, "null brings none"
