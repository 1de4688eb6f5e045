"""Kafka 3.9.1: one broker that is its own controller (KRaft), from the jars of Maven Central."""

import hashlib
import os
import struct
from pathlib import Path

from . import cache, maven, template
from .process import run
from .server import Server, exchange

POM = Path(__file__).with_name("kafka") / "pom.xml"
CLUSTER_ID = "cGVuc3RvY2stdGVzdC0wMQ"  # any 16 bytes in base64
ARCHIVE = "classes.jsa"
METADATA_KEY, METADATA_VERSION = 3, 1

LOGGING = """\
log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %c %m%n
"""

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller_port}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller_port}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
num.partitions=4
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
# A killed broker may register again only after its old session has ended; the default is 9 s.
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
"""


class Kafka(Server):
    kind = "kafka"

    def __init__(self, settings=None, tls=None):
        """`settings`: further lines of server.properties, name -> value. `tls`: a folder with server.pem (private key in
        PKCS #8, then its certificate) and ca.pem; a second listener then speaks TLS, and asks for a certificate of that CA."""
        super().__init__()
        self._controller_port = self.reserve_port()
        self._settings = settings or {}
        self._record = None
        self.tls_port = self.reserve_port() if tls else None
        if tls:
            self._settings = {**_tls_settings(self, tls), **self._settings}

    @property
    def _properties(self):
        return self.dir / "server.properties"

    def check_installed(self):
        self._java = maven.java()
        self._jars = jars()
        self._archive = self._record or self._loaded_classes()

    def prepare(self):
        if self._properties.exists():
            return
        (self.dir / "log4j.properties").write_text(LOGGING)
        template.unpack("kafka", self._jars, self._format, self.dir / "data")
        self._write_properties(self._properties, self.dir / "data")

    def _write_properties(self, file, data):
        lines = PROPERTIES.format(host=self.host, port=self.port, data=data, controller_port=self._controller_port)
        lines += "".join(f"{name}={value}\n" for name, value in self._settings.items())
        file.write_text(lines)

    def _format(self, data):
        file = data.parent / "server.properties"
        self._write_properties(file, data)
        run([*self._jvm(), "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", file],
            seconds=60, what="kafka storage format", cwd=data.parent)

    def _jvm(self):
        # One core's worth of compiler and collector: tests start often and run briefly.
        return [self._java, "-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                f"-Dlog4j.configuration=file:{self.dir / 'log4j.properties'}",
                "-cp", ":".join(map(str, sorted(self._jars.glob("*.jar"))))]

    def command(self):
        option = "ArchiveClassesAtExit" if self._record else "SharedArchiveFile"
        return [*self._jvm(), f"-XX:{option}={self._archive}", "kafka.Kafka", self._properties]

    def _loaded_classes(self):
        """The classes of a broker as Java has them in memory after a start: read from this file, a start takes half the
        time. Java ignores a file that is not there or does not fit."""
        state = os.stat(self._java)
        version = f"{self._jars} {self._java} {state.st_size} {state.st_mtime_ns}"
        key = f"kafka-classes-{hashlib.sha256(version.encode()).hexdigest()[:12]}"
        return cache.provide(key, _record_classes) / ARCHIVE

    def ready(self):
        # Metadata without topics; a broker that does not serve yet is missing in its own answer.
        request = struct.pack(">hhih", METADATA_KEY, METADATA_VERSION, 1, -1) + struct.pack(">i", 0)
        answer = exchange(self.port, struct.pack(">i", len(request)) + request, 12)
        return len(answer) == 12 and struct.unpack(">iii", answer)[2] == 1

    def url(self):
        return f"kafka://{self.bootstrap}"

    @property
    def bootstrap(self):
        return f"{self.host}:{self.port}"

    @property
    def tls_bootstrap(self):
        return f"{self.host}:{self.tls_port}"

    def info(self):
        return {**super().info(), "bootstrap": self.bootstrap}


def _record_classes(folder):
    recorder = Kafka()
    recorder._record = folder / ARCHIVE
    with recorder:
        recorder.stop()  # in order: Java writes the file at its end


def _tls_settings(server, folder):
    plain = f"PLAINTEXT://{server.host}:{server.port}"
    secure = f"SSL://{server.host}:{server.tls_port}"
    return {"listeners": f"{plain},{secure},CONTROLLER://{server.host}:{server._controller_port}",
            "advertised.listeners": f"{plain},{secure}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL",
            "ssl.keystore.type": "PEM", "ssl.keystore.location": Path(folder) / "server.pem",
            "ssl.truststore.type": "PEM", "ssl.truststore.location": Path(folder) / "ca.pem",
            "ssl.client.auth": "required"}


def jars():
    """The folder with the broker's jars; downloads them on first use."""
    return maven.jars("kafka", POM)


def add_options(parser):
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[],
                        help="a line of server.properties; may be repeated")


def from_options(options):
    return Kafka(settings=dict(pair.split("=", 1) for pair in options.set))
