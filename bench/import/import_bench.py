"""`penstock payments import` of a CSV file, lines for one future instant, into a daemon on the embedded store and one on
PostgreSQL.

- rate and peak memory of the importer for a tenth of the lines and for all of them: the memory must not follow the file.
- resume: the import of as many is killed in the middle and gone on with; what the daemon already knew when it was asked again
  is what was sent twice.

Usage: import_bench.py BUILD_DIR [LINES] [embedded|postgres]
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "http"), str(HERE.parent / "dispatch")]

from daemon_bench import STORES, fresh_store  # noqa: E402
from harness import Penstock, print_ratio  # noqa: E402

LINES = 1_000_000
HEADER = "paymentId,amount,currency,debtorIban,creditorIban,executionTime\n"
REST = ",12.50,EUR,DE89370400440532013000,GB29NWBK60161331926819,2035-01-01T16:00:00Z\n"
MEMORY_GOAL_KIB = 64 * 1024  # twelve batches of 1,000 lines and their answers are about 10 MiB


def write(path, prefix, lines):
    with open(path, "w") as file:
        file.write(HEADER)
        for i in range(lines):
            file.write(f"{prefix}-{i}{REST}")
    return path


def start(build, url, path):
    return subprocess.Popen([f"{build}/penstock", "payments", "import", str(path), "--url", url, "--json"],
                            stdout=subprocess.PIPE, text=True)


def peak_kib(process):
    """The most memory it ever had, by the last look at it before it ends."""
    peak = 0
    while process.poll() is None:
        try:
            found = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
        except OSError:
            break
        peak = int(found.group(1)) if found else peak
        time.sleep(0.02)
    return peak


def full(build, url, path, lines):
    process = start(build, url, path)
    peak = peak_kib(process)
    summary = json.loads(process.communicate()[0])
    assert process.returncode == 0 and summary["accepted"] == lines, summary
    rate = lines / summary["seconds"]
    print(f"{lines} lines, {path.stat().st_size / 1e6:.0f} MB: {summary['seconds']:.1f} s, {rate:.0f}/s, "
          f"peak memory {peak / 1024:.1f} MiB")
    return peak


def resumed(build, url, path, lines):
    state = pathlib.Path(f"{path}.import-state")
    process = start(build, url, path)
    while not state.exists() or json.loads(state.read_text())["line"] < lines // 2:
        assert process.poll() is None, "it was over before it could be killed"
        time.sleep(0.02)
    process.kill()
    process.communicate()
    line = json.loads(state.read_text())["line"]
    process = start(build, url, path)
    summary = json.loads(process.communicate()[0])
    assert process.returncode == 0 and summary["accepted"] + summary["alreadyKnown"] == lines, summary
    print(f"killed after line {line} was on record: the second run sent {lines + 1 - line} lines, "
          f"{summary['alreadyKnown']} of them for the second time, in {summary['seconds']:.1f} s")
    return summary["alreadyKnown"]


def measure(build, store, lines):
    print(f"on {store}:", flush=True)
    with tempfile.TemporaryDirectory() as folder, fresh_store(build, store) as env, \
            Penstock(build, "--log-level", "warn", env=env) as daemon:
        folder, url = pathlib.Path(folder), daemon.url
        small = full(build, url, write(folder / "small.csv", "small", lines // 10), lines // 10)
        large = full(build, url, write(folder / "large.csv", "large", lines), lines)
        again = resumed(build, url, write(folder / "again.csv", "again", lines), lines)
    print_ratio(f"import.{store}_memory_bound_to_use", MEMORY_GOAL_KIB / large, 1)
    print_ratio(f"import.{store}_memory_of_a_tenth_of_the_file_to_all_of_it", small / large, 0.8)
    print_ratio(f"import.{store}_lines_sent_once_to_lines", 1 - again / lines, 0.9)


def main():
    build, lines = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else LINES
    for store in sys.argv[3:] or STORES:
        measure(build, store, lines)


if __name__ == "__main__":
    main()
