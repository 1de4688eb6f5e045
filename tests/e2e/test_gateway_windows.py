"""Property 3 of the gateway's design (the others are in test_gateway_properties.py): a window that is over begins anew with
the next message, on every combination of store, cache and bus. The shortest window lasts a minute, so all combinations
wait for the end of theirs at the same time."""
import collections
import random

import pytest
from conftest import daemons_in, wait_until
from dispatch_nodes import instant, postgres
from gateway_nodes import COMBINATIONS, broker, config, gateway_nodes, put_config, send_all, serve_redis

__all__ = ["broker", "postgres"]  # fixtures

USERS = range(100)


@pytest.fixture(scope="module")
def tmp_path(tmp_path_factory):
    return tmp_path_factory.mktemp("windows")


@pytest.fixture(scope="module")
def start_daemon(tmp_path):
    yield from daemons_in(tmp_path)


@pytest.fixture(scope="module")
def redis():
    yield from serve_redis()


def begin_windows(nodes):
    """A daemon, and windows in it that are used in part or in full."""
    nodes.node = nodes.start()
    # On PostgreSQL alone the rows are aged behind the daemon's back; else the shortest windows come to their end.
    nodes.aged = nodes.shared and not nodes.cached
    chance = random.Random(3)
    users = {user: (chance.randrange(1, 6), chance.randrange(1, 600) if nodes.aged else 1) for user in USERS}
    for user, (limit, window) in users.items():
        put_config(nodes.node, user, limit, window)
    results = send_all(nodes.node, [{"userId": u, "message": "m"} for u, (limit, _) in users.items()
                                    for _ in range(chance.choice((1, limit + 1)))])
    assert collections.Counter(r["status"] for r in results)[200] >= len(USERS)
    nodes.before = refresh_times(nodes.node)
    return nodes


def refresh_times(node):
    return {user: config(node, user)["lastRefreshTime"] for user in USERS}


@pytest.fixture(scope="module")
def windows(request):
    """combination -> its daemon with windows that began; first those that have to wait for the end."""
    waiting = sorted(COMBINATIONS, key=lambda name: COMBINATIONS[name]["shared"] and not COMBINATIONS[name]["cached"])
    return {name: begin_windows(gateway_nodes(request, name)) for name in waiting}


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_property_3_lazy_refresh_on_window_expiry(windows, combination):
    nodes = windows[combination]
    node, before = nodes.node, nodes.before
    if nodes.aged:
        nodes.sql("UPDATE penstock.gateway_quota SET refreshed_us = refreshed_us - window_min * 60000000")
    else:
        last = max(before.values())
        wait_until(lambda: instant(-61) > last, 120, "the end of the windows", every=0.1)
        assert refresh_times(node) == before, "there is no job"
    results = send_all(node, [{"userId": user, "message": "again"} for user in USERS])
    assert {r["status"] for r in results} == {200}
    for user in USERS:
        shown = config(node, user)
        assert shown["currentCount"] == 1 and shown["lastRefreshTime"] > before[user]
