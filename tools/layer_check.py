#!/usr/bin/env python3
"""Checks that every #include in src/ and include/ obeys the arrows of the house (docs/architecture.md).

A room may include itself, the rooms named here, and the third-party headers it wraps; nothing else.
"""
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

BASICS = ["base", "core", "runtime", "wire", "wire/http"]
SINKS = ["sink/http", "sink/kafka", "sink/log", "sink/smpp", "sink/temporal"]
# What an engine keeps for one capability sees what it keeps for the others: one writer, one transaction.
KEEPS = [*BASICS, "store"]
# room -> (rooms it may include, third-party prefixes it may include). A * is any one folder; the longest room counts.
ARROWS = {
    "base": ([], ["fmt/", "boost/pfr/"]),
    "core": (["base"], []),
    "runtime": (["base"], ["fmt/"]),
    "wire": (["base", "core"], ["fmt/"]),
    "wire/http": (["base", "wire"], ["boost/beast/", "fmt/"]),
    # How to talk to each engine, nothing about what is kept in it.
    "engine/sql": (["base", "runtime"], []),
    "engine/rocksdb": (["base", "runtime", "wire"], ["rocksdb/", "fmt/"]),
    "engine/postgres": (["base", "runtime", "wire", "engine/sql", "engine/testing"], ["libpq-fe.h", "fmt/"]),
    "engine/mariadb": (["base", "runtime", "wire", "engine/sql", "engine/testing"], ["mariadb/", "fmt/"]),
    "engine/redis": (["base", "runtime", "wire", "engine/testing"], ["openssl/", "fmt/"]),
    "engine/kafka": (["base", "runtime"], ["librdkafka/", "fmt/"]),
    "engine/http": (["base", "runtime", "wire"], ["boost/", "openssl/", "fmt/"]),
    "engine/testing": (["base", "runtime"], ["fmt/"]),
    # Ports, and what several engines share.
    "store": ([*BASICS, "engine/sql"], []),
    "store/*/conformance": ([*KEEPS, "store/*/conformance", "engine/testing"], []),
    # The heart of the installed library: no third party at all.
    "store/limits/memory": (["base", "core", "runtime", "store"], []),
    # The installed library. Its public headers are the one thing that it includes with <>.
    "library": ([*KEEPS, "store/limits/memory"], ["penstock/"]),
    # A cache in front of a ledger, by their ports; only its tests name engines.
    "store/quota/cached": (["base", "core", "runtime", "store"], []),
    "store/quota/cached/real": (["base", "core", "runtime", "store", "store/quota/cached", "store/*/conformance",
                                 "store/postgres", "store/redis", "engine/postgres", "engine/redis", "engine/testing"], []),
    # The sink of each kind, and sinks.h, which makes them. Services see the port.
    "sink": ([*BASICS, "engine/kafka", *SINKS], ["fmt/"]),
    "sink/http": ([*BASICS, "sink"], ["boost/", "openssl/", "fmt/"]),
    "sink/log": (["base", "core", "runtime", "sink"], ["fmt/"]),
    "sink/kafka": ([*BASICS, "engine/kafka", "sink"], ["fmt/"]),
    "sink/smpp": ([*BASICS, "sink"], ["fmt/"]),
    # The proto headers are generated from its own folder.
    "sink/temporal": ([*BASICS, "sink"], ["grpcpp/", "google/", "temporal/", "fmt/"]),
    "service": (["base", "core", "runtime", "store", "sink"], ["fmt/"]),
    "front": ([*BASICS, "store", "engine/kafka", "service"], ["boost/", "openssl/", "fmt/"]),
    # The command line's frame; the daemon's commands and the client's stand in it and do not see each other.
    "cli": (["base", "runtime", "wire", "engine/http"], ["CLI/", "fmt/"]),
    "tool": (["base", "core", "runtime", "wire", "wire/http", "cli", "engine/http"], ["boost/", "fmt/"]),
    "daemon": ([*BASICS, "engine/*", "store", "store/*", "store/*/*", "sink", *SINKS, "service", "front", "cli"],
               ["boost/", "openssl/", "yaml-cpp/", "fmt/"]),
    "main.cc": (["base", "cli", "daemon", "tool"], ["fmt/"]),
}
OF_ENGINES = {"embedded": ["rocksdb/"], "postgres": ["libpq-fe.h"], "mariadb": ["mariadb/"], "redis": ["openssl/"]}
for engine, prefixes in OF_ENGINES.items():
    own = "rocksdb" if engine == "embedded" else engine
    rooms = [*KEEPS, f"store/{engine}", f"store/*/{engine}", f"engine/{own}", "engine/sql"]
    ARROWS[f"store/{engine}"] = ARROWS[f"store/*/{engine}"] = (rooms, [*prefixes, "fmt/"])
# Test files (x_test.cc, x_conformance.cc, test_x.h, testing/) may use these from any room, and the
# conformance suite.
TEST_PREFIXES = ["gtest/", "gmock/"]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def room_of(path: str) -> str | None:
    """The room that is the longest beginning of `path` (relative to src/)."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        place = "/".join(parts[:length])
        if place in ARROWS:
            return place
        for room in ARROWS:
            if "*" in room and room.count("/") == place.count("/") and fnmatch.fnmatchcase(place, room):
                return room
    return None


def problems_in(file: pathlib.Path) -> list[str]:
    relative = file.relative_to(ROOT / "src").as_posix()
    room = room_of(relative)
    if room is None:
        return [f"{relative}: belongs to no room"]
    rooms, prefixes = ARROWS[room]
    is_test = (file.stem.endswith(("_test", "_conformance")) or file.stem.startswith("test_")
               or file.parent.name == "testing" or room.endswith("conformance"))
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
            elif other != room and not any(fnmatch.fnmatchcase(other, each) for each in rooms):
                if not (is_test and other in ("store/*/conformance", "engine/testing")):
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
