#!/usr/bin/env python3
"""The npm packages of the console (ui/node_modules), as package-lock.json pins them.

A build needs `dependencies` only; tests and linters need all. All is fine for a build too, so it is never taken back.
Usage: console_packages.py      installs all; quick when they are there
"""
import contextlib
import fcntl
import hashlib
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
UI = ROOT / "ui"
NPM_SECONDS = 600  # a first `npm ci` over a slow line


class Unavailable(Exception):
    """npm is not installed, or it failed: the message says which."""


@contextlib.contextmanager
def lock():
    """Of this clone: one process at a time installs packages or builds with them."""
    folder = ROOT / "build" / "ui"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def npm(*arguments: str) -> None:
    if shutil.which("npm") is None:
        raise Unavailable("npm is not installed")
    try:
        subprocess.run(["npm", *arguments], cwd=UI, check=True, timeout=NPM_SECONDS, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    except (OSError, subprocess.SubprocessError) as problem:
        said = (getattr(problem, "output", "") or "").splitlines()[-15:]
        raise Unavailable("\n".join([str(problem), *said])) from None


def install(wanted: str) -> None:
    """Installs what `wanted` names, "build" or "all". The caller holds the lock."""
    installed = UI / "node_modules" / ".penstock-installed"
    packages = hashlib.sha256((UI / "package-lock.json").read_bytes()).hexdigest()
    if installed.exists() and installed.read_text() in (f"{packages} all", f"{packages} {wanted}"):
        return
    # No package's own scripts: what we use needs none.
    npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", *(["--omit=dev"] if wanted == "build" else []))
    installed.write_text(f"{packages} {wanted}")


def main() -> None:
    try:
        with lock():
            install("all")
    except Unavailable as problem:
        sys.exit(f"console_packages: {problem}")


if __name__ == "__main__":
    main()
