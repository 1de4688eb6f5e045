"""A message centre that speaks SMPP 3.4 by jSMPP: the simulator that its project publishes, as it is."""

import re
from pathlib import Path

from . import maven
from .server import Server
from .smsc import listens

POM = Path(__file__).with_name("jsmpp") / "pom.xml"


class Jsmpp(Server):
    """Takes every message and reports it as delivered after a second. Its answers name a message in hex, its reports in
    decimal. It listens on all addresses and cannot be told otherwise: whoever binds needs the password."""

    kind = "jsmpp"
    system_id = "penstock"
    password = "secret"

    def check_installed(self):
        self._java = maven.java()
        self._jars = maven.jars("jsmpp", POM)

    def command(self):
        settings = {"jsmpp.simulator.port": self.port, "jsmpp.client.systemId": self.system_id,
                    "jsmpp.client.password": self.password, "java.net.preferIPv4Stack": "true",
                    "org.slf4j.simpleLogger.defaultLogLevel": "debug"}
        return [self._java, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                *(f"-D{name}={value}" for name, value in settings.items()),
                "-cp", f"{self._jars}/*", "org.jsmpp.examples.SMPPServerSimulator"]

    def ready(self):
        return listens(self.port)

    def url(self):
        return f"smpp://{self.host}:{self.port}"

    # For tests.

    def texts(self):
        """Those that came, oldest first, each part for itself."""
        return re.findall(r"Receiving submit_sm '(.*?)', and return", self.log.read_text(errors="replace"), re.S)
