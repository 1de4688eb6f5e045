"""What the tests of Kafka share: a broker, and messages by kcat."""
import json
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import testserver
from testserver.process import Unavailable, require

KCAT_SECONDS = 120
OUTAGE_SECONDS = 120  # a restart of the broker takes some seconds, more on a busy machine


@pytest.fixture
def kafka():
    """One for each test: some of them stop it."""
    yield from serve_kafka()


def serve_kafka():
    """For a generator fixture: a broker, or the test is skipped."""
    try:
        require("kcat", "kcat")
        server = testserver.Kafka()
        server.start()
    except Unavailable as missing:
        pytest.skip(str(missing))
    yield server
    server.close()


def kcat(server, *arguments, messages=""):
    done = subprocess.run(["kcat", "-b", server.bootstrap, *arguments], input=messages, text=True,
                          capture_output=True, timeout=KCAT_SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


def consume(server, topic):
    """All messages of the topic, as kcat's JSON; a topic that does not exist has none."""
    listed = kcat(server, "-L", "-J")
    if topic not in [each["topic"] for each in json.loads(listed)["topics"]]:
        return []
    lines = kcat(server, "-C", "-q", "-e", "-J", "-o", "beginning", "-t", topic).splitlines()
    return [json.loads(line) for line in lines]


def headers_of(message):
    pairs = message["headers"]
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def produce(server, topic, *messages):
    """(key, value) pairs; values without a line feed."""
    kcat(server, "-P", "-t", topic, "-K", "|", "-X", "enable.idempotence=true",
         messages="".join(f"{key}|{value}\n" for key, value in messages))


def environment(server, **more):
    return {"PENSTOCK_KAFKA_BROKERS": server.bootstrap, **more}


def check(node, name):
    """One line of /health/ready: (status, message)."""
    checks = {c["name"]: c for c in node.get("/health/ready").json()["checks"]}
    line = checks.get(name, {"status": "not shown"})
    return line["status"], line.get("message", "")
