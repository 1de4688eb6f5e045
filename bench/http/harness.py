"""What HTTP benchmarks share: the daemon and its peer as context managers, wrk, and interleaved rounds.

    with Penstock(build) as ours, Nginx() as peer:
        figures = interleave({"penstock": lambda: wrk(ours.url + "/x"), "nginx": lambda: wrk(peer.url + "/")})
        print_ratio("http.x_vs_nginx", figures["penstock"].per_second / figures["nginx"].per_second, goal=0.6)
"""
import dataclasses
import os
import pathlib
import re
import select
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

START_SECONDS = 20
NGINX = shutil.which("nginx") or "/usr/sbin/nginx"  # Debian keeps it out of users' PATH


@dataclasses.dataclass
class Figures:
    per_second: float
    p50_us: float
    p99_us: float
    errors: int = 0
    max_us: float = 0  # where it is known


class Server:
    """A process in a temporary folder of its own, ended with the block."""

    env: dict = {}  # further variables

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="penstock-bench-")
        try:
            self.process = subprocess.Popen(self.command(pathlib.Path(self.folder.name)),
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            env={**{k: v for k, v in os.environ.items()
                                                    if not k.startswith("PENSTOCK_")}, **self.env})
            self.url = self.wait_ready()
        except BaseException:
            self.folder.cleanup()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(START_SECONDS)
        self.process.stdout.close()
        self.folder.cleanup()

    def rss_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


class Penstock(Server):
    """The daemon of a build folder, with further arguments of `penstock serve` and variables."""

    def __init__(self, build, *args, env=None):
        self.binary = str(pathlib.Path(build) / "penstock")
        self.args = args
        self.env = env or {}

    def command(self, folder):
        return [self.binary, "serve", "--data-dir", str(folder / "data"), "--http", "127.0.0.1:0", *self.args]

    def wait_ready(self):
        readable, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline().decode() if readable else ""
        found = re.search(r"\bhttp=(\S+)", line)
        if not line.startswith("ready ") or not found:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"the daemon did not start: {line!r}")
        resp = re.search(r"\bresp=\S+:(\d+)", line)
        self.resp_port = int(resp.group(1)) if resp else None
        return f"http://{found.group(1)}"


class Nginx(Server):
    """Debian's nginx answering 200 with `body` itself: as little work as a server can do."""

    def __init__(self, body='{"status":"UP"}', workers=2):
        self.body = body
        self.workers = workers
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @staticmethod
    def version():
        return subprocess.run([NGINX, "-v"], capture_output=True, text=True).stderr.strip()

    def command(self, folder):
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in
                            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        conf = folder / "nginx.conf"
        conf.write_text(f"""
            daemon off; worker_processes {self.workers}; pid {folder}/pid; error_log {folder}/error.log;
            events {{ worker_connections 1024; }}
            http {{
              access_log off; keepalive_requests 1000000000; default_type application/json;
              {temporary}
              server {{ listen 127.0.0.1:{self.port}; location / {{ return 200 '{self.body}'; }} }}
            }}""")
        return [NGINX, "-p", str(folder), "-c", str(conf)]

    def wait_ready(self):
        url = f"http://127.0.0.1:{self.port}"
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(url, timeout=1).read()
                return url
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.process.kill()
                    self.process.wait()
                    raise RuntimeError("nginx did not start") from None
                time.sleep(0.05)


def _micros(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


def wrk(url, connections=64, seconds=5, threads=1, script=None, env=None):
    """One run of wrk. A script (see slots.lua) makes the requests; errors are answers that are not 2xx or 3xx."""
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency", url]
    if script:
        command += ["-s", str(script)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds + 60,
                         env={**os.environ, **(env or {})}).stdout
    latency = dict(re.findall(r"^\s+(50|99)%\s+(\S+)$", out, re.M))
    errors = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    longest = re.search(r"^\s+Latency\s+\S+\s+\S+\s+(\S+)", out, re.M)
    return Figures(per_second=float(re.search(r"Requests/sec:\s+(\S+)", out).group(1)),
                   max_us=_micros(longest.group(1)),
                   p50_us=_micros(latency["50"]), p99_us=_micros(latency["99"]),
                   errors=(int(errors.group(1)) if errors else 0) + (sum(map(int, broken.groups())) if broken else 0))


def interleave(contenders, rounds=3):
    """Runs each in turn, `rounds` times, so that a change of the machine's mood meets all; gives the medians."""
    runs = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            figures = run()
            runs[name].append(figures)
            print(f"  {name}: {figures.per_second:,.0f}/s  p50 {figures.p50_us:,.0f} us  "
                  f"p99 {figures.p99_us:,.0f} us  errors {figures.errors}", flush=True)
    medians = {}
    for name, figures in runs.items():
        medians[name] = Figures(*(statistics.median(getattr(f, field) for f in figures)
                                  for field in ("per_second", "p50_us", "p99_us")),
                                errors=sum(f.errors for f in figures))
        print(f"{name}: median {medians[name].per_second:,.0f}/s  p50 {medians[name].p50_us:,.0f} us  "
              f"p99 {medians[name].p99_us:,.0f} us  errors {medians[name].errors}", flush=True)
    return medians


def print_ratio(name, value, goal):
    print(f"ratio {name} {value:.2f} goal {goal:.2f}", flush=True)
