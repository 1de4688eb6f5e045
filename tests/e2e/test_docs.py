"""The documents keep their word: every command block is run (doc_blocks.py), links lead somewhere, names exist."""
import pathlib
import re

import pytest
import testserver
from conftest import ROOT
from doc_blocks import RuleBroken, check_rule, has_something_to_run, page_names, read_page, run_page
from doc_terminal import Terminal

PAGES = page_names()


@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_run_or_says_why_not(name):
    check_rule(read_page(name))


@pytest.mark.parametrize("name", filter(has_something_to_run, PAGES))
def test_the_commands_of_the_page_work(name, tmp_path):
    page = read_page(name)
    try:
        with Terminal(page, tmp_path) as terminal:
            run_page(page, terminal)
    except testserver.Unavailable as reason:
        pytest.skip(f"skipped: {reason}")


# --- the rule itself: what breaks it is noticed ---

def written(monkeypatch, tmp_path, text, name="page.md"):
    import doc_blocks
    monkeypatch.setattr(doc_blocks, "ROOT", tmp_path)
    (tmp_path / name).write_text(text)
    page = read_page(name)
    check_rule(page)
    return page


@pytest.mark.parametrize("text,message", [
    ("```\ncurl http://127.0.0.1:8080/metrics\n```\n", "without a language"),
    ("```\n$ ls\n```\n", "without a language"),
    ("```\nsystemctl stop penstock\n```\n", "without a language"),
    ("<!-- not run: too hard -->\n```bash\nls\n```\n", "no reason that is known"),
    ("<!-- run by: tests/e2e/test_x.py::test_y -->\n```bash\nls\n```\n", "there is no test"),
    ("<!-- stays -->\nwords\n", "stands before no block"),
    ("<!-- no run: benchmark -->\n```bash\nls\n```\n", "unknown mark"),
    ("<!-- needs: oracle -->\n", "is none of"),
    ("```sql\nSELECT 1;\n```\n", "needs neither"),
    ("```bash\nls\n", "a block without an end"),
])
def test_a_block_that_breaks_the_rule_is_named_with_what_to_do(monkeypatch, tmp_path, text, message):
    with pytest.raises(RuleBroken, match=message) as broken:
        written(monkeypatch, tmp_path, text)
    assert "page.md" in str(broken.value) and "<!-- not run: REASON -->" in str(broken.value)


def test_a_test_that_is_named_must_have_the_command(monkeypatch, tmp_path):
    (tmp_path / "test_x.py").write_text("def test_y():\n    run('nginx -t', 'nginx -s reload')\n")
    block = "<!-- run by: test_x.py::test_y -->\n```bash\nnginx -t   # is it right?\n{}\n```\n"
    written(monkeypatch, tmp_path, block.format("nginx -s reload"))
    with pytest.raises(RuleBroken, match="does not contain: nginx -s stop"):
        written(monkeypatch, tmp_path, block.format("nginx -s stop"))


@pytest.mark.parametrize("text,message", [
    ("```bash\nfalse\n```\n", "exit code 1"),
    ("```bash\necho '{\"a\": 1}'\n```\n```json\n{\"b\": 1}\n```\n", "prints other fields"),
    ("```bash\ncurl -sS http://127.0.0.1:8080/no/such/path\n```\n", "printed an error"),
    ("```yaml\nslots:\n  max-dely: P1D\n```\n", "max-delay"),
])
def test_a_command_that_does_not_work_is_named_with_what_to_do(monkeypatch, tmp_path, text, message):
    (tmp_path / "docs").mkdir()
    page = written(monkeypatch, tmp_path / "docs", text)
    monkeypatch.undo()
    with Terminal(page, tmp_path) as terminal, pytest.raises(RuleBroken, match=message) as broken:
        run_page(page, terminal)
    assert "page.md:" in str(broken.value) and "run by" in str(broken.value)


# --- other promises of the documents ---

def test_links_between_the_documents_lead_somewhere():
    broken = []
    for name in PAGES:
        document = ROOT / name
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)",
                                 re.sub(r"```.*?```", "", document.read_text(), flags=re.S)):
            if not (document.parent / target).exists():
                broken.append(f"{name}: {target}")
    assert not broken, broken


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_links_to_headings_lead_to_one():
    broken = []
    for name in PAGES:
        document = ROOT / name
        for target, wanted in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)",
                                         re.sub(r"```.*?```", "", document.read_text(), flags=re.S)):
            file = (document.parent / target) if target else document
            if file.suffix == ".md" and file.exists():
                headings = re.findall(r"^#+ +(.*)$", re.sub(r"```.*?```", "", file.read_text(), flags=re.S), re.M)
                if wanted not in {anchor(heading) for heading in headings}:
                    broken.append(f"{name}: {target}#{wanted}")
    assert not broken, broken


def test_the_index_has_every_page():
    index = (ROOT / "docs" / "README.md").read_text()
    pages = [name.removeprefix("docs/") for name in PAGES if re.fullmatch(r"docs/(guides/)?[\w-]+\.md", name)]
    missing = [page for page in pages if f"({page})" not in index and page != "README.md"]
    assert not missing, f"add a line for each to docs/README.md, under its reader: {missing}"


def test_both_commands_stand_in_the_readme():
    text = (ROOT / "README.md").read_text()
    assert "make run" in text and "make test" in text
    assert pathlib.Path(ROOT / ".ci" / "run").read_text().count("make test") == 1
