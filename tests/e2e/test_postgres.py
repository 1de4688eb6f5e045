"""Slots on a real PostgreSQL, by the real daemon: several nodes, faults, configs, migration, retention."""
import itertools
import json
import pathlib
import subprocess
import sys
import time

import pytest
from conftest import ROOT, wait_until
from postgres_nodes import check_database, end_loads, instant, let_work, start_loads

sys.path.insert(0, str(ROOT / "tools"))
import testserver

DATABASES = itertools.count(1)


@pytest.fixture(scope="module")
def server():
    try:
        # Tests end processes, not machines: what the server handed to the kernel is safe.
        postgres = testserver.Postgres(fsync=False)
        postgres.start()
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))
    yield postgres
    postgres.close()


@pytest.fixture
def database(server):
    """A fresh, empty database."""

    class Database:
        name = f"penstock_{next(DATABASES)}"
        url = server.create_database(name)
        env = {"PENSTOCK_STORE_POSTGRES_URL": url}

        @staticmethod
        def query(sql):
            return server.query(sql, Database.name)

    return Database


@pytest.fixture
def start_node(database, start_daemon, penstock, tmp_path):
    """start_node(*args, **env): a daemon on the database, migrated before the first one."""
    assert penstock("migrate", env=database.env).returncode == 0
    numbers = itertools.count(1)

    def start(*args, **env):
        return start_daemon(*args, env={**database.env, **env}, data_dir=tmp_path / f"node{next(numbers)}")

    return start


def assign(node, event, at=0, **more):
    return node.post("/api/v1/slots", {"eventId": event, "requestedTime": instant(at), **more})


def test_migrate_makes_the_schema_and_the_daemon_wants_it(database, penstock, start_daemon):
    refused = penstock("serve", "--http", "127.0.0.1:0", env=database.env)
    assert refused.returncode == 1
    assert "penstock migrate" in refused.stderr
    first = penstock("migrate", env=database.env)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("the schema penstock in PostgreSQL went from version 0 to ")
    again = penstock("migrate", env=database.env)
    assert (again.returncode, "nothing to do" in again.stdout) == (0, True)
    checks = start_daemon(env=database.env).get("/health/ready").json()["checks"]
    assert {"name": "store.postgres", "status": "UP"} in checks
    database.query("INSERT INTO penstock.schema_version (version, name) VALUES (999, 'of_a_newer_penstock')")
    newer = penstock("serve", "--http", "127.0.0.1:0", env=database.env)
    assert newer.returncode == 1 and "999" in newer.stderr
    assert penstock("migrate", env=database.env).returncode == 1


def test_no_database_at_start_is_one_clear_sentence(penstock, tmp_path):
    answer = penstock("serve", "--http", "127.0.0.1:0",
                      env={"PENSTOCK_STORE_POSTGRES_URL": "postgresql://nobody:hush@127.0.0.1:1/none"})
    assert answer.returncode == 1
    assert "postgres cannot be reached" in answer.stderr
    assert "hush" not in answer.stderr


def test_password_from_file_and_least_privilege(server, database, start_daemon, penstock, tmp_path):
    assert penstock("migrate", env=database.env).returncode == 0
    guide = (ROOT / "docs" / "postgres.md").read_text()
    grants = guide[guide.index("CREATE ROLE penstock_app"):]
    database.query(grants[:grants.index("```")])
    database.query("ALTER ROLE penstock_app PASSWORD 'correct horse'")
    hba = pathlib.Path(server.data) / "pg_hba.conf"
    hba.write_text("host all penstock_app 127.0.0.1/32 scram-sha-256\n" + hba.read_text())
    server.query("SELECT pg_reload_conf()")
    secret = tmp_path / "password"
    secret.write_text("correct horse\n")
    secret.chmod(0o600)
    url = database.url.replace("postgres@", "penstock_app@")
    env = {"PENSTOCK_STORE_POSTGRES_URL": url, "PENSTOCK_STORE_POSTGRES_PASSWORD_FILE": str(secret)}
    daemon = start_daemon(env=env)
    daemon.put_config(max_per_window=5)
    assert assign(daemon, "e1").status == 200
    checked = penstock("check-config", env={"PENSTOCK_STORE_POSTGRES_URL": url.replace("@", ":hush@", 1)})
    assert "penstock_app:***@" in checked.stdout and "hush" not in checked.stdout
    secret.write_text("wrong")
    refused = penstock("serve", "--http", "127.0.0.1:0", env=env)
    assert refused.returncode == 1 and "password authentication failed" in refused.stderr
    assert start_daemon(env={"PENSTOCK_STORE_POSTGRES_URL": url, "PGPASSWORD": "correct horse"},
                        data_dir=tmp_path / "other").get("/health/ready").status == 200


def test_three_nodes_one_truth(start_node, database):
    nodes = [start_node() for _ in range(3)]
    for name, most in (("card", 40), ("wire", 25), ("mail", 10)):
        nodes[0].put_config(name, most, "PT1S")
    loads = start_loads(nodes, ["card", "wire", "mail"])
    changes = itertools.cycle([("card", 80), ("wire", 5), ("mail", 30), ("card", 20), ("wire", 60), ("mail", 10)])
    for number, (name, most) in enumerate(changes):
        nodes[number % 3].put_config(name, most, "PT1S")
        let_work(loads, batches=5)
        if number >= 48 and sum(len(load.slots) for load in loads) > 4_000:
            break
    answers = end_loads(loads)
    assert len(answers) > 2_000
    assert not any(load.failures for load in loads), [load.failures[:3] for load in loads]
    check_database(database.query, answers)
    event = next(iter(answers))
    assert len({node.get(f"/api/v1/slots/{event}").body for node in nodes}) == 1


def test_a_config_change_counts_on_every_node_within_a_second(start_node):
    first, second = start_node(), start_node()
    first.put_config(max_per_window=1)
    assert second.get("/admin/rate-limit/config?name=default").json()["maxPerWindow"] == 1
    assert assign(first, "e1").json()["windowStart"] == "2030-06-01T12:00:00.000Z"
    first.put_config(max_per_window=2)
    changed = time.monotonic()
    assert assign(second, "e2").json()["windowStart"] == "2030-06-01T12:00:00.000Z", "placement at once"
    wait_until(lambda: second.get("/admin/rate-limit/config?name=default").json()["maxPerWindow"] == 2, 1)
    assert time.monotonic() - changed < 1


def test_a_preview_says_where_a_burst_then_lands(start_node):
    node, other = start_node(), start_node()
    node.put_config("burst", 10, "PT1S")

    def used():
        windows = other.get(f"/api/v1/windows?config=burst&from={instant(0)}&to={instant(3600)}").json()["windows"]
        return {each["windowStart"]: each["used"] for each in windows}

    def burst(first, count):
        events = [{"eventId": f"b{first + i}", "configName": "burst", "requestedTime": instant(0)} for i in range(count)]
        results = other.post("/api/v1/slots/batch", events).json()["results"]
        return [result["scheduledTime"] for result in results]

    burst(0, 25)
    before = used()
    preview = node.post("/api/v1/slots/preview", {"configName": "burst", "requestedTime": instant(0), "count": 42})
    assert preview.status == 200, preview.body
    said = preview.json()
    assert used() == before, "a preview assigns nothing"
    times = burst(25, 42)
    grown = {start: count - before.get(start, 0) for start, count in used().items()}
    assert said["placed"] == 42 and said["windowsUsed"] == sum(1 for count in grown.values() if count > 0)
    assert said["firstScheduledTime"] <= min(times) and max(times) <= said["lastScheduledTime"]


def test_a_flush_reaches_every_node(start_node):
    nodes = [start_node() for _ in range(2)]
    nodes[0].put_config()
    for node in nodes:
        assign(node, "e1")
    misses = "rate_limiter_config_cache_misses_total"
    before = nodes[1].metric(misses)
    assign(nodes[1], "e2")
    assert nodes[1].metric(misses) == before
    assert nodes[0].post("/admin/rate-limit/cache/flush").status == 204

    def missed():
        assign(nodes[1], "e3")
        return nodes[1].metric(misses) > before

    wait_until(missed, 1)


def test_restart_under_load_loses_nothing(server, start_node, database):
    nodes = [start_node() for _ in range(2)]
    nodes[0].put_config("card", 40, "PT1S")
    loads = start_loads(nodes, ["card"])
    for _ in range(3):
        let_work(loads)
        server.restart(immediate=True)
    let_work(loads)
    answers = end_loads(loads)
    assert any(load.failures for load in loads), "the restarts were not felt"
    assert {code for load in loads for code in load.failures} == {503}
    check_database(database.query, answers)
    for node in nodes:
        wait_until(lambda: node.get("/health/ready").status == 200, 30)


def test_terminated_backends_under_load_lose_nothing(start_node, database):
    node = start_node()
    node.put_config("card", 40, "PT1S")
    loads = start_loads([node], ["card"])
    for _ in range(30):
        let_work(loads, batches=2)
        database.query("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                       "WHERE application_name = 'penstock' AND datname = current_database()")
    answers = end_loads(loads)
    assert {code for load in loads for code in load.failures} <= {503}
    check_database(database.query, answers)


def test_a_database_that_is_away_or_stuck_answers_503_in_time(server, start_node, database):
    node = start_node(PENSTOCK_STORE_POSTGRES_DEADLINE="PT1S")
    node.put_config()
    assert assign(node, "e1").status == 200
    server.stop()
    begin = time.monotonic()
    answer = assign(node, "e2")
    assert time.monotonic() - begin < 2
    assert (answer.status, answer.headers["Retry-After"] is not None) == (503, True)
    ready = node.get("/health/ready")
    assert (ready.status, ready.json()["status"]) == (503, "DOWN")
    assert node.get("/health/live").status == 200
    server.start()
    wait_until(lambda: assign(node, "e2").status == 200, 30)
    assert node.get("/health/ready").status == 200
    # Stuck: somebody holds a lock that every batch needs.
    holder = subprocess.Popen(["psql", "-X", "-q", database.url], stdin=subprocess.PIPE)
    try:
        holder.stdin.write(b"BEGIN; LOCK TABLE penstock.event_slot;\n")
        holder.stdin.flush()
        wait_until(lambda: "1" in database.query(
            "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation IS NOT NULL"), 30)
        begin = time.monotonic()
        assert assign(node, "e3").status == 503
        assert time.monotonic() - begin < 2
    finally:
        holder.stdin.close()
        holder.wait(10)
    wait_until(lambda: assign(node, "e3").status == 200, 30)


def test_export_and_prune(start_node, database, penstock, tmp_path):
    node = start_node()
    node.put_config(max_per_window=3)
    old = [{"eventId": f"old-{i}", "requestedTime": "2020-01-01T00:00:00Z"} for i in range(10)]
    assert all("scheduledTime" in r for r in node.post("/api/v1/slots/batch", old).json()["results"])
    assert assign(node, "new").status == 200
    exported = penstock("export", "slots", env=database.env)
    old_ids = [f"old-{i}" for i in range(10)]
    assert [json.loads(line)["eventId"] for line in exported.stdout.splitlines()] == ["new", *old_ids]
    archive = tmp_path / "old.ndjson"
    unclear = penstock("slots", "prune", "--before", "now-P1D", env=database.env)
    assert (unclear.returncode, "--delete" in unclear.stderr) == (2, True)
    pruned = penstock("slots", "prune", "--before", "now-P1D", "--output", archive, env=database.env)
    assert pruned.returncode == 0 and "moved 10 slots and 4 window counters" in pruned.stderr
    assert sorted(json.loads(line)["eventId"] for line in archive.read_text().splitlines()) == old_ids
    assert node.get("/api/v1/slots/old-3").status == 404
    assert node.get("/api/v1/slots/new").status == 200
    again = penstock("slots", "prune", "--before", "now", "--output", archive, env=database.env)
    assert again.returncode == 0 and "moved 0 slots" in again.stderr


def test_pruning_beside_load_by_command_and_by_schedule(start_node, database, penstock, tmp_path):
    archives = tmp_path / "archives"
    archives.mkdir()
    node = start_node()
    node.put_config("card", 40, "PT1S")
    old = [{"eventId": f"old-{i}", "configName": "card", "requestedTime": "2020-01-01T00:00:00Z"}
           for i in range(5_000)]
    assert node.post("/api/v1/slots/batch", old).status == 200
    loads = start_loads([node], ["card"], count=2)
    scheduled = start_node(PENSTOCK_SLOTS_RETENTION_KEEP="P30D", PENSTOCK_SLOTS_RETENTION_INTERVAL="PT0.2S",
                           PENSTOCK_SLOTS_RETENTION_ARCHIVE_DIR=str(archives))
    by_command = penstock("slots", "prune", "--before", "now-P30D", "--output", archives / "command.ndjson",
                          env=database.env)
    assert by_command.returncode == 0
    for table in ("event_slot", "slot_window"):
        wait_until(lambda: database.query(f"SELECT count(*) FROM penstock.{table} "
                                          "WHERE window_start_ms < 1700000000000").strip() == "0", 60)
    let_work(loads)
    answers = end_loads(loads)
    assert not any(load.failures for load in loads), "pruning held assignments up beyond the deadline"
    check_database(database.query, answers)
    kept = [json.loads(line)["eventId"] for file in archives.glob("*.ndjson")
            for line in file.read_text().splitlines()]
    assert sorted(kept) == sorted(event["eventId"] for event in old)
    assert scheduled.metric("penstock_slots_pruned_total") + by_command.stderr.count("moved") > 0
