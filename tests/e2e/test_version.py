"""What a binary says of its own making, and where the build has that from."""
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

VERSION = (ROOT / "VERSION").read_text().strip()
COMMIT = r"[0-9a-f]{7}(-dirty)?"


def git(folder, *args):
    """By nobody's settings."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", "-C", folder, *who, *args], check=True, capture_output=True, text=True, env=env).stdout.strip()


def test_version_tells_what_is_running(penstock):
    text = penstock("version")
    assert text.returncode == 0
    known = json.loads(penstock("version", "--json").stdout)
    assert known["version"] == VERSION
    assert {"commit", "compiler", "rocksdb", "boost", "openssl"} <= known.keys()
    line = f"penstock {VERSION}" + (f" ({known['commit']})" if known["commit"] else "")
    assert text.stdout.splitlines()[0] == line
    brief = penstock("--version")
    assert (brief.returncode, brief.stdout, brief.stderr) == (0, line + "\n", "")


def test_a_build_of_a_repository_names_its_commit(penstock):
    if not shutil.which("git") or subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True).returncode:
        pytest.skip("skipped: this is no repository, or git is not installed")
    assert re.fullmatch(COMMIT, json.loads(penstock("version", "--json").stdout)["commit"])


def test_the_daemon_says_the_same(daemon, penstock):
    known = json.loads(penstock("version", "--json").stdout)
    status = daemon.get("/admin/status").json()
    assert (status["version"], status["commit"]) == (VERSION, known["commit"])
    shown = penstock("status", env={"PENSTOCK_URL": daemon.url}).stdout
    assert re.search(rf"^version +{re.escape(VERSION)}$", shown, re.M)
    assert bool(re.search(rf"^commit +{COMMIT}$", shown, re.M)) == bool(known["commit"])


@pytest.fixture
def tree(tmp_path):
    """A folder with one source, and what the build would say of it: tree.said()."""
    if not shutil.which("git"):
        pytest.skip("skipped: git is not installed")
    return Tree(tmp_path / "tree", tmp_path / "commit.cc")


class Tree:
    def __init__(self, folder, output):
        self.folder, self.output = folder, output
        folder.mkdir()
        (folder / "x.cc").write_text("int x;\n")

    def commit(self):
        git(self.folder, "init", "-q")
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-qm", "x")
        return git(self.folder, "rev-parse", "HEAD")[:7]

    def said(self):
        subprocess.run(["cmake", f"-DSOURCE={self.folder}", f"-DOUTPUT={self.output}",
                        "-P", ROOT / "cmake" / "BuildCommit.cmake"],
                       check=True, env={**os.environ, "HOME": str(self.folder.parent)})
        return re.search(r'return "(.*)"', self.output.read_text()).group(1)


def test_the_build_names_the_commit_of_a_clean_tree(tree):
    commit = tree.commit()
    assert tree.said() == commit


def test_the_build_says_that_a_file_was_changed_or_is_new(tree):
    commit = tree.commit()
    (tree.folder / "x.cc").write_text("int y;\n")
    assert tree.said() == f"{commit}-dirty"
    git(tree.folder, "checkout", "-q", "x.cc")
    assert tree.said() == commit
    (tree.folder / "new.cc").write_text("")
    assert tree.said() == f"{commit}-dirty"
    (tree.folder / ".git" / "info" / "exclude").write_text("new.cc\n")
    assert tree.said() == commit, "what git ignores is no change"


def test_the_build_of_a_tarball_names_none(tree):
    assert tree.said() == ""
    # Nor when it was unpacked in somebody else's repository.
    git(tree.folder.parent, "init", "-q")
    git(tree.folder.parent, "add", "-A")
    git(tree.folder.parent, "commit", "-qm", "x")
    assert tree.said() == ""


def test_the_build_writes_nothing_that_is_not_new(tree):
    tree.commit()
    tree.said()
    os.utime(tree.output, (1, 1))
    tree.said()
    assert tree.output.stat().st_mtime == 1
    (tree.folder / "x.cc").write_text("int y;\n")
    tree.said()
    assert tree.output.stat().st_mtime > 1
