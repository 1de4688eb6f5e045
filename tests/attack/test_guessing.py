"""Guessing tokens and passwords: each wrong one leaves a trace, and after ten in a minute an address has to wait."""
import http.client
import re
import signal
import socket

import pytest
import redis
from conftest import wait_until

ADMIN, API, PASSWORD = "admin-token-of-this-test", "api-token-of-this-test", "password-of-this-test"
GUARDED = "/admin/policies"


@pytest.fixture
def guarded(start_daemon, tmp_path):
    arguments = ["--resp", "127.0.0.1:0", "--http", "0.0.0.0:0"]
    for flag, text in (("--admin-token-file", ADMIN), ("--api-token-file", API), ("--resp-password-file", PASSWORD)):
        file = tmp_path / flag.strip("-")
        file.write_text(text)
        file.chmod(0o600)
        arguments += [flag, str(file)]
    return start_daemon(*arguments)


def ask(daemon, token, source="127.0.0.1", path=GUARDED):
    """From one of the addresses of loopback."""
    link = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=20, source_address=(source, 0))
    link.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    answer = link.getresponse()
    answer.read()
    link.close()
    return answer


def statuses(daemon, tokens, **more):
    return [ask(daemon, token, **more).status for token in tokens]


def guesses(count):
    return [f"a-guess-number-{number:08}" for number in range(count)]


def failures(daemon, front):
    name = f'penstock_auth_failures_total{{front="{front}"}}'
    text = daemon.get("/metrics", {"Authorization": f"Bearer {API}"}).body.decode()
    return int(float(re.search(re.escape(name) + r" (\S+)", text)[1]))


def resp(daemon, source="127.0.0.1"):
    port = int(re.search(r"resp=\S+:(\d+)", daemon.ready_line)[1])
    link = socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(source, 0))
    return link, link.makefile("rb")


def test_after_ten_wrong_tokens_an_address_learns_nothing_more(guarded):
    assert statuses(guarded, guesses(10), source="127.0.0.2") == [401] * 10
    slowed = [ask(guarded, token, source="127.0.0.2") for token in (*guesses(50), ADMIN, API)]
    assert {answer.status for answer in slowed} == {429}, "right or wrong, the answer is the same"
    assert all(1 <= int(answer.headers["Retry-After"]) <= 60 for answer in slowed)
    assert all(len(answer.headers.get_all("Retry-After")) == 1 for answer in slowed)
    assert failures(guarded, "http") == 60
    # Others are not kept waiting, nor is a request without a token one.
    assert ask(guarded, ADMIN, source="127.0.0.3").status == 200
    assert statuses(guarded, [None] * 12, source="127.0.0.2") == [401] * 12
    wait_until(lambda: "auth.slowed" in guarded.log(), what="a line in the log")
    lines = [line for line in guarded.log().splitlines() if '"auth.' in line]
    assert len(lines) == 2 and all('"peer":"127.0.0.2"' in line for line in lines), lines
    assert "a-guess-number" not in guarded.log()


def test_who_shares_an_address_with_a_guesser_goes_on(guarded):
    held = http.client.HTTPConnection("127.0.0.1", guarded.port, timeout=20)
    right = {"Authorization": f"Bearer {ADMIN}"}
    held.request("GET", GUARDED, headers=right)
    assert held.getresponse().read() is not None
    assert set(statuses(guarded, guesses(30))) == {401, 429}
    assert ask(guarded, ADMIN).status == 200, "a token that was right from there before"
    assert ask(guarded, API, path="/api/v1/slots/none").status == 429, "not one that never was"
    held.request("GET", GUARDED, headers=right)
    answer = held.getresponse()
    answer.read()
    assert answer.status == 200
    # The api token on an admin route is refused and no guess.
    assert ask(guarded, API, source="127.0.0.4", path="/api/v1/slots/none").status == 404
    assert statuses(guarded, [API] * 20, source="127.0.0.4") == [401] * 20


def test_a_redis_client_that_guesses_is_hung_up_on(guarded):
    link, replies = resp(guarded, "127.0.0.5")
    for guess in guesses(10):
        link.sendall(f"AUTH {guess}\r\n".encode())
        assert replies.readline().startswith(b"-WRONGPASS")
    link.sendall(f"AUTH {PASSWORD}\r\n".encode())
    assert b"too many wrong passwords" in replies.readline()
    assert replies.read() == b"", "the connection ends"
    link.close()
    again, replies = resp(guarded, "127.0.0.5")
    again.sendall(f"HELLO 3 AUTH default {PASSWORD}\r\n".encode())
    assert b"too many wrong passwords" in replies.readline()
    again.close()
    assert failures(guarded, "resp") == 10
    assert ask(guarded, ADMIN, source="127.0.0.5").status == 429, "the fronts share the count"
    port = int(re.search(r"resp=\S+:(\d+)", guarded.ready_line)[1])
    assert redis.Redis(port=port, password=PASSWORD).ping(), "from another address"


def test_short_tokens_are_refused(guarded, penstock, tmp_path):
    short = tmp_path / "short"
    short.write_text("fifteen-letters\n")
    short.chmod(0o600)
    run = penstock("serve", "--data-dir", tmp_path / "other", "--http", "127.0.0.1:0", "--api-token-file", short)
    assert run.returncode == 2 and str(short) in run.stderr and "16 to 512" in run.stderr
    (tmp_path / "admin-token-file").write_text("fifteen-letters\n")
    guarded.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "daemon.reload_failed" in guarded.log(), what="a refused reload")
    assert ask(guarded, ADMIN).status == 200
