"""What the tests of dispatch share: daemons on the embedded store or a real PostgreSQL, items, and waiting for them."""
import datetime
import itertools
import json
import sys

import pytest
from conftest import ROOT, wait_until
from downstream import Downstream

sys.path.insert(0, str(ROOT / "tools"))
import testserver  # noqa: E402

DATABASES = itertools.count(1)
TYPE = "/admin/dispatch/types/PAYMENT"
ITEMS = "/api/v1/dispatch/PAYMENT"
DEFAULTS = {"jitterWindowMs": 0, "retryBackoffMs": 50, "retryBackoffMaxMs": 200}


def instant(seconds_from_now=0.0):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds_from_now)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Nodes:
    """Daemons that share one store; on the embedded one there is only one at a time."""

    def __init__(self, start, shared):
        self.start = start
        self.shared = shared


@pytest.fixture(scope="session")
def postgres():
    try:
        server = testserver.Postgres()
        server.start()
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))
    yield server
    server.close()


def embedded_nodes(request):
    start_daemon, tmp_path = request.getfixturevalue("start_daemon"), request.getfixturevalue("tmp_path")
    return Nodes(lambda **env: start_daemon(env=env, data_dir=tmp_path / "data"), shared=False)


def postgres_nodes(request):
    start_daemon, tmp_path = request.getfixturevalue("start_daemon"), request.getfixturevalue("tmp_path")
    server, penstock = request.getfixturevalue("postgres"), request.getfixturevalue("penstock")
    env = {"PENSTOCK_STORE_POSTGRES_URL": server.create_database(f"dispatch_{next(DATABASES)}")}
    assert penstock("migrate", env=env).returncode == 0
    numbers = itertools.count(1)
    return Nodes(lambda **more: start_daemon(env={**env, **more}, data_dir=tmp_path / f"node{next(numbers)}"),
                 shared=True)


@pytest.fixture(params=["embedded", "postgres"])
def nodes(request):
    return embedded_nodes(request) if request.param == "embedded" else postgres_nodes(request)


@pytest.fixture
def shared_nodes(request):
    return postgres_nodes(request)


@pytest.fixture
def node(nodes):
    return nodes.start()


@pytest.fixture
def downstream():
    made = Downstream()
    yield made
    made.close()


def put_type(node, downstream, sink=None, **more):
    sink = {"type": "http", **({"url": downstream.url} if downstream else {}), **(sink or {})}
    answer = node.request("PUT", TYPE, json.dumps({**DEFAULTS, "sink": sink, **more}),
                          {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    return answer.json()


def patch_type(node, **more):
    answer = node.request("PATCH", TYPE, json.dumps(more), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    return answer.json()


def enqueue(node, *ids, at=0.0, context=None, expect=202):
    """All of them, by batches; each must be answered `expect`."""
    when = instant(at)
    for start in range(0, len(ids), 5_000):
        lines = "\n".join(json.dumps({"itemId": i, "scheduledTime": when, "context": context or {"n": i}})
                          for i in ids[start:start + 5_000])
        answer = node.post(f"{ITEMS}/batch", lines, {"Content-Type": "application/x-ndjson"}, timeout=60)
        assert answer.status == 200, answer.body
        wrong = [r for r in answer.json()["results"] if r["status"] != expect]
        assert wrong == [], wrong[:3]


def item(node, item_id):
    answer = node.get(f"{ITEMS}/{item_id}")
    assert answer.status == 200, answer.body
    return answer.json()


def counts(node):
    return node.get(f"{ITEMS}/summary").json()["counts"]


def wait_for_counts(node, seconds=60, **wanted):
    wait_until(lambda: all(counts(node)[state] == n for state, n in wanted.items()), seconds,
               lambda: f"{wanted} (there is {counts(node)})")
