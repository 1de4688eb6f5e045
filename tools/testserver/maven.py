"""Java programs of Maven Central for tests: what a pom names, copied into the cache folder once."""

import hashlib
import os
import shutil
from pathlib import Path

from . import cache
from .process import StartFailed, Unavailable, progress, require, run

DOWNLOAD_SECONDS = 900


def java():
    home = os.environ.get("JAVA_HOME")
    return require("java", "openjdk-17-jre-headless", *([Path(home, "bin")] if home else []))


def jars(name, pom):
    """The folder with the jars of `pom`; downloads them on first use."""
    version = hashlib.sha256(pom.read_bytes()).hexdigest()[:12]
    return cache.provide(f"{name}-{version}", lambda folder: _download(name, pom, folder))


def _download(name, pom, folder):
    maven = require("mvn", "maven")
    progress(f"{name}: fetching its jars, once")
    # A copy of the pom, for Maven may write beside it.
    project = folder / "project"
    project.mkdir()
    shutil.copy(pom, project)
    try:
        run([maven, "-q", "-B", "-f", project / "pom.xml", "dependency:copy-dependencies",
             "-DincludeScope=runtime", f"-DoutputDirectory={folder}"],
            seconds=DOWNLOAD_SECONDS, what=f"{name} jars", cwd=project)
    except StartFailed as failure:
        raise Unavailable(f"the jars of {name} cannot be fetched: {failure}") from None
    shutil.rmtree(project)
