"""The eleven correctness properties of the gateway's design, each over 100 random cases, by the real daemon on every
combination of store, cache and bus that it applies to; property 3, which waits, is in test_gateway_windows.py. With a
clock of their own, and with failing writes, they are also held against the stores themselves
(src/store/quota/conformance/quota_properties.h, src/store/quota/cached/real)."""
import collections
import concurrent.futures
import json
import random
import time

from conftest import wait_until
from dispatch_nodes import downstream, instant, postgres
from gateway_nodes import (
    CACHED,
    COMBINATIONS,
    DEADLINE_SECONDS,
    INVALID,
    KAFKA_DOWN,
    OF_KAFKA,
    POSTGRES_DOWN,
    PastCache,
    broker,
    cached,
    cached_seconds,
    config,
    count,
    expect_cached,
    logged,
    nodes_on,
    on,
    put_config,
    records,
    redis,
    rest_of_window,
    send,
    send_all,
    usage,
    wait_for_cache,
    wait_sent,
)
from kafka_calls import OUTAGE_SECONDS, check

__all__ = ["broker", "downstream", "postgres", "redis"]  # fixtures

CASES = 100
USERS = range(CASES)
NUMBER_MAX = 2**31 - 1
TEXTS = ["a", "Z", "€", "ж", "😀", '"', "\\", " ", "{", ": ", "0", "\t", "\n"]


nodes = nodes_on(*COMBINATIONS)


def any_text(chance):
    return "x" + "".join(chance.choice(TEXTS) for _ in range(chance.randrange(60)))


def some_users(node, chance, limit_max=9, window=60):
    """user -> (limit, used): configs with some of them used up."""
    users = {user: (limit := chance.randrange(1, limit_max), chance.randrange(0, limit + 1)) for user in USERS}
    for user, (limit, _) in users.items():
        put_config(node, user, limit, window)
    results = send_all(node, [{"userId": u, "message": "m"} for u, (_, used) in users.items() for _ in range(used)])
    assert {r["status"] for r in results} <= {200}
    return users


def by_cache(case, *contenders):
    """Calls `case` for each user, again where a charge went past the cache; most users need one call."""
    again = 0
    for user in USERS:
        while True:
            try:
                case(user)
                break
            except PastCache:
                again += 1
                assert again <= CASES // 2, "charges go past the cache"
                wait_for_cache(*contenders)
    print(f"{CASES} cases, {again} of them again")


def test_property_1_config_persistence_round_trip(nodes):
    node = nodes.start()
    chance = random.Random(1)
    users = chance.sample(range(NUMBER_MAX + 1), CASES)
    for _ in ("insert", "update"):
        rules = {user: (chance.randint(1, NUMBER_MAX), chance.randint(1, NUMBER_MAX)) for user in users}
        for user, (limit, window) in rules.items():
            before = instant(-1)
            made = put_config(node, user, limit, window)
            assert made == {"userId": user, "rateLimit": limit, "timeWindow": window, "currentCount": 0,
                            "lastRefreshTime": made["lastRefreshTime"]}
            assert before < made["lastRefreshTime"] < instant(1)
            assert config(node, user) == made
        if nodes.shared:
            rows = nodes.sql("SELECT user_id, rate_limit, window_min, used FROM penstock.gateway_quota").split()
            assert set(rows) == {f"{user}|{limit}|{window}|0" for user, (limit, window) in rules.items()}
        for user in users:
            assert send(node, user=user).status == 200  # the update has a count to begin anew
    assert [count(node, user) for user in users] == [1] * CASES


def test_property_2_invalid_config_is_rejected(nodes):
    node = nodes.start()
    chance = random.Random(2)
    put_config(node, user=5, limit=9, window=60)
    send(node, user=5)
    before = config(node, 5)
    wrong = [None, 0, -1, -chance.randrange(1 << 40), NUMBER_MAX + 1, 1 << 70, 1.5, "5", "", True, [], [1], {}, 1e300]
    for _ in range(CASES):
        body = {"userId": chance.choice((5, 6)), "rateLimit": chance.randint(1, 9), "timeWindow": chance.randint(1, 9)}
        faulty = chance.sample(sorted(body), chance.randint(1, 3))
        for name in faulty:
            if chance.random() < 0.2:
                del body[name]
            else:
                body[name] = chance.choice([each for each in wrong if name != "userId" or each != 0])  # 0 is a user
        answer = node.post("/api/config", body)
        assert answer.status == 400 and answer.json()["message"] == INVALID, (body, answer.body)
        assert answer.json()["field"] in faulty and answer.json()["detail"]
        assert config(node, 5) == before and node.get("/api/config/6").status == 404
    if nodes.shared:
        assert nodes.sql("SELECT count(*) FROM penstock.gateway_quota").strip() == "1"


def test_property_4_limit_within_the_active_window(nodes):
    node = nodes.start()
    users = some_users(node, random.Random(4))
    results = send_all(node, [{"userId": user, "message": "one more"} for user in users])
    for result, (user, (limit, used)) in zip(results, users.items(), strict=True):
        assert result["status"] == (200 if used < limit else 429)
        shown = config(node, user)
        assert shown["currentCount"] == min(used + 1, limit)
        if used == limit:
            assert abs(result["retryAfter"] - rest_of_window(shown)) <= 10, "the rest of the window"


@on(*OF_KAFKA)
def test_property_5_no_count_without_confirmation(nodes, broker):
    """The broker is stopped; then it comes back by itself. On the outbox the append is the publish: see the next."""
    node = nodes.start()
    users = some_users(node, random.Random(5))
    open_users = [user for user, (limit, used) in users.items() if used < limit]
    broker.stop()
    try:
        # Some before anybody has noticed: they are answered by the deadline; the rest at once.
        started = time.monotonic()
        first = send(node, user=open_users[0])
        took = time.monotonic() - started
        assert first.status == 503 and first.json()["message"] == KAFKA_DOWN, first.body
        assert took < DEADLINE_SECONDS + OUTAGE_SECONDS, "by the deadline; a busy machine may answer late"
        wait_until(lambda: check(node, "bus.kafka")[0] == "DOWN", OUTAGE_SECONDS, "the check")
        results = send_all(node, [{"userId": user, "message": "lost", "idempotencyKey": "k"} for user in users])
        for result, (user, (limit, used)) in zip(results, users.items(), strict=True):
            assert (result["status"], result["message"]) == (503, KAFKA_DOWN) or (used == limit and result["status"] == 429)
            assert count(node, user) == used, user
        assert sum(usage(node, user)["failed"] for user in users) == len(open_users) + 1
        assert node.get("/health/ready").status == 503

        def known():
            started = time.monotonic()
            assert send(node, user=open_users[0]).status == 503
            return time.monotonic() - started < DEADLINE_SECONDS

        # One that waited for the broker would take the whole deadline each time.
        wait_until(known, OUTAGE_SECONDS, "an answer at once, since the outage is known")
        print(f"{len(open_users) + 1} refused, none counted; first answer after {took:.1f} s")
    finally:
        broker.start()
    wait_until(lambda: node.get("/health/ready").status == 200, OUTAGE_SECONDS, "the recovery")
    wait_until(lambda: send(node, user=open_users[0], idempotencyKey="k", message="lost").status == 200, OUTAGE_SECONDS,
               "the recovery")
    results = send_all(node, [{"userId": user, "message": "lost", "idempotencyKey": "k"} for user in open_users])
    assert {r["status"] for r in results} == {200}, "the key was free again"
    for user in open_users:
        assert count(node, user) == users[user][1] + 1
    wait_sent(node, *[r["messageId"] for r in results])


@on("postgres")
def test_property_5_no_count_without_the_append(nodes, postgres):
    node = nodes.start()
    users = some_users(node, random.Random(55))
    postgres.stop()
    try:
        for _ in range(2):  # with connections that are cut, and with none
            results = send_all(node, [{"userId": user, "message": "lost"} for user in users])
            assert {(r["status"], r["message"]) for r in results} == {(503, POSTGRES_DOWN)}
        answer = send(node, user=0)
        assert answer.status == 503 and answer.json()["message"] == POSTGRES_DOWN and answer.headers["Retry-After"]
    finally:
        postgres.start()
    wait_until(lambda: node.get("/api/config/0").status == 200, OUTAGE_SECONDS, "the recovery")
    for user, (_, used) in users.items():
        assert count(node, user) == used
    assert send_all(node, [{"userId": user, "message": "m"} for user in users])[0]["status"] in (200, 429)


def test_property_6_exactly_one_wins_the_last_slot(nodes):
    """With one place left of some limit; where nodes share a store, by two of them at once."""
    contenders = [nodes.start() for _ in range(2 if nodes.shared else 1)]
    chance = random.Random(6)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for user in USERS:
            limit = chance.randrange(1, 90)
            put_config(contenders[0], user=user, limit=limit)
            used = send_all(contenders[-1], [{"userId": user, "message": "m"}] * (limit - 1))
            assert {r["status"] for r in used} <= {200}
            statuses = sorted(pool.map(lambda i, u=user: send(contenders[i % len(contenders)], user=u).status, range(6)))
            assert statuses == [200] + [429] * 5, user
            assert count(contenders[0], user) == limit


def send_texts(node, seed):
    """message id -> (user, line) of 100 messages of as many users."""
    chance = random.Random(seed)
    entries = [{"userId": user, "message": any_text(chance)} for user in chance.sample(range(NUMBER_MAX), CASES)]
    for one in entries:
        put_config(node, user=one["userId"], limit=1)
    results = send_all(node, entries)
    assert {r["status"] for r in results} == {200}
    return {r["messageId"]: (str(e["userId"]), f'{e["userId"]}: {e["message"]}') for e, r in zip(entries, results, strict=True)}


@on(*OF_KAFKA)
def test_property_7_what_is_published_is_what_came(nodes, broker):
    node = nodes.start()
    sent = send_texts(node, 7)
    assert records(broker, nodes.topic) == sent


@on("embedded", "postgres")
def test_property_7_what_the_outbox_hands_on_is_what_came(nodes, downstream):
    node = nodes.start()
    sink = {"sink": {"type": "http", "url": downstream.url}, "jitterWindowMs": 0}
    answer = node.request("PUT", "/admin/dispatch/types/SMS", json.dumps(sink), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    sent = send_texts(node, 7)
    wait_sent(node, *sent)
    got = [json.loads(call["body"])["context"] for call in downstream.kept()]
    assert {g["messageId"]: (str(g["userId"]), f'{g["userId"]}: {g["message"]}') for g in got} == sent


def test_property_8_what_the_sender_logs(nodes):
    node = nodes.start()
    sent = send_texts(node, 8)
    wait_sent(node, *sent)
    lines = collections.Counter((line["message_id"], line["text"]) for line in logged(node, "gateway.sms"))
    assert lines == {(message_id, f"SMS Sent: {line}"): 1 for message_id, (_, line) in sent.items()}


@on(CACHED)
def test_property_9_redis_first_with_a_miss_that_fills_it(nodes):
    """That a hit does not ask PostgreSQL is counted call by call in cached_properties_conformance.cc."""
    node = nodes.start()
    chance = random.Random(9)

    def case(_):
        user, limit, window = chance.randrange(NUMBER_MAX), chance.randrange(1, 60), chance.randrange(1, 600)
        put_config(node, user, limit, window)
        assert cached(nodes, user) == {}
        assert send(node, user=user).status == 200
        expect_cached(nodes, user, rateLimit=str(limit), currentCount="1")  # a miss fills it
        rest = cached_seconds(nodes, user)
        assert abs(rest - rest_of_window(config(node, user))) <= 3, "until the window ends"
        more = chance.randrange(0, limit + 2)
        statuses = [r["status"] for r in send_all(node, [{"userId": user, "message": "m"}] * more)]
        assert statuses == [200 if 1 + i < limit else 429 for i in range(more)], "as the entry dictates"
        expect_cached(nodes, user, currentCount=str(min(1 + more, limit)))

    by_cache(case, node)


@on(CACHED)
def test_property_10_a_config_update_invalidates_the_entry(nodes):
    """By one node, while two use the entry."""
    first, second = nodes.start(), nodes.start()
    chance = random.Random(10)

    def case(user):
        put_config(first, user, limit=chance.randrange(1, 60))
        for _ in range(chance.randrange(1, 4)):
            send(chance.choice((first, second)), user=user)
        expect_cached(nodes, user)
        if chance.random() < 0.2:
            assert first.request("DELETE", f"/api/config/{user}").status == 204
            assert cached(nodes, user) == {}
            assert send(second, user=user).status == 404
            return
        limit = chance.randrange(1, 6)
        put_config(first, user, limit)
        assert cached(nodes, user) == {}
        statuses = [send(chance.choice((first, second)), user=user).status for _ in range(limit + 1)]
        assert statuses == [200] * limit + [429]
        expect_cached(nodes, user, rateLimit=str(limit), currentCount=str(limit))

    by_cache(case, first, second)


@on(CACHED)
def test_property_11_without_redis_by_postgresql(nodes, broker):
    """Redis is killed while users are within their windows, by two nodes; none gets more than the limit, none less."""
    contenders = [nodes.start(), nodes.start()]
    users = some_users(contenders[0], random.Random(11), limit_max=12)
    wait_for_cache(*contenders)
    said_before = [len(logged(node, "gateway.cache_away")) for node in contenders]
    nodes.redis.kill()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for user, (limit, used) in users.items():
            statuses = collections.Counter(
                pool.map(lambda i, u=user: send(contenders[i % 2], user=u).status, range(limit - used + 3)))
            assert statuses == collections.Counter({200: limit - used, 429: 3}), user
    for user, (limit, _) in users.items():
        assert count(contenders[0], user) == limit
    said = [len(logged(node, "gateway.cache_away")) for node in contenders]
    assert said == [before + 1 for before in said_before], "once per outage"
    nodes.redis.start()
    wait_for_cache(*contenders)
    assert {r["status"] for r in send_all(contenders[1], [{"userId": u, "message": "m"} for u in users])} == {429}
    on_topic = collections.Counter(int(user) for user, _ in records(broker, nodes.topic).values())
    assert on_topic == {user: limit for user, (limit, _) in users.items()}
    print(f"{on_topic.total()} messages of {CASES} users on the topic, limits {sum(n for n, _ in users.values())}")
