"""Free TCP ports on 127.0.0.1 that stay ours while a server is down between stop and start.

A port from bind(0) lies in the range the kernel hands to outgoing connections, so any client could
take it while the server restarts. These ports lie below that range, and a lock file each keeps
other test runs away; the lock ends with this process.
"""

import fcntl
import os
import random
import socket
from pathlib import Path

FIRST, LAST = 15000, 31999  # below Linux's default ip_local_port_range
TRIES = 2000
LOCKS = Path("/tmp", f"penstock-ports-{os.getuid()}")  # of all processes, whatever their TMPDIR is


class Port:
    """A reserved port number; release() or the end of the process gives it back."""

    def __init__(self, number, lock_fd):
        self.number = number
        self._lock_fd = lock_fd

    def release(self):
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None


def reserve():
    LOCKS.mkdir(mode=0o700, exist_ok=True)
    for number in random.sample(range(FIRST, LAST + 1), TRIES):
        lock_fd = os.open(LOCKS / str(number), os.O_RDWR | os.O_CREAT, 0o600)
        if _locked(lock_fd) and _bindable(number):
            return Port(number, lock_fd)
        os.close(lock_fd)
    raise OSError(f"no free port on 127.0.0.1 among {TRIES} tried")


def _locked(fd):
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False


def _bindable(number):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", number))
            return True
        except OSError:
            return False
