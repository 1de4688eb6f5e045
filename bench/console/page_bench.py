"""What opening the console costs: the bytes of its first paint, and the daemon's time for a day of the timeline.

A first paint is `/`, the files it names and what the overview asks for, as a browser that takes brotli gets them, and the
history that the live stream begins with: that of an hour, reckoned from the length of a row. The timeline is a day of
windows of 4 s, all 21,600 of them in use, asked for over one connection. Its time is the longer of two:
what the client waits, and what the daemon's threads spend.

Usage: page_bench.py BUILD_DIR
"""
import datetime
import gzip
import http.client
import json
import pathlib
import re
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "http")]

from console_bench import cpu_ns  # noqa: E402
from harness import Penstock, print_ratio  # noqa: E402

PAINT_MAX = 200 * 1024  # bytes
OPEN_MAX = 0.2  # s of the server
WINDOW = 4  # s
WINDOWS = 86_400 // WINDOW
BATCH = 10_000
ROUNDS = 21
HISTORY_ROWS = 180 + (3600 - 180) // 10  # three minutes second by second, the rest of the hour at every tenth
ASKED = ["/admin/status", "/admin/routes", "/admin/dispatch/types?limit=1000"]  # by the overview, as it opens
DAY = datetime.datetime(2200, 1, 1, tzinfo=datetime.UTC)


class Client:
    def __init__(self, url):
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)

    def call(self, method, path, body=None, headers=None):
        """The body as it came, and how many bytes all of the answer took."""
        self.connection.request(method, path, None if body is None else json.dumps(body),
                                {"Content-Type": "application/json", **(headers or {})})
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            sys.exit(f"bench: {method} {path} answered {answer.status}: {data[:200]!r}")
        head = sum(len(name) + len(value) + 4 for name, value in answer.getheaders()) + 32
        return data, head + len(data)

    def history(self):
        """How many bytes the stream begins with once the daemon has run for an hour."""
        self.connection.request("GET", "/admin/events")
        answer = self.connection.getresponse()
        lines = list(iter(answer.readline, b"\n"))
        self.connection.close()
        event = lines[-1]
        longest = max(len(row) + 3 for row in event[event.index(b"[[") + 2:].split(b"],["))
        return sum(map(len, lines[:-1])) + event.index(b"[[") + longest * HISTORY_ROWS


def first_paint(client):
    page = client.call("GET", "/", headers={"Accept-Encoding": "gzip"})[0]
    files = re.findall(r'(?:src|href)="(/[^"]+)"', gzip.decompress(page).decode())
    if not any(name.startswith("/assets/") for name in files):
        sys.exit("bench: this binary was built without the console")
    sizes = {path: client.call("GET", path, headers={"Accept-Encoding": "br, gzip"})[1] for path in ["/", *files, *ASKED]}
    sizes["/admin/events, after an hour"] = client.history()
    for path, size in sizes.items():
        print(f"  {size:>7,} bytes {path}")
    return sum(sizes.values())


def text_of(window):
    return (DAY + datetime.timedelta(seconds=window * WINDOW)).isoformat()


def fill(client):
    client.call("POST", "/admin/rate-limit/config", {"configName": "default", "maxPerWindow": 10, "windowSize": f"PT{WINDOW}S"})
    for begin in range(0, WINDOWS, BATCH):
        events = [{"eventId": f"e{i}", "requestedTime": text_of(i)} for i in range(begin, min(begin + BATCH, WINDOWS))]
        client.call("POST", "/api/v1/slots/batch", events)


def open_timeline(client, pid):
    path = f"/api/v1/windows?config=default&from={text_of(0)}&to={text_of(WINDOWS)}".replace("+", "%2B")
    waits, spends = [], []
    for _ in range(ROUNDS):
        spent, begun = cpu_ns(pid), time.monotonic()
        body = client.call("GET", path)[0]
        waits.append(time.monotonic() - begun)
        spends.append((cpu_ns(pid) - spent) / 1e9)
    found = len(json.loads(body)["windows"])
    if found != WINDOWS:
        sys.exit(f"bench: {found} windows of {WINDOWS}")
    return statistics.median(waits), statistics.median(spends), len(body)


def main():
    with Penstock(sys.argv[1]) as daemon:
        client = Client(daemon.url)
        fill(client)
        wait, spent, size = open_timeline(client, daemon.process.pid)
        paint = first_paint(client)
    print(f"first paint: {paint:,} bytes")
    print(f"a day of {WINDOWS:,} windows: {wait * 1e3:.1f} ms until all {size:,} bytes are there, "
          f"{spent * 1e3:.1f} ms of CPU in the daemon")
    print_ratio("console.first_paint", PAINT_MAX / paint, 1)
    print_ratio("console.timeline_day", OPEN_MAX / max(wait, spent), 1)


if __name__ == "__main__":
    main()
