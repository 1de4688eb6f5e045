"""`penstock doctor` on a machine by itself: settings, data folder, addresses, sinks, and its own manners."""
import datetime
import json
import os
import pty
import socket
import ssl
import subprocess
import threading
import time

import pytest
from conftest import binary, clean_environment, read_terminal
from doctor_calls import examine
from tls_files import Authority


@pytest.fixture
def own(tmp_path):
    """Options for a node of its own: a fresh folder and any port."""
    return ("--data-dir", str(tmp_path / "data"), "--http", "127.0.0.1:0")


def put_type(daemon, name, sink, **more):
    answer = daemon.request("PUT", f"/admin/dispatch/types/{name}", json.dumps({"sink": sink, **more}),
                            {"Content-Type": "application/json"})
    assert answer.status in (200, 201), answer.body


def listener():
    return socket.create_server(("127.0.0.1", 0))


def test_a_fresh_machine_has_nothing_to_fix_and_nothing_is_made(penstock, own, tmp_path):
    report = examine(penstock, *own)
    assert report.code == 0
    assert report.bad() == set()
    assert report.status("folder.access") == "OK"
    assert "not there yet" in report["folder.access"]["found"]
    for unused in ("postgres", "mariadb", "redis", "kafka", "temporal", "sink"):
        assert report.status(unused) == "SKIP"
    assert not (tmp_path / "data").exists()


def test_every_mistake_of_the_settings_is_told_and_the_clock_is_still_looked_at(penstock, tmp_path):
    config = tmp_path / "bad.yaml"
    config.write_text("http:\n  lisen: 127.0.0.1:1\nslots:\n  max-delay: soon\n")
    report = examine(penstock, "--config", str(config))
    assert report.code == 1
    mistakes = [each for each in report.checks if each["name"] == "config.settings"]
    assert len(mistakes) == 2 and all(each["status"] == "FAIL" for each in mistakes)
    assert f"penstock check-config --config {config}" in mistakes[0]["fix"]
    assert report.status("clock.wall") == "OK"
    assert "folder.access" not in [each["name"] for each in report.checks]


def test_a_config_file_that_is_not_there_is_told(penstock, tmp_path):
    report = examine(penstock, "--config", str(tmp_path / "none.yaml"))
    assert report.code == 1 and "cannot be read" in report["config.settings"]["found"]


def test_secrets_that_others_can_reach_are_warnings(penstock, own, tmp_path):
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    token.chmod(0o600)
    assert examine(penstock, *own, "--admin-token-file", str(token)).status("config.secrets") == "OK"
    token.chmod(0o666)
    report = examine(penstock, *own, "--admin-token-file", str(token))
    assert report.code == 0
    assert report["config.secrets"]["fix"] == f"chmod go-w {token}"
    assert "chmod o-r" in report["config.warning"]["found"]


def test_a_folder_that_is_a_file_fails(penstock, tmp_path):
    (tmp_path / "file").write_text("")
    report = examine(penstock, "--data-dir", str(tmp_path / "file" / "data"), "--http", "127.0.0.1:0")
    assert report.code == 1 and report.status("folder.access") == "FAIL"


@pytest.mark.skipif(os.geteuid() == 0, reason="skipped: root may write anywhere")
def test_a_folder_that_may_not_be_written_fails(penstock, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o500)
    report = examine(penstock, "--data-dir", str(folder), "--http", "127.0.0.1:0")
    assert report.code == 1
    assert "install -d -o" in report["folder.access"]["fix"]


def test_a_folder_whose_files_are_damaged_fails(penstock, start_daemon, own, tmp_path):
    start_daemon().stop()
    (tmp_path / "data" / "CURRENT").write_text("MANIFEST-999999\n")
    report = examine(penstock, *own)
    assert report.code == 1 and report.status("folder.schema") == "FAIL"


def test_beside_a_running_daemon_it_asks_for_its_health(penstock, daemon, tmp_path):
    report = examine(penstock, "--data-dir", str(daemon.data_dir), "--http", f"127.0.0.1:{daemon.port}")
    assert report.code == 0
    assert "is ready" in report["listen.http"]["found"]
    assert f"process {daemon.pid}" in report["folder.lock"]["found"]
    assert report.status("folder.schema") == "OK"
    assert daemon.get("/health/ready").status == 200  # it noticed nothing


def test_beside_a_daemon_on_another_port_the_folder_says_who_has_it(penstock, daemon):
    report = examine(penstock, "--data-dir", str(daemon.data_dir), "--http", "127.0.0.1:0")
    assert report.code == 0 and report.status("folder.lock") == "WARN"
    assert f"end process {daemon.pid}" in report["folder.lock"]["fix"]


def test_a_resp_address_that_the_daemon_has_is_its_own(penstock, start_daemon):
    daemon = start_daemon("--resp", "127.0.0.1:0")
    resp = daemon.ready_line.split("resp=")[1]
    report = examine(penstock, "--data-dir", str(daemon.data_dir), "--http", f"127.0.0.1:{daemon.port}",
                     "--resp", resp)
    assert report.status("listen.resp") == "OK"
    alone = examine(penstock, "--data-dir", str(daemon.data_dir), "--http", "127.0.0.1:0", "--resp", resp)
    assert alone.code == 1 and "resp.listen" in alone["listen.resp"]["fix"]


def test_a_port_that_another_program_has_fails(penstock, own):
    with listener() as taken:
        port = taken.getsockname()[1]

        def answer():
            client, _ = taken.accept()
            with client:
                client.recv(4096)
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

        threading.Thread(target=answer, daemon=True).start()
        report = examine(penstock, *own[:2], "--http", f"127.0.0.1:{port}")
    assert report.code == 1
    assert "another program" in report["listen.http"]["found"]
    assert f"sport = :{port}" in report["listen.http"]["fix"]


def test_a_server_that_takes_the_port_and_says_nothing_ends_in_time(penstock, own):
    with listener() as silent:
        started = time.monotonic()
        report = examine(penstock, *own[:2], "--http", f"127.0.0.1:{silent.getsockname()[1]}",
                         "--timeout", "PT0.5S")
        seconds = time.monotonic() - started
    assert report.code == 1 and report.status("listen.http") == "FAIL"
    assert seconds < 15


def test_an_address_of_another_machine_fails(penstock, own):
    report = examine(penstock, *own[:2], "--http", "192.0.2.1:8080", env={"PENSTOCK_AUTH": "none"})
    assert report.code == 1 and "address of this machine" in report["listen.http"]["fix"]


def test_sinks_of_item_types_are_reached_and_told_nothing(penstock, daemon):
    received = []
    with listener() as sink, listener() as closed:
        def watch():
            while True:
                try:
                    client, _ = sink.accept()
                except OSError:
                    return
                with client:
                    client.settimeout(5)
                    received.append(client.recv(100))

        threading.Thread(target=watch, daemon=True).start()
        port, gone = sink.getsockname()[1], closed.getsockname()[1]
        closed.close()
        put_type(daemon, "GOOD", {"type": "http", "url": f"http://127.0.0.1:{port}/hook"})
        put_type(daemon, "ALSO", {"type": "http", "url": f"http://127.0.0.1:{port}/other"})
        put_type(daemon, "GONE", {"type": "http", "url": f"http://127.0.0.1:{gone}/hook"})
        put_type(daemon, "UNKNOWN", {"type": "http", "url": "http://no-such-host.invalid/"})
        put_type(daemon, "OFF", {"type": "http", "url": f"http://127.0.0.1:{gone}/off"}, enabled=False)
        report = examine(penstock, "--data-dir", str(daemon.data_dir), "--http", f"127.0.0.1:{daemon.port}")
    assert report.code == 1
    assert report.status("sink.http.ALSO") == "OK"
    assert "ALSO, GOOD" in report["sink.http.ALSO"]["found"]  # one address, looked at once
    assert "refused" in report["sink.http.GONE"]["found"]
    assert "cannot resolve" in report["sink.http.UNKNOWN"]["found"]
    assert "sink.http.OFF" not in report.text
    assert received == [b""]


def test_item_types_that_need_what_is_not_set_fail(penstock, start_daemon, free_url):
    daemon = start_daemon(env={"PENSTOCK_KAFKA_BROKERS": free_url[7:], "PENSTOCK_TEMPORAL_ADDRESS": free_url[7:]})
    put_type(daemon, "K", {"type": "kafka", "topic": "out"})
    put_type(daemon, "T", {"type": "temporal", "workflowType": "W", "taskQueue": "q"})
    report = examine(penstock, "--data-dir", str(daemon.data_dir), "--http", "127.0.0.1:0")
    assert report.code == 1
    assert "item type K" in report["kafka.brokers"]["found"]
    assert "item type T" in report["temporal.namespace"]["found"]


class TlsServer:
    """Shakes hands and hangs up."""

    def __init__(self, certificate, key):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._listener = listener()
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                self._context.wrap_socket(client, server_side=True).close()
            except OSError:
                client.close()

    def close(self):
        self._listener.close()


def test_certificates_of_sinks_are_verified(penstock, daemon, tmp_path):
    authority = Authority(tmp_path / "ca")
    soon = TlsServer(*authority.issue("soon", "IP:127.0.0.1"))
    other = TlsServer(*authority.issue("other", "IP:127.0.0.2"))
    put_type(daemon, "SOON", {"type": "http", "url": f"https://127.0.0.1:{soon.port}/"})
    put_type(daemon, "OTHER", {"type": "http", "url": f"https://127.0.0.1:{other.port}/"})
    options = ("--data-dir", str(daemon.data_dir), "--http", "127.0.0.1:0")
    strangers = examine(penstock, *options)
    assert "TLS" in strangers["sink.http.SOON"]["found"] and strangers.code == 1
    trusted = examine(penstock, *options, env={"PENSTOCK_DISPATCH_HTTP_CA_FILE": str(authority.file)})
    assert trusted.status("sink.http.SOON") == "WARN"  # two days are left
    assert "ends in 1 day" in trusted["sink.http.SOON"]["found"]
    assert "mismatch" in trusted["sink.http.OTHER"]["found"]
    soon.close()
    other.close()


def test_our_own_certificate_is_told_before_it_ends(penstock, own, tmp_path):
    certificate, key = Authority(tmp_path / "ca").issue("own", "IP:127.0.0.1")
    key.chmod(0o644)
    report = examine(penstock, *own, env={"PENSTOCK_HTTP_TLS_CERTIFICATE_FILE": str(certificate),
                                          "PENSTOCK_HTTP_TLS_KEY_FILE": str(key)})
    assert report.status("listen.certificate") == "WARN"
    assert report["config.secrets"]["fix"] == f"chmod o-r {key}"


def test_a_daemon_that_serves_https_is_known(penstock, start_daemon, tmp_path):
    certificate = tmp_path / "self.pem"
    key = tmp_path / "self-key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "90", "-subj", "/CN=self",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True, timeout=60)
    settings = {"PENSTOCK_HTTP_TLS_CERTIFICATE_FILE": str(certificate), "PENSTOCK_HTTP_TLS_KEY_FILE": str(key)}
    daemon = start_daemon(env=settings)
    options = ("--data-dir", str(daemon.data_dir), "--http", f"127.0.0.1:{daemon.port}")
    report = examine(penstock, *options, env=settings)
    assert report.status("listen.http") == "OK" and "is ready" in report["listen.http"]["found"]
    assert report.status("listen.certificate") == "OK"
    named, named_key = Authority(tmp_path / "ca").issue("named", "DNS:limits.example")
    other = start_daemon(data_dir=tmp_path / "other", env={"PENSTOCK_HTTP_TLS_CERTIFICATE_FILE": str(named),
                                                           "PENSTOCK_HTTP_TLS_KEY_FILE": str(named_key)})
    unsure = examine(penstock, "--data-dir", str(other.data_dir), "--http", f"127.0.0.1:{other.port}",
                     env={"PENSTOCK_HTTP_TLS_CERTIFICATE_FILE": str(named), "PENSTOCK_HTTP_TLS_KEY_FILE": str(named_key)})
    assert unsure.status("listen.http") == "WARN"


def test_the_search_engine_of_the_export_is_reached(penstock, own, free_url):
    with listener() as search:
        good = {"PENSTOCK_GATEWAY_EXPORT_OPENSEARCH_URL": f"http://127.0.0.1:{search.getsockname()[1]}"}
        assert examine(penstock, *own, env=good).status("sink.opensearch") == "OK"
    away = examine(penstock, *own, env={"PENSTOCK_GATEWAY_EXPORT_OPENSEARCH_URL": free_url})
    assert away.code == 1 and away.status("sink.opensearch") == "FAIL"


def test_limits_are_held_against_the_settings(penstock, own):
    report = examine(penstock, *own, env={"PENSTOCK_THROTTLE_MAX_KEYS": "1000000000",
                                          "PENSTOCK_HTTP_CONNECTIONS_MAX": "1000000"})
    assert report.status("limits.memory") == "FAIL"  # 120 GB of keys
    few = subprocess.run(["bash", "-c", 'ulimit -n 1024; exec "$@"', "-", binary(), "doctor", "--json", *own],
                         capture_output=True, text=True, env=clean_environment(), timeout=60)
    files = next(each for each in json.loads(few.stdout)["checks"] if each["name"] == "limits.files")
    assert files["status"] == "WARN" and "LimitNOFILE=65536" in files["fix"]


def test_people_get_lines_with_colours_on_a_terminal_only(penstock, own):
    plain = penstock("doctor", *own)
    assert plain.returncode == 0
    assert "\x1b" not in plain.stdout
    assert plain.stdout.splitlines()[-1].endswith("skipped")
    terminal, stdout = pty.openpty()
    with subprocess.Popen([binary(), "doctor", *own], stdout=stdout, stderr=subprocess.DEVNULL,
                          env=clean_environment()) as process:
        os.close(stdout)
        seen = read_terminal(terminal)
        assert process.wait(60) == 0
    assert b"\x1b[32mOK" in seen


def test_a_wrong_timeout_is_a_wrong_command_line(penstock, own):
    refused = penstock("doctor", *own, "--timeout", "P1D")
    assert refused.returncode == 2 and "PT5M" in refused.stderr


def test_json_is_one_object_of_the_documented_form(penstock, own):
    report = examine(penstock, *own)
    assert set(report.json) == {"status", "version", "checks", "counts"}
    assert report.json["status"] in ("ok", "warnings")
    assert sum(report.json["counts"].values()) == len(report.checks)
    for each in report.checks:
        assert set(each) <= {"name", "status", "found", "fix"}
        assert ("fix" in each) == (each["status"] in ("WARN", "FAIL")), each
    wall = datetime.datetime.fromisoformat(report["clock.wall"]["found"].replace("Z", "+00:00"))
    assert abs((datetime.datetime.now(datetime.UTC) - wall).total_seconds()) < 60
