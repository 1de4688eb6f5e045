"""What the tests of dispatch share: daemons on the embedded store or a real PostgreSQL, items, and waiting for them."""
import datetime
import itertools
import json
import sys

import pytest
from conftest import ROOT, wait_until
from downstream import Downstream

sys.path.insert(0, str(ROOT / "tools"))
import testserver

DATABASES = itertools.count(1)
TYPE = "/admin/dispatch/types/ORDER"
ITEMS = "/api/v1/dispatch/ORDER"
PAYMENT_TYPE = "/admin/dispatch/types/PAYMENT"
PAYMENT_ITEMS = "/api/v1/dispatch/PAYMENT"
DEFAULTS = {"jitterWindowMs": 0, "retryBackoffMs": 50, "retryBackoffMaxMs": 200}


def instant(seconds_from_now=0.0):
    at = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds_from_now)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Nodes:
    """Daemons that share one store; on the embedded one there is only one at a time."""

    def __init__(self, start, shared):
        self.start = start
        self.shared = shared


@pytest.fixture(scope="session")
def postgres():
    try:
        # Tests end processes, not machines: what the server handed to the kernel is safe.
        server = testserver.Postgres(fsync=False)
        server.start()
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))
    yield server
    server.close()


def migrated_database(server, penstock):
    """The URL of a fresh database with our schema, copied from one that was migrated once."""
    if not hasattr(server, "migrated"):
        server.migrated = "migrated"
        url = server.create_database(server.migrated)
        assert penstock("migrate", env={"PENSTOCK_STORE_POSTGRES_URL": url}).returncode == 0
    name = f"dispatch_{next(DATABASES)}"
    server.query(f"CREATE DATABASE {name} TEMPLATE {server.migrated} STRATEGY FILE_COPY")
    return server.url(name)


def nodes_on_embedded(start_daemon, folder):
    return Nodes(lambda goes_first=False, **env: start_daemon(env=env, data_dir=folder / "data", goes_first=goes_first),
                 shared=False)


def nodes_on_postgres(start_daemon, folder, server, penstock):
    env = {"PENSTOCK_STORE_POSTGRES_URL": migrated_database(server, penstock)}
    numbers = itertools.count(1)
    return Nodes(lambda goes_first=False, **more: start_daemon(env={**env, **more}, goes_first=goes_first,
                                                               data_dir=folder / f"node{next(numbers)}"), shared=True)


def embedded_nodes(request):
    return nodes_on_embedded(request.getfixturevalue("start_daemon"), request.getfixturevalue("tmp_path"))


def postgres_nodes(request):
    return nodes_on_postgres(*(request.getfixturevalue(name) for name in ("start_daemon", "tmp_path", "postgres", "penstock")))


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


def put_type(node, downstream, sink=None, path=TYPE, **more):
    sink = {"type": "http", **({"url": downstream.url} if downstream else {}), **(sink or {})}
    answer = node.request("PUT", path, json.dumps({**DEFAULTS, "sink": sink, **more}),
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


def counts(node, items=ITEMS):
    return node.get(f"{items}/summary").json()["counts"]


def wait_for_counts(node, seconds=60, items=ITEMS, **wanted):
    wait_until(lambda: all(counts(node, items)[state] == n for state, n in wanted.items()), seconds,
               lambda: f"{wanted} (there is {counts(node, items)})")
