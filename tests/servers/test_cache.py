"""Cache entries are complete or absent and built once; reserved ports are kept apart."""

import threading

import pytest
from testserver import cache, ports


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    return tmp_path


def test_entry_is_built_once_by_many_at_once():
    builds = []

    def build(folder):
        builds.append(folder)
        (folder / "file").write_text("complete")

    users = [threading.Thread(target=cache.provide, args=("entry", build)) for _ in range(8)]
    for user in users:
        user.start()
    for user in users:
        user.join(timeout=60)
    assert len(builds) == 1
    assert (cache.provide("entry", build) / "file").read_text() == "complete"


def test_failed_build_leaves_no_entry(empty_cache):
    def fail(folder):
        (folder / "half").write_text("")
        raise ValueError("no")

    with pytest.raises(ValueError):
        cache.provide("entry", fail)
    assert [path.name for path in empty_cache.iterdir()] == ["entry.lock"]


def test_leftover_of_a_killed_builder_is_removed(empty_cache):
    (empty_cache / ".entry.killed").mkdir()
    cache.provide("entry", lambda folder: None)
    assert not (empty_cache / ".entry.killed").exists()


def test_reserved_ports_differ():
    reserved = [ports.reserve() for _ in range(50)]
    numbers = {port.number for port in reserved}
    for port in reserved:
        port.release()
    assert len(numbers) == 50
