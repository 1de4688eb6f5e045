"""64 clients ask for the most costly preview there is: a cheap GET does not wait behind them."""
import http.client
import json
import threading
import time

WINDOWS = 120_000  # in use, each full: a preview has to look at every one
CLIENTS, SECONDS = 64, 2
AT = "2030-01-01T00:00:00Z"
JSON = {"Content-Type": "application/json"}


def fill(daemon):
    daemon.put_config(max_per_window=1, window="PT0.1S")
    for begin in range(0, WINDOWS, 10_000):
        answer = daemon.post("/api/v1/slots/batch", [{"eventId": f"e{i}", "requestedTime": AT}
                                                     for i in range(begin, begin + 10_000)])
        assert answer.status == 200 and b'"error"' not in answer.body, answer.body[:300]


def test_a_cheap_get_does_not_wait_behind_previews(daemon):
    fill(daemon)
    body = json.dumps({"requestedTime": AT, "count": 1_000_000_000})
    over = threading.Event()
    previews, retry_after, answered = [], set(), threading.Semaphore(0)

    def hammer():
        link = http.client.HTTPConnection(daemon.address, daemon.port, timeout=60)
        while not over.is_set():
            begin = time.monotonic()
            link.request("POST", "/api/v1/slots/preview", body, JSON)
            answer = link.getresponse()
            answer.read()
            previews.append((answer.status, time.monotonic() - begin))
            if answer.status == 503:
                retry_after.add(answer.headers["Retry-After"])
                over.wait(0.05)  # as no client should, but a Python thread must not be what is slow here
            answered.release()
        link.close()

    clients = [threading.Thread(target=hammer) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    answered.acquire(timeout=30)
    cheap = []
    link = http.client.HTTPConnection(daemon.address, daemon.port, timeout=60)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        begin = time.monotonic()
        link.request("GET", "/api/v1/slots/e7")
        answer = link.getresponse()
        answer.read()
        assert answer.status == 200
        cheap.append(time.monotonic() - begin)
    over.set()
    for client in clients:
        client.join()
    assert max(cheap) < 1, f"the slowest of {len(cheap)} took {max(cheap):.2f} s"
    assert {status for status, _ in previews} == {200, 503}, "beyond a short queue they are refused"
    assert retry_after == {"1"}
    worked = [took for status, took in previews if status == 200]
    assert sorted(cheap)[len(cheap) // 2] < max(worked) / 10
