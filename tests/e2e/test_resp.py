"""The listener for Redis clients, spoken to by real ones and by hand."""
import re
import select
import socket
import subprocess
import threading
import time

import pytest
import redis
from conftest import daemons_in, wait_until

RESP = ("--resp", "127.0.0.1:0")


def resp_port(daemon) -> int:
    return int(re.search(r" resp=127\.0\.0\.1:(\d+)$", daemon.ready_line).group(1))


def serve(start_daemon):
    daemon = start_daemon(*RESP)
    daemon.resp = resp_port(daemon)
    return daemon


@pytest.fixture
def served(start_daemon):
    return serve(start_daemon)


@pytest.fixture(scope="module")
def shared_served(tmp_path_factory):
    """One for all tests that leave nothing behind."""
    for start_daemon in daemons_in(tmp_path_factory.mktemp("shared")):
        yield serve(start_daemon)


def connect(daemon, timeout=20) -> socket.socket:
    return socket.create_connection(("127.0.0.1", daemon.resp), timeout=timeout)


def read_exactly(sock, size) -> bytes:
    data = b""
    while len(data) < size:
        piece = sock.recv(min(size - len(data), 1 << 20))
        if not piece:
            break
        data += piece
    return data


def read_to_end(sock) -> bytes:
    data = b""
    while piece := sock.recv(1 << 16):
        data += piece
    return data


def request(*arguments) -> bytes:
    parts = [a if isinstance(a, bytes) else str(a).encode() for a in arguments]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def cli(daemon, *arguments, stdin=None) -> str:
    run = subprocess.run(["redis-cli", "-h", "127.0.0.1", "-p", str(daemon.resp), *map(str, arguments)],
                         capture_output=True, text=True, timeout=30, input=stdin)
    return run.stdout


# --- real clients

def test_redis_cli_throttles(served):
    assert cli(served, "CL.THROTTLE", "user", 15, 30, 60).split() == ["0", "16", "15", "-1", "2"]
    assert cli(served, "-3", "CL.THROTTLE", "user", 15, 30, 60).split() == ["0", "16", "14", "-1", "4"]
    assert cli(served, "PING") == "PONG\n"
    assert cli(served, "GET", "x") == "ERR unknown command 'GET', with args beginning with: 'x' \n\n"
    assert "redis_version:" in cli(served, "INFO")
    assert cli(served, stdin="PING\nECHO \"a b\"\nSELECT 0\n").split("\n") == ["PONG", "a b", "OK", ""]


def test_the_rows_of_redis_cell(served):
    """Those that need no waiting; the unit tests have the others, on a clock that they set."""
    client = redis.Redis(port=served.resp)
    throttle = lambda *a: client.execute_command("CL.THROTTLE", *a)
    assert throttle("a", 4, 1, 1000, 6) == [1, 5, 5, -1, 0]
    assert [throttle("a", 4, 1, 1000)[:3] for _ in range(5)] == [[0, 5, n] for n in (4, 3, 2, 1, 0)]
    limited = throttle("a", 4, 1, 1000)
    assert limited[:3] == [1, 5, 0] and 995 <= limited[3] <= 1000 and 4995 <= limited[4] <= 5000
    assert throttle("b", 2, 60, 6000, 3)[:3] == [0, 3, 0]
    assert throttle("b", 2, 60, 6000)[0] == 1
    assert throttle("b", 2, 60, 6000, -1)[:3] == [0, 3, 1]
    assert throttle("b", 2, 60, 6000, -50) == [0, 3, 3, -1, 0]
    for bad, message in ((("k",), "Usage: "), (("k", "x", 1, 1), "Couldn't parse as integer"),
                         (("k", 1, 0, 1), "Zero rates are not supported"),
                         (("k", 1, 1, 0), "Zero rates are not supported")):
        with pytest.raises(redis.ResponseError, match=message):
            throttle(*bad)


def test_python_redis_pipelines_and_names_itself(served):
    client = redis.Redis(port=served.resp, client_name="tests", decode_responses=True)
    assert client.ping() and client.echo("x") == "x"
    assert client.client_getname() == "tests"
    assert client.client_id() > 0
    assert client.info()["redis_version"] and "role" not in client.info("server")
    assert client.client_info()["name"] == "tests"
    assert client.config_get("save") == {"save": ""}
    assert "cl.throttle" in client.command()
    pipe = client.pipeline(transaction=False)
    for _ in range(1000):
        pipe.execute_command("CL.THROTTLE", "p", 499, 1, 1000)
    replies = pipe.execute()
    assert sum(reply[0] == 0 for reply in replies) == 500
    assert [reply[2] for reply in replies[:500]] == list(range(499, -1, -1))


def test_python_redis_wraps_its_pipelines_in_a_transaction(served):
    client = redis.Redis(port=served.resp)
    pipe = client.pipeline()  # MULTI and EXEC around it
    for _ in range(1000):
        pipe.execute_command("CL.THROTTLE", "t", 499, 1, 1000)
    replies = pipe.execute()
    assert [reply[2] for reply in replies[:500]] == list(range(499, -1, -1))
    assert sum(reply[0] for reply in replies) == 500
    pipe.execute_command("CL.THROTTLE", "u", 9, 1, 1000)
    pipe.get("x")
    with pytest.raises(redis.ResponseError, match="unknown command 'GET'"):
        pipe.execute()
    assert client.execute_command("CL.THROTTLE", "u", 9, 1, 1000, 0) == [0, 10, 10, -1, 0]


def test_a_deleted_key_starts_anew(served):
    client = redis.Redis(port=served.resp)
    assert client.execute_command("CL.THROTTLE", "d", 0, 1, 1000)[0] == 0
    assert client.execute_command("CL.THROTTLE", "d", 0, 1, 1000)[0] == 1
    assert client.delete("d", "nobody") == 1
    assert client.execute_command("CL.THROTTLE", "d", 0, 1, 1000)[0] == 0


def test_calls_are_in_the_totals_and_in_the_list_of_the_most_denied(served):
    before = served.get("/admin/metrics").json()
    client = redis.Redis(port=served.resp)
    for _ in range(5):
        client.execute_command("CL.THROTTLE", "busy", 1, 1, 1000)
    client.execute_command("CL.THROTTLE", "busy", 1, 1, 1000, 0)
    after = served.get("/admin/metrics").json()
    assert after["allowedTotal"] - before["allowedTotal"] == 2
    assert after["blockedTotal"] - before["blockedTotal"] == 3
    top = served.get("/admin/throttle/top-denied").json()
    assert {"key": "\x01busy", "denied": 3, "error": 0} in top
    assert served.metric("throttlex_blocked_total") == after["blockedTotal"]


def test_redis_benchmark_runs(served):
    base = ["redis-benchmark", "-h", "127.0.0.1", "-p", str(served.resp), "-c", "20", "--csv"]
    for more in (["-n", "20000", "-t", "ping"], ["-n", "20000", "-P", "16", "-t", "ping"],
                 ["-n", "20000", "-P", "16", "-r", "1000", "CL.THROTTLE", "k:__rand_int__", "15", "30", "60"]):
        run = subprocess.run(base + more, capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, run.stderr
        assert "rps" in run.stdout and "rror" not in run.stdout + run.stderr, run.stdout + run.stderr
    assert served.metric('penstock_resp_decisions_total{outcome="error"}') == 0
    decided = sum(served.metric(f'penstock_resp_decisions_total{{outcome="{o}"}}') for o in ("allowed", "limited"))
    assert decided >= 20000


# --- by hand

def test_commands_split_at_every_byte(served):
    text = (request("CL.THROTTLE", "split", 999, 1, 1000, 0) + b"PING\r\n" + request("ECHO", b"a\r\nb")
            + b"echo \"x y\"\r\n")
    answer = b"*5\r\n:0\r\n:1000\r\n:1000\r\n:-1\r\n:0\r\n+PONG\r\n$4\r\na\r\nb\r\n$3\r\nx y\r\n"
    with connect(served) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for cut in range(1, len(text)):
            sock.sendall(text[:cut])
            sock.sendall(text[cut:])
            assert read_exactly(sock, len(answer)) == answer, cut
        for i in range(len(text)):
            sock.sendall(text[i:i + 1])
        assert read_exactly(sock, len(answer)) == answer


def test_ten_thousand_pipelined(served):
    with connect(served) as sock:
        sock.sendall(request("CL.THROTTLE", "many", 9999, 1, 1000) * 10_000 + b"QUIT\r\n")
        replies = read_to_end(sock).split(b"*5\r\n")[1:]
    assert len(replies) == 10_000
    assert [int(r.split(b"\r\n")[2][1:]) for r in replies] == list(range(9999, -1, -1))


HOSTILE = {
    "count": (b"*1000000000\r\n", b"invalid multibulk length"),
    "count-beyond-64-bits": (b"*99999999999999999999999999\r\n", b"invalid multibulk length"),
    "count-without-end": (b"*" + b"1" * 100_000, b"too big mbulk count string"),
    "size": (b"*1\r\n$2000000000\r\n", b"invalid bulk length"),
    "size-negative": (b"*1\r\n$-5\r\n", b"invalid bulk length"),
    "size-beyond-64-bits": (b"*1\r\n$9223372036854775808\r\n", b"invalid bulk length"),
    "no-size": (b"*2\r\n$4\r\nPING\r\n:1\r\n", b"expected '$', got ':'"),
    "line-without-end": (b"x" * 200_000, b"too big inline request"),
    "quotes": (b"ECHO \"open\r\n", b"unbalanced quotes in request"),
    "sum": (b"*3\r\n" + (b"$60000\r\n" + b"x" * 60_000 + b"\r\n") * 3, b"too big request"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lengths_get_an_error_and_are_closed(shared_served, name):
    hostile, message = HOSTILE[name]
    with connect(shared_served) as sock:
        sock.sendall(hostile)
        assert read_to_end(sock) == b"-ERR Protocol error: " + message + b"\r\n"
    assert cli(shared_served, "PING") == "PONG\n"


def test_http_is_hung_up_on(served):
    body = b"CL.THROTTLE web 0 1 1000\r\n"
    with connect(served) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        assert read_to_end(sock) == b""
    assert cli(served, "CL.THROTTLE", "web", 0, 1, 1000).split()[0] == "0"
    assert "resp.http_request" in served.log()


def test_a_client_that_does_not_read_costs_little(served):
    before = served.rss_kib()
    flood = memoryview(request("ECHO", b"x" * 1000) * 50_000)
    left = {connect(served): flood for _ in range(20)}
    for sock in left:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        sock.setblocking(False)
    # Until none of them is read from any more, for a second.
    while writable := select.select([], [sock for sock, rest in left.items() if rest], [], 1)[1]:
        for sock in writable:
            left[sock] = left[sock][sock.send(left[sock][:1 << 20]):]
    assert sum(map(len, left.values())) > 0
    assert served.rss_kib() - before < 20 * 1024  # 20 of at most about 0.7 MiB, the sockets' own memory not counted
    assert cli(served, "PING") == "PONG\n"
    for sock in left:
        sock.close()
    wait_until(lambda: served.metric("penstock_resp_connections") == 0)


def test_unfinished_requests_cost_little(served):
    before = served.rss_kib()
    socks = [connect(served) for _ in range(100)]
    for sock in socks:
        sock.sendall(b"*3\r\n$60000\r\n" + b"x" * 60_000 + b"\r\n$40000\r\n" + b"y" * 39_000)
    assert cli(served, "PING") == "PONG\n"
    assert served.rss_kib() - before < 60 * 1024
    for sock in socks:
        sock.close()


def test_the_password_is_asked_for(start_daemon, tmp_path):
    path = tmp_path / "password"
    path.write_text("open sesame\n")
    path.chmod(0o600)
    daemon = start_daemon(*RESP, "--resp-password-file", str(path))
    daemon.resp = resp_port(daemon)
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=daemon.resp).ping()
    with pytest.raises(redis.ResponseError, match="WRONGPASS"):
        redis.Redis(port=daemon.resp, password="wrong").ping()
    client = redis.Redis(port=daemon.resp, password="open sesame")
    assert client.execute_command("CL.THROTTLE", "k", 1, 1, 1000)[0] == 0
    assert redis.Redis(port=daemon.resp, username="default", password="open sesame").ping()
    assert cli(daemon, "PING") == "NOAUTH Authentication required.\n\n"
    assert cli(daemon, "-3", "--user", "default", "--pass", "open sesame", "--no-auth-warning", "PING") == "PONG\n"
    assert "sesame" not in daemon.log()


def test_other_machines_need_the_password(penstock, tmp_path):
    run = penstock("check-config", "--resp", "0.0.0.0:6380")
    assert run.returncode == 2 and "resp.password-file is not set" in run.stderr
    path = tmp_path / "password"
    path.write_text("secret\n")
    assert penstock("check-config", "--resp", "0.0.0.0:6380", "--resp-password-file", path).returncode == 0
    run = penstock("check-config", "--resp", "0.0.0.0:6380", env={"PENSTOCK_AUTH": "none"})
    assert run.returncode == 0 and "every Redis client that can reach this address" in run.stdout


def test_it_is_off_unless_asked_for(daemon):
    assert "resp=" not in daemon.ready_line


def test_one_connection_too_many_is_told(start_daemon):
    daemon = start_daemon(*RESP, env={"PENSTOCK_RESP_CONNECTIONS_MAX": "2"})
    daemon.resp = resp_port(daemon)
    with connect(daemon) as a, connect(daemon) as b:
        for sock in (a, b):
            sock.sendall(b"PING\r\n")
            assert read_exactly(sock, 7) == b"+PONG\r\n"
        with connect(daemon) as c:
            assert read_to_end(c) == b"-ERR max number of clients reached\r\n"
        a.sendall(b"QUIT\r\n")
        assert read_to_end(a) == b"+OK\r\n"
        a.close()
        wait_until(lambda: daemon.metric("penstock_resp_connections") == 1)
    assert cli(daemon, "PING") == "PONG\n"


def test_keys_do_not_meet_those_of_http(served):
    assert cli(served, "CL.THROTTLE", "same", 0, 1, 1000).split()[0] == "0"
    assert cli(served, "CL.THROTTLE", "same", 0, 1, 1000).split()[0] == "1"
    assert served.post("/api/v1/throttle/check", {"key": "same"}).json()["remaining"] == 99


def test_people_see_the_limit_that_came_with_the_call(served):
    for _ in range(4):
        cli(served, "CL.THROTTLE", "seen", 2, 1, 1000)
    shown = served.get("/admin/metrics").json()["keys"]
    assert [(k["algorithm"], k["capacity"], k["currentTokens"], k["status"]) for k in shown if k["key"] == "\x01seen"] == [
        ("GCRA", 3, 0, "LIMITED")]


def test_usage_outlives_a_restart(start_daemon, tmp_path):
    daemon = start_daemon(*RESP)
    client = redis.Redis(port=resp_port(daemon))
    assert client.execute_command("CL.THROTTLE", "kept", 1, 1, 1000, 2)[0] == 0
    client.close()
    assert daemon.stop() == 0
    daemon = start_daemon(*RESP)
    assert redis.Redis(port=resp_port(daemon)).execute_command("CL.THROTTLE", "kept", 1, 1, 1000)[0] == 1


def test_sigterm_closes_in_order_under_load(served):
    """Every request that was answered was answered whole, the connections end, and the exit code is 0."""
    broken = []
    started = threading.Barrier(5)

    def load():
        with connect(served) as sock:
            call = request("CL.THROTTLE", "busy", 10**9, 1, 1)
            sock.sendall(call)
            received = sock.recv(1 << 16)
            started.wait()
            try:
                while True:
                    sock.sendall(call * 16)
                    piece = sock.recv(1 << 16)
                    if not piece:
                        break
                    received += piece
            except (ConnectionResetError, BrokenPipeError):
                return  # its last calls crossed our goodbye
            if not received.endswith(b"\r\n") or received.count(b"*5") * 5 != received.count(b":"):
                broken.append(received[-200:])

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    started.wait()
    idle = connect(served)
    began = time.monotonic()
    assert served.stop() == 0
    assert time.monotonic() - began < 8
    assert idle.recv(1) == b""
    idle.close()
    for thread in threads:
        thread.join(20)
    assert not broken
