"""What the tests of the gateway share: daemons on each combination of store, cache and bus, and calls to them."""
import datetime
import itertools
import json
import sys

import pytest
import redis as redis_client
from conftest import ROOT, wait_until
from dispatch_nodes import Nodes
from kafka_calls import OUTAGE_SECONDS, consume, environment, headers_of, serve_kafka

sys.path.insert(0, str(ROOT / "tools"))
import testserver
from testserver.process import Unavailable

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
DEADLINE_SECONDS = 8  # of a publish; the broker of a busy machine takes some for the first of a partition
# On a busy machine Redis may be silent for longer than the default of 50 ms. To the daemon that is an outage, and not one
# that a test made.
CACHE_DEADLINE = "PT0.5S"
NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def broker():
    """One for all: each test has a topic of its own, and who stops it starts it again."""
    yield from serve_kafka()


@pytest.fixture
def redis():
    """One for each test."""
    yield from serve_redis()


def serve_redis():
    """For a generator fixture. What the server has is on disk before it answers: a restart brings all of it back, as old
    as it is."""
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
    made = Nodes(_starter(request, env, parts, number), parts["shared"])
    made.topic, made.bus, made.cached = topic, parts["bus"], parts["cached"]
    if parts["cached"]:
        made.redis = request.getfixturevalue("redis")
        env.update(PENSTOCK_GATEWAY_CACHE="redis", PENSTOCK_STORE_REDIS_URL=made.redis.url(),
                   PENSTOCK_THROTTLE_DEADLINE=CACHE_DEADLINE)
    if parts["shared"]:
        server, database = request.getfixturevalue("postgres"), f"gateway_{number}"
        env["PENSTOCK_STORE_POSTGRES_URL"] = server.create_database(database)
        assert request.getfixturevalue("penstock")("migrate", env=env).returncode == 0
        made.sql = lambda sql: server.query(sql, database)
    return made


def nodes_on(*combinations):
    """The fixture `nodes` of a file: each test runs on each of these combinations."""

    @pytest.fixture(params=combinations)
    def nodes(request):
        return gateway_nodes(request, request.param)

    return nodes


def on(*combinations):
    """For a test that applies to these of its file's combinations."""
    return pytest.mark.parametrize("nodes", combinations, indirect=True)


def _starter(request, env, parts, number):
    start_daemon, tmp_path = request.getfixturevalue("start_daemon"), request.getfixturevalue("tmp_path")
    folders = itertools.count(1)

    def start(wait_cache=parts["cached"], **more):
        folder = tmp_path / (f"node{number}-{next(folders)}" if parts["shared"] else f"data{number}")
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


def cached(nodes, user=101):
    """The user's entry in Redis; {} if there is none. A new connection each time: the tests kill that server."""
    with redis_client.Redis(nodes.redis.host, nodes.redis.port, decode_responses=True) as client:
        return client.hgetall(f"RateLimiterCache:{user}")


def cached_seconds(nodes, user=101):
    """How long the user's entry in Redis will last."""
    with redis_client.Redis(nodes.redis.host, nodes.redis.port) as client:
        return client.ttl(f"RateLimiterCache:{user}")


class PastCache(Exception):
    """A charge went by PostgreSQL, though Redis is there."""


def expect_cached(nodes, user, **fields):
    """There is an entry of the user, and it has these fields. Raises PastCache if there is no entry, or only one of an
    earlier life of the cache: a node that a busy machine holds up for half a second must not use Redis then
    (docs/gateway.md)."""
    found = cached(nodes, user)
    if found and all(found.get(name) == value for name, value in fields.items()):
        return
    in_use = nodes.sql("SELECT epoch FROM penstock.gateway_cache WHERE is_open").strip()
    if not found or found["epoch"] != in_use:
        raise PastCache
    assert {name: found.get(name) for name in fields} == fields, user


def rest_of_window(shown):
    """Seconds until the window of a config ends."""
    began = datetime.datetime.fromisoformat(shown["lastRefreshTime"])
    ends = began + datetime.timedelta(minutes=shown["timeWindow"])
    return (ends - datetime.datetime.now(datetime.UTC)).total_seconds()


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
    return distinct(consume(broker, topic))


def distinct(messages):
    found = {}
    for record in messages:
        headers = headers_of(record)
        entry = (record["key"], record["payload"])
        assert found.setdefault(headers["penstock-message-id"], entry) == entry
    return found


def logged(node, event):
    """The lines of an event in the daemon's log."""
    lines = [json.loads(line) for line in node.log().splitlines() if f'"{event}"' in line]
    return [line for line in lines if line["event"] == event]
