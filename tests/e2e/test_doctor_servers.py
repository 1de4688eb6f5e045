"""`penstock doctor` against real PostgreSQL, MariaDB, Redis, Kafka and Temporal: healthy, and broken in each way."""
import contextlib
import json
import re
import socket
import sys
import time

import pytest
from conftest import ROOT, wait_until
from doctor_calls import examine
from kafka_calls import kcat

sys.path.insert(0, str(ROOT / "tools"))
import testserver
from testserver.process import Unavailable


@contextlib.contextmanager
def started(server):
    try:
        server.start()
    except Unavailable as missing:
        pytest.skip(f"skipped: {missing}")
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def own(tmp_path):
    return ("--data-dir", str(tmp_path / "data"), "--http", "127.0.0.1:0", "--timeout", "PT20S")


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# PostgreSQL

@pytest.fixture(scope="module")
def database(postgres, penstock):
    """One with the schema, and the documented grants for penstock_app."""
    url = postgres.create_database("doctor")
    assert penstock("migrate", env={"PENSTOCK_STORE_POSTGRES_URL": url}).returncode == 0
    postgres.query(documented_grants(), "doctor")
    return postgres.url("doctor").replace("postgres@", "penstock_app@")


def documented_grants():
    text = (ROOT / "docs" / "postgres.md").read_text()
    return re.search(r"```sql\n(CREATE ROLE penstock_app.*?)```", text, re.DOTALL).group(1)


def with_postgres(url, **more):
    return {"PENSTOCK_STORE_POSTGRES_URL": url, **more}


def test_postgres_as_documented_has_nothing_to_fix(penstock, own, database):
    report = examine(penstock, *own, env=with_postgres(database))
    assert report.bad() == set(), report.text
    for name in ("server", "writable", "schema", "grants", "durability", "connections", "clock"):
        assert report.status(f"postgres.{name}") == "OK"
    assert "role penstock_app" in report["postgres.server"]["found"]
    assert report.status("folder") == "SKIP"


def test_every_documented_grant_is_missed(penstock, own, postgres, database):
    """The list of the program is that of docs/postgres.md, right by right."""
    postgres.query("CREATE ROLE penstock_nobody LOGIN; GRANT USAGE ON SCHEMA penstock TO penstock_nobody", "doctor")
    report = examine(penstock, *own, env=with_postgres(database.replace("penstock_app", "penstock_nobody")))
    assert report.code == 1
    told = set()
    for finding in report.checks:
        if finding["name"] != "postgres.grants":
            continue
        for rights, object_name in re.findall(r"GRANT ([^;]*?) ON (?:SEQUENCE )?penstock\.(\w+) TO", finding["fix"]):
            told |= {(right, object_name) for right in rights.split(", ") if right != "SELECT"}
    documented = set()
    for rights, objects in re.findall(r"GRANT (.*?) ON (?:SEQUENCE )?(penstock\..*?) TO penstock_app;", documented_grants()):
        for each in objects.split(", "):
            documented |= {(right, each.split(".")[1]) for right in rights.split(", ")}
    assert told == documented


def test_following_what_it_says_about_grants_mends_them(penstock, own, postgres, database):
    postgres.query("CREATE ROLE penstock_poor LOGIN; GRANT USAGE ON SCHEMA penstock TO penstock_poor", "doctor")
    url = database.replace("penstock_app", "penstock_poor")
    findings = [each for each in examine(penstock, *own, env=with_postgres(url)).checks if each["name"] == "postgres.grants"]
    assert {each["status"] for each in findings} == {"FAIL", "WARN"}
    for each in findings:
        postgres.query(each["fix"].split("run: ")[1], "doctor")
    assert examine(penstock, *own, env=with_postgres(url)).status("postgres.grants") == "OK"


def test_a_role_that_may_not_even_look_is_told_so(penstock, own, postgres, database):
    postgres.query("CREATE ROLE penstock_blind LOGIN", "doctor")
    report = examine(penstock, *own, env=with_postgres(database.replace("penstock_app", "penstock_blind")))
    assert report.status("postgres.schema") == "SKIP"
    assert "GRANT USAGE ON SCHEMA penstock TO penstock_blind;" in report["postgres.grants"]["fix"]


def test_a_database_without_schema_names_migrate_and_stays_without(penstock, own, postgres):
    url = postgres.create_database("doctor_empty")
    report = examine(penstock, *own, env=with_postgres(url))
    assert report.code == 1
    assert "penstock migrate" in report["postgres.schema"]["fix"]
    assert report.status("postgres.grants") == "SKIP"
    assert postgres.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'penstock'", "doctor_empty").strip() == "0"


def test_a_newer_schema_is_told(penstock, own, postgres):
    url = postgres.create_database("doctor_newer")
    penstock("migrate", env=with_postgres(url))
    postgres.query("INSERT INTO penstock.schema_version VALUES (9999, 'newer')", "doctor_newer")
    report = examine(penstock, *own, env=with_postgres(url))
    assert report.code == 1 and "9999" in report["postgres.schema"]["found"]


def test_a_server_that_is_away_is_told_without_the_password(penstock, own):
    url = f"postgresql://penstock_app:hush@127.0.0.1:{closed_port()}/penstock"
    report = examine(penstock, *own, env=with_postgres(url))
    assert report.code == 1 and report.status("postgres.server") == "FAIL"
    assert "hush" not in report.text
    assert report.status("sink.types") == "SKIP"


def test_a_wrong_password_is_told(penstock, own, tmp_path):
    with started(testserver.Postgres(fsync=False)) as server:
        server.query("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        hba = server.data / "pg_hba.conf"
        hba.write_text("host all guarded 127.0.0.1/32 scram-sha-256\n" + hba.read_text())
        server.query("SELECT pg_reload_conf()")
        secret = tmp_path / "password"
        secret.write_text("wrong\n")
        secret.chmod(0o600)
        url = server.url().replace("postgres@", "guarded@")
        settings = with_postgres(url, PENSTOCK_STORE_POSTGRES_PASSWORD_FILE=str(secret))
        refused = examine(penstock, *own, env=settings)
        assert "password authentication failed" in refused["postgres.server"]["found"]
        assert "password-file" in refused["postgres.server"]["fix"]
        secret.write_text("right\n")
        assert examine(penstock, *own, env=settings).status("postgres.server") == "OK"


def test_settings_that_cost_durability_and_too_few_connections_fail(penstock, own):
    settings = {"synchronous_commit": "off", "max_connections": 8, "superuser_reserved_connections": 1}
    with started(testserver.Postgres(fsync=False, settings=settings)) as server:
        report = examine(penstock, *own, env=with_postgres(server.url()))
        assert "fsync = on" in report["postgres.durability"]["fix"]
        assert report.status("postgres.connections") == "FAIL"
        server.query("ALTER SYSTEM SET default_transaction_read_only = on; ", "postgres")
        server.query("SELECT pg_reload_conf()")
        wait_until(lambda: examine(penstock, *own, env=with_postgres(server.url())).status("postgres.writable") == "FAIL", 60,
                   "a server that cannot be written to")


def test_item_types_are_read_from_postgres(penstock, own, postgres, start_daemon):
    url = postgres.create_database("doctor_types")
    penstock("migrate", env=with_postgres(url))
    daemon = start_daemon(env=with_postgres(url))
    port = closed_port()
    body = f'{{"sink": {{"type": "http", "url": "http://127.0.0.1:{port}/"}}}}'
    assert daemon.request("PUT", "/admin/dispatch/types/ORDER", body, {"Content-Type": "application/json"}).status in (200, 201)
    report = examine(penstock, *own, env=with_postgres(url))
    assert report.status("sink.http.ORDER") == "FAIL"


# MariaDB

@pytest.fixture(scope="module")
def account(mariadb, penstock):
    mariadb.query("CREATE DATABASE doctor")
    owner = f"mysql://penstock:penstock@127.0.0.1:{mariadb.port}/doctor"
    assert penstock("migrate", env={"PENSTOCK_STORE_MARIADB_URL": owner}).returncode == 0
    mariadb.query("CREATE USER 'doctor_app'@'%' IDENTIFIED BY 'pw';"
                  "GRANT SELECT, INSERT, UPDATE, DELETE ON doctor.* TO 'doctor_app'@'%'")
    return f"mysql://doctor_app:pw@127.0.0.1:{mariadb.port}/doctor"


def with_mariadb(url):
    return {"PENSTOCK_STORE_MARIADB_URL": url, "PENSTOCK_THROTTLE_STORE": "mariadb"}


def test_mariadb_as_documented_has_nothing_to_fix(penstock, own, account):
    report = examine(penstock, *own, env=with_mariadb(account))
    assert report.bad() == set(), report.text
    for name in ("server", "writable", "schema", "grants", "durability", "connections", "clock"):
        assert report.status(f"mariadb.{name}") == "OK"


@pytest.mark.parametrize("lacking", ["SELECT", "INSERT", "UPDATE", "DELETE"])
def test_each_right_that_is_missing_is_told(penstock, own, mariadb, account, lacking):
    rights = ", ".join({"SELECT", "INSERT", "UPDATE", "DELETE"} - {lacking})
    user = f"poor_{lacking.lower()}"
    mariadb.query(f"CREATE USER '{user}'@'%' IDENTIFIED BY 'pw'; GRANT {rights} ON doctor.* TO '{user}'@'%'")
    report = examine(penstock, *own, env=with_mariadb(account.replace("doctor_app", user)))
    assert report.code == 1
    assert lacking in report["mariadb.grants"]["found"]
    mariadb.query(report["mariadb.grants"]["fix"])
    assert examine(penstock, *own, env=with_mariadb(account.replace("doctor_app", user))).status("mariadb.grants") == "OK"


def test_mariadb_without_tables_away_and_with_a_wrong_password(penstock, own, mariadb, account):
    mariadb.query("CREATE DATABASE doctor_empty")
    empty = account.replace("doctor_app:pw", "penstock:penstock").replace("/doctor", "/doctor_empty")
    assert "penstock migrate" in examine(penstock, *own, env=with_mariadb(empty))["mariadb.schema"]["fix"]
    wrong = examine(penstock, *own, env=with_mariadb(account.replace(":pw@", ":hush@")))
    assert "Access denied" in wrong["mariadb.server"]["found"] and "hush" not in wrong.text
    away = examine(penstock, *own, env=with_mariadb(f"mysql://a:b@127.0.0.1:{closed_port()}/x"))
    assert away.code == 1 and away.status("mariadb.server") == "FAIL"


def test_mariadb_that_flushes_late_or_is_read_only(penstock, own):
    with started(testserver.MariaDb(fsync=False)) as server:
        url = server.url()
        assert examine(penstock, *own, env=with_mariadb(url)).status("mariadb.durability") == "WARN"
        server.query("SET GLOBAL read_only = ON; SET GLOBAL max_connections = 10")
        report = examine(penstock, *own, env=with_mariadb(url))
        assert report.status("mariadb.writable") == "FAIL"
        assert report.status("mariadb.connections") == "OK"


# Redis

def with_redis(url, **more):
    return {"PENSTOCK_STORE_REDIS_URL": url, "PENSTOCK_THROTTLE_STORE": "redis", **more}


def test_redis_as_documented_has_nothing_to_fix(penstock, own, redis_server):
    report = examine(penstock, *own, env=with_redis(redis_server.url()))
    assert report.bad() == set(), report.text
    for name in ("server", "mode", "scripts", "memory", "persistence", "clock"):
        assert report.status(f"redis.{name}") == "OK"


def test_redis_that_evicts_forgets_or_wants_a_password(penstock, own):
    with started(testserver.Redis({"appendonly": "no"})) as server:
        url = server.url()
        server.cli("config", "set", "maxmemory-policy", "allkeys-lru")
        report = examine(penstock, *own, env=with_redis(url))
        assert report.code == 1
        assert "CONFIG SET maxmemory-policy noeviction" in report["redis.memory"]["fix"]
        assert report.status("redis.persistence") == "WARN"
        server.cli("config", "set", "requirepass", "right")
        assert examine(penstock, *own, env=with_redis(url)).status("redis.server") == "FAIL"
        wrong = examine(penstock, *own, env=with_redis(url.replace("//", "//:hush@")))
        assert wrong.status("redis.server") == "FAIL" and "hush" not in wrong.text
        assert examine(penstock, *own, env=with_redis(url.replace("//", "//:right@"))).status("redis.server") == "OK"


def test_the_documented_acl_user_of_redis_is_enough(penstock, own):
    with started(testserver.Redis()) as server:
        server.cli("acl", "setuser", "limiter", "on", ">secret", "~penstock:*", "~{penstock:*", "+@read", "+@write",
                   "+@scripting", "+@connection", "+cluster|slots", "+time")
        report = examine(penstock, *own, env=with_redis(server.url().replace("//", "//limiter:secret@")))
        assert report.bad() == set(), report.text
        assert report.status("redis.memory") == "SKIP"
        server.cli("acl", "setuser", "limiter", "-@scripting")
        poor = examine(penstock, *own, env=with_redis(server.url().replace("//", "//limiter:secret@")))
        assert poor.status("redis.scripts") == "FAIL"


def test_a_redis_that_is_away_and_the_wrong_mode(penstock, own, redis_server):
    away = examine(penstock, *own, env=with_redis(f"redis://127.0.0.1:{closed_port()}"))
    assert away.code == 1 and away.status("redis.server") == "FAIL"
    single = examine(penstock, *own, env=with_redis(redis_server.url(), PENSTOCK_STORE_REDIS_CLUSTER="true"))
    assert single.code == 1
    assert "store.redis.cluster" in single["redis.server"]["fix"]


def test_a_daemon_that_is_not_ready_is_told(penstock, start_daemon):
    with started(testserver.Redis()) as server:
        daemon = start_daemon(env=with_redis(server.url()))
        server.kill()
        wait_until(lambda: daemon.get("/health/ready").status == 503, 30, "a daemon that is not ready")
        report = examine(penstock, "--data-dir", str(daemon.data_dir), "--http", f"127.0.0.1:{daemon.port}")
    assert report.code == 1
    assert "not ready: store.redis" in report["listen.http"]["found"]


def test_a_redis_cluster(penstock, own, redis_cluster):
    good = examine(penstock, *own, env=with_redis(redis_cluster.url(), PENSTOCK_STORE_REDIS_CLUSTER="true"))
    assert good.bad() == set(), good.text
    assert "3 masters" in good["redis.mode"]["found"]
    first = redis_cluster.nodes[0].url()
    assert "cluster: true" in examine(penstock, *own, env=with_redis(first))["redis.mode"]["fix"]


# Kafka

def test_kafka_topics_that_are_there_and_that_are_not(penstock, own, kafka):
    settings = {"PENSTOCK_KAFKA_BROKERS": kafka.bootstrap, "PENSTOCK_KAFKA_INTAKE_TOPICS": "doctor-in=ORDER",
                "PENSTOCK_GATEWAY_BUS": "kafka", "PENSTOCK_GATEWAY_KAFKA_TOPIC": "doctor-bus"}
    report = examine(penstock, *own, env=settings)
    assert report.code == 1
    assert report.status("kafka.brokers") == "OK"
    assert "--create --topic doctor-in " in report["kafka.topic.doctor-in"]["fix"]
    assert report.status("kafka.topic.doctor-in.dlq") == "WARN"
    assert "makes it" in report["kafka.topic.doctor-bus"]["found"]
    listed = kcat(kafka, "-L")
    assert "doctor-in" not in listed and "doctor-bus" not in listed  # it made none by asking
    for topic in ("doctor-in", "doctor-in.dlq"):
        kcat(kafka, "-P", "-t", topic, messages="x\n")  # this broker makes topics by itself
    again = examine(penstock, *own, env=settings)
    assert again.status("kafka.topic.doctor-in") == "OK" and again.status("kafka.topic.doctor-in.dlq") == "OK"


def test_kafka_that_is_away(penstock, own):
    started_at = time.monotonic()
    report = examine(penstock, *own[:4], "--timeout", "PT2S", env={"PENSTOCK_KAFKA_BROKERS": f"127.0.0.1:{closed_port()}"})
    assert report.code == 1 and report.status("kafka.brokers") == "FAIL"
    assert time.monotonic() - started_at < 20


# Temporal

def test_temporal_serves_the_namespace_or_not(penstock, own, temporal):
    settings = {"PENSTOCK_TEMPORAL_ADDRESS": f"{temporal.host}:{temporal.port}"}
    assert examine(penstock, *own, env=settings).status("temporal.namespace") == "OK"
    other = examine(penstock, *own, env={**settings, "PENSTOCK_TEMPORAL_NAMESPACE": "nowhere"})
    assert other.code == 1 and "no namespace nowhere" in other["temporal.namespace"]["found"]
    assert "namespace create nowhere" in other["temporal.namespace"]["fix"]


def test_temporal_that_is_away(penstock, own):
    report = examine(penstock, *own[:4], "--timeout", "PT2S", env={"PENSTOCK_TEMPORAL_ADDRESS": f"127.0.0.1:{closed_port()}"})
    assert report.code == 1 and report.status("temporal.namespace") == "FAIL"


# SMPP

def test_a_provider_of_text_messages_is_reached(penstock, start_daemon, tmp_path):
    with started(testserver.Smsc()) as provider:
        daemon = start_daemon()
        body = json.dumps({"sink": {"type": "smpp", "host": provider.host, "port": provider.port, "systemId": "penstock",
                                    "password": provider.password}})
        answer = daemon.request("PUT", "/admin/dispatch/types/SMS", body, {"Content-Type": "application/json"})
        assert answer.status in (200, 201), answer.body
        options = ("--data-dir", str(daemon.data_dir), "--http", f"127.0.0.1:{daemon.port}")
        assert examine(penstock, *options).status("sink.smpp.SMS") == "OK"
        provider.stop()
        report = examine(penstock, *options)
        assert report.code == 1 and report.status("sink.smpp.SMS") == "FAIL"
