"""Session fixtures that give tests a real server; each starts when the first test asks for it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import testserver
from testserver.server import keep_in_memory

keep_in_memory()


def serve(server):
    """For a generator fixture: starts the server, or skips the test if it cannot be had."""
    try:
        server.__enter__()
    except testserver.Unavailable as reason:
        pytest.skip(f"skipped: {reason}")
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(scope="session")
def postgres():
    yield from serve(testserver.Postgres())


@pytest.fixture(scope="session")
def redis_server():
    yield from serve(testserver.Redis())


@pytest.fixture(scope="session")
def redis_cluster():
    yield from serve(testserver.RedisCluster())


@pytest.fixture(scope="session")
def mariadb():
    yield from serve(testserver.MariaDb())


@pytest.fixture(scope="session")
def kafka():
    yield from serve(testserver.Kafka())


@pytest.fixture(scope="session")
def temporal():
    yield from serve(testserver.Temporal())
