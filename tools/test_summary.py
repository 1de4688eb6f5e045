#!/usr/bin/env python3
"""Adds up the cases of test runs: `N passed, N failed, N skipped`, with the reasons of the skips.

Usage: test_summary.py BUILD_DIR...   each with reports/ctest.xml and one report per test program.
A program that left no report of its own counts as one case; a program that failed although all its
cases passed (a leak found at exit, say) counts as one more failure.
"""
import pathlib
import sys
import xml.etree.ElementTree as ET


class Tally:
    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0
        self.failures: list[str] = []
        self.skips: list[str] = []

    def add_case(self, where: str, case: ET.Element) -> None:
        name = f"{where}: {case.get('classname', '')}.{case.get('name', '')}"
        if case.find("failure") is not None or case.find("error") is not None:
            self.failed += 1
            self.failures.append(name)
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            self.skipped += 1
            self.skips.append(f"{name}: {skip_reason(case)}")
        else:
            self.passed += 1


def skip_reason(case: ET.Element) -> str:
    element = case.find("skipped")
    if element is None:
        return "not run"
    return " ".join((element.get("message") or element.text or "no reason given").split())


def cases_of(report: pathlib.Path) -> list[ET.Element]:
    try:
        return list(ET.parse(report).getroot().iter("testcase"))
    except (ET.ParseError, OSError):
        return []


def add_folder(tally: Tally, folder: pathlib.Path) -> None:
    reports = folder / "reports"
    for program in cases_of(reports / "ctest.xml"):
        name = program.get("name", "")
        where = f"{folder.name}/{name}"
        cases = cases_of(reports / f"{name}.xml")
        if program.get("status") == "notrun":  # its executable is missing, say: never a mere skip
            tally.failed += 1
            tally.failures.append(f"{where}: could not be run")
            continue
        if not cases:
            tally.add_case(where, program)
            continue
        before = tally.failed
        for case in cases:
            tally.add_case(where, case)
        if program.find("failure") is not None and tally.failed == before:
            tally.failed += 1
            tally.failures.append(f"{where}: the program failed beside its cases")


def main() -> int:
    tally = Tally()
    for folder in sys.argv[1:]:
        add_folder(tally, pathlib.Path(folder))
    for name in tally.failures:
        print(f"failed: {name}")
    for name in tally.skips:
        print(f"skipped: {name}")
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 1 if tally.failed or tally.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
