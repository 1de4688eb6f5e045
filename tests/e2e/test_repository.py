"""What a repository promises to those who take it over: automation runs the same commands as people do, and every part of
the source has an owner."""
import json
import re

import yaml
from conftest import ROOT

GITHUB = ROOT / ".github"
# Brings the clone's machine to where a person's is.
PREPARES = re.compile(r"apt-get update && apt-get install [\w -]+|git config --system --add safe\.directory '\*'")


def test_workflows_run_the_makefile_and_nothing_of_their_own():
    targets = set(re.findall(r"^(\w+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = set()
    for workflow in GITHUB.glob("workflows/*.yml"):
        for job in yaml.safe_load(workflow.read_text())["jobs"].values():
            for step in job["steps"]:
                if "run" in step and not PREPARES.fullmatch(step["run"]):
                    assert step["run"] == "make ${{ matrix.target }}", f"{workflow.name}: {step['run']}"
                    called |= set(job["strategy"]["matrix"]["target"])
    assert {"test", "lint"} <= called <= targets


def test_every_room_has_an_owner_and_every_owner_a_room():
    lines = [line.split() for line in (GITHUB / "CODEOWNERS").read_text().splitlines() if line and line[0] != "#"]
    assert all(len(line) >= 2 and all(owner[0] == "@" for owner in line[1:]) for line in lines)
    owned = {line[0] for line in lines}
    assert {f"/src/{room.name}/" for room in (ROOT / "src").iterdir() if room.is_dir()} <= owned
    assert not [each for each in owned - {"*"} if not (ROOT / each.strip("/")).is_dir()]


def test_the_hook_and_the_container_start_what_there_is():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [(repo["repo"], hook["entry"]) for repo in hooks for hook in repo["hooks"]] == [("local", "tools/lint --quick")]
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    groups = re.search(r"groups: ([\w ]+)", (ROOT / "tools" / "setup").read_text())[1].split()
    assert set(container["onCreateCommand"].split("tools/setup ")[1].split()) <= set(groups)
    for form in GITHUB.glob("ISSUE_TEMPLATE/*.yml"):
        assert yaml.safe_load(form.read_text()), form
