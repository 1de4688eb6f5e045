"""Contract fuzzing: schemathesis calls the running daemon by its own description (how: schemathesis.toml)."""
import json
import re
import subprocess
import sys

import openapi_examples
import openapi_schemas
from conftest import ROOT, clean_environment
from test_openapi import ADMIN, API, openapi, packages  # noqa: F401  (packages is a fixture)

FOLDER = ROOT / "tests" / "e2e"
SECONDS_MAX = 400  # it takes about a minute on an idle machine


def test_no_call_by_the_description_is_answered_against_it(packages, start_daemon, tmp_path):  # noqa: F811
    document = tmp_path / "openapi.json"
    described, steps = openapi.assemble()
    closed = openapi_schemas.closed(described)  # so that a field that is not described fails
    document.write_text(json.dumps(openapi.without(closed, openapi.TEST_KEYS)))
    arguments = []
    for name, token in (("admin", ADMIN), ("api", API)):
        file = tmp_path / f"{name}.token"
        file.write_text(token)
        file.chmod(0o600)
        arguments += [f"--{name}-token-file", str(file)]
    daemon = start_daemon(*arguments)
    # So that there is something to be found.
    openapi_examples.run(daemon, described, steps, {"Authorization": f"Bearer {ADMIN}"})
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "--config-file", FOLDER / "schemathesis.toml", "run", document,
         "--url", daemon.url, "--header", f"Authorization: Bearer {ADMIN}",
         "--exclude-operation-id", "watch"],  # without an end; test_openapi.py reads it
        cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX, check=False,
        env=clean_environment({"PYTHONPATH": f"{packages}:{FOLDER}", "PYTHONDONTWRITEBYTECODE": "1"}))
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    tested, calls = re.search(r"Tested: (\d+)", done.stdout), re.search(r"(\d+) generated", done.stdout)
    operations = sum(len(item) for item in json.loads(document.read_text())["paths"].values())
    assert int(tested[1]) == operations - 1 and int(calls[1]) > 1000, done.stdout
    assert daemon.process.poll() is None
    failed = [line for line in daemon.log().splitlines() if "handler_failed" in line or '"status":500' in line]
    assert not failed, failed
    print(re.search(r"Seed: .*", done.stdout)[0])
