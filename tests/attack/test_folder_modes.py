"""Other users of the machine: they may not look into the data folder."""
import os
import stat

import pytest


def mode(path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def fill(daemon):
    daemon.put_config()
    assert daemon.post("/api/v1/slots", {"eventId": "e", "requestedTime": "2030-01-01T00:00:00Z"}).status == 200


@pytest.mark.parametrize("before", [None, 0o777])
def test_nobody_else_may_look_into_a_new_folder(start_daemon, tmp_path, before):
    folder = tmp_path / "data"
    if before is not None:
        folder.mkdir()
        folder.chmod(before)
    daemon = start_daemon()
    fill(daemon)
    assert mode(folder) == 0o700
    assert {each.name: mode(each) for each in folder.iterdir() if mode(each) & 0o077} == {}
    assert daemon.stop() == 0
    assert "store.folder_open_to_others" not in daemon.log()


def test_a_folder_with_files_that_is_open_to_others_is_told_of(start_daemon, tmp_path, penstock):
    start_daemon().stop()
    folder = tmp_path / "data"
    folder.chmod(0o755)
    daemon = start_daemon()
    fix = f"chmod -R go-rwx {folder}"
    assert "store.folder_open_to_others" in daemon.log() and fix in daemon.log()
    assert mode(folder) == 0o755, "its mode is its owner's business"
    daemon.stop()
    report = penstock("doctor", "--data-dir", folder, "--http", "127.0.0.1:0")
    assert f"-> {fix}" in report.stdout
