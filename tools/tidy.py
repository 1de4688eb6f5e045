#!/usr/bin/env python3
"""clang-tidy over the sources of src/ that have changed since it last found them clean.

A clean result is kept as an empty file build/tidy/KEY; the key is a hash of all that the result depends
on and that we may change: the source, the headers of ours that it includes, its compile command,
.clang-tidy and the tool's version. Findings are never kept. Reads build/dev/compile_commands.json, so
sources that no target builds are left out.
Usage: tools/tidy.py [FILE...]    files or folders; without any, all of src/
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-19"
COMMANDS = ROOT / "build/dev/compile_commands.json"
CLEAN = ROOT / "build/tidy"
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# Tests are read by people and run under sanitizers; GoogleTest's macros would triple the time.
TEST = re.compile(r"_(test|conformance)\.cc$")


@functools.cache
def content(file: pathlib.Path) -> tuple[bytes, tuple[pathlib.Path, ...]]:
    """The digest of a file of ours, and the files of ours that it includes."""
    data = file.read_bytes()
    targets = (ROOT / "src" / target.decode() for target in INCLUDE.findall(data))
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


def findings(source: pathlib.Path) -> str:
    """What clang-tidy says of a source; empty when it is clean."""
    run = subprocess.run(
        [TIDY, "-p", str(COMMANDS.parent), "--quiet",
         "--extra-arg=-Wno-unknown-warning-option", str(source)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode == 0:
        return ""
    return run.stdout or run.stderr or f"{source}: {TIDY} ended with {run.returncode}\n"


def main() -> int:
    chosen = [pathlib.Path(a).resolve() for a in sys.argv[1:]] or [ROOT / "src"]
    tool = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    tool += (ROOT / ".clang-tidy").read_bytes()
    CLEAN.mkdir(parents=True, exist_ok=True)
    keys = {}
    for entry in json.loads(COMMANDS.read_text()):
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(ROOT / "src") and not TEST.search(source.name):
            keys[source] = key_of(source, entry["command"], tool)
    for old in CLEAN.iterdir():
        if old.name not in keys.values():
            old.unlink()
    todo = [s for s in sorted(keys) if any(s.is_relative_to(c) for c in chosen)
            and not (CLEAN / keys[s]).exists()]
    # The largest first, so that no core is left alone with one at the end.
    todo.sort(key=lambda s: s.stat().st_size, reverse=True)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
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
