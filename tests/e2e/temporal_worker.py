"""A real Temporal, and the example worker with the official SDK, as processes of their own."""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import testserver

EXAMPLE = ROOT / "examples" / "payments"
WORKER_SECONDS = 60  # the SDK's import alone is seconds on a loaded machine


@pytest.fixture(scope="module")
def temporal():
    server = testserver.Temporal()
    try:
        server.start()
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))
    yield server
    server.close()


@pytest.fixture(scope="session")
def sdk():
    try:
        return testserver.python_packages(EXAMPLE / "requirements.txt")
    except testserver.Unavailable as missing:
        pytest.skip(str(missing))


class PaymentWorker:
    def __init__(self, sdk, temporal, penstock_url, bank_url, log_path):
        with open(log_path, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, EXAMPLE / "worker.py", "--temporal", temporal.address, "--namespace", temporal.namespace,
                 "--penstock", penstock_url, "--bank", bank_url],
                stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, "PYTHONPATH": str(sdk)})
        readable, _, _ = select.select([self.process.stdout], [], [], WORKER_SECONDS)
        line = self.process.stdout.readline() if readable else ""
        if not line.startswith("ready "):
            self.kill()
            raise RuntimeError(f"the worker did not start: {line!r}\n{pathlib.Path(log_path).read_text()}")

    def stop(self):
        """In order; what it printed."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=60)
        return out.splitlines()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture
def start_worker(sdk, temporal, tmp_path):
    started = []

    def start(penstock_url, bank_url):
        started.append(PaymentWorker(sdk, temporal, penstock_url, bank_url, tmp_path / "worker.log"))
        return started[-1]

    yield start
    for each in started:
        each.kill()


def history(temporal, workflow_id):
    """The events of a workflow's last run."""
    return json.loads(temporal.cli("workflow", "show", "--workflow-id", workflow_id, "--output", "json"))["events"]


def executions(temporal, workflow_id):
    """How many runs of that id Temporal ever had, by its own list; grows a moment after a start."""
    found = json.loads(temporal.cli("workflow", "count", "--query", f"WorkflowId = '{workflow_id}'", "--output", "json"))
    return int(found.get("count", 0))
