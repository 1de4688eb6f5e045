"""Kafka takes and gives messages by kcat and keeps them over restart and crash."""

import subprocess

import pytest
from testserver.process import Unavailable, require

from .conftest import processes_in

KCAT_SECONDS = 60


@pytest.fixture(scope="module", autouse=True)
def kcat_installed():
    try:
        require("kcat", "kcat")
    except Unavailable as reason:
        pytest.skip(f"skipped: {reason}")


def kcat(server, *arguments, messages=""):
    done = subprocess.run(["kcat", "-b", server.bootstrap, *arguments], input=messages, text=True,
                          capture_output=True, timeout=KCAT_SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


def produce(server, topic, *messages):
    # acks=all and idempotence: the broker must really support a modern producer.
    kcat(server, "-P", "-t", topic, "-X", "enable.idempotence=true",
         messages="".join(f"{message}\n" for message in messages))


def consume(server, topic):
    return sorted(kcat(server, "-C", "-q", "-e", "-o", "beginning", "-t", topic).split())


def test_gives_back_what_was_produced(kafka):
    produce(kafka, "round_trip", "one", "two", "three")
    assert consume(kafka, "round_trip") == ["one", "three", "two"]


def test_new_topics_have_four_partitions(kafka):
    produce(kafka, "partitioned", "one")
    assert 'topic "partitioned" with 4 partitions' in kcat(kafka, "-L", "-t", "partitioned")


def test_consumer_group_gets_the_messages(kafka):
    produce(kafka, "grouped", "one", "two")
    got = kcat(kafka, "-q", "-G", "some_group", "-c", "2", "-X", "auto.offset.reset=earliest",
               "grouped")
    assert sorted(got.split()) == ["one", "two"]


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_keeps_messages_on_the_same_port(kafka, end):
    produce(kafka, f"kept_over_{end}", "one")
    port, pid = kafka.port, kafka.pid
    getattr(kafka, end)()
    assert processes_in(str(kafka.dir)) == []
    kafka.start()
    assert kafka.port == port
    assert kafka.pid != pid
    assert consume(kafka, f"kept_over_{end}") == ["one"]
