"""The examples of the API's description as calls of a real daemon.

Usage: python3 openapi_examples.py     records the answers anew in docs/openapi/answers.json
"""
import json
import sys
import tempfile
import urllib.parse

from conftest import ROOT, Daemon, wait_until

sys.path.insert(0, str(ROOT / "tools"))
import openapi

EVENTUALLY_SECONDS = 20  # an attempt that fails takes milliseconds, a flush of analytics a second
REQUEST_ID = "example"


class Call:
    """One example, sent: what was asked and what came back."""

    def __init__(self, method, path, operation_id, example):
        self.method, self.path, self.operation_id, self.example = method, path, operation_id, example
        self.answer = None

    @property
    def name(self):
        return f"{self.operation_id}/{self.example['name']}"

    def send(self, daemon, before: dict, more_headers: dict) -> None:
        path = self.path
        for key, value in self.example.get("path", {}).items():
            if isinstance(value, dict):
                value = before[value["from"], value["example"]].answer.json()[value["member"]]
            path = path.replace("{" + key + "}", urllib.parse.quote(str(value), safe=""))
        if self.example.get("query"):
            path += "?" + urllib.parse.urlencode(self.example["query"], quote_via=urllib.parse.quote)
        body, headers = None, {"X-Request-Id": REQUEST_ID, **more_headers, **self.example.get("headers", {})}
        if "body" in self.example:
            body, headers["Content-Type"] = json.dumps(self.example["body"]), "application/json"
        elif "text" in self.example:
            body, headers["Content-Type"] = self.example["text"], self.example["type"]

        def has_come():
            self.answer = daemon.request(self.method, path, body, headers)
            return self.has_come()

        wait_until(has_come, EVENTUALLY_SECONDS, lambda: f"{self.name} (instead of {self.answer.status}: {self.answer.body})",
                   every=0.05)

    def has_come(self) -> bool:
        """Whether this is the answer to wait for, where an example has one."""
        wanted = self.example.get("eventually")
        if wanted is None:
            return True
        if self.answer.status != self.example["status"]:
            return False
        if wanted is True:
            return True
        value = self.answer.json()
        return bool(value if wanted == "*" else value[wanted])

    def json(self):
        """The body if it is JSON, else None."""
        kind = (self.answer.headers.get("Content-Type") or "").split(";")[0]
        return self.answer.json() if kind == "application/json" and self.method != "HEAD" else None


def run(daemon, document, steps, headers=None) -> list[Call]:
    """All examples in their order, but for the endless ones."""
    calls, before = [], {}
    for step in steps:
        method, path, operation_id, example = step
        if document["paths"][path][method.lower()].get("x-stream"):
            continue
        call = Call(method, path, operation_id, example)
        call.send(daemon, before, headers or {})
        before[operation_id, example["name"]] = call
        calls.append(call)
    return calls


def record(calls) -> dict:
    answers = {}
    for call in calls:
        if call.answer.status != call.example["status"]:
            raise SystemExit(f"{call.name}: {call.answer.status} instead of {call.example['status']}: {call.answer.body}")
        value = call.json()
        cut = call.example.get("cut")
        if value is None or cut == 0:
            continue
        answers.setdefault(call.operation_id, {})[call.example["name"]] = {"body": value if cut is None else value[:cut]}
    return answers


def main() -> None:
    document, steps = openapi.assemble()
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(f"{folder}/data", log_path=f"{folder}/log")
        try:
            answers = record(run(daemon, document, steps))
        finally:
            daemon.stop()
    openapi.ANSWERS.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")
    print(f"{sum(map(len, answers.values()))} answers")


if __name__ == "__main__":
    main()
