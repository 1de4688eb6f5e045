"""PostgreSQL 15."""

import ctypes
import signal
from pathlib import Path

from . import template
from .process import call, require, run
from .server import Server

BIN = Path("/usr/lib/postgresql/15/bin")
IPC_RMID = 0


class Postgres(Server):
    kind = "postgres"
    user_for_root = "postgres"
    stop_signal = signal.SIGINT  # "fast": does not wait for clients
    immediate_signal = signal.SIGQUIT
    # The postmaster takes its backends with it on SIGQUIT; after SIGKILL a busy one would go on.
    death_signal = signal.SIGQUIT

    def __init__(self, fsync=True, settings=None):
        """`settings`: further lines of postgresql.conf, name -> value."""
        super().__init__()
        self._settings = {
            "listen_addresses": self.host,
            "port": self.port,
            "unix_socket_directories": "",
            "max_connections": 200,
            "fsync": "on" if fsync else "off",
            # Files below the data folder, where a killed server leaves nothing behind.
            "dynamic_shared_memory_type": "mmap",
            "log_line_prefix": "%m [%p] ",
            **(settings or {}),
        }

    @property
    def data(self):
        return self.dir / "data"

    def check_installed(self):
        require("postgres", "postgresql-15", BIN)

    def prepare(self):
        if self.data.exists():
            return
        template.unpack("postgres", BIN / "initdb", self._initdb, self.data, self.user)

    def _initdb(self, data):
        # --no-sync: only the new, empty cluster is written lazily; later commits follow `fsync`.
        run([BIN / "initdb", "--pgdata", data, "--username", "postgres", "--auth", "trust",
             "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--no-instructions"],
            seconds=120, what="initdb", user=self.user)

    def command(self):
        options = [part for name, value in self._settings.items()
                   for part in ("-c", f"{name}={value}")]
        return [BIN / "postgres", "-D", self.data, *options]

    def ready(self):
        lines = self._pid_file()
        # The same lines that pg_ctl reads; the pid tells our server from a killed one's leftover.
        return len(lines) >= 8 and lines[0] == str(self.pid) and lines[7].strip() == "ready"

    def _pid_file(self):
        try:
            return (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return []

    def url(self, database="postgres"):
        return f"postgresql://postgres@{self.host}:{self.port}/{database}"

    def query(self, sql, database="postgres"):
        """Runs SQL by psql; rows as lines, columns separated by `|`."""
        return call(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.url(database)],
                    input=sql)

    def create_database(self, name):
        """Makes a fresh database and returns its URL."""
        self.query(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def close(self):
        lines = self._pid_file() if self.dir and not self.running() else []
        super().close()
        if len(lines) >= 7:
            self._remove_segment(lines[6])

    @staticmethod
    def _remove_segment(line):
        # A killed postmaster leaves a small System V segment ("key id") for its successor to find.
        segment = int(line.split()[1])
        ctypes.CDLL(None).shmctl(segment, IPC_RMID, None)


def add_options(parser):
    parser.add_argument("--fsync", choices=("on", "off"), default="on",
                        help="off: faster, loses data if the machine fails (default: on)")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[],
                        help="a line of postgresql.conf; may be repeated")


def from_options(options):
    settings = dict(pair.split("=", 1) for pair in options.set)
    return Postgres(fsync=options.fsync == "on", settings=settings)
