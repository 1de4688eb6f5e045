"""`penstock migrate` on a real MariaDB, with a password file and over TLS."""
import pathlib
import subprocess
import sys
import tempfile

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import testserver


@pytest.fixture(scope="module")
def certificate():
    """A self-signed certificate for localhost that the server's account may read. Not in pytest's folder: each pytest that
    starts closes that to other accounts again."""
    with tempfile.TemporaryDirectory(prefix="penstock-tls-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                       check=True, capture_output=True)
        (folder / "key.pem").chmod(0o644)
        yield folder


@pytest.fixture(scope="module")
def server(certificate):
    try:
        mariadb = testserver.MariaDb(fsync=False, settings={"ssl-cert": certificate / "cert.pem",
                                                            "ssl-key": certificate / "key.pem"})
        mariadb.start()
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))
    yield mariadb
    mariadb.close()


def migrate(penstock, url, **more):
    return penstock("migrate", env={"PENSTOCK_STORE_MARIADB_URL": url, **more})


def test_migrate_makes_the_tables_once_and_refuses_newer_ones(server, penstock, tmp_path):
    server.query("CREATE DATABASE plain")
    password = tmp_path / "password"
    password.write_text("penstock\n")
    password.chmod(0o600)
    url = f"mysql://penstock@127.0.0.1:{server.port}/plain"
    file = {"PENSTOCK_STORE_MARIADB_PASSWORD_FILE": str(password)}
    first = migrate(penstock, url, **file)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("the schema of penstock in MariaDB went from version 0 to ")
    assert "throttle_usage" in server.query("SHOW TABLES", "plain").split()
    again = migrate(penstock, url, **file)
    assert (again.returncode, "nothing to do" in again.stdout) == (0, True)
    server.query("INSERT INTO penstock_schema_version (version, name) VALUES (999, 'newer')", "plain")
    newer = migrate(penstock, url, **file)
    assert newer.returncode == 1 and "999" in newer.stderr


def test_a_wrong_password_is_one_sentence_without_it(server, penstock):
    refused = migrate(penstock, f"mysql://penstock:hush@127.0.0.1:{server.port}/penstock")
    assert refused.returncode == 1
    assert "Access denied" in refused.stderr and "hush" not in refused.stderr


def test_migrate_over_tls_checks_the_certificate(server, penstock, certificate):
    server.query("CREATE DATABASE secret")
    server.query("CREATE USER secret IDENTIFIED BY 'pw' REQUIRE SSL; GRANT ALL ON secret.* TO secret")
    url = f"mysql://secret:pw@localhost:{server.port}/secret"
    assert migrate(penstock, url).returncode == 1  # the account wants TLS
    assert migrate(penstock, f"{url}?sslmode=verify-full").returncode == 1  # nobody vouches for it
    trusted = migrate(penstock, f"{url}?sslmode=verify-full&sslrootcert={certificate / 'cert.pem'}")
    assert (trusted.returncode, trusted.stderr) == (0, "")
    by_number = url.replace("localhost", "127.0.0.1")
    assert migrate(penstock, f"{by_number}?sslmode=require").returncode == 0
