"""Settings as an operator meets them: files, variables and flags, their mistakes, and what is refused."""
import pathlib
import re
import socket
import subprocess

import pytest
from conftest import ROOT, binary, clean_environment

BAD = sorted((ROOT / "tests" / "data" / "config_bad").glob("*.yaml"))
GOOD = sorted((ROOT / "tests" / "data" / "config_good").glob("*.yaml"))


def token_file(tmp_path, name, text="0123456789abcdef", mode=0o600) -> str:
    path = tmp_path / name
    path.write_text(text + "\n")
    path.chmod(mode)
    return str(path)


def config_file(tmp_path, text) -> str:
    path = tmp_path / "penstock.yaml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_config_is_refused_with_its_message(penstock, path):
    relative = path.relative_to(ROOT)
    expected = path.with_suffix(".txt").read_text()
    run = penstock("check-config", "--config", relative, cwd=ROOT)
    assert run.returncode == 2
    assert run.stderr.startswith(expected)
    assert run.stdout == ""
    count = len(expected.splitlines())
    assert run.stderr[len(expected):] == f"{count} problem{'' if count == 1 else 's'} in the configuration\n"


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_config_is_taken(penstock, path):
    run = penstock("check-config", "--config", path.relative_to(ROOT), cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("OK: ")


def test_the_daemon_refuses_what_check_config_refuses(penstock, tmp_path):
    path = "tests/data/config_bad/many_mistakes.yaml"
    check = penstock("check-config", "--config", path, cwd=ROOT)
    serve = penstock("serve", "--config", path, "--data-dir", tmp_path / "data", cwd=ROOT)
    assert serve.returncode == 2
    assert serve.stderr == check.stderr
    assert not (tmp_path / "data").exists()


def test_check_config_shows_what_differs_and_where_it_came_from(penstock, tmp_path):
    path = config_file(tmp_path, "http:\n  threads: 2\n  idle-timeout: PT1M\nlog: {level: warn}\n")
    run = penstock("check-config", "--config", path, "--http", "127.0.0.1:9000",
                   env={"PENSTOCK_LOG_LEVEL": "error", "PENSTOCK_HTTP_LISTEN": "127.0.0.1:1"})
    assert run.returncode == 0, run.stderr
    shown = {line.split()[0]: line.split()[1:] for line in run.stdout.splitlines() if line.startswith("  ")}
    assert shown == {"http.listen": ["127.0.0.1:9000", "from", "--http"],
                     "http.threads": ["2", "from", f"{path}:2"],
                     "log.level": ["error", "from", "PENSTOCK_LOG_LEVEL"]}


def test_without_any_setting_everything_is_at_its_default(penstock):
    run = penstock("check-config")
    assert (run.returncode, run.stdout) == (0, "OK\nall settings are at their defaults\n")


def test_the_file_may_be_named_by_a_variable(penstock, tmp_path):
    path = config_file(tmp_path, "log: {level: warn}\n")
    assert f"OK: {path}\n" in penstock("check-config", env={"PENSTOCK_CONFIG": path}).stdout


def test_an_unknown_variable_is_refused_with_the_nearest_name(penstock):
    run = penstock("check-config", env={"PENSTOCK_SLOTS_MAXDELAY": "P1D"})
    assert run.returncode == 2
    assert ("PENSTOCK_SLOTS_MAXDELAY: unknown environment variable; the nearest known one is "
            "PENSTOCK_SLOTS_MAX_DELAY\n") in run.stderr


def test_variables_of_kubernetes_and_of_the_client_are_left_alone(penstock):
    run = penstock("check-config", env={"PENSTOCK_SERVICE_HOST": "10.0.0.1", "PENSTOCK_PORT": "tcp://10.0.0.1:80",
                                        "PENSTOCK_PORT_80_TCP_ADDR": "10.0.0.1", "PENSTOCK_URL": "http://x",
                                        "PENSTOCK_TOKEN": "x"})
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("missing", [[], ["admin"], ["api"]])
def test_other_machines_are_not_served_without_both_tokens(penstock, tmp_path, missing):
    args = []
    for name in missing:
        args += [f"--{name}-token-file", token_file(tmp_path, name)]
    run = penstock("serve", "--http", "0.0.0.0:0", "--data-dir", tmp_path / "data", *args)
    assert run.returncode == 2
    assert "which other machines can reach" in run.stderr
    assert "set both, or listen on 127.0.0.1, or write `auth: none`" in run.stderr


def test_both_tokens_open_the_daemon_to_other_machines(start_daemon, tmp_path):
    admin = token_file(tmp_path, "admin", "the-admin-token-1")
    api = token_file(tmp_path, "api", "the-api-token-22")
    daemon = start_daemon("--http", "0.0.0.0:0", "--admin-token-file", admin, "--api-token-file", api)
    bearer = lambda token: {"Authorization": f"Bearer {token}"}
    assert daemon.get("/admin/rate-limit/config?name=x").status == 401
    assert daemon.get("/admin/rate-limit/config?name=x", bearer("the-api-token-22")).status == 401
    assert daemon.get("/admin/rate-limit/config?name=x", bearer("the-admin-token-1")).status == 404
    assert daemon.get("/api/v1/slots/x").status == 401
    assert daemon.get("/api/v1/slots/x", bearer("the-api-token-22")).status == 404
    assert daemon.get("/api/v1/slots/x", bearer("the-admin-token-1")).status == 404
    assert daemon.get("/metrics").status == 401
    assert daemon.get("/metrics", bearer("the-api-token-22")).status == 200
    for secret in ("the-admin-token-1", "the-api-token-22"):
        assert secret not in daemon.log()


def test_metrics_may_be_opened_to_other_machines(start_daemon, tmp_path):
    daemon = start_daemon("--http", "0.0.0.0:0", "--admin-token-file", token_file(tmp_path, "admin"),
                          "--api-token-file", token_file(tmp_path, "api", "another-token-of-16"),
                          env={"PENSTOCK_AUTH_OPEN_METRICS": "true"})
    assert daemon.get("/metrics").status == 200
    assert daemon.get("/api/v1/slots/x").status == 401


def test_auth_none_serves_everyone_and_warns(start_daemon, tmp_path):
    path = config_file(tmp_path, "auth: none\nhttp: {listen: '0.0.0.0:0'}\n")
    daemon = start_daemon("--config", path, "--http", "0.0.0.0:0")
    assert daemon.get("/admin/rate-limit/config?name=x").status == 404
    assert "config.warning" in daemon.log()


def test_a_token_never_shows(penstock, tmp_path):
    path = token_file(tmp_path, "admin", "very-secret-token-value", mode=0o644)
    run = penstock("check-config", "--admin-token-file", path)
    assert run.returncode == 0
    assert f"everyone on this machine can read {path}" in run.stdout
    short = penstock("check-config", "--admin-token-file", token_file(tmp_path, "spaces", "a secret in words"))
    assert short.returncode == 2
    for text in (run.stdout, run.stderr, short.stdout, short.stderr):
        assert "secret" not in text


def test_settings_of_the_file_reach_the_daemon(start_daemon, tmp_path):
    path = config_file(tmp_path, "http: {body-bytes-max: 1KiB, threads: 1}\n"
                                 "slots: {default-config-name: payments, max-delay: PT0S}\n")
    daemon = start_daemon("--config", path)
    daemon.put_config("payments", 1, "PT1H")
    call = lambda event: daemon.post("/api/v1/slots", {"eventId": event, "requestedTime": "2030-01-01T00:00:00Z"})
    assert call("a").json()["configName"] == "payments"
    assert call("b").status == 503  # no delay is allowed, and the window is full
    assert daemon.post("/api/v1/slots", b"x" * 2000).status == 413


def test_relative_paths_start_at_the_working_directory(tmp_path):
    process = subprocess.Popen([binary(), "serve", "--http", "127.0.0.1:0", "--data-dir", "here"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=clean_environment(), text=True)
    try:
        assert process.stdout.readline().startswith("ready http=127.0.0.1:")
        assert (tmp_path / "here").is_dir()
    finally:
        process.terminate()
        assert process.wait(30) == 0
        process.stdout.close()


def test_a_taken_port_is_a_clear_error(penstock, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        run = penstock("serve", "--http", f"127.0.0.1:{taken.getsockname()[1]}", "--data-dir", tmp_path / "data")
    assert run.returncode == 1
    assert "in use" in run.stderr


def test_the_reference_of_the_docs_is_the_table_of_the_program(penstock):
    text = (ROOT / "docs" / "configuration.md").read_text()
    table = re.search(r"<!-- reference: begin -->\n(.*?)<!-- reference: end -->", text, re.S).group(1)
    assert penstock("check-config", "--print-reference").stdout == table


def test_the_example_of_the_docs_is_taken(penstock, tmp_path):
    text = (ROOT / "docs" / "configuration.md").read_text()
    for block in re.findall(r"```yaml\n(.*?)```", text, re.S):
        run = penstock("check-config", "--config", config_file(tmp_path, block))
        assert run.returncode == 0, run.stderr


def test_every_bad_config_has_its_message_and_no_message_is_left_over():
    folder = pathlib.Path(ROOT / "tests" / "data" / "config_bad")
    assert {p.stem for p in folder.glob("*.yaml")} == {p.stem for p in folder.glob("*.txt")}
