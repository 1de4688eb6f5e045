#!/usr/bin/env python3
"""Checks that every #include in src/ and include/ obeys the arrows of the house (docs/architecture.md).

A room may include itself, the rooms named here, and the third-party headers it wraps; nothing else.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# room -> (rooms it may include, third-party prefixes it may include)
ARROWS = {
    "base": ([], ["fmt/", "boost/pfr/"]),
    "core": (["base"], []),
    "runtime": (["base"], ["fmt/"]),
    "wire": (["base", "core"], ["fmt/"]),
    # Ports and the conformance suite. Not a backend: those are rooms of their own below.
    "store": (["base", "core", "runtime", "wire"], []),
    "store/conformance": (["base", "core", "runtime", "wire", "store"], []),
    # The heart of the installed library: no third party at all.
    "store/memory": (["base", "core", "runtime", "store"], []),
    # The installed library. Its public headers are the one thing that it includes with <>.
    "library": (["base", "core", "runtime", "wire", "store", "store/memory"], ["penstock/"]),
    "store/embedded": (["base", "core", "runtime", "wire", "store"], ["rocksdb/", "fmt/"]),
    "store/mariadb": (["base", "core", "runtime", "wire", "store"], ["mariadb/", "fmt/"]),
    "store/postgres": (["base", "core", "runtime", "wire", "store"], ["libpq-fe.h", "fmt/"]),
    "store/redis": (["base", "core", "runtime", "wire", "store"], ["openssl/", "fmt/"]),
    # A cache in front of a ledger, by their ports; only its tests name engines.
    "store/cached": (["base", "core", "runtime", "store"], []),
    "store/cached/real": (["base", "core", "runtime", "store", "store/cached",
                                  "store/conformance", "store/postgres", "store/redis"], []),
    # A producer and a consumer group, for whoever has messages.
    "kafka": (["base", "runtime"], ["librdkafka/", "fmt/"]),
    # The port, and sinks.h, which makes each kind. Services see the port.
    "sink": (["base", "core", "runtime", "wire", "kafka", "sink/http", "sink/kafka", "sink/log",
              "sink/smpp", "sink/temporal"], ["fmt/"]),
    "sink/http": (["base", "core", "runtime", "wire", "sink"], ["boost/", "openssl/", "fmt/"]),
    "sink/log": (["base", "core", "runtime", "sink"], ["fmt/"]),
    "sink/kafka": (["base", "core", "runtime", "wire", "kafka", "sink"], ["fmt/"]),
    "sink/smpp": (["base", "core", "runtime", "wire", "sink"], ["fmt/"]),
    # The proto headers are generated from its own folder.
    "sink/temporal": (["base", "core", "runtime", "wire", "sink"],
                      ["grpcpp/", "google/", "temporal/", "fmt/"]),
    "service": (["base", "core", "runtime", "store", "sink"], ["fmt/"]),
    "front": (["base", "core", "runtime", "wire", "store", "kafka", "service"], ["boost/", "openssl/", "fmt/"]),
    "app": (["base", "core", "runtime", "wire", "store", "store/cached", "store/embedded", "store/mariadb",
             "store/memory", "store/postgres", "store/redis", "kafka", "sink", "sink/http", "sink/kafka",
             "sink/smpp", "sink/temporal",
             "service",
             "front"],
            ["boost/", "openssl/", "yaml-cpp/", "CLI/", "fmt/"]),
}
# Test files (x_test.cc, x_conformance.cc, test_x.h, testing/) may use these from any room, and the
# conformance suite.
TEST_PREFIXES = ["gtest/", "gmock/"]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def room_of(path: str) -> str | None:
    """The longest room name that is a folder prefix of `path` (relative to src/)."""
    best = None
    for room in ARROWS:
        if path.startswith(room + "/") and (best is None or len(room) > len(best)):
            best = room
    return best


def problems_in(file: pathlib.Path) -> list[str]:
    relative = file.relative_to(ROOT / "src").as_posix()
    room = room_of(relative)
    if room is None:
        return [f"{relative}: belongs to no room"]
    rooms, prefixes = ARROWS[room]
    is_test = (file.stem.endswith(("_test", "_conformance")) or file.stem.startswith("test_")
               or file.parent.name == "testing" or room == "store/conformance")
    found = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        where = f"src/{relative}:{number}"
        if quote == '"':
            other = room_of(target)
            if other is None:
                found.append(f"{where}: \"{target}\" is not in any room; write room/file.h")
            elif other != room and other not in rooms:
                if not (is_test and other == "store/conformance"):
                    found.append(f"{where}: {room} may not include {other} ({target})")
            elif not (ROOT / "src" / target).is_file():
                found.append(f"{where}: no such file {target}")
        elif "/" in target or target.endswith(".h"):
            # Headers with a folder are third party; a bare <x.h> is the C library or the system.
            third_party = "/" in target and not target.startswith(("sys/", "netinet/", "arpa/", "linux/"))
            allowed = prefixes + (TEST_PREFIXES if is_test else [])
            if third_party and not target.startswith(tuple(allowed) or ("\0",)):
                found.append(f"{where}: {room} may not include <{target}>")
    return found


def public_problems_in(file: pathlib.Path) -> list[str]:
    """A public header sees the standard library and its own kind, nothing that a user lacks."""
    found = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        where = f"{file.relative_to(ROOT).as_posix()}:{number}"
        if target.startswith("penstock/"):
            if quote == '"':
                found.append(f"{where}: write <{target}>, which is found wherever it is installed")
            elif not (ROOT / "include" / target).is_file():
                found.append(f"{where}: no such public header {target}")
        elif quote == '"' or "/" in target or "." in target:
            found.append(f"{where}: a public header may not include {target}")
    return found


def main() -> int:
    files = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".h", ".cc"))
    public = sorted((ROOT / "include").rglob("*.h"))
    found = [problem for file in files for problem in problems_in(file)]
    found += [problem for file in public for problem in public_problems_in(file)]
    files += public
    for problem in found:
        print(problem)
    print(f"layer_check: {len(files)} files, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
