"""A web page that its visitor did not mean to give power over the daemon of this machine."""
import http.server
import json
import socket
import threading

import pytest
from test_console import browser, run  # noqa: F401  (browser is a fixture)

POLICY = "/admin/policies"
CONFIG = "/admin/rate-limit/config"
CALLS = [
    (POLICY, json.dumps({"keyPattern": "evil:*", "algorithm": "TOKEN_BUCKET", "capacity": 1, "refillRate": 1})),
    (CONFIG, json.dumps({"configName": "evil", "maxPerWindow": 1, "windowSize": "PT4S"})),
    ("/api/config", json.dumps({"userId": "evil", "limit": 1, "windowSeconds": 60})),
    ("/api/v1/throttle/check", json.dumps({"key": "evil"})),
]
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def site():
    """The address of a page of evil.example."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"<!doctype html><link rel=icon href=data:,><title>evil</title>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://evil.example:{server.server_port}/"
    server.shutdown()
    server.server_close()


def nothing_was_made(daemon):
    assert b"evil" not in daemon.get(POLICY).body
    assert b"evil" not in daemon.get(CONFIG).body
    assert b"evil" not in daemon.get("/admin/throttle/top").body


def raw(daemon, *lines, body=b""):
    """The whole answer to a request made of these lines."""
    with socket.create_connection((daemon.address, daemon.port), timeout=20) as link:
        link.sendall("\r\n".join([*lines, f"Content-Length: {len(body)}", "Connection: close", "", ""]).encode() + body)
        answer = b""
        while piece := link.recv(65536):
            answer += piece
    head, _, rest = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode(), rest


def test_a_page_of_another_site_creates_nothing(browser, daemon, site):  # noqa: F811
    run("foreign", daemon.url, json.dumps({"page": site, "calls": CALLS}))
    seen = daemon.get("/metrics").body.decode()
    assert f'penstock_http_requests_total{{method="POST",status="403"}} {len(CALLS)}' in seen  # they did arrive
    nothing_was_made(daemon)


def test_a_page_whose_name_points_here_reads_and_creates_nothing(browser, daemon):  # noqa: F811
    run("rebinding", daemon.url, json.dumps({"calls": CALLS}))
    nothing_was_made(daemon)


@pytest.mark.parametrize("path,body", CALLS)
def test_a_body_without_a_type_is_refused(daemon, path, body):
    status, _, answer = raw(daemon, f"POST {path} HTTP/1.1", "Host: localhost", body=body.encode())
    assert (status, json.loads(answer)["error"]) == (415, "Unsupported Media Type")
    nothing_was_made(daemon)


def test_a_host_that_is_not_the_daemons_is_misdirected(start_daemon):
    daemon = start_daemon(env={"PENSTOCK_HTTP_ALLOWED_HOSTS": "penstock.example.com,proxy.example.com:8443"})
    for path, found in (("/", 200), ("/health/live", 200), ("/metrics", 200), ("/admin/policies", 200), ("/api/v1/slots/a", 404)):
        for host, wanted in (("evil.example", 421), (f"evil.example:{daemon.port}", 421), ("127.0.0.1.evil.example", 421),
                             (f"localhost:{daemon.port}", found), (f"x.localhost:{daemon.port}", found), ("127.0.0.9", found),
                             ("[::1]", found), ("penstock.example.com", found), ("proxy.example.com:8443", found),
                             ("proxy.example.com", 421)):
            status, _, answer = raw(daemon, f"GET {path} HTTP/1.1", f"Host: {host}")
            assert status == wanted, (path, host)
            if status == 421:
                assert json.loads(answer)["error"] == "Misdirected Request"


def test_a_token_takes_the_place_of_the_host(start_daemon, tmp_path):
    for name in ("admin", "api"):
        (tmp_path / name).write_text(name * 8)
        (tmp_path / name).chmod(0o600)
    daemon = start_daemon("--admin-token-file", str(tmp_path / "admin"), "--api-token-file", str(tmp_path / "api"))
    bearer = "Authorization: Bearer " + "admin" * 8
    assert raw(daemon, "GET /admin/policies HTTP/1.1", "Host: proxy.example.com", bearer)[0] == 200
    assert raw(daemon, "GET /admin/policies HTTP/1.1", "Host: proxy.example.com")[0] == 401
    assert raw(daemon, "GET /metrics HTTP/1.1", "Host: proxy.example.com")[0] == 421  # open on loopback
    # A page of another site is refused whatever it knows.
    foreign = ("Host: proxy.example.com", "Origin: https://evil.example", "Content-Type: application/json", bearer)
    assert raw(daemon, "POST /admin/policies HTTP/1.1", *foreign, body=b"{}")[0] == 403
    assert raw(daemon, "DELETE /admin/policies/none HTTP/1.1", *foreign)[0] == 403
    assert raw(daemon, "GET /admin/policies HTTP/1.1", *foreign)[0] == 200


def test_the_page_of_a_request_is_judged_on_every_route_that_changes_something(start_daemon):
    daemon = start_daemon(env={"PENSTOCK_HTTP_ALLOWED_ORIGINS": "https://admin.example.com"})
    routes = [(route["method"], route["path"]) for route in daemon.get("/admin/routes").json()]
    own = f"http://127.0.0.1:{daemon.port}"
    changing = [each for each in routes if each[0] not in ("GET", "HEAD", "OPTIONS") and each[1] != "/throttle/filter"]
    assert len(changing) > 20
    for method, pattern in changing:
        path = pattern.replace("{", "").replace("}", "")
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            assert daemon.request(method, path, headers={**JSON, **headers}).status == 403, (method, path)
        for headers in ({"Origin": own}, {"Origin": "https://admin.example.com", "Sec-Fetch-Site": "cross-site"}, {}):
            assert daemon.request(method, path, headers={**JSON, **headers}).status != 403, (method, path)


def test_a_proxy_may_repeat_any_request_to_the_filter(daemon):
    status, _, _ = raw(daemon, "POST /throttle/filter HTTP/1.1", "Host: shop.example.com", "Origin: https://other.example",
                       "Sec-Fetch-Site: cross-site", body=b"{}")
    assert status == 204


def test_answers_are_neither_kept_nor_guessed_at(daemon):
    paths = ("/admin/policies", "/api/v1/slots/none", "/nowhere", "/health/live", "/metrics", "/throttle/filter")
    for path in paths:
        _, head, _ = raw(daemon, f"GET {path} HTTP/1.1", "Host: localhost")
        assert head.count("X-Content-Type-Options: nosniff") == 1, path
        assert head.count("Cache-Control: no-store") == 1, path
    _, head, _ = raw(daemon, "GET / HTTP/1.1", "Host: localhost")
    assert head.count("X-Content-Type-Options: nosniff") == head.count("Cache-Control: ") == 1
