"""Completion in the real shells: what TAB makes of what was typed."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

import cli_tree
import pytest
from conftest import binary, clean_environment

SHELL_SECONDS = 20  # a shell starts in tens of milliseconds; a loaded machine gets slack

# Typed before TAB, and what must be offered.
OFFERED = [
    ("penstock slots as", {"assign"}),
    ("penstock sl", {"slots"}),
    ("penstock --ver", {"--version"}),
    ("penstock slots ", {name.split()[1] for name in cli_tree.commands() if name.startswith("slots ")}),
    ("penstock --help slots co", {"confirm"}),
    ("penstock payments rules ", {"get", "put"}),
    ("penstock slots assign --max-d", {"--max-delay"}),
    ("penstock slots assign order-1 --at now --t", {"--timeout", "--token-file", "--ttl"}),
    ("penstock slots import events.csv --format ", {"csv", "ndjson"}),
    ("penstock policies create k --type S", {"SLIDING_WINDOW", "SLIDING_WINDOW_COUNTER"}),
    ("penstock gateway --url http://x config ", {"set", "get", "delete"}),
    ("penstock health ", {"ready", "live"}),
    ("penstock payments status pay-1 P", {"PROCESSING"}),
    ("penstock completion ", {"bash", "zsh", "fish"}),
    ("penstock types patch ORDER --enabled ", {"true", "false"}),
    ("penstock slots assign --token-file some-fi", {"some-file.txt"}),
    ("penstock slots batch some-fi", {"some-file.txt"}),
    ("penstock serve --data-dir some-fo", {"some-folder"}),
    ("penstock keys get ", set()),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Scripts of all shells, the program in a bin folder, and a file and a folder to find."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in ("bash", "zsh", "fish"):
        run = subprocess.run([binary(), "completion", shell], capture_output=True, text=True, timeout=30, check=True,
                             env=clean_environment())
        (folder / f"penstock.{shell}").write_text(run.stdout)
    (folder / "bin").mkdir()
    (folder / "bin" / "penstock").symlink_to(binary())
    (folder / "here").mkdir()
    (folder / "here" / "some-file.txt").write_text("x")
    (folder / "here" / "some-folder").mkdir()
    return folder


def needs(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"skipped: {shell} is not installed (tools/setup test)")


def environment(folder):
    env = clean_environment({"HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"})
    env["PATH"] = f"{folder / 'bin'}:{env['PATH']}"
    return env


class Terminal:
    """A shell on a terminal of its own, typed into and read until a mark is seen."""

    def __init__(self, command, folder):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        cwd=folder / "here", env=environment(folder))
        os.close(slave)

    def type(self, text):
        os.write(self.master, text.encode())

    def read_until(self, pattern):
        shown, deadline = "", time.monotonic() + SHELL_SECONDS
        while not re.search(pattern, shown):
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{pattern} did not come: {shown!r}"
            shown += os.read(self.master, 65536).decode(errors="replace")
        return shown

    def close(self):
        self.process.kill()
        self.process.wait(10)
        os.close(self.master)


# bash and zsh tell what they would offer by their own completion code, run on a real command line.

BASH = r"""
source "$1"
line=$2
read -ra COMP_WORDS <<<"$line"
[[ $line == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line}
compopt() { :; }
_penstock
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("line,expected", OFFERED)
def test_bash_offers(folder, line, expected):
    run = subprocess.run(["bash", "--norc", "-c", BASH, "bash", folder / "penstock.bash", line], capture_output=True,
                         text=True, timeout=SHELL_SECONDS, cwd=folder / "here", env=environment(folder), check=False)
    assert run.stderr == ""
    assert set(run.stdout.split()) == expected


def test_bash_completes_what_is_typed(folder):
    terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], folder)
    try:
        terminal.type(f"PS1='ready> '; bind 'set bell-style none'; source {folder}/penstock.bash; echo sour''ced\n")
        terminal.read_until("sourced")
        terminal.type("penstock slots as\t")
        terminal.read_until("penstock slots assign ")
        terminal.type("--max-d\t")
        terminal.read_until("--max-delay ")
        terminal.type("\x15penstock slots import x --format=nd\t")
        terminal.read_until("--format=ndjson")
        terminal.type("\x15penstock slots batch some-f\t\t")
        terminal.read_until("some-file.txt")
    finally:
        terminal.close()


def test_bash_finds_the_script_sound(folder):
    run = subprocess.run(["bash", "-n", folder / "penstock.bash"], capture_output=True, text=True, timeout=30, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    if shutil.which("shellcheck"):
        lint = subprocess.run(["shellcheck", "-s", "bash", folder / "penstock.bash"], capture_output=True, text=True,
                              timeout=60, check=False)
        assert lint.stdout == ""


@pytest.fixture(scope="module")
def zsh(folder):
    needs("zsh")
    terminal = Terminal(["zsh", "-f", "-i"], folder)
    terminal.type("PS1='ready> '; unsetopt beep zle_bracketed_paste; stty -echo; setopt list_ambiguous no_list_packed;"
                  "fpath=(); fpath=(/usr/share/zsh/functions/**/*(/N)); autoload -Uz compinit && compinit -u -D;"
                  "LISTMAX=0; zstyle ':completion:*' list-prompt ''; zstyle ':completion:*' menu no; COLUMNS=200;"
                  f"source {folder}/penstock.zsh; print sour''ced\n")
    terminal.read_until("sourced")
    yield terminal
    terminal.close()


def test_zsh_completes_what_is_typed(zsh):
    for typed, shown in (("penstock slots as\t", "penstock slots assign "), ("--max-d\t", "--max-delay "),
                         ("\x15penstock slots import x --format nd\t", "--format ndjson "),
                         ("\x15penstock slots import x --format=nd\t", "--format=ndjson "),
                         ("\x15penstock payments rules p\t", "payments rules put "),
                         ("\x15penstock payments status pay-1 P\t", "pay-1 PROCESSING "),
                         ("\x15penstock health l\t", "health live "),
                         ("\x15penstock slots batch some-fi\t", "slots batch some-file.txt "),
                         ("\x15penstock serve --data-dir some-fo\t", "--data-dir some-folder/")):
        zsh.type(typed)
        zsh.read_until(re.escape(shown))
    zsh.type("\x15")


def test_zsh_describes_what_it_offers(zsh):
    zsh.type("penstock slots \t")
    shown = zsh.read_until(r"release +-- ")
    assert re.search(r"confirm +-- Confirm a slot", shown), shown
    zsh.type("\x15")


def test_zsh_finds_the_script_sound(folder):
    needs("zsh")
    run = subprocess.run(["zsh", "-n", folder / "penstock.zsh"], capture_output=True, text=True, timeout=30, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("line,expected", OFFERED)
def test_fish_offers(folder, line, expected):
    needs("fish")
    run = subprocess.run(["fish", "--no-config", "-c", f"source {folder}/penstock.fish; complete -C '{line}'"],
                         capture_output=True, text=True, timeout=SHELL_SECONDS, cwd=folder / "here",
                         env=environment(folder), check=False)
    assert run.stderr == ""
    offered = {each.split("\t")[0].rstrip("/") for each in run.stdout.splitlines()}
    assert offered == expected


def test_fish_describes_what_it_offers(folder):
    needs("fish")
    run = subprocess.run(["fish", "--no-config", "-c", f"source {folder}/penstock.fish; complete -C 'penstock slots con'"],
                         capture_output=True, text=True, timeout=SHELL_SECONDS, env=environment(folder), check=True)
    assert run.stdout.startswith("confirm\tConfirm a slot")
