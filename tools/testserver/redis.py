"""Redis 7: one node, or a cluster of three masters with or without replicas."""

import shutil

from .process import call, require, wait_until
from .server import Server, exchange, make_folder

MASTERS = 3
CLUSTER_SECONDS = 60


class Redis(Server):
    """Keeps its data in an append-only file, so that a restart on the folder finds it again."""

    kind = "redis"

    def __init__(self, settings=None, folder=None):
        """`settings`: further options of redis.conf, name -> value."""
        super().__init__(folder)
        self._settings = {"save": "", "appendonly": "yes", **(settings or {})}

    def check_installed(self):
        require("redis-server", "redis-server")

    def command(self):
        options = [part for name, value in self._settings.items()
                   for part in (f"--{name}", str(value))]
        # By its full path, so that DEBUG CRASH-AND-RECOVER finds what to execute again.
        return [shutil.which("redis-server"), "--bind", self.host, "--port", str(self.port),
                "--dir", self.dir, "--daemonize", "no", *options]

    def ready(self):
        return exchange(self.port, b"PING\r\n", 5) == b"+PONG"

    def url(self):
        return f"redis://{self.host}:{self.port}"

    def cli(self, *arguments):
        """The answer of redis-cli to one command; follows redirections of a cluster."""
        return call(["redis-cli", "-c", "-p", str(self.port), *arguments])


class RedisCluster:
    """Three masters (and replicas). `nodes` may be stopped, killed and started one by one."""

    kind = "redis"

    def __init__(self, replicas=0, settings=None):
        self._replicas = replicas
        self._formed = False
        self._settings = settings or {}
        self.dir = None
        self.nodes = []

    def start(self):
        require("redis-server", "redis-server")
        require("redis-cli", "redis-tools")
        if self.dir is None:
            self._make_nodes()
        for node in self.nodes:
            node.start()
        if not self._formed:
            self._form()
        wait_until(self._agreed, CLUSTER_SECONDS, "redis cluster state ok on all nodes")
        return self

    def _make_nodes(self):
        self.dir = make_folder("penstock-redis-cluster-")
        for _ in range(MASTERS * (1 + self._replicas)):
            node = Redis(folder=self.dir)
            node._settings.update({
                "cluster-enabled": "yes",
                "cluster-config-file": "nodes.conf",
                # The default bus port is port + 10000, which nobody reserved.
                "cluster-port": node.reserve_port(),
                "cluster-node-timeout": 2000,
                "repl-diskless-sync-delay": 0,  # do not wait 5 s for more replicas to ask
                **self._settings,
            })
            self.nodes.append(node)

    def _form(self):
        addresses = [f"{node.host}:{node.port}" for node in self.nodes]
        call(["redis-cli", "--cluster", "create", *addresses,
              "--cluster-replicas", str(self._replicas), "--cluster-yes"])
        self._formed = True

    def _agreed(self):
        return all(self._node_agrees(node) for node in self.nodes)

    def _node_agrees(self, node):
        state = node.cli("cluster", "info").split()
        role = node.cli("role").split()
        return ("cluster_state:ok" in state
                and f"cluster_known_nodes:{len(self.nodes)}" in state
                and (role[0] == "master" or "connected" in role))  # a replica has its copy

    def running(self):
        return bool(self.nodes) and all(node.running() for node in self.nodes)

    def url(self):
        return "redis://" + ",".join(f"{node.host}:{node.port}" for node in self.nodes)

    def cli(self, *arguments):
        return self.nodes[0].cli(*arguments)

    def info(self):
        first = self.nodes[0]
        return {"kind": self.kind, "cluster": True, "url": self.url(), "host": first.host,
                "port": first.port, "pid": first.pid, "dir": str(self.dir),
                "nodes": [node.info() for node in self.nodes]}

    def stop(self, immediate=False):
        for node in self.nodes:
            node.stop(immediate)

    def kill(self):
        for node in self.nodes:
            node.kill()

    def restart(self, immediate=False):
        self.stop(immediate)
        return self.start()

    def close(self):
        for node in self.nodes:
            node.close()
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


def add_options(parser):
    parser.add_argument("--cluster", action="store_true", help="three masters instead of one node")
    parser.add_argument("--replicas", type=int, choices=(0, 1, 2), default=0, metavar="N",
                        help="with --cluster: replicas of each master, 0 to 2 (default: 0)")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[],
                        help="an option of redis.conf; may be repeated")


def from_options(options):
    settings = dict(pair.split("=", 1) for pair in options.set)
    if options.cluster:
        return RedisCluster(replicas=options.replicas, settings=settings)
    return Redis(settings=settings)
