"""`penstock demo downstream` as a test sees it: started on a free port, asked for its statistics, ended with a summary."""
import http.client
import json
import re
import select
import signal
import subprocess

import pytest
from conftest import READY_SECONDS, binary, clean_environment, go_first


class DemoDownstream:
    def __init__(self, *args, stderr=None, goes_first=False):
        command = [binary(), "demo", "downstream", "--listen", "127.0.0.1:0", "--json", *map(str, args)]
        self.process = subprocess.Popen(
            go_first(command) if goes_first else command,
            stdout=subprocess.PIPE, stderr=stderr, text=True, env=clean_environment())
        readable, _, _ = select.select([self.process.stdout], [], [], READY_SECONDS)
        line = self.process.stdout.readline() if readable else ""
        found = re.match(r"ready http=127\.0\.0\.1:(\d+)$", line.strip())
        if not found:
            self.process.kill()
            raise RuntimeError(f"the downstream did not start: {line!r}")
        self.port = int(found.group(1))
        self.url = f"http://127.0.0.1:{self.port}/payments"

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method, path, headers=None, body=None, connection=None):
        """(status, headers, JSON) of one request."""
        asked = connection or self.connect()
        try:
            asked.request(method, path, body=body, headers=headers or {})
            answer = asked.getresponse()
            return answer.status, answer.headers, json.loads(answer.read())
        finally:
            if connection is None:
                asked.close()

    def book(self, key, connection=None):
        return self.ask("POST", "/payments", {"Idempotency-Key": key}, "{}", connection)

    def stats(self):
        return self.ask("GET", "/stats")[2]

    def end(self):
        """Its summary, as SIGTERM brings it."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=30)
        assert self.process.returncode == 0
        return json.loads(out)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture
def start_downstream():
    started = []

    def start(*args, **options):
        started.append(DemoDownstream(*args, **options))
        return started[-1]

    yield start
    for each in started:
        each.kill()
