"""Every message, field and enum of our part of Temporal's API is Temporal's own, by its published description."""

import json
import pathlib
import re
import tarfile

import pytest
from testserver import cache
from testserver.process import StartFailed, Unavailable, require, run

PROTO = pathlib.Path(__file__).resolve().parents[2] / "src" / "sink" / "temporal" / "proto"
VERSION = "1.24.0"  # of the package, which describes the API of servers 1.29 to 1.31
PACKAGE = f"@temporalio/proto@{VERSION}"
FETCH_SECONDS = 300

LINE = {
    "field": re.compile(r"(repeated )?([\w.]+|map<\w+, \w+>) (\w+) = (\d+);"),
    "open": re.compile(r"(message|enum|service) (\w+) \{"),
    "value": re.compile(r"([A-Z_0-9]+) = (\d+);"),
    "rpc": re.compile(r"rpc (\w+) \((\w+)\) returns \((\w+)\);"),
    "package": re.compile(r"package ([\w.]+);"),
    "other": re.compile(r'syntax = "proto3";|import "[\w/.]+";|\}|//.*|'),
}


def fetch(folder):
    npm = require("npm", "npm")
    try:
        run([npm, "pack", "--silent", PACKAGE], seconds=FETCH_SECONDS, what=PACKAGE, cwd=folder)
    except StartFailed as failure:
        raise Unavailable(f"{PACKAGE} cannot be fetched: {failure}") from None
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        member = archive.extractfile("package/protos/json-module.js")
        (folder / "api.js").write_bytes(member.read())


@pytest.fixture(scope="module")
def published():
    try:
        text = (cache.provide(f"temporal-api-{VERSION}", fetch) / "api.js").read_text()
    except Unavailable as reason:
        pytest.skip(f"skipped: {reason}")
    return json.loads(text[text.index(".addJSON(") + len(".addJSON("):text.rindex("});") + 1])


def ours():
    """(package, kind, name of message, (repeated, type, name, number)) of every line; none may be unread."""
    for file in sorted((PROTO / "temporal").rglob("*.proto")):  # google.rpc is not theirs to publish
        package, inside = None, None
        for line in file.read_text().splitlines():
            line = line.strip()
            kind, match = next(((kind, found) for kind, pattern in LINE.items() if (found := pattern.fullmatch(line))),
                               (None, None))
            assert match, f"{file.name}: {line!r} is not understood"
            if kind == "package":
                package = match.group(1)
            elif kind == "open":
                inside = match.group(2)
                yield package, match.group(1), inside, None
            elif kind != "other":
                yield package, kind, inside, match.groups()


def node(published, path):
    place = {"nested": published}
    for name in path.split("."):
        place = place["nested"][name]
    return place


def camel(name):
    return re.sub(r"_(\w)", lambda found: found.group(1).upper(), name)


def resolved(published, package, name):
    """The full name of a type that is named in `package`."""
    scope = package.split(".")
    while scope:
        try:
            node(published, ".".join([*scope, name]))
            return ".".join([*scope, name])
        except KeyError:
            scope.pop()
    return name


def test_every_line_is_of_the_published_api(published):
    fields = 0
    for package, kind, inside, what in ours():
        theirs = node(published, f"{package}.{inside}")
        if what is None:
            assert {"message": "fields", "enum": "values", "service": "methods"}[kind] in theirs, inside
        elif kind == "value":
            assert theirs["values"][what[0]] == int(what[1]), what
        elif kind == "rpc":
            method = theirs["methods"][what[0]]
            assert (method["requestType"], method["responseType"]) == what[1:], what
            assert "requestStream" not in method and "responseStream" not in method
        else:
            fields += 1
            repeated, type_name, name, number = what
            field = theirs["fields"][camel(name)]
            assert field["id"] == int(number), name
            assert (field.get("rule") == "repeated") == bool(repeated), name
            if mapping := re.fullmatch(r"map<(\w+), (\w+)>", type_name):
                assert (field["keyType"], field["type"]) == mapping.groups(), name
            else:
                assert resolved(published, package, type_name) == resolved(published, package, field["type"]), name
    assert fields == 19, "the proto files were read"
