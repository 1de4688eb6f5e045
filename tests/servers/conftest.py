"""Shared by the tests of the test servers: the command `run`, and a look at what stayed behind."""

import json
import os
import select
import subprocess
from pathlib import Path

import pytest
from testserver.process import StartFailed, wait_until

RUN = Path(__file__).resolve().parents[2] / "tools" / "testserver" / "run"
FIRST_START_SECONDS = 3000  # an empty cache: Temporal is compiled
GONE_SECONDS = 5


def processes_in(folder):
    """Pids of all processes that name the folder in their command line or stand in it."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            place = os.readlink(entry / "cwd")
        except OSError:
            continue  # ended while we looked
        if os.fsencode(folder) in command or place.startswith(folder):
            found.append(int(entry.name))
    return found


def assert_ends(condition, what):
    """The condition stops to hold within a few seconds."""
    try:
        wait_until(lambda: not condition(), GONE_SECONDS, what)
    except StartFailed:
        pytest.fail(f"{what} still there after {GONE_SECONDS} s: {condition()}")


def assert_gone(folder):
    assert_ends(lambda: processes_in(folder), "processes")
    assert_ends(lambda: os.path.exists(folder), f"folder {folder}")


class Supervisor:
    """A running `tools/testserver/run`; `info` is the line it printed."""

    def __init__(self, *arguments, environment=None):
        self.process = subprocess.Popen(
            [RUN, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})
        ready, _, _ = select.select([self.process.stdout], [], [], FIRST_START_SECONDS)
        assert ready, f"{arguments}: no answer within {FIRST_START_SECONDS} s"
        self.info = json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


@pytest.fixture
def supervise():
    """Starts `run` with arguments; skips if the server cannot be had; ends it after the test."""
    started = []

    def start(*arguments):
        supervisor = Supervisor(*arguments)
        started.append(supervisor)
        if "skipped" in supervisor.info:
            pytest.skip(f"skipped: {supervisor.info['skipped']}")
        return supervisor

    yield start
    for supervisor in started:
        supervisor.close()
