"""`penstock bench` against a real daemon: it sends what it says, counts what comes back, and stays within its bounds."""
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import threading
import time

import pytest
from conftest import ROOT, binary, clean_environment, put_log_type, wait_until


@pytest.fixture
def bench(penstock):
    """bench(*args) -> (exit code, figures): a run with --json."""

    def run(*args, **options):
        done = penstock("bench", *args, "--json", goes_first=True, **options)
        assert done.stdout.startswith("{"), (args, done.stdout, done.stderr)
        return done.returncode, json.loads(done.stdout)

    return run


def allowed(daemon):
    metrics = daemon.get("/metrics").body.decode()
    return sum(float(value) for value in re.findall(r"^throttlex_allowed_total\S* (\S+)", metrics, re.M))


def resp_port(daemon):
    return int(re.search(r" resp=127\.0\.0\.1:(\d+)", daemon.ready_line).group(1))


# --- what it sends is what the daemon counts ---

def test_throttle_ends_after_the_requests_and_the_daemon_has_seen_each(daemon, bench):
    code, figures = bench("throttle", "--url", daemon.url, "--requests", 2_000, "--connections", 8, "--threads", 2,
                          "--keys", 100)
    assert code == 0, figures
    assert figures["answers"] == 2_000 and figures["statuses"] == {"200": 2_000}
    assert sum(figures["errors"].values()) == 0
    assert figures["bytesSent"] > 2_000 * 100 and figures["bytesReceived"] > 2_000 * 200
    latency = figures["latencyMicros"]
    assert latency["count"] == 2_000
    assert 0 < latency["min"] <= latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["p999"] <= latency["max"]
    assert allowed(daemon) == 2_000


def test_refusals_by_a_limit_are_answers_and_no_errors(daemon, bench):
    code, figures = bench("throttle", "--url", daemon.url, "--requests", 500, "--connections", 4, "--key", "one")
    assert code == 0
    assert figures["statuses"]["429"] >= 300 and figures["statuses"]["200"] >= 100  # the default policy: 100, then 10/s


def test_the_batch_routes_count_entries(daemon, bench):
    daemon.put_config(max_per_window=100_000)
    code, figures = bench("slots", "--url", daemon.url, "--requests", 20, "--batch", 100, "--connections", 2)
    assert code == 0 and figures["answers"] == 20 and figures["entriesTaken"] == 2_000
    shown = daemon.get("/api/v1/windows?config=default&from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z").json()
    assert sum(window["used"] for window in shown["windows"]) == 2_000, "every event was new"
    code, figures = bench("throttle", "--url", daemon.url, "--requests", 3, "--batch", 60, "--connections", 1, "--key", "k")
    assert figures["answers"] == 3 and 100 <= figures["entriesTaken"] <= 120


def test_slots_by_one_are_new_and_named_after_the_run(daemon, bench):
    daemon.put_config(max_per_window=100_000)
    _, first = bench("slots", "--url", daemon.url, "--requests", 300, "--connections", 4)
    _, second = bench("slots", "--url", daemon.url, "--requests", 300, "--connections", 4)
    assert first["statuses"] == second["statuses"] == {"200": 300}
    assert first["idPrefix"] != second["idPrefix"]
    shown = daemon.get("/api/v1/windows?config=default&from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z").json()
    assert sum(window["used"] for window in shown["windows"]) == 600


@pytest.mark.parametrize("pipeline", [1, 16])
def test_resp_counts_decisions(start_daemon, bench, pipeline):
    daemon = start_daemon("--resp", "127.0.0.1:0")
    code, figures = bench("resp", "--resp", f"127.0.0.1:{resp_port(daemon)}", "--requests", 5_000, "--pipeline", pipeline,
                          "--connections", 5, "--threads", 2)
    assert code == 0 and figures["statuses"] == {"allowed": 5_000}, figures
    code, figures = bench("resp", "--resp", f"127.0.0.1:{resp_port(daemon)}", "--requests", 100, "--pipeline", pipeline,
                          "--connections", 1, "--burst", 9, "--count", 1, "--period", 3_600, "--key", "hot")
    assert code == 0 and figures["statuses"] == {"allowed": 10, "limited": 90}


def test_resp_says_the_password(start_daemon, bench, tmp_path):
    password = tmp_path / "password"
    password.write_text("the-password-for-tests\n")
    password.chmod(0o600)
    daemon = start_daemon("--resp", "127.0.0.1:0", "--resp-password-file", str(password))
    address = f"127.0.0.1:{resp_port(daemon)}"
    code, figures = bench("resp", "--resp", address, "--requests", 50, "--connections", 2, "--password-file", password)
    assert code == 0 and figures["statuses"] == {"allowed": 50}
    password.write_text("another\n")
    began = time.monotonic()
    code, figures = bench("resp", "--resp", address, "--connections", 2, "--password-file", password, "--duration", "PT1M")
    assert code == 1 and figures["answers"] == 0 and "WRONGPASS" in figures["firstProblem"]
    assert time.monotonic() - began < 30, "it does not go on for the whole duration"


def test_dispatch_enqueues_and_watches_the_queue_drain(daemon, bench):
    put_log_type(daemon, "BENCH")
    code, figures = bench("dispatch", "BENCH", "--url", daemon.url, "--requests", 10, "--batch", 100, "--drain")
    assert code == 0, figures
    assert figures["entriesTaken"] == 1_000
    assert figures["drain"]["items"] == 1_000 and figures["drain"]["complete"]
    assert daemon.get("/api/v1/dispatch/BENCH/summary").json()["counts"]["DISPATCHED"] == 1_000
    code, figures = bench("dispatch", "BENCH", "--url", daemon.url, "--requests", 5, "--batch", 1, "--at", "now+PT1H",
                          "--drain", "--drain-for", "PT0.3S")
    assert code == 1 and figures["statuses"] == {"202": 5} and not figures["drain"]["complete"]


def test_an_unknown_item_type_is_said_before_any_load(daemon, penstock):
    run = penstock("bench", "dispatch", "NOBODY", "--url", daemon.url)
    assert run.returncode == 1 and run.stderr.startswith("penstock: 404 Not Found: "), run


# --- the open loop ---

def test_an_open_loop_keeps_its_rate(start_daemon, bench):
    daemon = start_daemon(goes_first=True)
    code, figures = bench("throttle", "--url", daemon.url, "--rate", 400, "--duration", "PT1.5S", "--connections", 8)
    assert code == 0, figures
    assert figures["rate"] == 400 and figures["answers"] == 600


class Stalling(threading.Thread):
    """Answers every request at once, but for one pause of its own after the first 25."""

    def __init__(self, seconds):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.seconds = seconds
        self.start()

    def run(self):
        answered = 0
        poll = select.epoll()
        poll.register(self.listener, select.EPOLLIN)
        peers = {}
        while True:
            for fd, _ in poll.poll():
                if fd == self.listener.fileno():
                    peer, _ = self.listener.accept()
                    peers[peer.fileno()] = peer
                    poll.register(peer, select.EPOLLIN)
                    continue
                bytes_read = peers[fd].recv(65536)
                if not bytes_read:
                    poll.unregister(fd)
                    peers.pop(fd).close()
                    continue
                for _ in range(bytes_read.count(b"POST ")):
                    answered += 1
                    if answered == 25:
                        time.sleep(self.seconds)  # the stall itself
                    peers[fd].sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")


def test_a_stall_shows_in_every_request_that_it_delays(bench):
    """The proof against coordinated omission: of 200 requests in 2 s, those due during a stall of 1 s waited for it."""
    _, opened = bench("throttle", "--url", Stalling(1).url, "--rate", 100, "--duration", "PT2S", "--connections", 4)
    assert opened["answers"] == 200
    assert opened["latencyMicros"]["p50"] >= 1_000
    assert opened["latencyMicros"]["p90"] >= 600_000, "nearly half were due while it stood still"
    assert opened["latencyMicros"]["max"] >= 990_000
    _, closed = bench("throttle", "--url", Stalling(1).url, "--requests", 200, "--duration", "PT5S", "--connections", 4)
    assert closed["latencyMicros"]["p90"] < 600_000, "a closed loop only sees those that were under way"


def test_what_could_not_be_sent_counts_with_its_wait(bench):
    code, figures = bench("throttle", "--url", Stalling(5).url, "--rate", 100, "--duration", "PT1.5S", "--connections", 1,
                          "--timeout", "PT0.3S")
    assert code == 1
    assert figures["errors"]["unsent"] > 0 or figures["errors"]["timeout"] > 0
    assert figures["latencyMicros"]["count"] == 150, "every request that was due"


# --- bounds, mistakes and ends ---

def test_it_ends_with_the_duration(daemon, bench):
    began = time.monotonic()
    code, figures = bench("throttle", "--url", daemon.url, "--duration", "PT0.5S", "--connections", 4)
    assert code == 0 and 0.4 < figures["seconds"] < 10 and time.monotonic() - began < 30


def test_ctrl_c_ends_it_with_the_summary(daemon):
    process = subprocess.Popen([binary(), "bench", "throttle", "--url", daemon.url, "--duration", "PT1M", "--connections",
                                "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())
    wait_until(lambda: allowed(daemon) > 0, what="the first decision")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130 and err == ""
    assert "(interrupted)" in out and "p999" in out


def test_the_progress_line_is_for_a_terminal_only(daemon):
    ours, theirs = pty.openpty()
    command = [binary(), "bench", "throttle", "--url", daemon.url, "--duration", "PT0.8S", "--connections", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=clean_environment())
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass  # the other side is closed
    os.close(ours)
    assert process.wait(20) == 0
    process.stdout.close()
    assert re.search(rb"\r\d\.\d of 0\.8 s  [\d,]+ answers  [\d,]+/s", shown), shown
    assert shown.endswith(b"\r\x1b[K"), "the line is gone at the end"
    plain = subprocess.run(command, capture_output=True, env=clean_environment(), timeout=20)
    assert plain.stderr == b""


def test_another_machine_is_refused_unless_it_is_named_twice(penstock):
    for args in (["throttle", "--url", "http://192.0.2.1:8080"], ["resp", "--resp", "192.0.2.1:6380"],
                 ["throttle", "--url", "http://192.0.2.1:8080", "--yes-load", "192.0.2.2"]):
        run = penstock("bench", *args, "--requests", 1)
        assert run.returncode == 2, run
        assert run.stderr == ("penstock: 192.0.2.1 is not this machine; to put load on it, say --yes-load 192.0.2.1\n")
    assert "--yes-load HOST" in penstock("bench", "slots", "--help").stdout
    assert "--yes-load HOST" in penstock("bench", "--help").stdout


@pytest.mark.parametrize("args, words", [(["throttle", "--url", "https://127.0.0.1:1"], "plain http only"),
                                         (["throttle", "--duration", "PT2H"], "at most PT1H"),
                                         (["throttle", "--connections", "0"], "whole number from 1"),
                                         (["throttle", "--connections", "1", "--threads", "2"], "--connections"),
                                         (["slots", "--at", "soon"], "--at"), (["resp", "--resp", "x/y"], "ADDR:PORT"),
                                         (["dispatch", "T", "--context", "{"], "--context")])
def test_a_wrong_command_line_is_2(penstock, args, words):
    run = penstock("bench", *args)
    assert run.returncode == 2 and words in run.stderr and run.stdout == "", run


def test_a_daemon_that_is_not_there_is_3(penstock, free_url):
    run = penstock("bench", "throttle", "--url", free_url)
    assert run.returncode == 3 and run.stderr == f"penstock: cannot reach {free_url[7:]}: Connection refused\n"


def test_refusals_of_another_kind_are_1_and_the_first_is_shown(start_daemon, penstock, tmp_path):
    daemon = start_daemon()
    run = penstock("bench", "slots", "--config", "nope", "--url", daemon.url, "--requests", 10, "--connections", 2)
    assert run.returncode == 1
    assert "the first that went wrong: 404 Not Found: " in run.stdout and re.search(r"^  404 +10$", run.stdout, re.M)
    token = tmp_path / "api.token"
    token.write_text("the-api-token-for-tests\n")
    token.chmod(0o600)
    guarded = start_daemon("--api-token-file", str(token), data_dir=tmp_path / "guarded")
    args = ["bench", "throttle", "--url", guarded.url, "--requests", 10, "--connections", 2]
    assert re.search(r"^  401 +10$", penstock(*args).stdout, re.M)
    assert penstock(*args, "--token-file", token).returncode == 0


def test_it_goes_on_when_the_daemon_comes_back(start_daemon):
    daemon = start_daemon()
    process = subprocess.Popen([binary(), "bench", "throttle", "--url", daemon.url, "--duration", "PT3S", "--connections",
                                "4", "--json"], stdout=subprocess.PIPE, text=True, env=clean_environment())
    wait_until(lambda: allowed(daemon) > 0, what="the first decision")
    daemon.kill()
    again = start_daemon("--http", f"127.0.0.1:{daemon.port}")
    out, _ = process.communicate(timeout=30)
    figures = json.loads(out)
    assert process.returncode == 1 and figures["errors"]["lost"] > 0
    assert allowed(again) > 0


def test_the_commands_of_the_docs_work(start_daemon, penstock):
    daemon = start_daemon("--resp", "127.0.0.1:0", goes_first=True)
    daemon.put_config(max_per_window=1_000_000)
    put_log_type(daemon, "BENCH")
    text = (ROOT / "docs" / "command-line.md").read_text()
    block = next(b for b in re.findall(r"```bash\n(.*?)```", text, re.S) if b.startswith("penstock bench"))
    assert len(block.splitlines()) == 5
    for line in block.splitlines():
        words = line.replace("127.0.0.1:6380", f"127.0.0.1:{resp_port(daemon)}").replace(" --duration PT10S", "").split()
        run = penstock(*words[1:], "--duration", "PT0.3S", env={"PENSTOCK_URL": daemon.url}, goes_first=True)
        assert run.returncode == 0, (line, run.stdout, run.stderr)
