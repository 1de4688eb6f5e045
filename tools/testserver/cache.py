"""Downloaded and compiled things, kept outside the source tree and shared by all test runs.

The folder is ${PENSTOCK_CACHE:-${XDG_CACHE_HOME:-~/.cache}/penstock}. An entry is complete or
absent: it is built in a temporary folder beside its place and renamed, under a file lock.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

from .process import Unavailable, progress

LOCK_SECONDS = 3000  # more than the longest build, Temporal from source


def root():
    named = os.environ.get("PENSTOCK_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock"


def provide(name, build):
    """The folder of entry `name`; if absent, build(folder) fills it. One builder at a time."""
    place = root() / name
    if place.is_dir():
        return place
    root().mkdir(parents=True, exist_ok=True)
    with _lock(name):
        if place.is_dir():
            return place
        for left_over in root().glob(f".{name}.*"):  # of a builder that was killed
            shutil.rmtree(left_over, ignore_errors=True)
        workplace = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=root()))
        try:
            build(workplace)
            workplace.chmod(0o755)
            workplace.rename(place)
        finally:
            shutil.rmtree(workplace, ignore_errors=True)
    return place


@contextlib.contextmanager
def _lock(name):
    with open(root() / f"{name}.lock", "w") as file:
        deadline = time.monotonic() + LOCK_SECONDS
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Unavailable(f"{name}: another process holds the cache lock") from None
                if not told:
                    progress(f"{name}: waiting for another process that builds it")
                    told = True
                time.sleep(0.2)
        yield
