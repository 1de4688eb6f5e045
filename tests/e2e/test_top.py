"""`penstock top`: one picture for a pipe, a live one in a terminal, which it leaves as it found it."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from conftest import ROOT, binary, clean_environment, put_log_type

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


class Terminal:
    """A program in a pseudo terminal of our own."""

    def __init__(self, *args, width=100, height=40, env=None):
        self.ours, self.theirs = pty.openpty()
        self.resize(width, height)
        self.settings = termios.tcgetattr(self.theirs)
        self.process = subprocess.Popen([binary(), *map(str, args)], stdin=self.theirs, stdout=self.theirs,
                                        stderr=self.theirs, start_new_session=True,
                                        env=clean_environment({"TERM": "xterm", **(env or {})}))
        self.shown = b""

    def resize(self, width, height):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read(self):
        if select.select([self.ours], [], [], 0.05)[0]:
            self.shown += os.read(self.ours, 65536)

    def wait_for(self, pattern, seconds=20):
        """Reads until the newest picture has `pattern`."""
        deadline = time.monotonic() + seconds
        while not (found := re.search(pattern, self.picture())):
            assert time.monotonic() < deadline, (pattern, self.picture())
            self.read()
        return found

    def picture(self):
        newest = self.shown.decode(errors="replace").split("\x1b[H")[-1]
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", newest).replace("\r", "")

    def end(self):
        code = self.process.wait(20)
        self.read()
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def terminal():
    started = []

    def start(*args, **options):
        started.append(Terminal(*args, **options))
        return started[-1]

    yield start
    for each in started:
        each.close()


def test_without_a_terminal_it_prints_one_picture(daemon, penstock):
    put_log_type(daemon, "BENCH", maxPerSecond=500)
    run = penstock("top", "--url", daemon.url)
    assert run.returncode == 0 and run.stderr == ""
    assert "\x1b" not in run.stdout
    assert re.match(rf"penstock top  live  \d\d:\d\d:\d\dZ  {daemon.url}\n", run.stdout)
    for word in ("THROTTLE  allowed", "SLOTS  given", "DISPATCH  handed over", "QUEUE  READY 0", "HTTP", "HEALTH", " up"):
        assert word in run.stdout, word
    assert re.search(r"^BENCH +0 +500 ", run.stdout, re.M), run.stdout
    assert penstock("top", "--once", "--url", daemon.url).stdout.count("THROTTLE") == 1


def test_json_has_the_figures(daemon, penstock):
    put_log_type(daemon, "BENCH", maxPerSecond=500, enabled=False)
    figures = json.loads(penstock("top", "--json", "--url", daemon.url).stdout)
    assert figures["requestsPerSecond"] >= 0 and figures["checks"][0]["up"] is True
    assert figures["types"][0]["itemType"] == "BENCH" and figures["types"][0]["maxPerSecond"] == 500
    assert figures["types"][0]["enabled"] is False


def test_live_it_follows_the_daemon_and_q_leaves_the_terminal_as_it_was(daemon, penstock, terminal):
    screen = terminal("top", "--url", daemon.url)
    screen.wait_for(r"live")
    assert screen.shown.startswith(ENTER)
    load = subprocess.Popen([binary(), "bench", "throttle", "--url", daemon.url, "--duration", "PT4S", "--rate", "500"],
                            stdout=subprocess.DEVNULL, env=clean_environment())
    screen.wait_for(r"allowed [3-9]\d\d/s|allowed \d,\d\d\d/s")
    load.terminate()
    load.wait(20)
    assert "q quits" in screen.picture()
    os.write(screen.ours, b"xq")
    assert screen.end() == 0
    assert LEAVE in screen.shown and b"\x1b[?25h" in screen.shown
    assert screen.shown.index(LEAVE) > screen.shown.index(ENTER)
    assert termios.tcgetattr(screen.theirs) == screen.settings, "echo and line editing are back"


def test_ctrl_c_leaves_the_terminal_as_it_was(daemon, terminal):
    screen = terminal("top", "--url", daemon.url)
    screen.wait_for(r"live")
    screen.process.send_signal(signal.SIGINT)
    assert screen.end() == 0
    assert LEAVE in screen.shown
    assert termios.tcgetattr(screen.theirs) == screen.settings


def test_it_fits_the_terminal_also_when_that_changes(daemon, terminal):
    screen = terminal("top", "--url", daemon.url, width=100, height=40)
    screen.wait_for(r"q quits")
    for width, height in ((30, 12), (20, 5), (120, 50)):
        screen.resize(width, height)
        screen.shown = b""
        screen.wait_for(r"q quits")
        lines = screen.picture().split("\n")
        assert len(lines) <= height and max(map(len, lines)) <= width, (width, height, lines)


def test_it_says_when_the_daemon_is_gone_and_comes_back_with_it(start_daemon, terminal):
    daemon = start_daemon()
    screen = terminal("top", "--url", daemon.url)
    screen.wait_for(r"live")
    daemon.kill()
    screen.wait_for(r"lost: .*; trying again")
    assert "THROTTLE" in screen.picture(), "what was known last stays"
    start_daemon("--http", f"127.0.0.1:{daemon.port}")
    screen.wait_for(r"live, reconnected 1x")


def test_colors_are_left_out_when_asked(daemon, terminal):
    screen = terminal("top", "--url", daemon.url, env={"NO_COLOR": "1"})
    screen.wait_for(r"live")
    assert not re.search(rb"\x1b\[\d+m", screen.shown)


def test_a_refusal_is_1_and_nobody_there_is_3(start_daemon, penstock, terminal, tmp_path, free_url):
    admin = tmp_path / "admin.token"
    admin.write_text("the-admin-token-for-tests\n")
    admin.chmod(0o600)
    daemon = start_daemon("--admin-token-file", str(admin))
    refused = penstock("top", "--url", daemon.url)
    assert refused.returncode == 1 and refused.stderr.startswith("penstock: 401 Unauthorized: ")
    assert penstock("top", "--url", daemon.url, "--token-file", admin).returncode == 0
    screen = terminal("top", "--url", daemon.url)
    assert screen.end() == 1
    assert b"401 Unauthorized" in screen.shown.split(LEAVE)[1], "said where it can be read"
    gone = penstock("top", "--url", free_url)
    assert gone.returncode == 3 and gone.stderr == f"penstock: cannot reach {free_url}: Connection refused\n"


def test_the_commands_of_the_docs_work(daemon, penstock):
    text = (ROOT / "docs" / "command-line.md").read_text()
    block = next(b for b in re.findall(r"```bash\n(.*?)```", text, re.S) if b.startswith("penstock top\n"))
    for line in block.splitlines():
        run = penstock(*line.split()[1:], env={"PENSTOCK_URL": daemon.url})
        assert run.returncode == 0 and run.stdout, (line, run.stderr)
