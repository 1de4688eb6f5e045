"""The HTTP front of the real daemon, spoken to in raw bytes: framing, limits, tokens, TLS, shutdown."""
import json
import re
import signal
import socket
import ssl
import subprocess

import pytest
from conftest import wait_until

GET = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Wire:
    """One connection. Every wait is bounded, so what would hang fails instead."""

    def __init__(self, daemon, wrap=None):
        self.socket = socket.create_connection((daemon.address, daemon.port), timeout=20)
        if wrap:
            self.socket = wrap(self.socket)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def _fill(self):
        data = self.socket.recv(65536)
        self.buffer += data
        return bool(data)

    def receive(self, head_only=False):
        """(status, headers, body) of the next answer."""
        while b"\r\n\r\n" not in self.buffer:
            assert self._fill(), f"closed after {self.buffer!r}"
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
        size = 0 if head_only else int(headers.get("content-length", 0))
        while len(self.buffer) < size:
            assert self._fill(), "closed inside a body"
        body, self.buffer = self.buffer[:size], self.buffer[size:]
        return int(lines[0].split()[1]), headers, body

    def ask(self, data):
        self.send(data)
        return self.receive()

    def is_closed(self):
        """The server ends the connection in good order, with nothing more to read."""
        return not self.buffer and not self._fill()


def post(path, body, *headers):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json",
             f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def is_error(answer, status):
    """The error body of the contract, its request id also in the header."""
    got, headers, body = answer
    value = json.loads(body)
    assert got == status == value["status"], value
    assert headers["content-type"] == "application/json"
    assert value["error"] and value["message"]
    assert value["requestId"] == headers["x-request-id"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value["timestamp"])
    return headers, value


def test_keeps_connections_and_answers_pipelined_requests_in_order(daemon):
    daemon.put_config()
    with Wire(daemon) as wire:
        events = [post("/api/v1/slots", json.dumps(
            {"eventId": f"p{i}", "requestedTime": "2030-01-01T00:00:00Z"}).encode()) for i in range(100)]
        lookups = [f"GET /api/v1/slots/p{i} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() for i in range(100)]
        wire.send(b"".join(e + g for e, g in zip(events, lookups, strict=True)))
        for i in range(100):
            for _ in range(2):
                status, _, body = wire.receive()
                assert status == 200 and json.loads(body)["eventId"] == f"p{i}"


def test_head_and_connection_close(daemon):
    with Wire(daemon) as wire:
        wire.send(b"HEAD /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, headers, _ = wire.receive(head_only=True)
        assert status == 200 and int(headers["content-length"]) > 0
        status, headers, _ = wire.ask(b"GET /health/live HTTP/1.0\r\n\r\n")
        assert status == 200 and headers["connection"] == "close"
        assert wire.is_closed()


def test_errors_say_what_is_wrong(daemon):
    with Wire(daemon) as wire:
        is_error(wire.ask(b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404)
        headers, _ = is_error(wire.ask(post("/health/live", b"{}")), 405)
        assert headers["allow"] == "GET, HEAD"
        headers, _ = is_error(
            wire.ask(b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: mine-7\r\n\r\n"), 404)
        assert headers["x-request-id"] == "mine-7"
        is_error(wire.ask(b"GET /api/v1/slots/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400)
        is_error(wire.ask(b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
                          b"Content-Length: 2\r\n\r\n{}"), 415)
        is_error(wire.ask(b"TRACE /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405)


MALFORMED = [
    b"GARBAGE\r\n\r\n",
    b"GET /health/live HTTP/1.1\r\n\r\n",
    b"GET /health/live HTTP/1.1\nHost: h\n\n",
    b"GET /health/live HTTP/2.0\r\nHost: localhost\r\n\r\n",
    b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
    b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
    b"GET /health/live HTTP/1.1\r\nHost: h\r\nHost: g\r\n\r\n",
    b"GET /health/live HTTP/1.1\r\nHost : h\r\n\r\n",
    b"CONNECT h:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"0\r\n\r\n" + GET,
    b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc" + GET,
    b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: xchunked\r\n\r\n" + GET,
    (b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n"),
    (b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n"),
]


def test_malformed_requests_get_one_400_and_the_end(daemon):
    for data in MALFORMED:
        with Wire(daemon) as wire:
            headers, _ = is_error(wire.ask(data), 400)
            assert headers["connection"] == "close", data
            assert wire.is_closed(), data


def test_over_long_line_and_headers(daemon):
    with Wire(daemon) as wire:
        is_error(wire.ask(b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), 414)
    # A client that sends all of it before it reads still gets the answer.
    with Wire(daemon) as wire:
        is_error(wire.ask(GET[:-2] + b"X: " + b"a" * 3_000_000 + b"\r\n\r\n"), 431)


def test_over_large_bodies(daemon):
    with Wire(daemon) as wire:
        is_error(wire.ask(post("/api/v1/slots", b" " * (1024 * 1024 + 1))), 413)
    with Wire(daemon) as wire:
        is_error(wire.ask(post("/api/v1/slots/batch", b" " * (16 * 1024 * 1024 + 1))), 413)
    with Wire(daemon) as wire:  # one that is only announced
        is_error(wire.ask(b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Content-Length: 9999999999\r\n\r\n"),
                 413)
    with Wire(daemon) as wire:
        wire.send(b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(40):
            wire.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        is_error(wire.receive(), 413)
    # The largest that fits is read; that it is no JSON is another matter.
    assert daemon.post("/api/v1/slots", b" " * (1024 * 1024)).status == 400


def test_expect_continue(daemon):
    daemon.put_config()
    body = json.dumps({"eventId": "expected", "requestedTime": "2030-01-01T00:00:00Z"}).encode()
    with Wire(daemon) as wire:
        request = post("/api/v1/slots", body, "Expect: 100-continue")
        assert wire.ask(request[:-len(body)])[0] == 100
        assert wire.ask(body)[0] == 200
        is_error(wire.ask(b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Expect: 100-continue\r\n"
                          b"Content-Length: 2000000\r\n\r\n"), 413)
    with Wire(daemon) as wire:
        is_error(wire.ask(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Expect: magic\r\n\r\n"), 417)


def test_slow_requests(start_daemon):
    daemon = start_daemon(env={"PENSTOCK_HTTP_HEADER_TIMEOUT": "PT0.3S", "PENSTOCK_HTTP_BODY_GRACE": "PT0.3S",
                               "PENSTOCK_HTTP_IDLE_TIMEOUT": "PT0.6S"})
    with Wire(daemon) as header, Wire(daemon) as body, Wire(daemon) as idle:
        header.send(b"GET /health/live HTTP/1.1\r\n")
        body.send(b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Content-Length: 10\r\n\r\nabc")
        assert idle.ask(GET)[0] == 200
        is_error(header.receive(), 408)
        is_error(body.receive(), 408)
        assert header.is_closed() and body.is_closed()
        assert idle.is_closed()


def test_too_many_connections(start_daemon):
    daemon = start_daemon(env={"PENSTOCK_HTTP_CONNECTIONS_MAX": "2"})
    with Wire(daemon) as one, Wire(daemon) as two:
        assert one.ask(GET)[0] == 200 and two.ask(GET)[0] == 200
        with Wire(daemon) as three:
            headers, _ = is_error(three.ask(GET), 503)
            assert headers["retry-after"] == "1"
    wait_until(lambda: daemon.get("/health/live").status == 200, what="room for a connection")


def test_tokens_open_what_they_are_for_and_are_never_logged(start_daemon, tmp_path):
    (tmp_path / "admin").write_text("admin-token-12345678\n")
    (tmp_path / "api").write_text("api-token-123456789\n")
    daemon = start_daemon("--admin-token-file", str(tmp_path / "admin"), "--api-token-file",
                          str(tmp_path / "api"), env={"PENSTOCK_LOG_LEVEL": "debug"})

    def status(path, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = daemon.get(path, headers=headers)
        if answer.status == 401:
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        return answer.status

    admin, api = "/admin/rate-limit/config", "/api/v1/slots/none"
    assert [status(admin), status(admin, "api-token-123456789"), status(admin, "wrong")] == [401] * 3
    assert status(admin, "admin-token-12345678") == 404
    assert [status(api), status(api, "wrong")] == [401] * 2
    assert [status(api, "api-token-123456789"), status(api, "admin-token-12345678")] == [404] * 2
    assert status("/health/live") == 200
    # Refused before the body is read.
    with Wire(daemon) as wire:
        is_error(wire.ask(b"POST /api/v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Content-Length: 1000000\r\n\r\n"), 401)
    daemon.stop()
    assert "http.request" in daemon.log()
    for secret in ("admin-token-12345678", "api-token-123456789"):
        assert secret not in daemon.log()


@pytest.fixture
def certificate(tmp_path):
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "1", "-subj", "/CN=localhost", "-out", files[0], "-keyout", files[1]],
                   check=True, capture_output=True)
    return files


def test_tls(start_daemon, certificate):
    daemon = start_daemon(env={"PENSTOCK_HTTP_TLS_CERTIFICATE_FILE": str(certificate[0]),
                               "PENSTOCK_HTTP_TLS_KEY_FILE": str(certificate[1])})
    context = ssl.create_default_context(cafile=certificate[0])
    with Wire(daemon, lambda s: context.wrap_socket(s, server_hostname="localhost")) as wire:
        for _ in range(3):
            assert wire.ask(GET)[0] == 200
        is_error(wire.ask(post("/api/v1/slots", b"x" * 500_000)), 400)
    with socket.create_connection((daemon.address, daemon.port), timeout=20) as plain:
        plain.sendall(GET)
        try:
            assert not plain.recv(1000).startswith(b"HTTP")
        except ConnectionResetError:
            pass  # as good as an end: the server did not read the rest of what is no TLS
    with Wire(daemon, lambda s: context.wrap_socket(s, server_hostname="localhost")) as wire:
        assert wire.ask(GET)[0] == 200


def test_term_finishes_what_is_in_flight(daemon):
    daemon.put_config()
    body = json.dumps({"eventId": "last", "requestedTime": "2030-01-01T00:00:00Z"}).encode()
    request = post("/api/v1/slots", body)
    with Wire(daemon) as busy, Wire(daemon) as idle:
        assert idle.ask(GET)[0] == 200
        busy.send(request[:-5])
        wait_until(lambda: daemon.metric("penstock_http_connections") >= 3, what="the connections")
        daemon.process.send_signal(signal.SIGTERM)
        assert idle.is_closed()
        status, headers, _ = busy.ask(request[-5:])
        assert status == 200 and headers["connection"] == "close"
        assert busy.is_closed()
    assert daemon.stop() == 0


def test_counts_requests(daemon):
    daemon.get("/health/live")
    daemon.get("/nowhere")
    text = daemon.get("/metrics").body.decode()
    assert 'penstock_http_requests_total{method="GET",status="200"} 1\n' in text
    assert 'penstock_http_requests_total{method="GET",status="404"} 1\n' in text
    assert "penstock_http_request_duration_seconds_count 2\n" in text
