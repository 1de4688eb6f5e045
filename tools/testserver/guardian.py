"""Runs one command and makes sure that nothing of it survives its owner.

A script of its own, not an import: it must be a separate, single-threaded process, because
 - it notices the death of the owner (end of file on stdin) even after kill -9 of the owner;
 - the kernel ties PR_SET_PDEATHSIG to the thread that forked, and this process has just one;
 - as a "child subreaper" it inherits the orphans of the server (PostgreSQL backends, compilers).

argv[1] is a JSON object (see process.Guarded). stdin carries one-byte orders: a signal number asks
for a stop with that signal. stdout carries one line: the pid of the command.
"""

import ctypes
import json
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
REAP_SECONDS = 10  # SIGKILL is obeyed at once, except by a process stuck in a slow disk write
ORPHAN_GRACE_SECONDS = 2  # nobody waits for a tidy end any more

libc = ctypes.CDLL(None, use_errno=True)


def start(spec):
    guardian = os.getpid()

    def die_with_guardian():
        # Runs after the change of user, which would clear the setting.
        libc.prctl(PR_SET_PDEATHSIG, spec["death_signal"])
        if os.getppid() != guardian:
            os._exit(1)

    identity = {}
    if spec["user"]:
        entry = pwd.getpwnam(spec["user"])
        identity = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    with open(spec["log"], "ab") as log:
        return subprocess.Popen(spec["command"], cwd=spec["cwd"], stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log,
                                preexec_fn=die_with_guardian, **identity)  # noqa: PLW1509  (a guardian has one thread)


def exited(child_fd, seconds):
    return bool(select.select([child_fd], [], [], seconds)[0])


def supervise(child, child_fd, spec):
    """Returns when the command has ended; true if the owner is gone."""
    while True:
        ready, _, _ = select.select([0, child_fd], [], [])
        if child_fd in ready:
            return False
        order = os.read(0, 1)
        child.send_signal(order[0] if order else spec["death_signal"])
        if not exited(child_fd, spec["grace_seconds"] if order else ORPHAN_GRACE_SECONDS):
            child.kill()
        exited(child_fd, REAP_SECONDS)
        return not order


def children():
    own = os.getpid()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The command name stands in parentheses and may itself contain spaces.
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # ended while we looked
        if parent == own:
            yield int(name)


def end_descendants():
    """Kills the children until there are none: orphans of a killed child become our children."""
    deadline = time.monotonic() + REAP_SECONDS
    while time.monotonic() < deadline:
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            time.sleep(0.005)


def remove(folder):
    # Several guardians may share a folder (a cluster): the last one to finish finds it removable.
    for _ in range(3):
        shutil.rmtree(folder, ignore_errors=True)


def main():
    spec = json.loads(sys.argv[1])
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    child = start(spec)
    child_fd = os.pidfd_open(child.pid)
    os.write(1, b"%d\n" % child.pid)
    orphaned = supervise(child, child_fd, spec)
    code = child.wait()
    end_descendants()
    if orphaned and spec["remove"]:
        remove(spec["remove"])
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
