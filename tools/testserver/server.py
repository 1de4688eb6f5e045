"""What all servers share: a folder, ports, and start / stop / kill / restart on both of them."""

import os
import shutil
import signal
import socket
import tempfile
from pathlib import Path

from . import ports
from .process import Guarded, StartFailed, log_tail, wait_until

HOST = "127.0.0.1"
# Names a folder for the folders of servers, instead of the usual one for temporary files. In memory (/dev/shm) a server
# starts, syncs and is removed in a tenth of the time; after a kill -9 it finds there what it would find on a disk.
FOLDER_VARIABLE = "PENSTOCK_SERVERS_FOLDER"
MEMORY = Path("/dev/shm")
MEMORY_BYTES_MIN = 4 << 30  # some servers at a time, each with a few hundred MB; Docker's default is 64 MB for all


def keep_in_memory():
    """Chooses memory for the folders of this process's servers where there is enough. For tests: benchmarks measure disks."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES_MIN:
        os.environ.setdefault(FOLDER_VARIABLE, str(MEMORY))


class Server:
    """One server process. The subclass says how to prepare the folder, the command and `ready`.

    start(), stop(), kill() and restart() keep folder and port; close() ends all. A context manager:
    enters by start(), leaves by close().
    """

    kind = "server"
    user_for_root = None  # the account to use when we are root and the server refuses root
    start_seconds = 60
    stop_signal = signal.SIGTERM
    immediate_signal = signal.SIGKILL
    death_signal = signal.SIGKILL  # sent by the kernel when the guardian is killed

    def __init__(self, folder=None):
        """`folder`: that of a group of servers, to hold this server's own; default: none."""
        self.user = self.user_for_root if os.geteuid() == 0 else None
        self._ports = []
        self._process = None
        self._group_folder = folder
        self.dir = None  # until the first start
        self.host = HOST
        self.port = self.reserve_port()

    # For the subclass.

    def check_installed(self):
        """Raises Unavailable if this server cannot be had."""

    def prepare(self):
        """Fills the folder; called before each start, must keep what is there."""

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def ready(self):
        raise NotImplementedError

    def url(self):
        raise NotImplementedError

    def reserve_port(self):
        port = ports.reserve()
        self._ports.append(port)
        return port.number

    # For tests.

    @property
    def pid(self):
        return self._process.pid if self.running() else None

    @property
    def log(self):
        return self.dir / "server.log"

    def running(self):
        return self._process is not None and self._process.alive()

    def info(self):
        return {"kind": self.kind, "url": self.url(), "host": self.host, "port": self.port,
                "pid": self.pid, "dir": str(self.dir)}

    def start(self):
        """Returns when the server answers; starts it anew unless it runs and answers already."""
        if self.running() and self.ready():
            return self
        self.kill()
        self.check_installed()
        if self.dir is None:
            self._make_folder()
        self.prepare()
        self._process = Guarded(
            self.command(), log=self.log, cwd=self.dir, user=self.user, env=self.environment(),
            remove=self._group_folder or self.dir, death_signal=self.death_signal)
        try:
            wait_until(self._answers, self.start_seconds, f"{self.kind} ready")
        except StartFailed as failure:
            self.kill()
            raise StartFailed(f"{failure}\n{log_tail(self.log)}") from None
        return self

    def _make_folder(self):
        prefix = f"penstock-{self.kind}-"
        self.dir = make_folder(prefix, self._group_folder)
        if self.user:
            shutil.chown(self.dir, self.user)

    def _answers(self):
        if not self._process.alive():
            raise StartFailed(f"{self.kind} ended while starting")
        return self.ready()

    def stop(self, immediate=False):
        """Stops in order, or at once as after a crash of its own (`immediate`)."""
        self._end(self.immediate_signal if immediate else self.stop_signal)

    def kill(self):
        """kill -9 of the server and its children."""
        self._end(signal.SIGKILL)

    def restart(self, immediate=False):
        self.stop(immediate)
        return self.start()

    def _end(self, with_signal):
        if self._process is not None:
            self._process.stop(with_signal)
            self._process = None

    def close(self):
        """Ends the server, frees the ports and removes the folder."""
        self.stop(immediate=True)
        for port in self._ports:
            port.release()
        if self.dir is not None:
            shutil.rmtree(self.dir, ignore_errors=True)
            self.dir = None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()


def make_folder(prefix, parent=None):
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent or os.environ.get(FOLDER_VARIABLE) or None))


def exchange(port, request, size, seconds=2):
    """Sends a request to a loopback port, returns up to `size` bytes; b"" if nobody answers."""
    answer = b""
    try:
        with socket.create_connection((HOST, port), timeout=seconds) as connection:
            connection.sendall(request)
            while len(answer) < size:
                part = connection.recv(size - len(answer))
                if not part:
                    break
                answer += part
    except OSError:
        pass
    return answer
