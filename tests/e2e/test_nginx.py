"""deploy/nginx in a real nginx: an application, nginx in front of it, and Penstock asked by auth_request. The
shipped files are used as they are, but for the addresses, and for the fail mode where a test says so."""
import http.client
import http.server
import json
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest
from conftest import ROOT, Answer, wait_until
from test_throttle import add_policy, remaining

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
TRUST = {"PENSTOCK_THROTTLE_FILTER_TRUSTED_PROXIES": "127.0.0.1"}


def nginx_problem():
    if NGINX is None:
        return "nginx is not installed (tools/setup test)"
    built = subprocess.run([NGINX, "-V"], capture_output=True, text=True, timeout=20).stderr
    return None if "http_auth_request_module" in built else "this nginx has no auth_request"


pytestmark = pytest.mark.skipif(nginx_problem() is not None, reason=f"skipped: {nginx_problem()}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Application(http.server.ThreadingHTTPServer):
    """Says 200 to everything but /forbidden and /broken, and remembers what it was asked."""

    def __init__(self):
        self.seen = []
        super().__init__(("127.0.0.1", 0), ApplicationHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class ApplicationHandler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, body))
        said = b"from the application"
        self.send_response({"/forbidden": 403, "/broken": 500}.get(self.path, 200))
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


class Nginx:
    """The shipped files in a folder laid out like /etc/nginx."""

    def __init__(self, folder, penstock_port, application_port, fail_mode, token):
        self.port = free_port()
        etc = folder / "nginx"
        shutil.copytree(ROOT / "deploy" / "nginx", etc)
        for file, old, new in (("conf.d/penstock.conf", "127.0.0.1:8080", f"127.0.0.1:{penstock_port}"),
                               ("conf.d/penstock.conf", 'default "";',
                                f'default "Bearer {token}";' if token else 'default "";'),
                               ("conf.d/example-site.conf", "127.0.0.1:8000", f"127.0.0.1:{self.port}"),
                               ("conf.d/example-site.conf", "127.0.0.1:9000", f"127.0.0.1:{application_port}"),
                               ("conf.d/example-site.conf", "include snippets/penstock-fail-open.conf",
                                f"include snippets/penstock-fail-{fail_mode}.conf")):
            text = (etc / file).read_text()
            assert old in text, (file, old)
            (etc / file).write_text(text.replace(old, new))
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n"
                            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;\n" if pathlib.Path("/proc/self").stat().st_uid == 0 else ""
        (etc / "nginx.conf").write_text(
            f"{user}daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
            f"events {{}}\nhttp {{ access_log off;\n{temporary}include conf.d/*.conf;\n}}\n")
        self.error_log = folder / "error.log"
        self.process = subprocess.Popen([NGINX, "-p", str(etc), "-c", str(etc / "nginx.conf")],
                                        stderr=subprocess.PIPE)
        wait_until(self.listens, what="nginx")

    def listens(self):
        assert self.process.poll() is None, self.process.stderr.read().decode()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def get(self, path="/", headers=None, method="GET", body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        self.process.stderr.close()


@pytest.fixture
def start_site(start_daemon, tmp_path):
    """start_site(fail_mode="open", env=TRUST, args=(), token=None) -> (nginx, daemon, application)"""
    to_stop = []

    def start(fail_mode="open", env=None, args=(), token=None):
        daemon = start_daemon(*args, env=TRUST if env is None else env)
        application = Application()
        to_stop.append(application.shutdown)
        to_stop.append(application.server_close)
        nginx = Nginx(tmp_path, daemon.port, application.server_port, fail_mode, token)
        to_stop.insert(0, nginx.stop)
        return nginx, daemon, application

    yield start
    for stop in to_stop:
        stop()


def assert_from_application(answer):
    assert answer.status == 200 and answer.body == b"from the application", (answer.status, answer.body)


@pytest.mark.parametrize("fail_mode", ["open", "closed"])
def test_allowed_requests_reach_the_application_with_the_limit_in_the_headers(start_site, fail_mode):
    nginx, daemon, application = start_site(fail_mode)
    add_policy(daemon, "ip:*", capacity=5)
    answer = nginx.get("/v1/pay?x=1", method="POST", body=b"the body")
    assert_from_application(answer)
    assert application.seen == [("POST", "/v1/pay?x=1", b"the body")]
    assert answer.headers["X-RateLimit-Limit"] == "5"
    assert answer.headers["X-RateLimit-Remaining"] == "4"
    assert answer.headers["RateLimit"].startswith('"ip:*";r=4;t=')
    assert answer.headers["RateLimit-Policy"].startswith('"ip:*";q=5;w=')
    assert "Retry-After" not in answer.headers


@pytest.mark.parametrize("fail_mode", ["open", "closed"])
def test_denied_requests_get_429_and_retry_after(start_site, fail_mode):
    nginx, daemon, application = start_site(fail_mode)
    add_policy(daemon, "ip:*", capacity=2, refillRate=0.01)
    answers = [nginx.get() for _ in range(4)]
    assert [a.status for a in answers] == [200, 200, 429, 429]
    assert len(application.seen) == 2
    denied = answers[2]
    assert 98 <= int(denied.headers["Retry-After"]) <= 100
    assert denied.headers["X-RateLimit-Limit"] == "2" and denied.headers["X-RateLimit-Remaining"] == "0"
    assert denied.headers["RateLimit"].startswith('"ip:*";r=0;t=')
    assert denied.headers["RateLimit-Policy"] == '"ip:*";q=2;w=200'
    assert denied.headers.get_all("Retry-After") == [denied.headers["Retry-After"]]
    assert denied.headers["Content-Type"] == "application/json"
    body = json.loads(denied.body)
    assert body["status"] == 429 and body["message"] == "Rate limit exceeded" and body["requestId"]
    assert_from_application(nginx.get("/public/x"))  # a location without the limit


def test_spoofed_headers_buy_nothing(start_site):
    nginx, daemon, _ = start_site()
    add_policy(daemon, "ip:*", capacity=3)
    statuses = [nginx.get(headers={"X-Forwarded-For": f"198.51.100.{i}", "X-User-Id": f"u{i}",
                                   "X-Real-IP": f"198.51.100.{i}", "X-API-Key": f"k{i}"}).status
                for i in range(6)]
    assert statuses == [200] * 3 + [429] * 3
    assert remaining(daemon, "ip:127.0.0.1") == 0 and remaining(daemon, "ip:198.51.100.1") == 3


def test_user_and_route_come_from_nginx_alone(start_site):
    nginx, daemon, _ = start_site(env={**TRUST, "PENSTOCK_THROTTLE_FILTER_RULES": "ip+route,user"})
    add_policy(daemon, "*|route:/v1/pay", capacity=1)
    assert nginx.get("/v1/pay?a=1").status == 200
    spoofed = {"X-Original-URI": "/v1/free", "X-Forwarded-Uri": "/v1/free", "X-User-Id": "7"}
    assert nginx.get("/v1//pay?b=2", spoofed).status == 429
    assert nginx.get("/v1/free").status == 200
    assert remaining(daemon, "user:7") == 100


def test_without_trust_all_clients_of_nginx_share_its_address(start_site):
    nginx, daemon, _ = start_site(env={})
    add_policy(daemon, "ip:127.0.0.1", capacity=1)
    assert [nginx.get().status for _ in range(2)] == [200, 429]


def test_an_answer_of_the_application_is_not_taken_for_one_of_the_limiter(start_site):
    nginx, _, _ = start_site("closed")
    for path, status in (("/forbidden", 403), ("/broken", 500)):
        answer = nginx.get(path)
        assert answer.status == status and answer.body == b"from the application"


def test_limiter_down_and_fail_open_lets_requests_pass(start_site):
    nginx, daemon, application = start_site("open")
    add_policy(daemon, "ip:*", capacity=1)
    assert [nginx.get().status for _ in range(2)] == [200, 429]
    daemon.kill()
    for _ in range(3):
        answer = nginx.get()
        assert_from_application(answer)
        assert "X-RateLimit-Limit" not in answer.headers
    assert len(application.seen) == 4
    assert "Connection refused" in nginx.error_log.read_text() or "upstream" in nginx.error_log.read_text()


def test_limiter_down_and_fail_closed_answers_503(start_site):
    nginx, daemon, application = start_site("closed")
    assert_from_application(nginx.get())
    daemon.kill()
    for _ in range(3):
        answer = nginx.get()
        assert answer.status == 503 and answer.headers["Retry-After"] == "1"
        assert json.loads(answer.body)["message"] == "The rate limiter cannot be asked"
    assert len(application.seen) == 1


def is_stopped(pid):
    """Whether the signal has reached every thread: one that still runs may answer."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/stat")
    return all(task.read_text().rpartition(")")[2].split()[0] == "T" for task in tasks)


@pytest.mark.parametrize("fail_mode,status", [("open", 200), ("closed", 503)])
def test_a_limiter_that_hangs_is_down(start_site, fail_mode, status):
    nginx, daemon, _ = start_site(fail_mode)
    assert nginx.get().status == 200
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: is_stopped(daemon.pid), what="a stop of all threads")
        begun = time.monotonic()
        assert nginx.get().status == status
        assert time.monotonic() - begun < 5  # 0.5 s, on an idle machine
    finally:
        daemon.process.send_signal(signal.SIGCONT)
    wait_until(lambda: nginx.get().status == 200, what="the limiter")


def test_nginx_has_the_token_and_clients_need_none(start_site, tmp_path):
    (tmp_path / "token").write_text("the-token-of-nginx")
    nginx, daemon, _ = start_site("closed", args=("--api-token-file", str(tmp_path / "token")), token="the-token-of-nginx")
    add_policy(daemon, "ip:*", capacity=1)
    assert [nginx.get().status for _ in range(2)] == [200, 429]


@pytest.mark.parametrize("fail_mode,status", [("open", 200), ("closed", 503)])
def test_a_wrong_token_is_a_limiter_that_did_not_decide(start_site, tmp_path, fail_mode, status):
    (tmp_path / "token").write_text("the-token-of-nginx")
    nginx, _, _ = start_site(fail_mode, args=("--api-token-file", str(tmp_path / "token")))
    answer = nginx.get(headers={"Authorization": "Bearer secret"})  # the client's own is not passed on
    assert answer.status == status and "WWW-Authenticate" not in answer.headers
