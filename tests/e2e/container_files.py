"""What the tests of deploy/container share: its files, read by the code that engines read them with."""
import json
import subprocess

import pytest
import testserver
from conftest import ROOT, clean_environment
from testserver import manifests

FOLDER = ROOT / "deploy" / "container"


def run(*command, **options) -> str:
    options.setdefault("timeout", 600)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def checker():
    try:
        return manifests.programs() / "manifests"
    except testserver.Unavailable as reason:
        pytest.skip(f"skipped: {reason}")


@pytest.fixture(scope="module")
def stages(checker) -> list:
    return json.loads(run(checker, "containerfile", FOLDER / "Containerfile"))


@pytest.fixture(scope="module")
def compose(checker, tmp_path_factory) -> dict:
    """The project as Compose resolves it, in a copy of the folder that has its secrets."""
    folder = tmp_path_factory.mktemp("compose") / "container"
    run("cp", "-r", FOLDER, folder)
    run("sh", folder / "secrets.sh")
    return json.loads(run(checker, "compose", folder / "compose.yaml", env=clean_environment()))


def commands(stage, name) -> list:
    """The arguments of all instructions of this name."""
    return [each["text"].split(maxsplit=1)[1] for each in stage["commands"] if each["name"].upper() == name]
