#!/usr/bin/env python3
"""Builds the console (ui/) when it changed, and writes a C++ source that holds its files.

Usage: embed_console.py OUTPUT BUILD_FOLDER      the page of ui/, built in BUILD_FOLDER/dist
       embed_console.py OUTPUT --none            no page: the daemon says at `/` how to build it

All builds of one clone share BUILD_FOLDER, so the page is built once. Where npm cannot be had the source holds
no files, a warning says so, and the next build tries again.
"""
import hashlib
import pathlib
import sys

import console_packages
import embedding

UI = console_packages.UI


def inputs() -> list[pathlib.Path]:
    """What the page is made of; tests are not."""
    names = ["package.json", "package-lock.json", ".npmrc", "tsconfig.json", "vite.config.ts", "index.html"]
    files = [UI / name for name in names]
    files += [path for path in sorted((UI / "src").rglob("*")) if path.is_file() and ".test." not in path.name]
    files += [path for path in sorted((UI / "public").rglob("*")) if path.is_file()]
    return files


def fingerprint(files: list[pathlib.Path]) -> str:
    digest = hashlib.sha256(pathlib.Path(__file__).read_bytes() + pathlib.Path(embedding.__file__).read_bytes())
    for file in files:
        digest.update(file.relative_to(UI).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def build(folder: pathlib.Path) -> bool:
    """Brings folder/dist up to date. False: it cannot be built here."""
    folder.mkdir(parents=True, exist_ok=True)
    with console_packages.lock():  # two presets may build at once
        stamp = folder / "stamp"
        wanted = fingerprint(inputs())
        if stamp.exists() and stamp.read_text() == wanted:
            return True
        stamp.unlink(missing_ok=True)
        try:
            console_packages.install("build")
            console_packages.npm("run", "--silent", "build", "--", "--outDir", str(folder / "dist"), "--emptyOutDir")
        except console_packages.Unavailable as problem:
            print(f"embed_console: warning: the daemon is built without its console: {problem}")
            return False
        stamp.write_text(wanted)
        return True


def source(dist: pathlib.Path | None) -> str:
    files = [] if dist is None else [path for path in sorted(dist.rglob("*")) if path.is_file()]
    entries = [embedding.entry("/" + path.relative_to(dist).as_posix(), path.read_bytes()) for path in files]
    return embedding.source("console_files", "tools/embed_console.py", entries)


def main() -> None:
    target, folder = pathlib.Path(sys.argv[1]), sys.argv[2]
    dist = None
    if folder != "--none" and build(pathlib.Path(folder).resolve()):
        dist = pathlib.Path(folder) / "dist"
    stamp = target.with_suffix(".stamp")
    state = (pathlib.Path(folder) / "stamp").read_text() if dist else "none " + fingerprint([])
    if target.exists() and stamp.exists() and stamp.read_text() == state:
        return  # compressing takes a second, which a build with nothing to do should not
    embedding.replace(target, source(dist))
    stamp.write_text(state)


if __name__ == "__main__":
    main()
