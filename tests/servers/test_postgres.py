"""PostgreSQL answers psql, keeps committed rows over restart and crash, and leaves nothing."""

import threading

import pytest
from testserver import CallFailed, Postgres

from .conftest import assert_gone, processes_in


@pytest.fixture(scope="module")
def table(postgres):
    postgres.query("CREATE TABLE kept (id int PRIMARY KEY)")
    return "kept"


def ids(server, table):
    return server.query(f"SELECT id FROM {table} ORDER BY id").splitlines()


def test_answers_a_query_as_version_15(postgres):
    assert postgres.query("SHOW server_version").startswith("15.")


def test_is_durable_and_wide_enough_by_default(postgres):
    assert postgres.query("SHOW fsync") == "on"
    assert postgres.query("SHOW max_connections") == "200"


def test_makes_fresh_databases(postgres):
    url = postgres.create_database("fresh_one")
    assert url.endswith("/fresh_one")
    assert postgres.query("SELECT current_database()", "fresh_one") == "fresh_one"


@pytest.mark.parametrize("immediate", [False, True])
def test_restart_keeps_port_and_rows(postgres, table, immediate):
    row = int(immediate)
    postgres.query(f"INSERT INTO {table} VALUES ({row})")
    port, pid = postgres.port, postgres.pid
    postgres.restart(immediate=immediate)
    assert postgres.port == port
    assert postgres.pid != pid
    assert str(row) in ids(postgres, table)


def test_kill_ends_busy_backends_and_keeps_rows(postgres, table):
    postgres.query(f"INSERT INTO {table} VALUES (10)")
    failures = []
    busy = threading.Thread(target=run_long_query, args=(postgres, failures))
    busy.start()
    wait_for_busy_backend(postgres)
    postgres.kill()
    assert processes_in(str(postgres.dir)) == []
    busy.join(timeout=10)
    assert failures
    postgres.start()
    assert "10" in ids(postgres, table)


def run_long_query(server, failures):
    try:
        server.query("SELECT count(*) FROM generate_series(1, 1e12) -- busy")
    except CallFailed as failure:
        failures.append(failure)


def wait_for_busy_backend(server):
    for _ in range(500):
        if server.query("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%-- busy'"
                        " AND state = 'active' AND pid <> pg_backend_pid()") == "1":
            return
    pytest.fail("the busy query was never seen")


def test_close_leaves_no_process_and_no_folder(postgres):
    with Postgres(fsync=False, settings={"work_mem": "8MB"}) as other:
        folder = str(other.dir)
        assert other.port != postgres.port
        assert other.query("SHOW fsync") == "off"
        assert other.query("SHOW work_mem") == "8MB"
    assert_gone(folder)


def test_close_after_kill_leaves_no_shared_memory():
    with Postgres() as other:
        folder = str(other.dir)
        segment = (other.data / "postmaster.pid").read_text().splitlines()[6].split()[1]
        other.kill()
    assert_gone(folder)
    with open("/proc/sysvipc/shm") as file:
        assert segment not in [line.split()[1] for line in file]
