"""Command blocks of the documents: finds them, reads the marks beside them, and runs them as a reader would.

The rule, in short (CONTRIBUTING.md has it for writers): every ```bash, ```sh and ```console block of every page is run,
page by page, from top to bottom, in a folder that looks like a clone, against a daemon that is started for the page. What
cannot be run carries a mark before the block; HOW_TO below is what a writer who broke the rule gets to read.

doc_terminal.py is where a page is run."""
import json
import re
import subprocess
import textwrap
from dataclasses import dataclass, field

from conftest import ROOT

COMMAND_LANGUAGES = {"bash", "sh", "console"}
CHECKED_LANGUAGES = {"yaml", "sql", "promql"}  # run or checked by the program that reads them
LOOKS_LIKE_A_COMMAND = re.compile(
    r"^(penstock|curl|\$|sudo|apt|apt-get|systemctl|docker|kubectl|helm|make|cmake|psql|redis-cli|python3) ", re.M)

# Why a block may stay unrun. A short list on purpose: anything else is run, or is not in the docs.
REASONS = {
    "builds the project": "make and cmake on the clone itself, which is what runs this test",
    "benchmark": "takes minutes and the whole machine",
    "installs packages": "changes the machine: apt, dpkg, pip outside of a virtual environment",
    "needs systemd": "there is no systemd in a test",
    "needs a container engine": "there is none in a test",
    "needs Kubernetes": "there is none in a test",
    "needs a terminal": "draws on a screen until somebody leaves it",
    "another program's configuration": "not ours to check",
    "synopsis": "a pattern with [options], not a command",
}
BLOCK_MARKS = {"run by", "not run", "stays", "until", "daemon", "rows to"}
PAGE_MARKS = {"needs", "set", "program", "page run by", "fixture"}
SECTION = re.compile(r"\w+: ?(begin|end)\b")  # of other tests
SERVERS = {"postgres", "redis", "mariadb", "kafka", "temporal", "smsc"}  # real ones, by doc_terminal.py
PROGRAMS = {"nginx", "promtool", "psql", "kcat", "redis-cli"}  # what else a page may need

HOW_TO = """
Every command block of the docs is run by tests/e2e/test_docs.py: a page from top to bottom, in a temporary folder that looks
like a clone, with `penstock` on the PATH and a daemon at 127.0.0.1:8080. Make the block work there, or put one of these on
the line before it:
  <!-- stays: TEXT -->                      a program that goes on running; TEXT begins the line that it prints when it serves
                                            (not needed for `penstock serve` and `penstock demo downstream` alone in a block)
  <!-- until: TEXT -->                      repeat the block until its output has TEXT
  <!-- daemon: stopped -->                  stop the page's daemon (./penstock-data) while the block runs
  <!-- rows to: FILE -->                    of SQL: its rows become this file, for the commands that follow
  <!-- run by: tests/e2e/test_x.py::test_y -->  that test runs the same command, word for word, or reads this page
  <!-- not run: REASON -->                  REASON is one of: """ + ", ".join(REASONS) + """
and anywhere on the page:
  <!-- needs: """ + ", ".join(sorted(SERVERS | PROGRAMS)) + """ -->  (those of them that it needs)
  <!-- set: NAME=VALUE -->                  a variable for all commands and the daemon
  <!-- program: NAME -->                    `penstock` is this program of the build folder
  <!-- fixture: FILE.sql -->                tables that are there before the page begins
  <!-- page run by: tests/e2e/test_x.py::test_y -->  a test of its own runs the page, and names it
A block without a language that shows commands needs ```bash; what a command prints goes into ```json or ```text.
"""


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str
    marks: dict = field(hash=False, compare=False)
    adjacent: bool = False  # to the block before it: no words between

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def is_command(self):
        return self.language in COMMAND_LANGUAGES

    @property
    def commands(self):
        """What is typed; of a console block the lines behind `$ `."""
        if self.language != "console":
            return self.text
        return "".join(line[2:] + "\n" for line in self.text.splitlines() if line.startswith("$ "))

    @property
    def stays(self):
        """What the program prints when it is ready, if this is one that goes on running; else nothing."""
        if "stays" in self.marks:
            return self.marks["stays"] or "ready"
        line = self.commands.strip().replace("\\\n", " ")
        return "ready" if re.fullmatch(r"(\w+=\S+ +)*(\S*/)?penstock (serve|demo downstream)\b[^\n]*", line) else ""


@dataclass(frozen=True)
class Page:
    name: str
    blocks: tuple
    marks: dict  # key -> list of values

    def words(self, mark):
        return [word.strip() for value in self.marks.get(mark, []) for word in value.split(",") if word.strip()]

    @property
    def commands(self):
        return [block for block in self.blocks if block.is_command]


class RuleBroken(AssertionError):
    def __init__(self, place, what):
        super().__init__(f"\n{place}: {what}\n{HOW_TO}")


def page_names():
    """All documents of the repository."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.split()
    names = listed or [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.md")]  # an unpacked archive has no .git
    skip = ("build/", "ui/node_modules/")
    return [name for name in sorted(names) if not name.startswith(skip) and (ROOT / name).exists()]


COMMENT = re.compile(r"<!-- *(.*?) *-->")


def read_page(name):
    blocks, page_marks, pending, inside, adjacent = [], {}, {}, None, False
    for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
        fence = re.match(r"( *)```(\w*)", line)
        if inside is not None:
            if fence and not fence.group(2):
                start, language, lines, marks, follows = inside
                blocks.append(Block(name, start, language, textwrap.dedent("\n".join(lines) + "\n"), marks, follows))
                inside, adjacent = None, True
            else:
                inside[2].append(line)
        elif fence:
            inside = (number, fence.group(2), [], pending, adjacent)
            pending = {}
        elif comment := COMMENT.fullmatch(line.strip()):
            take_mark(f"{name}:{number}", comment.group(1), pending, page_marks)
        elif line.strip():
            adjacent = False
            if pending:
                raise RuleBroken(f"{name}:{number}", f"the mark {sorted(pending)} stands before no block")
    if inside is not None:
        raise RuleBroken(f"{name}:{inside[0]}", "a block without an end")
    return Page(name, tuple(blocks), page_marks)


def take_mark(place, comment, block_marks, page_marks):
    key, _, value = (part.strip() for part in comment.partition(":"))
    if key in BLOCK_MARKS:
        block_marks[key] = value
    elif key in PAGE_MARKS:
        page_marks.setdefault(key, []).append(value)
    elif not SECTION.match(comment):
        raise RuleBroken(place, f"unknown mark <!-- {comment} -->")


# --- the rule ---

def check_rule(page):
    """That each block is run, or says who runs it or why nobody can; all that is wrong with a page at once."""
    found = [*problems_of_page(page), *(problem for block in page.blocks for problem in problems_of_block(page, block))]
    if found:
        raise RuleBroken(page.name, "breaks the rule for command blocks:\n" + "\n".join(found))


def problems_of_page(page):
    for value in page.marks.get("page run by", []):
        file = named_test(value)
        if file is None or page.name not in file.read_text():
            yield f"{page.name}: there is no test {value} that names this page"
    for word in page.words("needs"):
        if word not in SERVERS | PROGRAMS:
            yield f"{page.name}: <!-- needs: {word} --> is none of {', '.join(sorted(SERVERS | PROGRAMS))}"


def problems_of_block(page, block):
    runs = is_run_here(page, block)
    if block.language == "sql" and runs and not {"postgres", "mariadb"} & set(page.words("needs")):
        yield f"{block.place}: SQL on a page that needs neither postgres nor mariadb"
    if not block.language and runs and LOOKS_LIKE_A_COMMAND.search(block.text):
        yield f"{block.place}: a block without a language shows commands"
    if "not run" in block.marks and block.marks["not run"] not in REASONS:
        yield f"{block.place}: <!-- not run: {block.marks['not run']} --> is no reason that is known"
    if "run by" in block.marks:
        yield from problems_of_named(block)


def named_test(value):
    """The file of `FILE::TEST`, if there is such a test."""
    path, _, test = value.partition("::")
    file = ROOT / path
    return file if file.is_file() and re.search(rf"^def {re.escape(test)}\(", file.read_text(), re.M) else None


def problems_of_named(block):
    file = named_test(block.marks["run by"])
    if file is None:
        yield f"{block.place}: there is no test {block.marks['run by']}"
        return
    source = " ".join(file.read_text().split())
    name = block.page.rpartition("/")[2]
    if block.page in source or (name != "README.md" and name in source):
        return  # it reads the page itself
    for command in block.commands.replace("\\\n", " ").splitlines():
        command = " ".join(command.split("  #")[0].split())
        if command and not command.startswith("#") and command not in source:
            yield f"{block.place}: {block.marks['run by']} does not contain: {command}"


def is_run_here(page, block):
    return not ("page run by" in page.marks or "run by" in block.marks or "not run" in block.marks)


def has_something_to_run(name):
    try:
        page = read_page(name)
    except RuleBroken:
        return False  # said by the check of the rule
    return any(is_run_here(page, block) and (block.is_command or block.language in CHECKED_LANGUAGES) for block in page.blocks)


# --- comparing answers ---

def shape(value):
    """The keys and types of a JSON value; what changes from run to run is not compared."""
    if isinstance(value, dict):
        return {key: shape(member) for key, member in value.items()}
    if isinstance(value, list):
        return [shape(element) for element in value]
    return type(value).__name__


# --- running ---

def run_page(page, terminal):
    """All blocks of a page in their order; a JSON block after a command has the shape of what it printed."""
    output = ""
    for block, following in zip(page.blocks, [*page.blocks[1:], None], strict=True):
        if not is_run_here(page, block):
            output = ""
        elif block.is_command:
            output = terminal.run(block)
            shown = following if following is not None and following.language == "json" and following.adjacent else None
            refused = shown is not None and '"error"' in shown.text
            if '"error"' in output and not refused and "until" not in block.marks:
                raise RuleBroken(block.place, f"printed an error: {output}")
        elif block.language == "json" and block.adjacent and output:
            compare(block, output)
        elif block.language == "sql":
            if block.marks.get("daemon") == "stopped":
                terminal.stop_daemon()
            terminal.run_sql(block.text, block.place, block.marks.get("rows to"))
        elif block.language in ("yaml", "promql"):
            check_other(block, terminal)


def compare(block, output):
    try:
        printed, shown = json.loads(output), json.loads(block.text)
    except ValueError as problem:
        raise RuleBroken(block.place, f"the command before it printed no JSON, or this is none ({problem}):\n{output}") from None
    if shape(printed) != shape(shown):
        raise RuleBroken(block.place, f"the command before it prints other fields:\n{output}")


def check_other(block, terminal):
    keys = set(re.findall(r"^([\w-]+):", block.text, re.M))
    if block.language == "promql":
        rules = "groups:\n- name: docs\n  rules:\n" + "".join(
            f"  - record: query_{i}\n    expr: {json.dumps(line)}\n"
            for i, line in enumerate(filter(None, (line.split("  #")[0].strip() for line in block.text.splitlines()))))
        terminal.promtool(block, "check", "rules", text=rules)
    elif "scrape_configs" in keys:
        terminal.promtool(block, "check", "config", text=block.text)
    else:
        terminal.check_config(block)
