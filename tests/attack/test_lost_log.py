"""A write-ahead log that was deleted or cut: the daemon does not go back in time, it says what is missing."""
import os
import re
import subprocess

import pytest
from conftest import binary, clean_environment, wait_until

EVENTS = 1_000
TIME = "2030-01-01T00:00:00Z"


def sealed(folder) -> int:
    return int(re.search(r"^sequence (\d+)$", (folder / "SEAL").read_text(), re.MULTILINE).group(1))


def assign(daemon) -> dict:
    answer = daemon.post("/api/v1/slots/batch", [{"eventId": f"e-{i}", "requestedTime": TIME} for i in range(EVENTS)])
    assert answer.status == 200, answer.body
    return {each["eventId"]: each["scheduledTime"] for each in answer.json()["results"]}


def newest_log(folder):
    return max(each for each in folder.glob("0*.log") if each.stat().st_size > 0)


@pytest.fixture
def crashed(start_daemon, tmp_path):
    """The folder of a daemon that acknowledged the events, sealed them, and died; and the slots."""
    folder = tmp_path / "data"
    daemon = start_daemon()
    daemon.put_config(max_per_window=7)
    before = sealed(folder)
    slots = assign(daemon)
    wait_until(lambda: sealed(folder) >= before + EVENTS, what="the seal")
    daemon.kill()
    return folder, slots


def expect_refused(penstock, folder, what):
    """The daemon, `verify` and `doctor` say the same: what is missing, and what to do."""
    files = {each.name: each.stat().st_size for each in folder.iterdir()}
    way_out = f"`penstock verify {folder} --accept-loss` goes on without it"
    done = subprocess.run([binary(), "serve", "--data-dir", str(folder), "--http", "127.0.0.1:0"], capture_output=True,
                          text=True, env=clean_environment(), timeout=60)
    assert done.returncode == 1 and "daemon.start_failed" in done.stderr, done.stderr
    verified = penstock("verify", folder)
    assert verified.returncode == 1
    doctor = penstock("doctor", "--data-dir", folder, "--http", "127.0.0.1:0")
    assert doctor.returncode == 1 and "FAIL  folder.data" in doctor.stdout
    for said in (done.stderr, verified.stdout, doctor.stdout):
        assert what in said and way_out in said, said
    assert {each.name: each.stat().st_size for each in folder.iterdir()} == files, "refused, and left as it is"


def test_a_deleted_log_is_noticed_and_can_be_put_back(crashed, start_daemon, penstock, tmp_path):
    folder, slots = crashed
    whole = penstock("verify", folder)
    assert whole.returncode == 0 and "no damage" in whole.stdout, whole.stdout + whole.stderr
    log = newest_log(folder)
    log.rename(tmp_path / "lost")
    expect_refused(penstock, folder, f"{log.name}, which is missing")
    (tmp_path / "lost").rename(log)
    assert assign(start_daemon()) == slots, "known events keep their slots"


def test_a_cut_log_is_noticed_and_its_loss_can_be_accepted(crashed, start_daemon, penstock):
    folder, slots = crashed
    log = newest_log(folder)
    os.truncate(log, log.stat().st_size // 2)
    expect_refused(penstock, folder, f"{log.name}, which is cut short")
    # As docs/command-line.md has them.
    for command, code in (("penstock verify /var/lib/penstock", 1),
                          ("penstock verify /var/lib/penstock --accept-loss", 0),
                          ("penstock verify /var/lib/penstock", 0)):
        done = penstock(*command.replace("/var/lib/penstock", str(folder)).split()[1:])
        assert done.returncode == code, done.stdout + done.stderr
        assert ("sealed anew" in done.stdout) == ("--accept-loss" in command)
    daemon = start_daemon()
    assert daemon.get("/health/ready").status == 200
    assert len(assign(daemon)) == len(slots)


def test_a_deleted_seal_is_noticed(crashed, penstock):
    folder, _ = crashed
    (folder / "SEAL").unlink()
    expect_refused(penstock, folder, "has lost its file SEAL")


def test_a_crash_before_the_first_seal_is_no_loss(start_daemon, penstock, tmp_path):
    daemon = start_daemon()
    daemon.put_config(max_per_window=7)
    slots = assign(daemon)
    daemon.kill()
    assert penstock("verify", tmp_path / "data").returncode == 0
    assert assign(start_daemon()) == slots


def test_a_folder_in_use_is_not_verified(daemon, penstock):
    done = penstock("verify", daemon.data_dir)
    assert done.returncode == 1 and f"in use by process {daemon.pid}" in done.stderr
