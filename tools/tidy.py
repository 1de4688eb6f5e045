#!/usr/bin/env python3
"""clang-tidy over the sources of all rooms, and the headers they include, that it has not found clean before.

A clean result is kept as an empty file of the cache of tools/testserver, tidy/KEY, which all clones share. The key is a
hash of all that the result depends on and that we may change: the source, the headers of ours that it includes, its
compile command, .clang-tidy and the tool's version. Findings are never kept. Results that nobody used for 30 days go.
Usage: tools/tidy.py [FILE...]    files or folders; without any, all of src/. Configures build/tidy itself.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from testserver import cache

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-19"
# libstdc++ itself uses what it deprecates, and clang blames us for that; GCC tells us of our own uses.
ARGUMENTS = ("--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-deprecated-declarations")
BUILD = ROOT / "build/tidy"
CLEAN = cache.root() / "tidy"
UNUSED_SECONDS_MAX = 30 * 24 * 3600
INCLUDE = re.compile(rb'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
FOLDERS = (ROOT / "src", ROOT / "include", BUILD / "generated/temporal")
# Tests are read by people and run under sanitizers; GoogleTest's macros would triple the time.
TEST = re.compile(r"_(test|conformance)\.cc$")


def configure() -> dict[pathlib.Path, dict]:
    """The compile command of each source, after the headers that a build generates exist."""
    subprocess.run(["cmake", "--preset", "tidy"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    generated = [os.path.relpath(entry["file"], BUILD) for entry in entries if entry["file"].endswith(".pb.cc")]
    subprocess.run(["cmake", "--build", BUILD, "--target", *generated], stdout=subprocess.DEVNULL, check=True)
    # Some sources are compiled twice, for the daemon and for the shared library; clang-tidy reads them once.
    once = {}
    for entry in entries:
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(ROOT / "src") and not TEST.search(source.name):
            once.setdefault(source, entry)
    everything = {source for source in (ROOT / "src").rglob("*.cc") if not TEST.search(source.name)}
    if missing := sorted(everything - once.keys()):
        names = " ".join(str(source.relative_to(ROOT)) for source in missing[:5])
        sys.exit(f"tidy: {len(missing)} sources are in no compile command ({names} ...): remove {BUILD} and try again")
    commands = BUILD / "once/compile_commands.json"
    commands.parent.mkdir(exist_ok=True)
    commands.write_text(json.dumps(list(once.values())))
    return once


@functools.cache
def content(file: pathlib.Path) -> tuple[bytes, tuple[pathlib.Path, ...]]:
    """The digest of a file of ours, and the files of ours that it includes."""
    data = file.read_bytes()
    targets = (folder / target.decode() for target in INCLUDE.findall(data) for folder in FOLDERS)
    return hashlib.sha256(data).digest(), tuple(t for t in targets if t.is_file())


def closure(source: pathlib.Path) -> list[pathlib.Path]:
    seen, todo = {source}, [source]
    while todo:
        for other in content(todo.pop())[1]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return sorted(seen)


def key_of(source: pathlib.Path, command: str, tool: bytes) -> str:
    digest = hashlib.sha256(tool + command.replace(str(ROOT), "").encode())
    for file in closure(source):
        digest.update(str(file.relative_to(ROOT)).encode() + content(file)[0])
    return digest.hexdigest()


def is_clean(key: str) -> bool:
    try:
        os.utime(CLEAN / key)  # used today
    except FileNotFoundError:
        return False
    return True


def forget_unused() -> None:
    oldest = time.time() - UNUSED_SECONDS_MAX
    for result in CLEAN.iterdir():
        if result.stat().st_mtime < oldest:
            result.unlink(missing_ok=True)


def findings(source: pathlib.Path) -> str:
    """What clang-tidy says of a source; empty when it is clean."""
    run = subprocess.run([TIDY, "-p", str(BUILD / "once"), *ARGUMENTS, str(source)], capture_output=True, text=True)
    if run.returncode == 0:
        return ""
    return run.stdout or run.stderr or f"{source}: {TIDY} ended with {run.returncode}\n"


def main() -> int:
    chosen = [pathlib.Path(a).resolve() for a in sys.argv[1:]] or [ROOT / "src"]
    tool = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    tool += " ".join(ARGUMENTS).encode() + (ROOT / ".clang-tidy").read_bytes()
    CLEAN.mkdir(parents=True, exist_ok=True)
    keys = {source: key_of(source, entry["command"], tool) for source, entry in configure().items()
            if any(source.is_relative_to(each) for each in chosen)}
    todo = [source for source in keys if not is_clean(keys[source])]
    forget_unused()
    # The largest first, so that no core is left alone with one at the end.
    todo.sort(key=lambda s: s.stat().st_size, reverse=True)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        runs = {pool.submit(findings, source): source for source in todo}
        for run in concurrent.futures.as_completed(runs):
            source, found = runs[run], run.result()
            if found:
                bad += 1
                print(found.replace(f"{ROOT}/", ""), end="", flush=True)
            else:
                (CLEAN / keys[source]).touch()
    print(f"clang-tidy: {len(keys)} files, {len(todo)} checked, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
