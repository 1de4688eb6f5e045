"""Memory is bounded in bytes: large batches that are under way at once, bodies of tiny entries, and items that wait for their
sink all draw on `memory.max`."""
import json
import pathlib
import re
import selectors
import socket
import threading
import time

import pytest
from conftest import wait_until

MIB = 1 << 20
BUDGET_MIB = 64
SLACK_MIB = 128  # the issue's: the store's own buffers, threads, freed memory not yet returned


def peak_mib(daemon) -> float:
    status = pathlib.Path(f"/proc/{daemon.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024


def sample(daemon, name) -> float:
    for line in daemon.get("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise KeyError(name)


def used(daemon) -> float:
    return sample(daemon, 'penstock_memory_budget_bytes{state="used"}')


@pytest.fixture
def daemon(start_daemon):
    started = start_daemon(env={"PENSTOCK_MEMORY_MAX": f"{BUDGET_MIB}MiB"})
    answer = started.request("PUT", "/admin/dispatch/types/T", json.dumps({"enabled": False, "sink": {"type": "log"}}))
    assert answer.status in (200, 201), answer.body
    assert started.get("/health/live").status == 200
    return started


def request_of(path, body: bytes) -> bytes:
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


class Paced:
    """Clients that send their requests bit by bit, all at the same pace, and keep what they are answered."""

    def __init__(self, daemon, requests):
        self.unsent = {}
        self.answers = {}
        for request in requests:
            client = socket.create_connection((daemon.address, daemon.port), timeout=30)
            client.setblocking(False)
            self.unsent[client] = memoryview(request)
            self.answers[client] = b""

    def run(self, step, seconds=60):
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for client in self.unsent:
                selector.register(client, selectors.EVENT_READ)
            while selector.get_map():
                assert time.monotonic() < end, "some were not answered"
                for client, rest in list(self.unsent.items()):
                    try:
                        self.unsent[client] = rest[client.send(rest[:step]):]
                    except BlockingIOError:
                        continue
                    except OSError:
                        self.unsent.pop(client)  # closed behind its answer
                        continue
                    if not self.unsent[client]:
                        self.unsent.pop(client)
                for key, _ in selector.select(0 if self.unsent else 1):
                    if not self._read(key.fileobj):
                        selector.unregister(key.fileobj)
        return [bytes(answer) for answer in self.answers.values()]

    def _read(self, client) -> bool:
        """Whether more may come."""
        try:
            piece = client.recv(MIB)
        except BlockingIOError:
            return True
        except OSError:
            piece = b""
        self.answers[client] += piece
        head, found, body = self.answers[client].partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        if piece and not (found and len(body) >= int(length.group(1))):
            return True
        self.unsent.pop(client, None)
        client.close()
        return False


def judge(daemon, answers, idle_mib):
    """503 for some with Retry-After, work for others, and then all as before; how many were served."""
    served = [each for each in answers if each.startswith(b"HTTP/1.1 200 ")]
    refused = [each for each in answers if each.startswith(b"HTTP/1.1 503 ")]
    assert len(served) + len(refused) == len(answers), [each[:80] for each in answers]
    assert refused and all(b"\r\nRetry-After: 1\r\n" in each for each in refused)
    assert sample(daemon, "penstock_memory_refusals_total") >= len(refused)
    grown = peak_mib(daemon) - idle_mib
    assert grown <= BUDGET_MIB + SLACK_MIB, f"grew by {grown:.0f} MiB"
    wait_until(lambda: used(daemon) == 0, 20, "the budget to be free")
    assert daemon.get("/health/ready").status == 200
    return len(served)


def send_in_step(daemon, requests):
    """All at the same pace: what is read waits for its rest."""
    return Paced(daemon, requests).run(step=256 * 1024)


def send_in_turn(daemon, requests):
    """Each as fast as it goes, none waits for its answer: what was read waits for the store."""
    clients = []
    for request in requests:
        clients.append(socket.create_connection((daemon.address, daemon.port), timeout=30))
        try:
            clients[-1].sendall(request)
        except OSError:
            pass  # refused, and closed behind its answer
    answers = []
    for client in clients:
        with client:
            answers.append(client.recv(MIB))
    return answers


def large_batch(name) -> bytes:
    items = [{"itemId": f"{name}-{i}", "scheduledTime": "2030-01-01T00:00:00Z", "context": {"x": "y" * (MIB - 200)}}
             for i in range(15)]
    return request_of("/api/v1/dispatch/T/batch", json.dumps(items).encode())


@pytest.mark.parametrize("send", [send_in_step, send_in_turn])
def test_large_batches_under_way_at_once(daemon, send):
    """24 clients with 15 MiB each: 360 MiB to be read, decoded and written."""
    requests = [large_batch(f"c{client}") for client in range(24)]
    idle_mib = peak_mib(daemon)
    probes = []
    done = threading.Event()

    def probe():  # small calls are served meanwhile
        while not done.is_set():
            probes.append(daemon.post("/api/v1/throttle/check", {"key": "small"}, timeout=20).status)

    prober = threading.Thread(target=probe)
    prober.start()
    try:
        answers = send(daemon, requests)
    finally:
        done.set()
        prober.join()
    assert judge(daemon, answers, idle_mib) >= 1, "one at a time fits"
    assert probes and set(probes) <= {200, 429}
    # And one after the other there is room for each.
    for name in ("one", "two"):
        assert send_in_step(daemon, [large_batch(name)])[0].startswith(b"HTTP/1.1 200 ")


def test_batches_of_tiny_entries(daemon):
    """A body of 30 KB is 10,000 entries, each an error in the answer: more than a MiB, for clients that do not read."""
    body = b"[" + b",".join([b"{}"] * 10_000) + b"]"
    idle_mib = peak_mib(daemon)
    clients = []
    for _ in range(60):
        client = socket.create_connection((daemon.address, daemon.port), timeout=30)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(request_of("/api/v1/slots/batch", body) * 6)  # the kernel takes the first answers
        clients.append(client)
    wait_until(lambda: sample(daemon, "penstock_memory_refusals_total") > 0, 20, "some to find no room")
    assert daemon.get("/health/live").status == 200
    grown = peak_mib(daemon) - idle_mib
    assert grown <= BUDGET_MIB + SLACK_MIB, f"grew by {grown:.0f} MiB"
    for client in clients:
        client.close()
    wait_until(lambda: used(daemon) == 0, 20, "the budget to be free")


def test_items_that_wait_for_their_sink(daemon):
    """120 items of 1 MiB, due at once and held up by the pace: a claim takes only as many as there is memory for."""
    item_type = {"enabled": True, "batchSize": 500, "sink": {"type": "log"}, "maxPerSecond": 60}
    context = {"x": "y" * (MIB - 200)}
    for first in range(0, 120, 12):
        items = [{"itemId": f"i{first + i}", "scheduledTime": "2020-01-01T00:00:00Z", "context": context} for i in range(12)]
        answer = daemon.post("/api/v1/dispatch/T/batch", items)
        assert answer.status == 200, answer.body
    idle_mib = peak_mib(daemon)
    answer = daemon.request("PUT", "/admin/dispatch/types/T", json.dumps(item_type))
    assert answer.status == 200, answer.body
    peaks = []

    def all_gone():
        peaks.append(used(daemon))
        return daemon.get("/api/v1/dispatch/T/summary").json()["counts"]["DISPATCHED"] == 120

    wait_until(all_gone, 30, "all items to be handed over")
    assert 0 < max(peaks) <= BUDGET_MIB * MIB, f"{max(peaks) / MIB:.0f} MiB"
    grown = peak_mib(daemon) - idle_mib
    assert grown <= BUDGET_MIB + SLACK_MIB, f"grew by {grown:.0f} MiB"
    wait_until(lambda: used(daemon) == 0, 20, "the budget to be free")
