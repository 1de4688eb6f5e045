"""Runs the commands that the documents show, and compares the answers they print with the real ones."""
import json
import pathlib
import re
import subprocess

from conftest import ROOT, binary, clean_environment

BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.S)


def tour_blocks(document="README.md"):
    text = (ROOT / document).read_text()
    tour = re.search(r"<!-- tour:begin.*?-->(.*?)<!-- tour:end -->", text, re.S).group(1)
    return BLOCK.findall(tour)


def shape(value):
    """The keys and types of a JSON value; what changes from run to run is not compared."""
    if isinstance(value, dict):
        return {key: shape(member) for key, member in value.items()}
    if isinstance(value, list):
        return [shape(element) for element in value]
    return type(value).__name__


def run_blocks(daemon, blocks):
    """Each bash block must succeed; a JSON block after it has the shape of its output, an error only there."""
    output = ""
    for (language, text), (next_language, next_text) in zip(blocks, [*blocks[1:], ("", "")]):
        if language == "bash":
            command = text.replace("http://127.0.0.1:8080", daemon.url)
            command = command.replace("build/release/penstock", binary())
            run = subprocess.run(["bash", "-euo", "pipefail", "-c", command], capture_output=True,
                                 text=True, timeout=60, cwd=ROOT,
                                 env=clean_environment({"PENSTOCK_URL": daemon.url}))
            assert run.returncode == 0, (command, run.stdout, run.stderr)
            assert run.stdout, command
            if next_language != "json" or '"error"' not in next_text:
                assert '"error"' not in run.stdout, run.stdout
            output = run.stdout
        elif language == "json":
            assert shape(json.loads(output)) == shape(json.loads(text)), output


def test_the_tour_of_the_readme_works(daemon):
    blocks = tour_blocks()
    assert sum(language == "bash" for language, _ in blocks) >= 8
    run_blocks(daemon, blocks)


def test_the_commands_of_the_throttle_guide_work(daemon):
    blocks = BLOCK.findall((ROOT / "docs" / "throttle.md").read_text())
    assert sum(language == "bash" for language, _ in blocks) >= 6
    run_blocks(daemon, blocks)


def test_the_first_payment_of_the_guide_works(daemon):
    blocks = tour_blocks("docs/payments.md")
    assert sum(language == "bash" for language, _ in blocks) >= 8
    run_blocks(daemon, blocks)


def test_the_first_item_of_the_dispatch_guide_works(daemon):
    blocks = tour_blocks("docs/dispatch.md")
    assert sum(language == "bash" for language, _ in blocks) >= 4
    run_blocks(daemon, blocks)


def test_the_first_message_of_the_gateway_guide_works(daemon):
    blocks = tour_blocks("docs/gateway.md")
    assert sum(language == "bash" for language, _ in blocks) >= 4
    run_blocks(daemon, blocks)


def test_links_between_the_documents_lead_somewhere():
    broken = []
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md"),
                     *ROOT.glob("src/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)",
                                     re.sub(r"```.*?```", "", document.read_text(), flags=re.S)):
            if not (document.parent / target).exists():
                broken.append(f"{document.relative_to(ROOT)}: {target}")
    assert not broken, broken


def test_both_commands_stand_in_the_readme():
    text = (ROOT / "README.md").read_text()
    assert "make run" in text and "make test" in text
    assert pathlib.Path(ROOT / ".ci" / "run").read_text().count("make test") == 1
