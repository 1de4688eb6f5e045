"""The first data folder of a server, made once and unpacked at each first start: initdb takes a second, a copy a tenth
of that. The copies are alike to the byte: servers of one kind also share the identifier that is made with the folder.
"""

import hashlib
import inspect
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import cache
from .process import StartFailed

UNPACK_SECONDS = 120


def unpack(name, program, make, target, user=None):
    """Fills `target` with what make(folder) makes. Another version of `program` or of the code of `make` makes another
    folder."""
    state = Path(program).stat()
    version = f"{program} {state.st_size} {state.st_mtime_ns} {inspect.getsource(make)}"
    key = f"{name}-data-{hashlib.sha256(version.encode()).hexdigest()[:12]}"
    archive = cache.provide(key, lambda folder: _pack(make, folder, user)) / "data.tar"
    target.mkdir(mode=0o700)
    if user:
        shutil.chown(target, user)
    # From stdin: the cache may be in a folder that the account of the server cannot enter.
    with open(archive, "rb") as source:
        done = subprocess.run(["tar", "-x", "-p", "--no-same-owner", "-C", target], stdin=source, capture_output=True,
                              timeout=UNPACK_SECONDS, cwd="/", **_identity(user))
    if done.returncode != 0:
        shutil.rmtree(target, ignore_errors=True)
        raise StartFailed(f"cannot unpack {archive}: {done.stderr.decode(errors='replace')}")


def _pack(make, folder, user):
    with tempfile.TemporaryDirectory(prefix="penstock-template-") as place:
        if user:
            shutil.chown(place, user)
        data = Path(place, "data")
        make(data)
        subprocess.run(["tar", "-c", "-f", folder / "data.tar", "-C", data, "."], check=True, timeout=UNPACK_SECONDS)


def _identity(user):
    if not user:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
