"""What the tests of the gateway share: daemons on each combination of store, cache and bus, and calls to them."""
import datetime
import itertools
import json
import sys

import pytest
from conftest import ROOT, wait_until
from dispatch_nodes import Nodes
from kafka_calls import OUTAGE_SECONDS, consume, environment, headers_of, serve_kafka

sys.path.insert(0, str(ROOT / "tools"))
import testserver  # noqa: E402
from testserver.process import Unavailable  # noqa: E402

SENT = "Message Sent Successfully"
INVALID = "Missing/Invalid Arguments"
LIMITED = "Rate Limit Exceeded"
UNKNOWN_USER = "User Not Found"
KAFKA_DOWN = "Kafka Down : Service Unavailable"
POSTGRES_DOWN = "Postgres Down : Service Unavailable"

# What there can be: the store, the bus, and whether Redis stands before the store.
COMBINATIONS = {
    "embedded": {"shared": False, "bus": False, "cached": False},
    "postgres": {"shared": True, "bus": False, "cached": False},
    "embedded+kafka": {"shared": False, "bus": True, "cached": False},
    "postgres+kafka": {"shared": True, "bus": True, "cached": False},
    "postgres+redis+kafka": {"shared": True, "bus": True, "cached": True},
}
OF_KAFKA = [name for name, parts in COMBINATIONS.items() if parts["bus"]]
CACHED = "postgres+redis+kafka"
DEADLINE_SECONDS = 3  # of a publish
NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def broker():
    """One for all: each test has a topic of its own, and who stops it starts it again."""
    yield from serve_kafka()


@pytest.fixture
def redis():
    """One for each test. What it has is on disk before it answers: a restart brings all of it back, as old as it is."""
    try:
        server = testserver.Redis({"appendfsync": "always"})
        server.start()
    except Unavailable as missing:
        pytest.skip(str(missing))
    yield server
    server.close()


def gateway_nodes(request, combination):
    """Daemons of one combination: `shared` ones can be several at a time. Beside start() there are, as far as they belong to
    it, `topic`, `redis`, and `sql` for statements behind the daemons' back."""
    parts = COMBINATIONS[combination]
    number = next(NUMBERS)
    topic = f"sms-outbound-{number}"
    env = {}
    if parts["bus"]:
        env = environment(request.getfixturevalue("broker"), PENSTOCK_GATEWAY_BUS="kafka",
                          PENSTOCK_GATEWAY_KAFKA_TOPIC=topic, PENSTOCK_GATEWAY_KAFKA_GROUP=f"group-{topic}",
                          PENSTOCK_GATEWAY_KAFKA_PUBLISH_DEADLINE=f"PT{DEADLINE_SECONDS}S")
    made = Nodes(_starter(request, env, parts), parts["shared"])
    made.topic, made.bus, made.cached = topic, parts["bus"], parts["cached"]
    if parts["cached"]:
        made.redis = request.getfixturevalue("redis")
        env.update(PENSTOCK_GATEWAY_CACHE="redis", PENSTOCK_STORE_REDIS_URL=made.redis.url())
    if parts["shared"]:
        server, database = request.getfixturevalue("postgres"), f"gateway_{number}"
        env["PENSTOCK_STORE_POSTGRES_URL"] = server.create_database(database)
        assert request.getfixturevalue("penstock")("migrate", env=env).returncode == 0
        made.sql = lambda sql: server.query(sql, database)
    return made


def _starter(request, env, parts):
    start_daemon, tmp_path = request.getfixturevalue("start_daemon"), request.getfixturevalue("tmp_path")
    folders = itertools.count(1)

    def start(wait_cache=parts["cached"], **more):
        folder = tmp_path / (f"node{next(folders)}" if parts["shared"] else "data")
        node = start_daemon(env={**env, **more}, data_dir=folder)
        wait_until(lambda: node.get("/health/ready").status == 200, OUTAGE_SECONDS, "the daemon with its parts")
        if wait_cache:
            wait_for_cache(node)
        return node

    return start


def wait_for_cache(*nodes):
    for node in nodes:
        wait_until(lambda n=node: n.metric("penstock_gateway_cache_in_use") == 1, OUTAGE_SECONDS, "the cache")


def put_config(node, user=101, limit=10, window=60):
    answer = node.post("/api/config", {"userId": user, "rateLimit": limit, "timeWindow": window})
    assert answer.status == 200, answer.body
    return answer.json()


def config(node, user=101):
    answer = node.get(f"/api/config/{user}")
    assert answer.status == 200, answer.body
    return answer.json()


def count(node, user=101):
    return config(node, user)["currentCount"]


def rest_of_window(shown):
    """Seconds until the window of a config ends."""
    began = datetime.datetime.fromisoformat(shown["lastRefreshTime"])
    ends = began + datetime.timedelta(minutes=shown["timeWindow"])
    return (ends - datetime.datetime.now(datetime.timezone.utc)).total_seconds()


def send(node, user=101, message="Hello World", headers=None, **more):
    return node.post("/api/send", {"userId": user, "message": message, **more}, headers or {}, timeout=60)


def send_all(node, entries):
    """One batch; the entry of each."""
    answer = node.post("/api/send/batch", json.dumps(entries), {"Content-Type": "application/json"}, timeout=60)
    assert answer.status == 200, answer.body
    return answer.json()["results"]


def message(node, message_id):
    answer = node.get(f"/api/messages/{message_id}")
    assert answer.status == 200, answer.body
    return answer.json()


def wait_sent(node, *message_ids):
    for message_id in message_ids:
        wait_until(lambda i=message_id: message(node, i)["status"] == "SENT", OUTAGE_SECONDS, "the sender")


def usage(node, user):
    points = node.get(f"/api/analytics/usage?userId={user}").json()["points"]
    return {k: sum(p[k] for p in points) for k in ("sent", "limited", "failed")}


def records(broker, topic):
    """message id -> (user, value), of all that is on the topic, by kcat; a repeat is the same in all parts."""
    found = {}
    for record in consume(broker, topic):
        headers = headers_of(record)
        entry = (record["key"], record["payload"])
        assert found.setdefault(headers["penstock-message-id"], entry) == entry
    return found


def logged(node, event):
    """The lines of an event in the daemon's log."""
    lines = [json.loads(line) for line in node.log().splitlines() if f'"{event}"' in line]
    return [line for line in lines if line["event"] == event]
