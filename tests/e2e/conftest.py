"""Fixtures for tests against the real binary: a daemon on a free port with a temporary data folder."""
import http.client
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
READY_SECONDS = 20  # a start takes tens of milliseconds; a loaded machine gets slack


def binary(program="penstock") -> str:
    return str(pathlib.Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build" / "release")) / program)


def clean_environment(extra: dict | None = None) -> dict:
    """The environment without the developer's own PENSTOCK_* settings."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
    env.update(extra or {})
    return env


def go_first(command: list) -> list:
    """The command, as a process that need not wait for a core whatever else the machine does: for one that is judged by the
    times at which its calls arrive. Where that is not allowed it is a process like any other."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return command
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return ["chrt", "--rr", "1", *command]


class Answer:
    def __init__(self, status: int, headers, body: bytes):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)


class Daemon:
    """One running daemon. `stop()` ends it in order, `kill()` as a crash would."""

    def __init__(self, data_dir, args=(), env=None, log_path=None, program="penstock", goes_first=False):
        self.data_dir = pathlib.Path(data_dir)
        self.log_path = pathlib.Path(log_path or self.data_dir.parent / "daemon.log")
        command = [binary(program), "serve", "--data-dir", str(self.data_dir)]
        if "--http" not in args:
            command += ["--http", "127.0.0.1:0"]
        command += list(args)
        if goes_first:
            command = go_first(command)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=clean_environment(env))
        self.ready_line = self._wait_ready()
        address = re.search(r"http=(\S+)", self.ready_line).group(1)
        host, port = address.rsplit(":", 1)
        self.address, self.port = host.strip("[]"), int(port)
        self.url = f"http://{address}"

    def _wait_ready(self) -> str:
        readable, _, _ = select.select([self.process.stdout], [], [], READY_SECONDS)
        line = self.process.stdout.readline().decode() if readable else ""
        if not line.startswith("ready "):
            self.kill()
            raise RuntimeError(f"the daemon did not start: {line!r}\n{self.log()}")
        return line.strip()

    @property
    def pid(self) -> int:
        return self.process.pid

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def request(self, method, path, body=None, headers=None, timeout=30) -> Answer:
        """A body is JSON unless the headers say otherwise."""
        headers = dict(headers or {})
        if body is not None and not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection(self.address, self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path, headers=None, **kwargs) -> Answer:
        return self.request("GET", path, headers=headers, **kwargs)

    def post(self, path, value=None, headers=None, **kwargs) -> Answer:
        """`value` is sent as JSON; bytes or str are sent as they are."""
        body = value if isinstance(value, (bytes, str)) else json.dumps(value)
        return self.request("POST", path, body=body,
                            headers={"Content-Type": "application/json", **(headers or {})}, **kwargs)

    def put_config(self, name="default", max_per_window=100, window="PT4S", **more) -> Answer:
        answer = self.post("/admin/rate-limit/config",
                           {"configName": name, "maxPerWindow": max_per_window, "windowSize": window,
                            **more})
        assert answer.status == 200, answer.body
        return answer

    def metric(self, name) -> float:
        """The value of one unlabelled sample."""
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        raise KeyError(name)

    def rss_kib(self) -> int:
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))

    def stop(self, timeout=30) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self._reap(timeout)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self._reap(10)

    def _reap(self, timeout) -> int:
        code = self.process.wait(timeout)
        self.process.stdout.close()
        return code


@pytest.fixture
def start_daemon(tmp_path):
    """start_daemon(*args, env=None, data_dir=None, program="penstock", goes_first=False) -> Daemon; all are ended with the
    test."""
    yield from daemons_in(tmp_path)


def daemons_in(folder):
    """For a generator fixture: what `start_daemon` is."""
    started = []

    def start(*args, env=None, data_dir=None, program="penstock", goes_first=False) -> Daemon:
        daemon = Daemon(data_dir or folder / "data", args, env, folder / f"log{len(started)}.txt", program, goes_first)
        started.append(daemon)
        return daemon

    yield start
    for daemon in started:
        if daemon.process.poll() is None:
            daemon.kill()


@pytest.fixture
def daemon(start_daemon) -> Daemon:
    return start_daemon()


@pytest.fixture(scope="module")
def start_shared_daemon(tmp_path_factory):
    """As start_daemon, for daemons of all tests of a file."""
    yield from daemons_in(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def shared_daemon(start_shared_daemon) -> Daemon:
    """For tests that do not mind what the others of their file left behind, and leave alone what those need."""
    return start_shared_daemon()


@pytest.fixture(scope="session")
def penstock():
    """penstock(*args, env=None, goes_first=False, **run_options) -> CompletedProcess of the command line."""

    def run(*args, env=None, goes_first=False, **options):
        options.setdefault("timeout", 120)
        command = [binary(), *map(str, args)]
        return subprocess.run(go_first(command) if goes_first else command, capture_output=True, text=True,
                              env=clean_environment(env), **options)

    return run


def wait_until(condition, seconds=10, what="the condition", every=0.01):
    """Polls `condition` until it holds; for events that offer nothing to wait on. `what` may be a function, which is asked
    when the time is over."""
    started = time.monotonic()
    while not condition():
        waited = time.monotonic() - started
        assert waited < seconds, f"{what() if callable(what) else what} did not come within {seconds} s"
        # Most conditions are calls: asked a hundred times a second they are a load of their own.
        time.sleep(max(every, min(waited / 50, 0.05)))


def any_moment(chance, seconds):
    """Returns at a moment that nobody chose, within so many seconds: what is killed then is killed in the middle of anything."""
    time.sleep(chance.uniform(0, seconds))


def peak_kib(process) -> int:
    """The most memory the process ever had, by the last look at it before it ends."""
    peak = 0
    while process.poll() is None:
        try:
            found = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
        except FileNotFoundError:
            break
        peak = int(found.group(1)) if found else peak
        try:
            process.wait(0.01)
        except subprocess.TimeoutExpired:
            pass
    assert process.wait(60) == 0
    return peak


def read_terminal(terminal) -> bytes:
    """All that is written to the other side of a pty until it is closed; closes this side."""
    shown = b""
    while True:
        select.select([terminal], [], [], 30)
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    return shown


@pytest.fixture
def free_url():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def put_log_type(daemon, name, **settings):
    """An item type whose items end up in the log."""
    body = {"enabled": True, "jitterWindowMs": 0, "sink": {"type": "log"}, **settings}
    answer = daemon.request("PUT", f"/admin/dispatch/types/{name}", json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
