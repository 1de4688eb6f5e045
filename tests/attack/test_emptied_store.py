"""Redis forgets everything: the policies stay in force, and come back into it, and people hear of it."""
import sys

import pytest
from conftest import ROOT, wait_until
from throttle_calls import FIXED, add_policy, check, policy_path

sys.path.insert(0, str(ROOT / "tools"))
import testserver

PATIENT = {"PENSTOCK_THROTTLE_DEADLINE": "PT2S"}  # a busy machine may take its time
KEY = "user:*"
LOST = "penstock_throttle_policies_restored_total"


@pytest.fixture(scope="module")
def server():
    try:
        made = testserver.Redis()
        made.start()
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))
    yield made
    made.close()


@pytest.fixture
def redis(server):
    server.cli("FLUSHALL")
    return server


@pytest.fixture
def start_node(redis, start_daemon, tmp_path):
    count = 0

    def start(data=None):
        nonlocal count
        count += 1
        return start_daemon(data_dir=tmp_path / (data or f"node{count}"),
                            env={"PENSTOCK_THROTTLE_STORE": "redis", "PENSTOCK_STORE_REDIS_URL": redis.url(), **PATIENT})

    return start


def limit_of(node, key="user:1"):
    return check(node, key, 0).json()["limit"]


def health(node):
    return node.get("/health/ready").json()["status"]


def in_store(redis):
    """How many policies are in force in Redis itself."""
    return int(redis.cli("ZCARD", "{penstock:policy}:names"))


def test_an_emptied_redis_opens_no_gate(start_node, redis):
    node = start_node()
    add_policy(node, KEY, capacity=3, **FIXED)
    assert [check(node, "user:1").status for _ in range(4)] == [200, 200, 200, 429]
    assert health(node) == "UP"
    redis.cli("FLUSHALL")

    def restored():
        answer = check(node, "user:1", 0).json()
        assert (answer["limit"], answer["policy"]) == (3, KEY), "the default must never decide"
        return node.metric(LOST) == 1

    wait_until(restored, 10, "what was lost to be written back")
    assert in_store(redis) == 1
    ready = node.get("/health/ready")
    assert ready.status == 200 and ready.json()["status"] == "DEGRADED"
    said = {part["name"]: part for part in ready.json()["checks"]}["throttle.policies"]
    assert said["status"] == "DEGRADED" and "written back" in said["message"]
    assert "throttle.store_emptied" in node.log()
    assert limit_of(start_node()) == 3, "a node that never knew it finds it"


def test_a_redis_that_is_emptied_again_and_again_opens_no_gate(start_node, redis):
    nodes = [start_node(), start_node()]
    add_policy(nodes[0], KEY, capacity=3, **FIXED)
    wait_until(lambda: limit_of(nodes[1]) == 3, 10, "the other node to hear of it")
    for _ in range(10):
        redis.cli("FLUSHALL")
        for node in nodes:
            assert limit_of(node) == 3
            assert [policy["policyKey"] for policy in node.get("/admin/policies").json()] == [KEY]
    assert in_store(redis) == 1 and sum(node.metric(LOST) for node in nodes) >= 10


def test_policies_stay_in_force_while_redis_takes_no_writes(start_node, redis):
    node = start_node()
    add_policy(node, KEY, capacity=3, onStoreFailure="local", **FIXED)
    redis.cli("CONFIG", "SET", "maxmemory", "1")
    try:
        redis.cli("FLUSHALL")
        wait_until(lambda: node.metric("penstock_throttle_policies_missing") == 1, 10, "the loss to be noticed")
        assert health(node) == "DEGRADED" and node.metric(LOST) == 0
        assert check(node, "user:1", 0).json()["limit"] == 3
        assert node.get("/admin/policies").status == 503, "rather than a list of what is left"
    finally:
        redis.cli("CONFIG", "SET", "maxmemory", "0")
    wait_until(lambda: node.metric("penstock_throttle_policies_missing") == 0, 10, "what was lost to be written back")
    assert in_store(redis) == 1 and "throttle.policies_restored" in node.log()


def test_a_change_on_an_emptied_redis_goes_on_from_what_was_known(start_node, redis):
    node = start_node()
    first = add_policy(node, KEY, capacity=3, **FIXED)
    redis.cli("FLUSHALL")
    again = node.post("/admin/policies", {"key": KEY, "capacity": 9, "refillRate": 1})
    assert again.status == 409, "it is there, whatever Redis forgot"
    redis.cli("FLUSHALL")
    second = add_policy(node, "other", capacity=5, **FIXED)
    assert second["id"] > first["id"]
    redis.cli("FLUSHALL")
    assert [policy["policyKey"] for policy in node.get("/admin/policies").json()] == ["other", KEY]
    redis.cli("FLUSHALL")
    assert node.request("DELETE", policy_path(KEY)).status in (200, 204)
    redis.cli("FLUSHALL")
    assert node.get(policy_path(KEY)).status == 404, "what was deleted stays deleted"
    assert limit_of(node) == 100
