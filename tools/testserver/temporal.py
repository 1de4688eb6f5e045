"""Temporal's development server, compiled once from the published Go module."""

import shutil

from . import cache, golang
from .process import CallFailed, StartFailed, Unavailable, call, progress, run
from .server import Server, exchange

# The newest release that `go install` accepts: from v1.6.0 on, go.mod has replace directives.
VERSION = "v1.5.1"
MODULE = f"github.com/temporalio/cli/cmd/temporal@{VERSION}"
BUILD_SECONDS = 2400  # six minutes on two idle cores, twelve and more on busy ones
NAMESPACE = "penstock"
CLI_OPTIONS = ["--disable-config-file", "--disable-config-env"]  # not the settings of the developer
REQUESTS_PER_SECOND = 20000  # the defaults of 2400 would throttle the tests


class Temporal(Server):
    """Keeps its state in a SQLite file, so that a restart on the folder finds it again; or, for benchmarks, in memory: a
    file bounds it to some 60 starts a second."""

    kind = "temporal"

    def __init__(self, namespace=NAMESPACE, settings=None, memory=False):
        """`settings`: dynamic configuration, name -> JSON value."""
        super().__init__()
        self.namespace = namespace
        self._memory = memory
        self._settings = {"frontend.rps": REQUESTS_PER_SECOND,
                          "frontend.namespaceRPS": REQUESTS_PER_SECOND, **(settings or {})}

    def check_installed(self):
        self.binary = binary()

    def command(self):
        options = [part for name, value in self._settings.items()
                   for part in ("--dynamic-config-value", f"{name}={value}")]
        if not self._memory:
            options += ["--db-filename", self.dir / "temporal.db"]
        return [self.binary, "server", "start-dev", "--headless", "--ip", self.host,
                "--port", str(self.port), "--namespace", self.namespace, "--log-level", "warn",
                *CLI_OPTIONS, *options]

    def environment(self):
        return {"TEMPORAL_VERSION_CHECK_DISABLED": "1"}  # else it asks a host on the Internet

    def ready(self):
        # An HTTP/2 server greets first; only then is a run of the client worth its start.
        if not exchange(self.port, b"", 1, seconds=0.2):
            return False
        try:
            return bool(self.cli("operator", "namespace", "describe"))
        except CallFailed:
            return False

    def cli(self, *arguments):
        """The output of the temporal command line client on this server and namespace."""
        return call([self.binary, *arguments, "--address", self.address,
                     "--namespace", self.namespace, "--client-connect-timeout", "2s", *CLI_OPTIONS])

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def url(self):
        return f"temporal://{self.address}/{self.namespace}"

    def info(self):
        return {**super().info(), "address": self.address, "namespace": self.namespace,
                "binary": str(self.binary)}


def binary():
    """The path of the temporal program; compiles it on first use, which takes minutes."""
    return cache.provide(f"temporal-{VERSION}", _build) / "temporal"


def _build(folder):
    scratch = folder / "scratch"
    go, environment = golang.toolchain(scratch)
    progress(f"temporal: compiling {MODULE} once; this takes minutes")
    try:
        run(["nice", "-n", "10", go, "install", "-ldflags=-s -w", MODULE], seconds=BUILD_SECONDS,
            what="temporal", cwd=folder, env={**environment, "GOBIN": str(folder)})
    except StartFailed as failure:
        raise Unavailable(f"temporal cannot be compiled: {failure}") from None
    shutil.rmtree(scratch, ignore_errors=True)


def add_options(parser):
    parser.add_argument("--namespace", default=NAMESPACE, help="made at start (default: penstock)")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[],
                        help="dynamic configuration, value as JSON; may be repeated")


def from_options(options):
    settings = dict(pair.split("=", 1) for pair in options.set)
    return Temporal(namespace=options.namespace, settings=settings)
