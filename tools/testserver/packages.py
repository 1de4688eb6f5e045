"""Published Python packages for the examples that tests run, kept out of the machine's own."""

import hashlib
import sys

from . import cache
from .process import StartFailed, Unavailable, progress, run

INSTALL_SECONDS = 600


def python_packages(requirements):
    """A folder for PYTHONPATH with what the file `requirements` pins."""
    wanted = requirements.read_text()
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:12]

    def build(folder):
        progress(f"fetching the packages of {requirements}")
        try:
            run([sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--no-compile",
                 "--no-deps", "--target", folder, "--requirement", requirements],
                seconds=INSTALL_SECONDS, what=str(requirements), cwd=folder)
        except StartFailed as failure:
            raise Unavailable(f"the packages of {requirements} cannot be fetched: {failure}") from None

    return cache.provide(f"python{version}-{digest}", build)
