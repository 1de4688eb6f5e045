"""MariaDB answers its client, keeps committed rows over restart and crash, and leaves nothing."""

import pytest
from testserver import MariaDb

from .conftest import assert_gone, processes_in


@pytest.fixture(scope="module")
def table(mariadb):
    mariadb.query("CREATE TABLE kept (name varchar(20) PRIMARY KEY) ENGINE=InnoDB")
    return "kept"


def test_answers_a_query_as_version_10_11(mariadb):
    assert mariadb.query("SELECT version()").startswith("10.11.")


def test_is_durable_by_default(mariadb):
    assert mariadb.query("SELECT @@innodb_flush_log_at_trx_commit, @@max_connections") == "1\t200"


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_keeps_rows_on_the_same_port(mariadb, table, end):
    mariadb.query(f"INSERT INTO {table} VALUES ('{end}')")
    port, pid = mariadb.port, mariadb.pid
    getattr(mariadb, end)()
    assert processes_in(str(mariadb.dir)) == []
    mariadb.start()
    assert mariadb.port == port
    assert mariadb.pid != pid
    assert end in mariadb.query(f"SELECT name FROM {table}").split()


def test_close_leaves_no_process_and_no_folder(mariadb):
    with MariaDb(fsync=False) as other:
        folder = str(other.dir)
        assert other.port != mariadb.port
        assert other.query("SELECT @@innodb_flush_log_at_trx_commit") == "2"
    assert_gone(folder)
