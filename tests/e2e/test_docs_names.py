"""The names that documents use are those of the program: routes, settings, metrics, fields, tables, commands, tests."""
import json
import re
import subprocess

import pytest
from conftest import ROOT, binary, clean_environment

MIGRATION = sorted(page for page in (ROOT / "docs" / "migration").glob("*.md") if page.name != "README.md")
CODE = re.compile(r"`([^`]+)`")
METHODS = ("GET ", "POST ", "PUT ", "PATCH ", "DELETE ", "ANY ")


def tables(text):
    """[(heads, rows)] of a page; cells are texts."""
    found, rows = [], []
    for line in [*re.sub(r"```.*?```", "", text, flags=re.S).splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))])
        elif rows:
            found.append((rows[0], rows[2:]))
            rows = []
    return found


def names_of_penstock(page):
    """What stands as code in the column that is about Penstock, and whatever the third one says of it."""
    for heads, rows in tables(page.read_text()):
        ours = [i for i, head in enumerate(heads) if head.startswith(("Penstock", "status here", "field of the item type"))]
        for row in rows:
            for column in ours:
                yield from CODE.findall(row[column])


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """What a running daemon says of itself."""
    from conftest import Daemon
    folder = tmp_path_factory.mktemp("facts")
    daemon = Daemon(folder / "data", env={"PENSTOCK_THROTTLE_METRICS_TOKENS_REMAINING": "true"}, log_path=folder / "log")
    try:
        daemon.request("PUT", "/admin/dispatch/types/PAYMENT", "{}", {"Content-Type": "application/json"})
        daemon.post("/api/v1/throttle/check", {"key": "a"})
        described = daemon.get("/openapi.json").json()
        reference = subprocess.run([binary(), "check-config", "--print-reference"], capture_output=True, text=True, timeout=60,
                                   env=clean_environment(), check=True).stdout
        yield {
            "routes": {(route["method"], route["path"]) for route in daemon.get("/admin/routes").json()},
            "metrics": set(re.findall(r"^# TYPE (\S+)", daemon.get("/metrics").body.decode(), re.M)),
            "keys": set(re.findall(r"^\| `([^`]+)`", reference, re.M)),
            "words": words_of(described),
            "tables": set(re.findall(r"CREATE (?:TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)",
                                     sources("src/**/*.sql"))),
            "columns": set(re.findall(r"\b\w+\b", sources("src/**/*.sql"))),
            "source": sources("src/**/*.cc") + sources("src/**/*.h"),
        }
    finally:
        daemon.kill()


def sources(pattern):
    return "\n".join(path.read_text() for path in ROOT.glob(pattern))


def words_of(value):
    """Every key and every text of the description: fields, values of enumerations, parameters, headers."""
    if isinstance(value, dict):
        return set(value) | set().union(*map(words_of, value.values()))
    if isinstance(value, list):
        return set().union(set(), *map(words_of, value))
    return {value} if isinstance(value, str) else set()


def is_route(name, routes):
    method, _, path = name.rpartition(" ")
    path = path.split("?")[0]
    return any(known == path and method in ("", "ANY", asked) for asked, known in routes)


def is_command(name):
    words = [word for word in name.split()[1:] if re.fullmatch(r"[a-z][a-z-]*", word)]
    run = subprocess.run([binary(), *words, "--help"], capture_output=True, text=True, timeout=60, env=clean_environment())
    return run.returncode == 0 and " ".join(["Usage: penstock", *words]) in run.stdout


def exists(name, facts):
    if name.startswith(METHODS) or name.startswith("/"):
        return is_route(name, facts["routes"])
    if name.startswith("penstock "):
        return is_command(name)
    if re.fullmatch(r"[a-z][a-z-]*(\.[a-z_-]+)+", name):
        return name in facts["keys"] or f'"{name}"' in facts["source"]  # a setting, or a log event
    if re.fullmatch(r"[a-z]+_[a-z_]+", name):
        return name in facts["metrics"] | facts["tables"] | facts["columns"]
    if re.fullmatch(r"P(T?\d+[DHMS])+|PT?0S", name) or name in ("RateLimit", "Retry-After"):
        return True  # a duration, a header
    return name in facts["words"] or f'"{name}"' in facts["source"] or name in facts["columns"]


@pytest.mark.parametrize("page", MIGRATION, ids=lambda page: page.name)
def test_every_name_of_the_migration_tables_exists(page, facts):
    names = list(names_of_penstock(page))
    assert names, "a page without a column of Penstock"
    unknown = sorted({name for name in names if not exists(name, facts)})
    assert not unknown, (f"{page.name} says that Penstock has {unknown}, and no daemon knows it: mend the name, or leave the "
                         "backquotes away where it is no name of Penstock's")


def test_names_that_do_not_exist_are_noticed(facts):
    for name in ("POST /api/v1/slot", "GET /api/v1/slots/batch", "slots.max-dely", "dispatch_queue_dept", "penstock slots improt",
                 "maxPerWindou", "slots.assignd", "slot_windw"):
        assert not exists(name, facts), name
    for name in ("POST /api/v1/slots", "ANY /throttle/filter", "slots.max-delay", "dispatch_queue_depth", "penstock slots import",
                 "maxPerWindow", "slots.exhausted", "slot_window", "SLIDING_WINDOW_COUNTER"):
        assert exists(name, facts), name


def test_every_seed_system_has_its_page():
    listed = (ROOT / "docs" / "migration" / "README.md").read_text()
    pages = {page.name for page in MIGRATION}
    assert len(pages) == 5 and all(f"({page})" in listed for page in pages)
    for page in MIGRATION:
        heads = re.findall(r"^## (.*)$", page.read_text(), re.M)
        assert {"What behaves differently, and why", "Cut-over", "Roll-back"} <= set(heads), page.name


# --- guarantees ---

def named_tests():
    return re.findall(r"`((?:src|tests)/[^`:]+)::([^`]+)`", (ROOT / "docs" / "guarantees.md").read_text())


def is_a_test(file, name):
    path = ROOT / file
    if not path.is_file():
        return False
    if path.suffix == ".py":
        return re.search(rf"^def {re.escape(name)}\(", path.read_text(), re.M) is not None
    suite, _, case = name.partition(".")
    return re.search(rf"TEST(_F|_P)?\({suite},\s*{case}\)|TYPED_TEST(_P)?\({suite},\s*{case}\)", path.read_text()) is not None


def test_every_test_of_the_guarantees_exists():
    named = named_tests()
    assert len(named) > 80
    missing = [f"{file}::{name}" for file, name in named if not is_a_test(file, name)]
    assert not missing, "docs/guarantees.md names tests that do not exist:\n" + "\n".join(missing)
    assert not is_a_test("src/core/dispatch/pace_test.cc", "Pace.holds_always")


def test_every_guarantee_names_its_tests():
    text = (ROOT / "docs" / "guarantees.md").read_text()
    promises = re.split(r"^\*\*", text, flags=re.M)[1:]
    assert len(promises) > 30
    without = [promise.split("**")[0] for promise in promises if "::" not in promise]
    assert not without, f"promises without a test: {without}"


# --- all pages ---

def prose(path):
    return re.sub(r"```.*?```", "", path.read_text(), flags=re.S)


def guides_and_references():
    return [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guides").glob("*.md"),
            *(ROOT / "deploy").rglob("*.md")]


def spans(pattern):
    """(page, name) of all code in prose that looks like `pattern`."""
    return [(path, name) for path in guides_and_references() for name in CODE.findall(prose(path)) if re.fullmatch(pattern, name)]


def test_every_setting_that_a_page_names_exists(facts):
    """`section.key`, where the section is one of the reference."""
    sections = {key.split(".")[0] for key in facts["keys"] if "." in key}
    groups = {".".join(key.split(".")[:n]) for key in facts["keys"] for n in range(1, key.count(".") + 1)}
    unknown = [f"{path.name}: {name}" for path, name in spans(r"[a-z]+(\.[a-z-]+)+(: \S+)?")
               if name.split(".")[0] in sections and not name.endswith((".md", ".h", ".cc", ".json"))
               and name.split(":")[0] not in facts["keys"] | groups and f'"{name}"' not in facts["source"]]
    assert not unknown, unknown


def test_every_route_that_a_page_names_exists(facts):
    def fits(name):
        if name == "GET /stats":
            return True  # of `penstock demo downstream`
        method, _, path = name.partition(" ")
        asked = path.split("?")[0].split("/")
        return any(method in (verb, "ANY") and len(known.split("/")) == len(asked) and
                   all(part == want or part.startswith("{") for part, want in zip(known.split("/"), asked, strict=True))
                   for verb, known in facts["routes"])

    named = spans(r"(GET|POST|PUT|PATCH|DELETE|ANY) /[^ ]*")
    assert len(named) > 40
    assert not [f"{path.name}: {name}" for path, name in named if not fits(name)]


def test_every_metric_that_a_page_names_exists(facts):
    named = spans(r"(rate_limiter|throttlex|penstock|dispatch|payments|gateway)_[a-z_]+(\{.*\})?")
    assert len(named) > 50
    known = facts["metrics"] | facts["tables"] | facts["columns"] | {"throttlex_usage", "throttlex_sw_log", "throttlex_policy"}
    unknown = [f"{path.name}: {name}" for path, name in named
               if name.split("{")[0] not in known and f'"{name.split("{")[0]}"' not in facts["source"]]
    assert not unknown, unknown


@pytest.mark.parametrize("guide", sorted((ROOT / "docs" / "guides").glob("*.md")), ids=lambda page: page.name)
def test_every_guide_says_for_whom_what_and_what_then(guide):
    text = guide.read_text()
    assert "**For** " in text and "**You get** " in text
    heads = "\n".join(re.findall(r"^## (.*)$", text, re.M))
    assert "1. " in heads and "ee that it works" in heads
    assert "When something fails" in heads and "On several nodes" in heads


def test_the_example_answers_are_json():
    for path in (ROOT / "docs").rglob("*.md"):
        for block in re.findall(r"^```json\n(.*?)^```", path.read_text(), re.S | re.M):
            json.loads(block)
