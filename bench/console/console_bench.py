"""What the console's live stream costs: the daemon's CPU for it while throttle and slots are under full load and ten
viewers look on.

Two parts, both read off the kernel's account of each thread in nanoseconds. Taking and formatting the sample is done by one
thread, whose time under full load is read as it is. Writing it to the viewers is done by the threads that also serve
requests, so that is the difference between ten viewers and none of an idle daemon: the bytes are the same.

Usage: console_bench.py BUILD_DIR
"""
import pathlib
import socket
import statistics
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "http"), str(HERE.parent / "throttle")]

from harness import Penstock, print_ratio, wrk  # noqa: E402
from throttle_bench import add_policy  # noqa: E402

VIEWERS = 10
SECONDS = 10
ROUNDS = 3
GOAL = 0.01  # of a core
SAMPLER = "sampler"


def cpu_ns(pid, name=None):
    """CPU time so far of the threads of that name, or of all."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            if name is None or (task / "comm").read_text().strip() == name:
                total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            continue  # a thread that has ended
    return total


class Viewers:
    """Browsers' part: connections that read the stream and throw it away."""

    def __init__(self, url, count):
        host, port = url.removeprefix("http://").split(":")
        self.read = [0] * count
        self.sockets = [socket.create_connection((host, int(port))) for _ in range(count)]
        self.threads = [threading.Thread(target=self.look, args=(i,), daemon=True) for i in range(count)]

    def look(self, i):
        self.sockets[i].sendall(b"GET /admin/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        while chunk := self.sockets[i].recv(65536):
            self.read[i] += len(chunk)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        deadline = time.monotonic() + 10
        while not all(self.read):
            if time.monotonic() > deadline:
                sys.exit("bench: a viewer got nothing")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        for each in self.sockets:
            each.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(10)
            if thread.is_alive():
                sys.exit("bench: a viewer did not end")


def idle_share(pid):
    before = cpu_ns(pid)
    time.sleep(SECONDS)
    return (cpu_ns(pid) - before) / (SECONDS * 1e9)


def load_share(daemon):
    """Share of a core of the thread that samples, and the rate that wrk got meanwhile."""
    before, begun = cpu_ns(daemon.process.pid, SAMPLER), time.monotonic()
    figures = wrk(daemon.url, connections=64, seconds=SECONDS, script=HERE.parent / "throttle" / "check.lua",
                  env={"KEYS": "1000"})
    spent = cpu_ns(daemon.process.pid, SAMPLER) - before
    return spent / ((time.monotonic() - begun) * 1e9), figures.per_second


def main():
    with Penstock(sys.argv[1]) as daemon:
        pid = daemon.process.pid
        add_policy(daemon.url)
        if cpu_ns(pid, SAMPLER) == 0:
            sys.exit(f"bench: the daemon has no thread named {SAMPLER}")
        alone, watched, sampling, rates = [], [], [], []
        for _ in range(ROUNDS):
            alone.append(idle_share(pid))
            with Viewers(daemon.url, VIEWERS) as viewers:
                watched.append(idle_share(pid))
                share, rate = load_share(daemon)
                print(f"  {sum(viewers.read) / VIEWERS / 1024:.0f} KiB for each viewer; sampling "
                      f"{share * 100:.3f} % of a core at "
                      f"{rate:,.0f} checks/s")
            sampling.append(share)
            rates.append(rate)
    writing = statistics.median(watched) - statistics.median(alone)
    print(f"writing to {VIEWERS} viewers: {writing * 100:.3f} % of a core "
          f"(idle daemon: {statistics.median(alone) * 100:.3f} % without, "
          f"{statistics.median(watched) * 100:.3f} % with them)")
    total = max(writing, 0) + statistics.median(sampling)
    print(f"the stream with {VIEWERS} viewers at {statistics.median(rates):,.0f} checks/s: {total * 100:.3f} % of a core")
    print_ratio("console.stream_cost", GOAL / total, 1)


if __name__ == "__main__":
    main()
