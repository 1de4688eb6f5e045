"""Temporal and Kafka over real TLS: who vouches for the server, what the server is called, and who Penstock says it is. What is
not in order is told by /health/ready, and items wait for it, charged nothing."""
import subprocess
import sys

import pytest
from conftest import ROOT, wait_until
from dispatch_nodes import counts, enqueue, item, wait_for_counts
from kafka_calls import OUTAGE_SECONDS, check, consume, produce
from test_kafka_sink import put_type as put_kafka_type
from test_temporal import check as check_temporal
from test_temporal import put_type as put_temporal_type
from test_temporal import temporal
from tls_files import Authority, TlsProxy

sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "bench" / "http"))
import testserver
from harness import NGINX
from testserver.process import Unavailable, require

__all__ = ["temporal"]  # a fixture
API_KEY = "key-of-the-test"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("tls") / "authority")
    made.issue("server", "IP:127.0.0.1")
    made.issue("elsewhere", "DNS:elsewhere.example")
    made.issue("client", "DNS:penstock")
    return made


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """Another authority, that vouches for nobody here."""
    made = Authority(tmp_path_factory.mktemp("tls") / "stranger")
    made.issue("client", "DNS:penstock")
    return made


def pair(authority, name):
    return authority.folder / f"{name}-cert.pem", authority.folder / f"{name}-key.pem"


def settings(prefix, ca, client=None, **more):
    env = {f"{prefix}_TLS_ENABLED": "true", f"{prefix}_TLS_CA_FILE": str(ca.file)}
    if client:
        certificate, key = pair(client, "client")
        env |= {f"{prefix}_TLS_CERTIFICATE_FILE": str(certificate), f"{prefix}_TLS_KEY_FILE": str(key)}
    return env | {f"{prefix}_{name}": value for name, value in more.items()}


def temporal_settings(address, server, ca, client=None, **more):
    return settings("PENSTOCK_TEMPORAL", ca, client, ADDRESS=address, NAMESPACE=server.namespace, **more)


def expect_waiting(node, trouble, line):
    """The line of /health/ready says one of these words, and the item waits, uncharged."""
    wait_until(lambda: line()[0] == "DOWN" and any(word in line()[1] for word in trouble), OUTAGE_SECONDS,
               f"one of {trouble} in {line()}")
    assert node.get("/health/ready").status == 503
    assert counts(node)["DISPATCHED"] == 0 and counts(node)["DEAD"] == 0
    assert item(node, "p-1")["retryCount"] == 0


def test_temporal_by_mutual_tls(start_daemon, temporal, authority, stranger, tmp_path):
    target = (temporal.host, temporal.port)
    with TlsProxy(authority, *pair(authority, "server"), target) as good, \
            TlsProxy(authority, *pair(authority, "elsewhere"), target) as misnamed:
        wrong = {  # what is not in order -> settings, and the words for it
            "authority": (temporal_settings(good.address, temporal, stranger, authority),
                          ["certificate verify failed"]),
            "name": (temporal_settings(misnamed.address, temporal, authority, authority),
                     ["Peer name 127.0.0.1 is not in peer certificate"]),
            # gRPC does not pass on what the server's alert says.
            "no certificate": (temporal_settings(good.address, temporal, authority), ["failed to connect to all addresses"]),
            "certificate of a stranger": (temporal_settings(good.address, temporal, authority, stranger),
                                          ["failed to connect to all addresses"])}
        for number, (env, words) in enumerate(wrong.values()):
            node = start_daemon(env=env, data_dir=tmp_path / f"wrong-{number}")
            put_temporal_type(node)
            enqueue(node, "p-1")
            expect_waiting(node, words, lambda: check_temporal(node))
            node.kill()
        assert good.passed == 0, "nobody was let in who should not be"

        node = start_daemon(env=temporal_settings(good.address, temporal, authority, authority),
                            data_dir=tmp_path / "wrong-2")
        wait_for_counts(node, DISPATCHED=1)
        assert item(node, "p-1")["retryCount"] == 0 and good.passed > 0
        named = start_daemon(env=temporal_settings(misnamed.address, temporal, authority, authority,
                                                   TLS_SERVER_NAME="elsewhere.example"), data_dir=tmp_path / "named")
        put_temporal_type(named)
        enqueue(named, "p-2")
        wait_for_counts(named, DISPATCHED=1)


@pytest.fixture
def key_gate(temporal, authority, tmp_path):
    """nginx, which lets calls through to Temporal that have the API key and name the namespace."""
    server = testserver.ports.reserve()
    certificate, key = pair(authority, "server")
    conf = tmp_path / "nginx.conf"
    temp = "".join(f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    conf.write_text(f"""
        daemon off; worker_processes 1; pid {tmp_path}/pid; error_log {tmp_path}/error.log;
        events {{ worker_connections 256; }}
        http {{
          access_log off; {temp}
          map "$http_authorization $http_temporal_namespace" $refused {{
            default 1; "Bearer {API_KEY} {temporal.namespace}" 0;
          }}
          server {{
            listen 127.0.0.1:{server.number} ssl http2;
            ssl_certificate {certificate}; ssl_certificate_key {key};
            location / {{ if ($refused) {{ return 401; }} grpc_pass grpc://{temporal.address}; }}
          }}
        }}""")
    try:
        require("nginx", "nginx-light", "/usr/sbin")
    except Unavailable as missing:
        pytest.skip(str(missing))
    process = subprocess.Popen([NGINX, "-p", str(tmp_path), "-c", str(conf)], stderr=subprocess.DEVNULL)
    yield f"127.0.0.1:{server.number}"
    process.terminate()
    process.wait(60)


def test_temporal_by_api_key(start_daemon, temporal, authority, key_gate, tmp_path):
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text(API_KEY + "\n")
    wrong.write_text("key-of-somebody-else\n")
    node = start_daemon(env=temporal_settings(key_gate, temporal, authority, API_KEY_FILE=str(wrong)))
    put_temporal_type(node)
    enqueue(node, "p-1")
    expect_waiting(node, ["UNAUTHENTICATED", "401"], lambda: check_temporal(node))
    assert "key-of-somebody-else" not in node.log()
    node.kill()
    node = start_daemon(env=temporal_settings(key_gate, temporal, authority, API_KEY_FILE=str(right)))
    wait_for_counts(node, DISPATCHED=1)
    assert check_temporal(node)[0] == "UP" and item(node, "p-1")["retryCount"] == 0
    assert API_KEY not in node.log() and API_KEY not in node.get("/metrics").body.decode()


@pytest.fixture
def secure_kafka(authority, tmp_path):
    """start(name) -> a broker whose TLS listener shows the certificate of that name."""
    started = []

    def start(name):
        folder = tmp_path / f"kafka-{name}"
        folder.mkdir()
        (folder / "server.pem").write_text((authority.folder / f"{name}.pem").read_text())
        (folder / "ca.pem").write_text(authority.file.read_text())
        try:
            require("kcat", "kcat")
            server = testserver.Kafka(tls=folder)
            started.append(server)
            server.start()
        except Unavailable as missing:
            pytest.skip(str(missing))
        return server

    yield start
    for server in started:
        server.close()


def kafka_settings(server, ca, client=None, **more):
    return settings("PENSTOCK_KAFKA", ca, client, BROKERS=server.tls_bootstrap, **more)


def expect_kafka_waits(start_daemon, data_dir, env, words):
    node = start_daemon(env=env, data_dir=data_dir)
    put_kafka_type(node)
    enqueue(node, "p-1")
    expect_waiting(node, words, lambda: check(node, "sink.kafka"))
    wait_until(lambda: check(node, "intake.kafka")[0] in ("DOWN", "not shown"), OUTAGE_SECONDS, "the check of intake")
    node.kill()


def test_kafka_by_mutual_tls(start_daemon, secure_kafka, authority, stranger, tmp_path):
    server = secure_kafka("server")
    intake = {"INTAKE_TOPICS": "orders=TAKEN"}
    expect_kafka_waits(start_daemon, tmp_path / "authority", kafka_settings(server, stranger, authority, **intake),
                       ["certificate verify failed"])
    expect_kafka_waits(start_daemon, tmp_path / "none", kafka_settings(server, authority, **intake),
                       ["alert bad certificate", "alert certificate required"])
    expect_kafka_waits(start_daemon, tmp_path / "stranger", kafka_settings(server, authority, stranger),
                       ["alert certificate unknown", "alert unknown ca"])
    node = start_daemon(env=kafka_settings(server, authority, authority, INTAKE_TOPICS="orders=TAKEN"),
                        data_dir=tmp_path / "none")
    wait_for_counts(node, DISPATCHED=1)
    [message] = consume(server, "handed-over")
    assert message["key"] == "p-1" and item(node, "p-1")["retryCount"] == 0
    answer = node.request("PUT", "/admin/dispatch/types/TAKEN", '{"enabled": false}', {"Content-Type": "application/json"})
    assert answer.status == 200, answer.body
    produce(server, "orders", ("o-1", '{"scheduledTime": "2099-01-01T00:00:00Z", "context": 1}'))
    wait_until(lambda: node.get("/api/v1/dispatch/TAKEN/o-1").status == 200, OUTAGE_SECONDS)
    wait_until(lambda: check(node, "sink.kafka")[0] == check(node, "intake.kafka")[0] == "UP", OUTAGE_SECONDS, "both checks")


def test_a_kafka_broker_of_another_name_is_not_spoken_to(start_daemon, secure_kafka, authority, tmp_path):
    server = secure_kafka("elsewhere")
    expect_kafka_waits(start_daemon, tmp_path / "data", kafka_settings(server, authority, authority),
                       ["certificate verify failed", "hostname mismatch", "IP address mismatch"])
