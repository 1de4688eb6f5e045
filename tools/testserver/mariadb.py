"""MariaDB 10.11."""

from . import template
from .process import call, require, run
from .server import Server, exchange

USER = PASSWORD = DATABASE = "penstock"
PROTOCOL_VERSION = 10  # the first byte after the 4-byte header of the server's greeting
SBIN = "/usr/sbin"  # not on the PATH of an ordinary user


class MariaDb(Server):
    kind = "mariadb"
    user_for_root = "mysql"

    def __init__(self, fsync=True, settings=None):
        """`settings`: further options of mariadbd, name -> value."""
        super().__init__()
        self._settings = {
            "max-connections": 200,
            # 2: handed to the kernel at each commit, so that only a crash of the machine loses it.
            "innodb-flush-log-at-trx-commit": 1 if fsync else 2,
            # Small files: the folder is written anew for each server.
            "innodb-log-file-size": "32M",
            "innodb-buffer-pool-size": "128M",
            **(settings or {}),
        }

    @property
    def data(self):
        return self.dir / "data"

    def check_installed(self):
        self._server = require("mariadbd", "mariadb-server", SBIN)
        self._install = require("mariadb-install-db", "mariadb-server")

    def prepare(self):
        if self.data.exists():
            return
        template.unpack("mariadb", self._server, self._install_db, self.data, self.user)
        # Run at each start before the first connection is accepted.
        (self.dir / "init.sql").write_text(
            f"CREATE DATABASE IF NOT EXISTS {DATABASE};\n"
            f"CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';\n"
            f"GRANT ALL ON *.* TO '{USER}'@'%' WITH GRANT OPTION;\n")

    def _install_db(self, data):
        run([self._install, "--no-defaults", f"--datadir={data}", "--skip-test-db",
             "--skip-name-resolve", "--auth-root-authentication-method=normal",
             "--innodb-log-file-size=32M"],
            seconds=120, what="mariadb-install-db", user=self.user, cwd=data.parent)

    def command(self):
        options = [f"--{name}={value}" for name, value in self._settings.items()]
        return [self._server, "--no-defaults", f"--datadir={self.data}",
                f"--init-file={self.dir / 'init.sql'}", f"--socket={self.dir / 'socket'}",
                f"--bind-address={self.host}", f"--port={self.port}", "--skip-name-resolve",
                *options]

    def ready(self):
        greeting = exchange(self.port, b"", 5)
        return len(greeting) == 5 and greeting[4] == PROTOCOL_VERSION

    def url(self):
        return f"mysql://{USER}:{PASSWORD}@{self.host}:{self.port}/{DATABASE}"

    def query(self, sql, database=DATABASE):
        """Runs SQL by the mariadb client; rows as lines, columns separated by tabs."""
        return call(["mariadb", "--no-defaults", "--protocol=tcp", f"--host={self.host}",
                     f"--port={self.port}", f"--user={USER}", f"--password={PASSWORD}",
                     "--batch", "--skip-column-names", database], input=sql)

    def info(self):
        return {**super().info(), "user": USER, "password": PASSWORD, "database": DATABASE}


def add_options(parser):
    parser.add_argument("--fsync", choices=("on", "off"), default="on",
                        help="off: faster, loses data if the machine fails (default: on)")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[],
                        help="an option of mariadbd; may be repeated")


def from_options(options):
    settings = dict(pair.split("=", 1) for pair in options.set)
    return MariaDb(fsync=options.fsync == "on", settings=settings)
