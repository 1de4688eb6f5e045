"""Redis answers redis-cli, alone and as a cluster, and keeps its data over restart and crash."""

import pytest
from testserver import Redis, RedisCluster

from .conftest import assert_gone, processes_in

SLOTTED_KEYS = ["a", "b", "c", "d", "e", "f", "g", "h"]  # lie on all three masters


def test_node_answers_set_and_get(redis_server):
    assert redis_server.cli("set", "key", "value") == "OK"
    assert redis_server.cli("get", "key") == "value"


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_node_keeps_data_on_the_same_port(redis_server, end):
    redis_server.cli("set", end, "kept")
    port, pid = redis_server.port, redis_server.pid
    getattr(redis_server, end)()
    assert processes_in(str(redis_server.dir)) == []
    redis_server.start()
    assert redis_server.port == port
    assert redis_server.pid != pid
    assert redis_server.cli("get", end) == "kept"


def test_node_close_leaves_no_process_and_no_folder():
    with Redis(settings={"maxmemory": "10mb"}) as node:
        folder = str(node.dir)
        assert node.cli("config", "get", "maxmemory").split() == ["maxmemory", "10485760"]
    assert_gone(folder)


def test_cluster_answers_set_and_get_on_all_masters(redis_cluster):
    for key in SLOTTED_KEYS:
        assert redis_cluster.cli("set", key, f"value of {key}") == "OK"
    for key in SLOTTED_KEYS:
        assert redis_cluster.cli("get", key) == f"value of {key}"
    sizes = [int(node.cli("dbsize")) for node in redis_cluster.nodes]
    assert len(sizes) == 3 and all(size > 0 for size in sizes)


def test_cluster_keeps_data_over_restart(redis_cluster):
    redis_cluster.cli("set", "kept", "yes")
    redis_cluster.restart(immediate=True)
    assert redis_cluster.cli("get", "kept") == "yes"


def test_cluster_recovers_from_a_killed_node(redis_cluster):
    redis_cluster.nodes[1].kill()
    assert not redis_cluster.running()
    redis_cluster.start()
    for key in SLOTTED_KEYS:
        assert redis_cluster.cli("set", key, "again") == "OK"


def test_cluster_with_replicas_close_leaves_nothing():
    with RedisCluster(replicas=1) as cluster:
        folder = str(cluster.dir)
        roles = [node.cli("role").split()[0] for node in cluster.nodes]
        assert sorted(roles) == ["master"] * 3 + ["slave"] * 3
        assert len(processes_in(folder)) >= 6
    assert_gone(folder)
