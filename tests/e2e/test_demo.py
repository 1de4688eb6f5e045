"""`penstock demo downstream`: books each key once, refuses above its limit, and tells the truth about both."""
import http.client
import itertools
import json
import os
import pty
import re
import threading
import time

import pytest
from conftest import wait_until
from demo_downstream import start_downstream

__all__ = ["start_downstream"]  # fixture


def test_a_key_is_booked_once_and_gets_its_first_answer_again(start_downstream):
    downstream = start_downstream()
    status, headers, first = downstream.book("PAYMENT:a")
    assert status == 200 and "Idempotency-Replayed" not in headers
    assert first == {"booking": 1, "idempotencyKey": "PAYMENT:a"}
    status, headers, again = downstream.book("PAYMENT:a")
    assert status == 200 and headers["Idempotency-Replayed"] == "true" and again == first
    assert downstream.book("PAYMENT:b")[2]["booking"] == 2
    stats = downstream.stats()
    assert (stats["booked"], stats["duplicates"], stats["refused"], stats["requests"]) == (2, 1, 0, 3)
    assert downstream.end() == stats, "the summary at the end says the same"


def test_above_its_limit_it_refuses_and_says_when_to_come_again(start_downstream):
    downstream = start_downstream("--max-tps", 1)
    connection = downstream.connect()
    keys = (f"k-{i}" for i in itertools.count())
    answers = []
    wait_until(lambda: answers.append((key := next(keys), *downstream.book(key, connection))) or answers[-1][1] == 429,
               60, "a refusal")
    key, _, headers, body = answers[-1]
    assert headers["Retry-After"] == "1" and body["error"] == "Too Many Requests"
    stats = downstream.stats()
    assert (stats["booked"], stats["refused"]) == (len(answers) - 1, 1)
    assert stats["busiestSecond"] == 2 and stats["maxTps"] == 1
    # What was refused can be had later: it was not booked.
    wait_until(lambda: downstream.book(key, connection)[0] == 200, 60)
    assert downstream.stats()["duplicates"] == 0


def test_no_second_has_more_than_the_limit_however_hard_it_is_pressed(start_downstream, tmp_path):
    book = tmp_path / "book.ndjson"
    downstream = start_downstream("--max-tps", 100, "--book", book)
    end = time.monotonic() + 3

    def press(name):
        connection = downstream.connect()
        i = 0
        while time.monotonic() < end:
            downstream.book(f"{name}-{i}", connection)
            i += 1
        connection.close()

    threads = [threading.Thread(target=press, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stats = downstream.end()
    booked = [json.loads(line) for line in book.read_text().splitlines()]
    assert len(booked) == stats["booked"] and stats["refused"] > 0
    assert len({b["idempotencyKey"] for b in booked}) == len(booked)
    assert [b["booking"] for b in booked] == list(range(1, len(booked) + 1))
    times = sorted(60 * int(b["at"][14:16]) + float(b["at"][17:23]) for b in booked)
    if times[-1] - times[0] < 1_800:  # not across the hour
        assert max(sum(at <= t < at + 0.98 for t in times) for at in times) <= 100


def test_it_fails_and_loses_answers_when_asked_to(start_downstream):
    downstream = start_downstream("--max-tps", 100_000, "--fail-rate", 50)
    statuses = [downstream.book(f"k-{i}")[0] for i in range(60)]
    assert set(statuses) == {200, 500}
    stats = downstream.stats()
    assert stats["booked"] == statuses.count(200) and stats["failed"] == statuses.count(500)

    losing = start_downstream("--lose-rate", 100)
    with pytest.raises((http.client.HTTPException, OSError)):
        losing.book("k")
    stats = losing.stats()
    assert stats["booked"] == 1 and stats["lost"] == 1


def test_it_answers_as_slowly_as_asked_and_others_do_not_wait_for_it(start_downstream):
    downstream = start_downstream("--latency", "PT1S", "--max-tps", 1_000)
    began = time.monotonic()
    answers = []
    threads = [threading.Thread(target=lambda i=i: answers.append(downstream.book(f"k-{i}")[0])) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - began
    assert answers == [200] * 20 and 1 <= took < 15, "twenty at once, not one after the other"


def test_requests_it_cannot_take_are_told_why(start_downstream):
    downstream = start_downstream()
    status, _, body = downstream.ask("POST", "/payments", body="{}")
    assert status == 400 and "Idempotency-Key" in body["message"]
    assert downstream.ask("GET", "/nothing")[0] == 404
    assert downstream.ask("DELETE", "/payments")[0] == 405
    assert downstream.stats()["requests"] == 0


def test_requests_behind_each_other_on_one_connection_are_all_answered(start_downstream):
    downstream = start_downstream("--latency", "PT0.05S", "--max-tps", 1_000)
    connection = downstream.connect()
    connection.connect()
    request = "POST /p HTTP/1.1\r\nHost: h\r\nIdempotency-Key: k{}\r\nContent-Length: 2\r\n\r\n{{}}"
    connection.sock.sendall("".join(request.format(i) for i in range(5)).encode())
    data = b""
    while data.count(b"HTTP/1.1 200") < 5:
        piece = connection.sock.recv(1 << 16)
        assert piece, data
        data += piece
    assert re.findall(rb'"booking":(\d)', data) == [b"1", b"2", b"3", b"4", b"5"]
    connection.close()


@pytest.mark.parametrize("args", [["--max-tps", "0"], ["--listen", "nowhere"], ["--latency", "soon"],
                                  ["--fail-rate", "101"], ["--book", "/nowhere/at/all"]])
def test_wrong_options_are_2(penstock, args):
    run = penstock("demo", "downstream", *args)
    assert run.returncode == 2 and run.stderr != "", run


def test_an_address_in_use_is_1(penstock, start_downstream):
    run = penstock("demo", "downstream", "--listen", f"127.0.0.1:{start_downstream().port}")
    assert run.returncode == 1 and "cannot listen on" in run.stderr


def test_a_terminal_sees_the_counts_move(start_downstream):
    terminal, stderr = pty.openpty()
    try:
        downstream = start_downstream(stderr=stderr)
        downstream.book("k")
        seen = b""
        deadline = time.monotonic() + 20
        while b"1 booked" not in seen and time.monotonic() < deadline:
            seen += os.read(terminal, 4096)
        assert b"1 booked  0 duplicates  0 refused" in seen
    finally:
        os.close(stderr)
        os.close(terminal)
