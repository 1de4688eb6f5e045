"""What the tests of `penstock doctor` share: one run, and what it found."""
import json


class Report:
    """`report["postgres.schema"]` is the worst finding of that name."""

    _ORDER = ("SKIP", "OK", "WARN", "FAIL")

    def __init__(self, run):
        self.code = run.returncode
        self.text = run.stdout
        assert run.stderr == "", run.stderr
        self.json = json.loads(run.stdout)
        self.checks = self.json["checks"]

    def __getitem__(self, name):
        found = [each for each in self.checks if each["name"] == name]
        assert found, f"no {name} in {[each['name'] for each in self.checks]}"
        return max(found, key=lambda each: self._ORDER.index(each["status"]))

    def status(self, name):
        return self[name]["status"]

    def bad(self):
        """What is to be fixed, without the clock and the limits of the machine that the test runs on."""
        return {each["name"] for each in self.checks
                if each["status"] in ("WARN", "FAIL") and not each["name"].startswith(("clock.", "limits."))}


def examine(penstock, *args, env=None, **options):
    return Report(penstock("doctor", "--json", *args, env=env, timeout=60, **options))
