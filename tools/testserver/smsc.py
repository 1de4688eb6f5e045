"""A message centre that speaks SMPP 3.4, on the protocol of Debian's libnet-smpp-perl."""

import json
import subprocess
from pathlib import Path

from .process import Unavailable, require
from .server import Server

SCRIPT = Path(__file__).with_name("smsc") / "smsc.pl"


class Smsc(Server):
    """What it does with a message is said by the number that it goes to: see smsc.pl. The password is `secret`."""

    kind = "smsc"
    password = "secret"

    def check_installed(self):
        self._perl = require("perl", "perl")
        found = subprocess.run([self._perl, "-MNet::SMPP", "-e", "1"], capture_output=True, check=False)
        if found.returncode != 0:
            raise Unavailable("Net::SMPP is not installed (Debian package libnet-smpp-perl)")

    def command(self):
        return [self._perl, str(SCRIPT), self.host, str(self.port), str(self._journal), str(self._release)]

    @property
    def _journal(self):
        return self.dir / "journal.ndjson"

    @property
    def _release(self):
        return self.dir / "release"

    def ready(self):
        # A connection of a test's own would be one more to be told of; the journal is made first, and then it listens.
        return self._journal.exists() and listens(self.port)

    def url(self):
        return f"smpp://{self.host}:{self.port}"

    # For tests.

    def journal(self, event=None):
        """What happened, oldest first, over all starts."""
        lines = self._journal.read_text().splitlines()
        return [each for each in map(json.loads, lines) if event in (None, each["event"])]

    def submits(self, to):
        return [each for each in self.journal("submit") if each["to"] == to]

    def release(self):
        """Lets the reports go that wait."""
        self._release.touch()


def listens(port):
    """Whether somebody does, without a connection."""
    suffix = f":{port:04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1].endswith(suffix) and fields[3] == "0A":
            return True
    return False
