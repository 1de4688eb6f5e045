"""Processes that end with their owner: start, wait until ready, stop by pid.

Each process runs below a small guardian (guardian.py) that ends it when this process ends, however
that happens. Safe to use from any thread; one Guarded belongs to one thread at a time.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GUARDIAN = Path(__file__).with_name("guardian.py")
POLL_SECONDS = 0.02
REPORT_SECONDS = 15  # downloads and compilations take minutes
CALL_SECONDS = 60
LOG_TAIL_BYTES = 2000
GUARDIAN_SECONDS = 30  # more than the guardian takes for SIGKILL and its orphans


class Unavailable(Exception):
    """The server cannot be had here (package missing, registry unreachable): skip, do not fail."""


class StartFailed(Exception):
    """The server is installed but did not become ready."""


class CallFailed(Exception):
    """A client program could not do what was asked."""


def progress(text):
    print(f"testserver: {text}", file=sys.stderr, flush=True)


def require(program, package, *folders):
    """The path of an installed program, searched on PATH and then in the given folders."""
    for path in (None, *map(str, folders)):
        found = shutil.which(program, path=path)
        if found:
            return found
    raise Unavailable(f"{program} is not installed (Debian package {package})")


def log_tail(path):
    try:
        text = Path(path).read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace")
    except OSError:
        return "(no log)"
    return text.strip() or "(empty log)"


def wait_until(condition, seconds, what):
    """Polls until the condition holds; raises StartFailed when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise StartFailed(f"{what} not reached within {seconds} s")
        time.sleep(POLL_SECONDS)


class Guarded:
    """One running command. Ends with this process; its orphans end with it."""

    def __init__(self, command, *, log, cwd, user=None, env=None, remove=None,
                 death_signal=signal.SIGKILL, grace_seconds=20):
        """`remove` is a folder the guardian deletes if this process dies without a stop."""
        self.log = Path(log)
        spec = {"command": [str(part) for part in command], "log": str(log), "cwd": str(cwd),
                "user": user, "remove": str(remove) if remove else None,
                "death_signal": int(death_signal), "grace_seconds": grace_seconds}
        self._stop_seconds = grace_seconds + GUARDIAN_SECONDS
        with open(self.log, "ab") as errors:
            # A session of its own: Ctrl-C in the terminal reaches the owner, which stops in order.
            self._guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARDIAN), json.dumps(spec)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env={**os.environ, **(env or {})}, start_new_session=True)
        self.pid = self._read_pid()

    def _read_pid(self):
        line = self._guardian.stdout.readline()
        if not line:
            self._guardian.wait()
            raise StartFailed(f"cannot run the command: {log_tail(self.log)}")
        return int(line)

    def alive(self):
        return self._guardian.poll() is None

    def wait(self, seconds):
        """The exit code of the command, or None if it still runs after this time."""
        try:
            return self._guardian.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, with_signal=signal.SIGTERM):
        """Returns when the command and all its descendants are gone."""
        if self.alive():
            try:
                self._guardian.stdin.write(bytes([with_signal]))
                self._guardian.stdin.flush()
            except BrokenPipeError:
                pass  # it ended by itself just now
        if self.wait(self._stop_seconds) is None:
            self._guardian.kill()  # the kernel then ends the command
            self._guardian.wait()
        for pipe in (self._guardian.stdin, self._guardian.stdout):
            pipe.close()


def run(command, *, seconds, what, user=None, cwd=None, env=None):
    """Runs a long command to its end, with reports on stderr; StartFailed if it fails."""
    with tempfile.TemporaryDirectory(prefix="penstock-run-") as folder:
        log = Path(folder, "log")
        process = Guarded(command, log=log, cwd=cwd or "/", user=user, env=env, remove=folder)
        started = time.monotonic()
        code = None
        try:
            while code is None and time.monotonic() - started < seconds:
                code = process.wait(min(REPORT_SECONDS, seconds))
                if code is None:
                    progress(f"{what}: {time.monotonic() - started:.0f} s")
        finally:
            process.stop(signal.SIGKILL)
        if code is None:
            raise StartFailed(f"{what} took longer than {seconds} s")
        if code != 0:
            raise StartFailed(f"{what} failed with exit code {code}: {log_tail(log)}")


def call(command, input=None):
    """Runs a client program and returns what it printed."""
    done = subprocess.run(command, text=True, capture_output=True, timeout=CALL_SECONDS,
                          **({"stdin": subprocess.DEVNULL} if input is None else {"input": input}))
    if done.returncode != 0:
        raise CallFailed(f"{command[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()
