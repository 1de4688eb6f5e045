"""tools/run_tests itself, on a small tree of its own: a gate that says "passed" must have seen everything pass."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest
from conftest import ROOT, wait_until

REPORT = """import pathlib, sys
pathlib.Path(sys.argv[1]).write_text('<testsuite>' + ''.join(
    f'<testcase classname="c" name="{name}">{inner}</testcase>' for name, inner in {cases}) + '</testsuite>')
sys.exit({code})"""


class Tree:
    """A copy of the runner with presets whose tests are small shell or Python commands."""

    def __init__(self, folder: pathlib.Path):
        self.root = folder
        self.environment = {}
        (folder / "tools").mkdir()
        shutil.copy(ROOT / "tools/run_tests", folder / "tools")
        (folder / "tools/testserver").symlink_to(ROOT / "tools/testserver")
        self.build_script("exit 0")

    def build_script(self, text: str) -> None:
        script = self.root / "tools/build"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)

    def add(self, preset: str, name: str, command: list, **properties) -> None:
        folder = self.root / "build" / preset
        folder.mkdir(parents=True, exist_ok=True)
        words = " ".join(f'[==[{word}]==]' for word in command)
        lines = [f"add_test({name} {words})"]
        lines += [f"set_tests_properties({name} PROPERTIES {key} {value})" for key, value in properties.items()]
        with open(folder / "CTestTestfile.cmake", "a") as out:
            out.write("\n".join(lines) + "\n")

    def add_report(self, preset: str, name: str, cases: list, code=0) -> None:
        report = self.root / "build" / preset / "reports" / f"{name}.xml"
        program = REPORT.replace("{cases}", repr(cases)).replace("{code}", str(code))
        self.add(preset, name, [sys.executable, "-c", program, report])

    def start(self, *args) -> subprocess.Popen:
        environment = os.environ | {"PENSTOCK_CACHE": str(self.root / "cache")} | self.environment
        return subprocess.Popen([sys.executable, self.root / "tools/run_tests", *args], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, env=environment)

    def run(self, *args) -> tuple[int, str]:
        process = self.start(*args)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def closing_line(output: str) -> str:
    return output.rstrip().splitlines()[-1]


def test_counts_every_case_of_every_report(tree):
    tree.add_report("release", "mixed", [("one", ""), ("two", ""), ("three", '<skipped message="no server"/>')])
    tree.add("release", "no_report", ["/bin/true"])
    code, output = tree.run("release")
    assert code == 0
    assert closing_line(output) == "3 passed, 0 failed, 1 skipped"
    assert "skipped: release/mixed: c.three: no server" in output


def test_a_failed_case_fails_the_run(tree):
    tree.add_report("release", "mixed", [("one", ""), ("two", "<failure/>")], code=1)
    code, output = tree.run("release")
    assert code == 1
    assert "failed: release/mixed: c.two" in output
    assert closing_line(output) == "1 passed, 1 failed, 0 skipped"


def test_a_program_that_ends_badly_after_its_cases_fails_the_run(tree):
    tree.add_report("release", "leaks", [("one", "")], code=23)
    code, output = tree.run("release")
    assert code == 1
    assert "failed: release/leaks: ended with 23 beside its cases, which passed" in output


def test_shows_the_output_of_a_test_that_failed(tree):
    tree.add("release", "bad", ["/bin/sh", "-c", "echo the reason; exit 3"])
    code, output = tree.run("release")
    assert code == 1
    assert "ended with 3. The end of its output:\nthe reason" in output


def test_a_test_that_does_not_end_is_killed_with_its_children(tree, tmp_path):
    child = tmp_path / "child"
    tree.add("release", "stuck", ["/bin/sh", "-c", f"sleep 600 & echo $! > {child}; wait"], TIMEOUT=1)
    tree.add("release", "good", ["/bin/true"])
    code, output = tree.run("release")
    assert code == 1
    assert "failed: release/stuck: did not end within 1 s" in output
    assert closing_line(output) == "1 passed, 1 failed, 0 skipped"
    wait_until(lambda: not pathlib.Path(f"/proc/{child.read_text().strip()}/status").exists()
               or "zombie" in pathlib.Path(f"/proc/{child.read_text().strip()}/status").read_text(), what="the end of the child")


def test_a_build_that_fails_fails_the_run_and_leaves_the_other_presets_running(tree):
    tree.build_script('[ "$1" != asan ]')
    tree.add("release", "good", ["/bin/true"])
    tree.add("asan", "never", ["/bin/true"])
    tree.add("tsan", "good", ["/bin/true"])
    code, output = tree.run("--build", "test", "asan", "tsan")
    assert code == 1
    assert "failed: asan: the build" in output
    assert closing_line(output) == "2 passed, 1 failed, 0 skipped"


def test_a_program_that_was_not_built_fails_the_run(tree):
    tree.add("release", "good", ["/bin/true"])
    tree.add("release", "gone", ["/nonexistent/program"])
    code, output = tree.run("release")
    assert code == 1
    assert closing_line(output) == "1 passed, 1 failed, 0 skipped"


def test_a_run_without_any_test_fails(tree):
    tree.add("release", "good", ["/bin/true"])
    code, output = tree.run("-R", "no_such_name", "release")
    assert code == 1
    assert closing_line(output) == "0 passed, 0 failed, 0 skipped"


def test_a_test_that_runs_alone_runs_alone(tree, tmp_path):
    alone = tmp_path / "alone"
    check = f"test ! -e {alone} && sleep 0.2 && test ! -e {alone}"
    for number in range(4):
        tree.add("release", f"other_{number}", ["/bin/sh", "-c", check])
    tree.add("release", "serial", ["/bin/sh", "-c", f"touch {alone}; sleep 0.5; rm {alone}"], RUN_SERIAL="ON")
    code, output = tree.run("release")
    assert code == 0, output


def test_an_interrupted_run_leaves_nothing_behind(tree, tmp_path):
    child = tmp_path / "child"
    tree.add("release", "long", ["/bin/sh", "-c", f"echo $$ > {child}.new; mv {child}.new {child}; exec sleep 600"])
    process = tree.start("release")
    wait_until(child.exists, seconds=30, what="the start of the test")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    wait_until(lambda: not pathlib.Path(f"/proc/{child.read_text().strip()}").exists(), what="the end of the test")


@pytest.mark.parametrize(("label", "in_memory"), [("unit", True), ("conformance", True), ("e2e", False)])
def test_temporary_files_of_c_plus_plus_are_in_memory_and_go_with_their_test(tree, tmp_path, label, in_memory):
    told, memory = tmp_path / "told", tmp_path / "memory"
    memory.mkdir()
    tree.add("release", "asks", ["/bin/sh", "-c", f"dirname $(mktemp) > {told}"], LABELS=label)
    tree.environment = {"PENSTOCK_SERVERS_FOLDER": str(memory)}
    code, output = tree.run("release")
    assert code == 0, output
    assert (pathlib.Path(told.read_text().strip()).parent == memory) == in_memory
    assert not list(memory.iterdir())
