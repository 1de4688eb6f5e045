"""Load for the gateway's faults, and the judgement of what it left: clients that keep what was acknowledged, against the
counts of the store and what is on the topic."""
import collections
import http.client
import json
import random
import threading
import time

from conftest import wait_until
from gateway_nodes import KAFKA_DOWN, POSTGRES_DOWN, distinct, put_config
from kafka_calls import OUTAGE_SECONDS, consume

SENTENCES_503 = {KAFKA_DOWN, POSTGRES_DOWN, "Service Unavailable", "Store Down : Service Unavailable"}


class Client(threading.Thread):
    """Sends single messages and batches, some with keys, until it is told to stop; keeps what was acknowledged."""

    def __init__(self, target, users, seed, keys=True):
        super().__init__(daemon=True)
        self.target, self.users, self.random, self.keys = target, users, random.Random(seed), keys
        self.acknowledged, self.statuses = [], collections.Counter()
        self.wrong = []  # sentences that nobody promised
        self.ending = threading.Event()
        self.slowest = 0.0

    def entries(self):
        made = [{"userId": self.random.choice(self.users), "message": f"m{self.random.random()}"}
                for _ in range(self.random.choice((1, 1, 5, 40)))]
        for entry in made[::3] if self.keys else ():
            entry["idempotencyKey"] = f"k{self.random.random()}"
        return made

    def run(self):
        connection = None
        while not self.ending.is_set():
            started = time.monotonic()
            try:
                node = self.target()
                connection = connection or http.client.HTTPConnection(node.address, node.port, timeout=30)
                connection.request("POST", "/api/send/batch", json.dumps(self.entries()),
                                   {"Content-Type": "application/json"})
                results = json.loads(connection.getresponse().read())["results"]
            except (OSError, http.client.HTTPException, ValueError):
                connection = None  # the crash
                self.ending.wait(0.02)
                continue
            self.slowest = max(self.slowest, time.monotonic() - started)
            self.take(results)
            if results[0]["status"] == 503:
                self.ending.wait(0.1)  # an outage needs no more load, and what restarts needs the processor

    def take(self, results):
        for result in results:
            self.statuses[result["status"]] += 1
            if result["status"] == 200:
                self.acknowledged.append((result["userId"], result["messageId"]))
            elif result["status"] == 503 and result["message"] not in SENTENCES_503:
                self.wrong.append(result)


class Load:
    """`clients` of them, each at the node that `target(i)` says for the i-th when it connects."""

    def __init__(self, target, users, clients=4, keys=True):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        self.workers = [Client(lambda i=i: target(i), users, seed + i, keys) for i in range(clients)]
        for worker in self.workers:
            worker.start()

    def sent(self):
        return sum(len(worker.acknowledged) for worker in self.workers)

    def answers(self):
        return sum((worker.statuses for worker in self.workers), collections.Counter())

    def wait_answers(self, status=None, more=1, what="answers"):
        """Until there are `more` of them than now."""
        def seen():
            return sum(self.answers().values()) if status is None else self.answers()[status]
        before = seen()
        wait_until(lambda: seen() >= before + more, OUTAGE_SECONDS, what)

    def reset_slowest(self):
        for worker in self.workers:
            worker.slowest = 0.0

    def slowest(self):
        return max(worker.slowest for worker in self.workers)

    def finish(self):
        """What was acknowledged, as (user, message id)."""
        for worker in self.workers:
            worker.ending.set()
        for worker in self.workers:
            worker.join(60)
            assert not worker.is_alive()
            assert worker.wrong == []
        print(f"answers {dict(self.answers())}, slowest {self.slowest():.2f} s")
        return [each for worker in self.workers for each in worker.acknowledged]


def start_load(nodes, users, limit, daemons=1):
    """Daemons, of which a client finds its own by its number also once another stands in its place; and the clients."""
    running = [nodes.start() for _ in range(daemons)]
    for user in users:
        put_config(running[0], user=user, limit=limit, window=600)
    return running, Load(lambda i: running[i % daemons], users)


def count_after_outage(node, user):
    """Each connection of the daemon to a server that was away comes back in its own time."""
    answers = []

    def answered():
        answers.append(node.get(f"/api/config/{user}"))
        return answers[-1].status == 200

    wait_until(answered, OUTAGE_SECONDS, "the recovery")
    return answers[-1].json()["currentCount"]


def judge(broker, node, topic, users, limit, acknowledged, title):
    """Never more distinct messages of a user than a window allows, none that was acknowledged is missing, and each is sent."""
    published = consume(broker, topic)
    found = distinct(published)
    repeats = len(published) - len(found)
    per_user = collections.Counter(user for user, _ in found.values())
    missing = [message_id for _, message_id in acknowledged if message_id not in found]
    counted = {user: count_after_outage(node, user) for user in users}
    print(f"{title}: {len(acknowledged)} acknowledged, {len(found)} distinct on the topic and {repeats} repeats, "
          f"{sum(counted.values())} counted, limit {limit * len(users)}")
    assert missing == []
    assert len({message_id for _, message_id in acknowledged}) == len(acknowledged)
    for user in users:
        assert per_user[str(user)] <= counted[user] <= limit, user
    wait_until(lambda: node.get("/api/v1/dispatch/SMS/summary").json()["counts"]["DISPATCHED"] == len(found),
               OUTAGE_SECONDS, "the sender")
    return found
