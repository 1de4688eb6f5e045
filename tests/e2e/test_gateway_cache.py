"""The gateway on PostgreSQL, Redis and Kafka, by real daemons and real servers: the hot path, and what becomes of limits, configs
and messages when Redis fails, hangs, comes back with old data or with none, alone and under load."""
import collections
import concurrent.futures
import contextlib
import os
import random
import signal
import time

import pytest
from conftest import any_moment, wait_until
from dispatch_nodes import postgres
from gateway_load import judge, start_load
from gateway_nodes import (
    CACHED,
    LIMITED,
    PastCache,
    broker,
    cached,
    cached_seconds,
    config,
    count,
    expect_cached,
    logged,
    nodes_on,
    put_config,
    records,
    redis,
    rest_of_window,
    send,
    send_all,
    wait_for_cache,
)
from kafka_calls import OUTAGE_SECONDS

__all__ = ["broker", "postgres", "redis"]  # fixtures

# The limit of the issue that this was built for is a second; a machine with other work on it gets slack.
SWITCH_SECONDS = 5


nodes = nodes_on(CACHED)


def use_up(node, user=101, limit=1_000):
    """Sends until the limit answers; how many were taken."""
    for sent in range(limit + 1):
        answer = send(node, user=user)
        if answer.status == 429:
            return sent
        assert answer.status == 200, answer.body
    raise AssertionError("there was no limit")


def said(node):
    """How often the daemon said that the cache was gone, and that it was back."""
    return len(logged(node, "gateway.cache_away")), len(logged(node, "gateway.cache_back"))


@contextlib.contextmanager
def outage(nodes, how):
    """Redis is away within the block. `killed` brings back all that was on its disk, `emptied` nothing; `stopped` only stood
    still, and has entries and scripts as they were."""
    server = nodes.redis
    if how == "stopped":
        os.kill(server.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(server.pid, signal.SIGCONT)
        return
    server.kill()
    yield
    if how == "emptied":
        for file in (server.dir / "appendonlydir").iterdir():
            file.unlink()
    server.start()


OUTAGES = pytest.mark.parametrize("how", ["killed", "emptied", "stopped"])


def test_hot_path(nodes):
    node = nodes.start()
    for last_try in (False, False, False, True):
        try:
            hot_path(nodes, node)
            return
        except PastCache:  # a busy machine
            assert not last_try, "charges go past the cache"
            wait_for_cache(node)


def hot_path(nodes, node):
    put_config(node, limit=3, window=5)
    assert cached(nodes) == {}
    assert send(node).status == 200
    expect_cached(nodes, 101, rateLimit="3", currentCount="1")
    assert abs(cached_seconds(nodes) - rest_of_window(config(node))) <= 2
    assert send(node).status == 200 and send(node).status == 200
    limited = send(node)
    assert limited.status == 429 and limited.json()["message"] == LIMITED
    assert abs(int(limited.headers["Retry-After"]) - rest_of_window(config(node))) <= 2
    expect_cached(nodes, 101, currentCount="3")
    assert count(node) == 3
    in_postgres = "SELECT used FROM penstock.gateway_quota WHERE user_id = 101"
    assert nodes.sql(in_postgres).strip() == "3", "never less than what was charged"
    assert node.request("DELETE", "/api/config/101").status == 204
    assert cached(nodes) == {} and send(node).status == 404


def test_exactly_one_of_many_wins_on_two_daemons(nodes, broker):
    """N at once with one slot left, over both; with Redis, and with Redis gone."""
    contenders = [nodes.start(), nodes.start()]
    rounds, limits = 40, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for user in range(2 * rounds):
            if user == rounds:
                nodes.redis.kill()
            limits[user] = 1 + user % 3
            put_config(contenders[user % 2], user=user, limit=limits[user])
            for _ in range(limits[user] - 1):
                assert send(contenders[0], user=user).status == 200
            statuses = sorted(pool.map(lambda i, u=user: send(contenders[i % 2], user=u).status, range(8)))
            assert statuses == [200] + [429] * 7, user
    found = collections.Counter(int(user) for user, _ in records(broker, nodes.topic).values())
    assert found == limits
    print(f"{2 * rounds} last slots, {rounds} of them without Redis: each was won once")


@OUTAGES
def test_an_outage_gives_no_fresh_budget_and_takes_none(nodes, how):
    """Used up in part by Redis, in part by PostgreSQL, the rest by Redis again: together the limit."""
    node = nodes.start()
    put_config(node, limit=30)
    assert {send(node).status for _ in range(10)} == {200}
    wait_for_cache(node)
    away, back = said(node)
    with outage(nodes, how):
        started = time.monotonic()
        assert send(node).status == 200
        switch = time.monotonic() - started
        assert {send(node).status for _ in range(9)} == {200}
        assert count(node) == 20
        assert said(node) == (away + 1, back), "once per outage, not per request"
        assert logged(node, "gateway.cache_away")[-1]["level"] == "warn"
        assert node.metric("penstock_gateway_cache_in_use") == 0
        assert node.get("/health/ready").status == 200, "it does all its work without a cache"
    wait_for_cache(node)
    assert said(node) == (away + 1, back + 1)
    assert use_up(node) == 10
    put_config(node, user=102)
    wait_until(lambda: send(node, user=102).status == 200 and cached(nodes, 102), OUTAGE_SECONDS,
               "a charge by Redis again, without a restart")
    assert count(node) == 30 and send(node).status == 429
    assert switch < SWITCH_SECONDS
    print(f"Redis {how}: the first message took {switch * 1e3:.0f} ms")


@OUTAGES
def test_a_config_changed_while_redis_is_down_stays_changed(nodes, how):
    node, other = nodes.start(), nodes.start()
    for user, limit in ((1, 60), (2, 60), (3, 2)):
        put_config(node, user=user, limit=limit)
    for user in (1, 1, 2, 3, 3):
        assert send(node, user=user).status == 200
    assert send(node, user=3).status == 429
    with outage(nodes, how):
        put_config(node, user=1, limit=3)
        assert other.request("DELETE", "/api/config/2").status == 204
        put_config(other, user=3, limit=4)
        assert send(node, user=1).status == 200
    if how == "killed":
        assert cached(nodes, 1).get("rateLimit") == "60", "what Redis brought back is as old as it was"
    wait_for_cache(node, other)
    assert use_up(other, user=1) == 2
    assert send(node, user=2).status == 404 and send(other, user=2).status == 404
    assert use_up(node, user=3) == 4
    assert (count(node, 1), count(other, 3)) == (3, 4)
    # None: what the nodes could not say to a Redis that stood still it hears later, and keeps these users out for a moment.
    assert cached(nodes, 1).get("rateLimit") in ("3", None) and cached(nodes, 3).get("rateLimit") in ("4", None)


def test_every_outage_is_said_once(nodes):
    node = nodes.start()
    put_config(node, limit=1_000)
    for _ in range(3):
        wait_for_cache(node)
        away, back = said(node)
        with outage(nodes, "killed"):
            assert {send(node).status for _ in range(20)} == {200}
            assert said(node) == (away + 1, back)
        wait_for_cache(node)
        assert said(node) == (away + 1, back + 1)
        assert {send(node).status for _ in range(20)} == {200}
    assert count(node) == 120


def test_redis_killed_and_restarted_under_load(nodes, broker):
    """Until the limits are used up, so that one charge too many would show."""
    limit, users = 400, list(range(8))
    running, load = start_load(nodes, users, limit, daemons=2)
    switches = []
    for how in ("killed", "emptied", "stopped", "killed"):
        load.wait_answers(more=200)
        load.reset_slowest()
        with outage(nodes, how):
            load.wait_answers(more=200)
        load.wait_answers(more=50)
        switches.append((how, load.slowest()))
        wait_for_cache(*running)
    wait_until(lambda: load.answers()[429] > 100, OUTAGE_SECONDS, "the limits")
    acknowledged = load.finish()
    statuses = load.answers()
    print("slowest answers around the switches: " + ", ".join(f"{how} {took * 1e3:.0f} ms" for how, took in switches))
    for node in running:
        wait_until(lambda n=node: said(n)[0] == said(n)[1], OUTAGE_SECONDS, "a line for the end of each outage")
        assert said(node)[0] >= 4, "once per outage; a busy machine may make some more"
    found = judge(broker, running[0], nodes.topic, users, limit, acknowledged, "Redis lost four times")
    assert statuses[503] == 0, "PostgreSQL was there"
    assert max(took for _, took in switches) < SWITCH_SECONDS
    # An answer of Redis that was lost may count twice (docs/gateway.md): at most what was under way at a switch.
    assert len(found) >= limit * len(users) - 4 * 40 * len(load.workers)


def test_postgres_restarts_under_load(nodes, broker, postgres):
    limit, users = 400, list(range(8))
    running, load = start_load(nodes, users, limit, daemons=2)
    load.wait_answers(200, more=20)
    postgres.restart(immediate=True)
    load.wait_answers(more=200)
    wait_for_cache(*running)
    wait_until(lambda: load.answers()[429] > 100, OUTAGE_SECONDS, "the limits")
    acknowledged = load.finish()
    judge(broker, running[1], nodes.topic, users, limit, acknowledged, "PostgreSQL restarted, with the cache")


def test_kill_9_of_daemons_under_load(nodes, broker):
    """One of two at a time, at any moment between charge and publish, and Redis with them now and then."""
    rounds, limit, users = 8, 60, list(range(20))
    chance = random.Random(20261117)
    running, load = start_load(nodes, users, limit, daemons=2)
    for number in range(rounds):
        any_moment(chance, 0.15)
        running[number % 2].kill()
        if number % 4 == 3:
            nodes.redis.kill()
            nodes.redis.start()
        running[number % 2] = nodes.start()
    wait_until(lambda: load.answers()[429] > 100, OUTAGE_SECONDS, "the limits")
    acknowledged = load.finish()
    judge(broker, running[0], nodes.topic, users, limit, acknowledged, f"{rounds} times kill -9 of one of two, Redis twice")


def test_all_at_once_under_load(nodes, broker, postgres):
    """Redis, PostgreSQL, Kafka and a daemon, one after the other, some while another is still away."""
    limit, users = 300, list(range(10))
    running, load = start_load(nodes, users, limit, daemons=2)
    load.wait_answers(200, more=20)
    nodes.redis.kill()
    running[1].kill()
    load.wait_answers(more=20)
    postgres.restart(immediate=True)
    running[1] = nodes.start(wait_cache=False)
    broker.kill()
    nodes.redis.start()
    load.wait_answers(503)
    broker.start()
    wait_for_cache(*running)
    load.wait_answers(more=200)
    wait_until(lambda: load.answers()[429] > 100, OUTAGE_SECONDS, "the limits")
    acknowledged = load.finish()
    judge(broker, running[0], nodes.topic, users, limit, acknowledged, "Redis, a daemon, PostgreSQL and Kafka")


def test_a_restarted_redis_alone_changes_no_decision(nodes):
    """Batches over many users, whose entries are all lost at once: what is left of each is what PostgreSQL says."""
    node = nodes.start()
    chance = random.Random(99)
    users = {user: (limit := chance.randrange(1, 80), chance.randrange(0, limit + 1)) for user in range(60)}
    for user, (limit, _) in users.items():
        put_config(node, user, limit)
    send_all(node, [{"userId": u, "message": "m"} for u, (_, used) in users.items() for _ in range(used)])
    with outage(nodes, "emptied"):
        pass  # nobody sends meanwhile: the next batch finds another Redis
    results = send_all(node, [{"userId": u, "message": "m"} for u, (limit, _) in users.items() for _ in range(limit)])
    taken = collections.Counter(r["userId"] for r in results if r["status"] == 200)
    assert {r["status"] for r in results} == {200, 429}
    assert {user: used + taken[user] for user, (_, used) in users.items()} == \
        {user: limit for user, (limit, _) in users.items()}
