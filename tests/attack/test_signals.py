"""Signals that are no order to stop: the daemon goes on, and SIGHUP takes new secrets over."""
import itertools
import re
import signal
import ssl
import threading

import pytest
import redis
from conftest import wait_until
from tls_files import Authority

OLD, NEW = "the-old-token-of-a-test", "the-new-token-of-a-test"


def secret(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def status(daemon, token):
    return daemon.get("/admin/policies", {"Authorization": f"Bearer {token}"}).status


def count(daemon, event):
    return daemon.log().count(f'"{event}"')


def send(daemon, number, event):
    before = count(daemon, event)
    daemon.process.send_signal(number)
    wait_until(lambda: count(daemon, event) > before, what=event)


def test_signals_without_a_meaning_are_logged_and_ignored(daemon):
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        send(daemon, number, "daemon.signal_ignored")
    send(daemon, signal.SIGHUP, "daemon.reloaded")
    assert daemon.get("/health/live").status == 200
    assert daemon.stop() == 0


def test_a_new_token_takes_over_without_a_gap(start_daemon, tmp_path):
    token = tmp_path / "token"
    daemon = start_daemon("--admin-token-file", secret(token, OLD))
    assert (status(daemon, OLD), status(daemon, NEW)) == (200, 401)
    over = threading.Event()
    seen = []

    def call():
        for each in itertools.cycle((OLD, NEW)):
            if over.is_set():
                return
            seen.append(status(daemon, each))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for text in (NEW, OLD, NEW):
        secret(token, text)
        send(daemon, signal.SIGHUP, "daemon.reloaded")
    over.set()
    for caller in callers:
        caller.join()
    assert set(seen) <= {200, 401, 429}
    # Each is wrong for a while, and so many wrong ones are slowed; the right one from a known address never is.
    assert status(daemon, OLD) in (401, 429) and status(daemon, NEW) == 200
    assert "admin token" in daemon.log()
    assert NEW not in daemon.log()


def test_a_mistake_leaves_the_old_token_in_force(start_daemon, tmp_path):
    token = tmp_path / "token"
    daemon = start_daemon("--admin-token-file", secret(token, OLD))
    token.unlink()
    send(daemon, signal.SIGHUP, "daemon.reload_failed")
    secret(token, "two words")
    send(daemon, signal.SIGHUP, "daemon.reload_failed")
    assert (status(daemon, OLD), status(daemon, "two words")) == (200, 401)


def test_the_log_level_follows_the_file(start_daemon, tmp_path):
    config = tmp_path / "penstock.yaml"
    config.write_text("log: {level: info}\n")
    daemon = start_daemon("--config", str(config))
    assert count(daemon, "http.request") == 0
    config.write_text("log: {level: debug}\n")
    send(daemon, signal.SIGHUP, "daemon.reloaded")
    daemon.get("/health/live")
    wait_until(lambda: count(daemon, "http.request") > 0, what="a line of a request")
    assert "log level" in daemon.log()


def test_a_new_resp_password_takes_over(start_daemon, tmp_path):
    password = tmp_path / "password"
    daemon = start_daemon("--resp", "127.0.0.1:0", "--resp-password-file", secret(password, OLD))
    port = int(re.search(r"resp=\S+:(\d+)", daemon.ready_line).group(1))
    before = redis.Redis(port=port, password=OLD)
    assert before.ping()
    secret(password, NEW)
    send(daemon, signal.SIGHUP, "daemon.reloaded")
    assert redis.Redis(port=port, password=NEW).ping()
    with pytest.raises(redis.ResponseError, match="WRONGPASS"):
        redis.Redis(port=port, password=OLD).ping()
    assert before.ping(), "who is logged in stays"


def test_a_new_certificate_is_shown_to_new_connections(start_daemon, tmp_path):
    authority = Authority(tmp_path / "ca")
    files = {name: authority.issue(name, "IP:127.0.0.1") for name in ("first", "second")}
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"

    def install(name):
        certificate.write_text(files[name][0].read_text())
        secret(key, files[name][1].read_text())

    def shown(daemon):
        return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate((daemon.address, daemon.port)))

    def expected(name):
        return ssl.PEM_cert_to_DER_cert(files[name][0].read_text())

    install("first")
    daemon = start_daemon(env={"PENSTOCK_HTTP_TLS_CERTIFICATE_FILE": str(certificate), "PENSTOCK_HTTP_TLS_KEY_FILE": str(key)})
    assert shown(daemon) == expected("first")
    install("second")
    send(daemon, signal.SIGHUP, "daemon.reloaded")
    assert shown(daemon) == expected("second")
    key.write_text("no key")
    send(daemon, signal.SIGHUP, "daemon.reload_failed")
    assert shown(daemon) == expected("second")
