"""The command `run`: what it prints, and that no server outlives it, its parent or its guardian."""

import json
import os
import signal
import subprocess
import sys

import pytest

from .conftest import RUN, assert_ends, assert_gone, processes_in

KINDS = [["postgres"], ["redis"], ["redis", "--cluster"], ["mariadb"], ["kafka"], ["temporal"]]

# A parent that starts `run` as a grandchild of the test and leaves its stdin open in the test.
PARENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=0, stdout=subprocess.PIPE, text=True)
sys.stdout.write(child.stdout.readline())
sys.stdout.flush()
child.wait()
"""


def named(arguments):
    return " ".join(arguments)


@pytest.mark.parametrize("arguments", KINDS, ids=named)
def test_end_of_stdin_leaves_nothing(supervise, arguments):
    supervisor = supervise(*arguments)
    info = supervisor.info
    assert info["kind"] == arguments[0]
    assert info["host"] == "127.0.0.1"
    assert info["pid"] in processes_in(info["dir"])
    supervisor.process.stdin.close()
    assert supervisor.process.wait(timeout=30) == 0
    assert processes_in(info["dir"]) == []
    assert not os.path.exists(info["dir"])


@pytest.mark.parametrize("arguments", KINDS, ids=named)
def test_kill_of_the_supervisor_leaves_nothing(supervise, arguments):
    supervisor = supervise(*arguments)
    supervisor.process.kill()
    assert_gone(supervisor.info["dir"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_leaves_nothing(supervise, number):
    supervisor = supervise("redis")
    supervisor.process.send_signal(number)
    assert supervisor.process.wait(timeout=30) == 0
    assert not os.path.exists(supervisor.info["dir"])
    assert processes_in(supervisor.info["dir"]) == []


@pytest.mark.parametrize("arguments", [["postgres"], ["mariadb"], ["redis"]], ids=named)
def test_kill_of_the_guardian_ends_the_server(supervise, arguments):
    # Here the kernel's parent-death signal alone has to work, also after the change of user.
    supervisor = supervise(*arguments)
    folder = supervisor.info["dir"]
    os.kill(parent_of(supervisor.info["pid"]), signal.SIGKILL)
    assert_ends(lambda: processes_in(folder), "processes")
    supervisor.process.stdin.close()
    assert supervisor.process.wait(timeout=30) == 0
    assert not os.path.exists(folder)


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def test_death_of_the_parent_leaves_nothing():
    reader, writer = os.pipe()
    parent = subprocess.Popen([sys.executable, "-c", PARENT, RUN, "redis"], stdin=reader,
                              stdout=subprocess.PIPE, text=True)
    info = json.loads(parent.stdout.readline())
    parent.kill()
    parent.wait()
    assert_gone(info["dir"])
    os.close(writer)
    os.close(reader)
    parent.stdout.close()


def run_to_its_end(*arguments, **options):
    """Runs `run` with a stdin that stays open, so that it ends for reasons of its own."""
    reader, writer = os.pipe()
    try:
        return subprocess.run([RUN, *arguments], stdin=reader, capture_output=True, text=True,
                              timeout=60, **options)
    finally:
        os.close(writer)
        os.close(reader)


def test_missing_package_is_a_skip_with_a_reason():
    done = run_to_its_end("redis", env={"PATH": "/nowhere"})
    assert done.returncode == 77
    answer = json.loads(done.stdout)
    assert answer["kind"] == "redis"
    assert "redis-server" in answer["skipped"]


def test_unreachable_registry_is_a_skip_with_a_reason(tmp_path):
    broken = tmp_path / "bin" / "mvn"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho registry is unreachable\nexit 1\n")
    broken.chmod(0o755)
    cache = tmp_path / "cache"
    done = run_to_its_end("kafka", env={**os.environ, "PENSTOCK_CACHE": str(cache),
                                        "PATH": f"{broken.parent}:{os.environ['PATH']}"})
    assert done.returncode == 77, done.stderr
    assert "registry is unreachable" in json.loads(done.stdout)["skipped"]
    assert all(name.endswith(".lock") for name in os.listdir(cache)), "half an entry was left"


def test_bad_setting_fails_with_the_log():
    done = run_to_its_end("redis", "--set", "nonsense=1")
    assert done.returncode == 1
    assert "nonsense" in done.stderr


def test_help_teaches():
    done = subprocess.run([RUN, "--help"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0
    for word in ("postgres", "redis", "mariadb", "kafka", "temporal", "JSON", "77", "examples"):
        assert word in done.stdout
