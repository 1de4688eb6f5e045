"""The commands as a whole: help that teaches, the docs, the man page, and the routes of the daemon, both ways."""
import json
import re
import shlex
import subprocess

import cli_tree
import pytest
from conftest import ROOT, binary, clean_environment

COMMANDS = cli_tree.commands()
DOCS = (ROOT / "docs" / "command-line.md").read_text()

# Routes that make no sense on a command line.
NOT_COMMANDS = {
    "/": "the console, for browsers", "/assets/": "a file of it", "/favicon.svg": "a file of it",
    "/docs": "the reference, for browsers", "/docs/reference.css": "a file of it", "/docs/reference.js": "a file of it",
    "/openapi.json": "for generators of clients; it is a file, and curl fetches it",
    "/admin/events": "a stream without an end, for the console",
    "/throttle/filter": "for proxies, which send the headers that it decides by; `throttle check` asks the same",
    "/q/metrics": "/metrics at the path of older systems",
}


def reason_against(path):
    return "/assets/" if path.startswith("/assets/") else path


# --- help ---

def test_without_a_command_the_help_is_a_usage_error(penstock):
    run = penstock()
    assert run.returncode == 2 and run.stdout == ""
    assert "Usage: penstock" in run.stderr and "Exit codes:" in run.stderr


def test_help_lists_every_command(penstock):
    run = penstock("--help")
    assert run.returncode == 0 and run.stderr == ""
    for command in {name.split()[0] for name in COMMANDS}:
        assert re.search(rf"^  {command} +\w", run.stdout, re.M), command


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_by_example(penstock, command):
    run = penstock(*command.split(), "--help")
    assert run.returncode == 0
    assert f"Usage: penstock {command}" in run.stdout
    examples = run.stdout.split("Example")[1]
    assert 1 <= len(re.findall(rf"^  .*penstock {command}", examples, re.M)) <= 3
    for option in COMMANDS[command]["options"]:
        assert option["help"], option
        assert all(name in run.stdout for name in option["names"]), option


@pytest.mark.parametrize("command", [name for name, each in COMMANDS.items() if each["routes"]])
def test_every_command_that_calls_the_daemon_says_so_and_has_json(penstock, command):
    text = penstock(*command.split(), "--help").stdout
    for route in COMMANDS[command]["routes"]:
        assert f"{route['method']} {route['path']}" in text
    for option in ("--json", "--url URL", "--token-file FILE", "--timeout DURATION"):
        assert option in text


def test_examples_are_command_lines_that_can_be_typed():
    """Each names its own command and only options that it has."""
    for command, each in COMMANDS.items():
        known = {name for option in each["options"] for name in option["names"]}
        for example in each["examples"]:
            words = shlex.split(example.replace("<(", "").replace(")", ""))
            if "penstock" not in words:
                continue
            words = words[words.index("penstock") + 1:]
            assert " ".join(words).startswith(command), example
            words = words[:words.index("|")] if "|" in words else words
            assert {word for word in words if word.startswith("--")} <= known, example


@pytest.mark.parametrize("args", [["slots"], ["serv"], ["serve", "--prot", "1"], ["slots", "assign"],
                                  ["slots", "assign", "e", "--at", "soon"], ["slots", "get", "e", "--url", "x"],
                                  ["slots", "import", "f.csv", "--batch", "10001"], ["serve", "--data-dir", ""],
                                  ["export", "slots", "--format", "xml"], ["windows", "--from", "soon"],
                                  ["gateway", "config"], ["throttle", "check"], ["slots", "preview", "0"],
                                  ["policies", "create", "k", "--type", "BUCKET"], ["health", "sick"],
                                  ["policies", "create", "k", "--refill-rate", "fast"], ["completion", "tcsh"],
                                  ["dispatch", "enqueue", "T", "i", "--at", "soon"], ["keys", "list", "--limit", "0"],
                                  ["dispatch", "enqueue", "T", "i", "--context", "{not json"],
                                  ["types", "put", "T", "--sink", "@/no/such/file"], ["slots", "batch", "/no/such/file"],
                                  ["types", "put", "T", "--body", "[]"], ["types", "patch", "T", "--burst", "0"],
                                  ["gateway", "usage", "17", "--bucket", "1h"], ["gateway", "send", "me", "text"]])
def test_a_wrong_command_line_is_2_and_says_why(penstock, args):
    run = penstock(*args)
    assert run.returncode == 2, run
    assert run.stdout == "" and run.stderr != ""


def test_an_option_means_a_value_everywhere_or_nowhere():
    """Completion tells the words of a command from values by the name of the option alone."""
    options = [option for each in COMMANDS.values() for option in each["options"] if not option["positional"]]
    valued = {name for option in options for name in option["names"] if option["value"]}
    flags = {name for option in options for name in option["names"] if not option["value"]}
    assert valued & flags == set()


def test_a_full_disk_is_no_success(penstock):
    with open("/dev/full", "w") as full:
        run = subprocess.run([binary(), "commands", "--json"], stdout=full, stderr=subprocess.PIPE, text=True,
                             env=clean_environment(), timeout=30, check=False)
    assert run.returncode == 1 and "No space left on device" in run.stderr


# --- the routes of the daemon ---

def test_every_route_has_a_command_and_the_reverse(daemon):
    routes = {(each["method"], each["path"]) for each in daemon.get("/admin/routes").json()}
    called = {(route["method"], route["path"]) for each in COMMANDS.values() for route in each["routes"]}
    wanted = {(method, path) for method, path in routes if reason_against(path) not in NOT_COMMANDS}
    assert wanted - called == set(), "routes without a command"
    assert called - routes == set(), "commands that call what is not there"
    assert called & {route for route in routes if reason_against(route[1]) in NOT_COMMANDS} == set()


def test_no_exception_is_out_of_date(daemon):
    paths = {each["path"] for each in daemon.get("/admin/routes").json()}
    optional = {"/", "/assets/", "/favicon.svg"}  # a daemon may be built without the console
    assert set(NOT_COMMANDS) - {reason_against(path) for path in paths} - optional == set()


def test_the_list_of_commands_names_their_routes(penstock):
    run = penstock("commands")
    assert run.returncode == 0
    lines = run.stdout.splitlines()
    assert lines[0].split() == ["command", "calls", "what", "it", "does"] and len(lines) == 1 + len(COMMANDS)
    assert re.search(r"^penstock slots confirm +POST /api/v1/slots/\{eventId\}/confirm +Confirm a slot", run.stdout, re.M)


# --- the docs ---

def test_the_docs_describe_every_command():
    missing = [command for command in COMMANDS if f"`penstock {command}" not in DOCS]
    assert missing == []


def test_the_docs_name_no_command_and_no_option_that_is_not_there():
    groups = {each["command"] for each in cli_tree.described()["commands"]}
    for words in re.findall(r"`(penstock [a-z][a-z -]*[a-z])", DOCS):
        assert words.split(" -")[0] in groups, words
    for option in set(re.findall(r"`(--[a-z-]+)", DOCS)):
        assert option in cli_tree.all_names() | {"--help"}, option


def test_the_docs_have_the_exit_codes_of_the_program():
    table = re.findall(r"^\| (\d+) \| (.+) \|$", DOCS, re.M)
    assert table == [(str(each["code"]), each["meaning"]) for each in cli_tree.described()["exitCodes"]]


def test_the_commands_of_the_docs_work(daemon, tmp_path):
    """All blocks between the marks, in their order, with the program in the PATH."""
    tour = re.search(r"<!-- tour:begin.*?-->(.*?)<!-- tour:end -->", DOCS, re.S).group(1)
    blocks = re.findall(r"```bash\n(.*?)```", tour, re.S)
    assert len(blocks) >= 6
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "penstock").symlink_to(binary())
    for block in blocks:
        env = clean_environment({"PENSTOCK_URL": daemon.url})
        env["PATH"] = f"{tmp_path / 'bin'}:{env['PATH']}"
        run = subprocess.run(["bash", "-euo", "pipefail", "-c", block], capture_output=True, text=True, timeout=60,
                             cwd=tmp_path, env=env, check=False)
        assert run.returncode == 0, (block, run.stdout, run.stderr)


# --- the man page ---

@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("man") / "penstock.1"
    with open(file, "w") as out:
        subprocess.run([binary(), "man"], stdout=out, check=True, timeout=30,
                       env=clean_environment({"SOURCE_DATE_EPOCH": "1750000000"}))
    return file


def shown(page, width=100):
    run = subprocess.run(["man", "--warnings", "-l", str(page)], capture_output=True, text=True, timeout=60, check=True,
                         env=clean_environment({"MANWIDTH": str(width), "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": "",
                                                "PAGER": "cat", "MANPAGER": "cat"}))
    assert run.stderr == "", run.stderr
    return run.stdout


def test_the_man_page_is_clean_roff(page):
    lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(page)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert (lint.returncode, lint.stdout + lint.stderr) == (0, "")
    assert "PENSTOCK(1)" in shown(page)


def test_the_man_page_has_every_command_option_and_exit_code(page):
    text = shown(page, 1000)  # nothing is broken over lines
    for command, each in COMMANDS.items():
        assert f"penstock {command}" in text, command
        for option in each["options"]:
            assert all(re.search(rf"(^|[\s,]){re.escape(name)}\b", text) for name in option["names"]), option
            assert option["help"].replace("`", "").split("\n")[0] in text, option
        for example in each["examples"]:
            assert example in text, example
    for name in ("NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES", "PENSTOCK_URL", "PENSTOCK_TOKEN",
                 "PENSTOCK_CONFIG", "/etc/penstock/penstock.yaml", "/var/lib/penstock"):
        assert name in text, name
    for each in cli_tree.described()["exitCodes"]:
        assert each["meaning"].replace("`", "") in text


def test_the_man_page_can_be_built_twice_with_the_same_bytes(page, penstock):
    text = penstock("man", env={"SOURCE_DATE_EPOCH": "1750000000"}).stdout
    assert text == page.read_text()
    assert '.TH PENSTOCK 1 "2025-06-15"' in text
    assert json.loads(penstock("version", "--json").stdout)["version"] in text.splitlines()[1]
