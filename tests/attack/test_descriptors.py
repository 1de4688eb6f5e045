"""More idle connections than the process may have files: the store keeps what it needs, and connections get the rest."""
import http.client
import json
import re
import socket
import subprocess

import pytest
from conftest import binary, clean_environment, wait_until

FILES = 256
BATCHES, BATCH = 12, 10_000  # more than two write buffers of the store: it has to open files


@pytest.fixture
def with_few_files(tmp_path):
    """with_few_files(number) -> a program that is the daemon with that limit of open files, soft and hard."""

    def make(number):
        program = tmp_path / f"penstock-{number}"
        program.write_text(f'#!/bin/sh\nulimit -n {number}\nexec {binary()} "$@"\n')
        program.chmod(0o755)
        return str(program)

    return make


def lowered(log):
    return next(json.loads(line) for line in log.splitlines() if "daemon.connections_lowered" in line)


def test_idle_connections_leave_the_store_its_files(start_daemon, with_few_files):
    daemon = start_daemon("--resp", "127.0.0.1:0", program=with_few_files(FILES))
    told = lowered(daemon.log())
    limits = told["http_connections_max"], told["resp_connections_max"]
    assert told["files_allowed"] == FILES and sum(limits) + told["files_reserved"] <= FILES and min(limits) >= 8, told
    assert "LimitNOFILE=65536" in told["fix"]
    daemon.put_config(max_per_window=10_000_000)
    first = http.client.HTTPConnection(daemon.address, daemon.port, timeout=30)
    first.request("GET", "/health/ready")
    assert first.getresponse().read()
    resp_port = int(re.search(r"resp=\S+:(\d+)", daemon.ready_line)[1])
    idle = []
    for port, limit in ((daemon.port, limits[0]), (resp_port, limits[1])):
        links = [socket.create_connection((daemon.address, port), timeout=20) for _ in range(FILES + 100)]
        idle += links
        # Told so, or closed at once; no refused one stays. `first` is one of those that were let in.
        refused = links[limit:]
        answers = {link.recv(4096)[:12] for link in refused}
        assert answers <= {b"", b"HTTP/1.1 503", b"-ERR max num"}, answers
    for batch in range(BATCHES):
        body = json.dumps([{"eventId": f"{batch}-{i}-{'x' * 80}", "requestedTime": "2030-01-01T00:00:00Z"}
                           for i in range(BATCH)])
        first.request("POST", "/api/v1/slots/batch", body, {"Content-Type": "application/json"})
        answer = first.getresponse()
        text = answer.read()
        assert answer.status == 200 and b'"error"' not in text, text[:500]
    first.request("GET", "/health/ready")
    answer = first.getresponse()
    assert answer.status == 200, answer.read()
    answer.read()
    assert "accept_failed" not in daemon.log()
    for link in idle:
        link.close()
    wait_until(lambda: daemon.get("/health/live").status == 200, what="room for a connection")


def test_the_doctor_says_the_same_numbers(start_daemon, with_few_files, tmp_path):
    daemon = start_daemon(program=with_few_files(FILES))
    told = lowered(daemon.log())
    run = subprocess.run([with_few_files(FILES), "doctor", "--json", "--data-dir", str(tmp_path / "other")],
                         capture_output=True, text=True, env=clean_environment(), timeout=60, check=False)
    files = next(each for each in json.loads(run.stdout)["checks"] if each["name"] == "limits.files")
    assert files["status"] == "WARN" and files["fix"] == told["fix"]
    assert f"{told['files_reserved']} are kept" in files["found"], files
    assert f"http.connections-max to {told['http_connections_max']}" in files["found"], files


def test_too_few_files_are_refused_in_one_sentence(with_few_files, tmp_path):
    run = subprocess.run([with_few_files(128), "serve", "--data-dir", str(tmp_path / "data"), "--http", "127.0.0.1:0"],
                         capture_output=True, text=True, env=clean_environment(), timeout=60, check=False)
    assert run.returncode == 1 and run.stdout == ""
    assert "128 open files are allowed" in run.stderr and "ulimit -n 65536" in run.stderr
    assert not (tmp_path / "data").exists()
