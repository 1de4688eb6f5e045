"""The API's description against the daemon: routes, fields, tokens and examples, each both ways; and the page of it."""
import copy
import json
import os
import re
import socket
import subprocess
import sys
import urllib.parse

import openapi_examples
import openapi_schemas
import pytest
from conftest import ROOT, clean_environment, wait_until
from openapi_schemas import closed, problems, resolve
from test_console import browser, run  # noqa: F401  (browser is a fixture)

sys.path.insert(0, str(ROOT / "tools"))
import openapi
import testserver

DOCUMENT, STEPS = openapi.assemble()
CLOSED = closed(DOCUMENT)
ADMIN, API = "an-admin-token-for-tests", "an-api-token-for-tests"


def operations():
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


def filled(path: str, operation: dict) -> str:
    """The path with the values of any example, or of none in particular."""
    for each in operation["parameters"]:
        if each["in"] == "path":
            examples = [example["value"] for example in each.get("examples", {}).values()]
            path = path.replace("{" + each["name"] + "}", str((examples or ["x"])[0]).replace("*", "%2A"))
    return path


@pytest.fixture(scope="module")
def packages():
    try:
        return testserver.python_packages(ROOT / "tests" / "e2e" / "openapi_requirements.txt")
    except testserver.Unavailable as missing:
        pytest.skip(f"skipped: {missing}")


def test_the_document_keeps_the_rules_of_openapi(packages, tmp_path):
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(openapi.published()))
    done = subprocess.run([sys.executable, "-m", "openapi_spec_validator", file], text=True, capture_output=True,
                          timeout=120, env=clean_environment({"PYTHONPATH": str(packages)}), check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_daemon_serves_the_document_of_these_sources(daemon):
    answer = daemon.get("/openapi.json")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == json.loads(json.dumps(openapi.published())), "the binary is older than docs/openapi"
    tag = answer.headers["ETag"]
    assert daemon.get("/openapi.json", {"If-None-Match": tag}).status == 304
    packed = daemon.get("/openapi.json", {"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip" and len(packed.body) < len(answer.body) / 5


# Routes


def test_every_route_is_described_and_the_reverse(daemon):
    def named(path):
        return re.sub(r"^/assets/.*", "/assets/{file}", path)

    table = {(each["method"], named(each["path"])): each for each in daemon.get("/admin/routes").json()}
    described = {(method, path): operation for method, path, operation in operations()}
    optional = {key for key, operation in described.items() if operation.get("x-static")}  # of the console
    assert table.keys() - described.keys() == set(), "routes that docs/openapi does not describe"
    assert described.keys() - table.keys() - optional == set(), "described, but no routes"
    for key, route in table.items():
        assert described[key]["x-access"] == route["access"], key
        if "requestBody" in described[key]:
            assert described[key]["x-body"] == route["body"] != "none", key
        else:
            assert described[key]["x-body"] == "none", key


def test_every_route_is_opened_by_the_tokens_that_it_names(start_daemon, tmp_path):
    files = []
    for name, token in (("admin", ADMIN), ("api", API)):
        file = tmp_path / f"{name}.token"
        file.write_text(token)
        file.chmod(0o600)
        files += [f"--{name}-token-file", str(file)]
    daemon = start_daemon(*files)

    def status(method, path, token):
        """Of the head alone: what streams has no end, and nothing is to be done."""
        with socket.create_connection((daemon.address, daemon.port), timeout=30) as link:
            lines = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/nothing\r\nContent-Length: 0\r\n"
            link.sendall((lines + (f"Authorization: Bearer {token}\r\n" if token else "") + "\r\n").encode())
            return int(link.makefile("rb").readline().split()[1])

    for method, path, operation in operations():
        opened = {name for security in operation["security"] for name in security}
        free = operation["security"] == [] or {} in operation["security"]
        where = (method, filled(path, operation))
        assert (status(*where, None) == 401) == (not free), where
        assert (status(*where, API) in (401, 403)) == (not free and "apiToken" not in opened), where
        assert status(*where, ADMIN) != 401, where
        assert (status(*where, "wrong") in (401, 429)) == (not free), where  # 429: so many wrong ones


# Examples


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """All examples, executed once."""
    folder = tmp_path_factory.mktemp("examples")
    daemon = openapi_examples.Daemon(folder / "data", log_path=folder / "log.txt")
    try:
        yield openapi_examples.run(daemon, DOCUMENT, STEPS)
    finally:
        daemon.stop()


def response_of(call):
    return resolve(CLOSED, CLOSED["paths"][call.path][call.method.lower()]["responses"][str(call.answer.status)])


def test_every_example_is_answered_as_described(calls):
    wrong = []
    for call in calls:
        if call.answer.status != call.example["status"]:
            wrong.append(f"{call.name}: {call.answer.status}, not {call.example['status']}: {call.answer.body[:300]}")
            continue
        response = response_of(call)
        for name, header in response["headers"].items():
            value = call.answer.headers.get(name)
            header = resolve(CLOSED, header)
            if value is None:
                if header.get("required"):
                    wrong.append(f"{call.name}: the header {name} is missing")
                continue
            typed = int(value) if header["schema"]["type"] == "integer" else value
            wrong += [f"{call.name}: {name}: {each}" for each in problems(CLOSED, header["schema"], typed)]
        kind = (call.answer.headers.get("Content-Type") or "").split(";")[0]
        content = response.get("content", {})
        if not content or call.method == "HEAD":
            wrong += [f"{call.name}: has a body"] if call.answer.body else []
        elif kind not in content:
            wrong.append(f"{call.name}: {kind} is not one of {list(content)}")
        else:
            value = call.json() if kind == "application/json" else call.answer.body.decode()
            wrong += [f"{call.name}: {each}" for each in problems(CLOSED, content[kind]["schema"], value)]
    assert not wrong, "\n".join(wrong)


def test_the_answers_in_the_document_are_what_comes(calls):
    """Recorded once; names and types are compared, since times and counts differ."""
    recorded = openapi.read_answers()
    real = {(call.operation_id, call.example["name"]): call for call in calls if call.json() is not None}
    for operation, answers in recorded.items():
        for name, answer in answers.items():
            call = real.pop((operation, name))
            value, cut = call.json(), call.example.get("cut")
            mine, theirs = openapi_schemas.shape(answer["body"]), openapi_schemas.shape(value[:cut] if cut else value)
            assert openapi_schemas.fits(mine, theirs), f"{call.name}: {answer['body']} became {value}"
    left = [call.name for call in real.values() if call.example.get("cut") != 0]
    assert not left, f"not recorded (run tests/e2e/openapi_examples.py): {left}"


def test_no_example_stands_in_the_document_without_being_executed(calls):
    executed = {(call.operation_id, call.example["name"]) for call in calls}
    shown = set()
    for _, _, operation in operations():
        places = [*operation["parameters"], *operation.get("requestBody", {}).get("content", {}).values()]
        for response in operation["responses"].values():
            places += resolve(DOCUMENT, response).get("content", {}).values()
        shown |= {(operation["operationId"], name) for place in places for name in place.get("examples", {})}
    assert shown and shown <= executed


def test_every_answer_that_is_described_for_an_operation_is_shown_by_an_example(calls):
    """Those that can happen to any operation are described once."""
    usual = {each["description"] for each in DOCUMENT["components"]["responses"].values()}
    shown = {(call.operation_id, str(call.answer.status)) for call in calls}
    missing = []
    for _, _, operation in operations():
        if operation.get("x-twin") or operation.get("x-static") or operation.get("x-stream"):
            continue
        for code, response in operation["responses"].items():
            response = resolve(DOCUMENT, response)
            if response["description"] not in usual and (operation["operationId"], code) not in shown:
                missing.append(f"{operation['operationId']} {code}")
    # 503 takes a store that is down or a full queue; slots show one. A message of an example is sent before it could be
    # cancelled, and no payment and no message of the examples fails.
    assert sorted(missing) == ["cancelMessage 200", "enqueueItem 503", "getConsole 304", "getReady 503", "redriveMessage 200",
                               "redrivePayment 200"]


# Fields of answers


def events(daemon, wanted):
    """The first events of the stream, name and data."""
    with socket.create_connection((daemon.address, daemon.port), timeout=30) as link:
        link.sendall(b"GET /admin/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        text, found = "", []
        while len(found) < wanted:
            chunk = link.recv(65536)
            assert chunk, text
            text += chunk.decode()
            found = re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)
    assert "text/event-stream" in text.split("\r\n\r\n")[0]
    return found


def test_every_field_of_the_live_stream_is_described(daemon):
    daemon.request("PUT", "/admin/dispatch/types/EMAIL", json.dumps({"enabled": False}))
    wait_until(lambda: b'item_type="EMAIL"' in daemon.get("/metrics").body, what="the type in the metrics")
    fields = openapi_schemas.Fields(CLOSED)
    for name, data in events(daemon, 2):
        schema = {"$ref": f"#/components/schemas/Live{name.capitalize()}"}
        assert problems(CLOSED, schema, json.loads(data)) == []
        fields.describe(schema, name)
        fields.see(schema, json.loads(data), name)
    assert fields.unseen() == []


def test_every_field_that_is_described_is_seen_in_an_answer(calls):
    """The reverse, that no other is seen, is what closed schemas mean in the tests above."""
    fields = openapi_schemas.Fields(CLOSED)
    for method, path, operation in operations():
        for response in CLOSED["paths"][path][method.lower()]["responses"].values():
            for content in resolve(CLOSED, response).get("content", {}).values():
                fields.describe(content["schema"], operation["operationId"])
    for call in calls:
        value = call.json()
        if value is not None:
            fields.see(response_of(call)["content"]["application/json"]["schema"], value, call.operation_id)
    assert len(fields.described) > 150
    assert fields.unseen() == []


# Fields of requests. The readers pass over names that they do not know, so no answer can tell that a name is known to
# them but not described: their sources are read for that.

READERS = {
    "slots.cc": ["SlotCall", "BurstCall", "SlotConfigCall", "SlotConfigPatch"],
    "throttle.cc": ["ThrottleCall", "ThrottleEntry", "PolicyCall", "NewPolicyCall"],
    "dispatch.cc": ["ItemCall", "SlotAsk"],
    "payments.cc": ["PaymentCall", "StatusCall", "PaymentRuleCall", "PaymentConditionCall"],
    "gateway.cc": ["QuotaCall", "SendCall"],
}
# What a reader reads by a description (base/describe.h).
DESCRIBED = {
    "slots.cc": "core/slots/slot_config.h",
    "throttle.cc": "core/policy/policy.h",
    "payments.cc": "core/payments/rules.h",
    "gateway.cc": "core/gateway/quota.h",
}
# Bodies that no reader reads: their descriptions alone say what is in them. The kind of a sink stands in `type`.
RECORDS = {
    "ItemTypeCall": (["core/dispatch/item_type.h"], set()),
    "SinkCall": (["sink/*/*.h", "sink/extension.h"], {"type"}),
}
FIELD_DESCRIBED = re.compile(r'field<[^>]*>\(\s*"(\w+)"')
NAME_READ = re.compile(r'(?:(?:required|optional)_\w+(?:<\w+>)?\(|'
                       r'find\(|read_iban\(|take_\w+\(fields, (?:value, |object, )?)"(\w+)"')


def names_read(file):
    names = set(NAME_READ.findall(file.read_text()))
    if file.parent.name == "wire" and file.name in DESCRIBED:
        names |= set(FIELD_DESCRIBED.findall((ROOT / "src" / DESCRIBED[file.name]).read_text()))
    return names


def test_every_field_that_a_reader_knows_is_described_and_the_reverse():
    schemas = DOCUMENT["components"]["schemas"]
    requests = {name for name, schema in schemas.items() if schema.get("x-request")}
    assert requests == {name for names in READERS.values() for name in names} | set(RECORDS)
    for name, (patterns, more) in RECORDS.items():
        files = [file for pattern in patterns for file in (ROOT / "src").glob(pattern)]
        known = more.union(*(FIELD_DESCRIBED.findall(file.read_text()) for file in files))
        assert known == set(schemas[name]["properties"]), f"{name}: {known ^ set(schemas[name]['properties'])}"
    for file, names in READERS.items():
        described = set().union(*(schemas[name]["properties"] for name in names))
        known = names_read(ROOT / "src" / "wire" / file)
        assert known == described, f"{file}: read but not described {known - described}, the reverse {described - known}"
    every = set().union(*(schemas[name]["properties"] for name in requests))
    answers_of_others = {"bulk.cc"}  # read as a client
    for file in [*(ROOT / "src" / "wire").glob("*.cc"), *(ROOT / "src" / "front" / "http").rglob("*.cc")]:
        if file.name not in {*READERS, *answers_of_others} and not file.name.endswith("_test.cc"):
            assert names_read(file) <= every, f"{file.name} reads {names_read(file) - every}"


def test_every_query_parameter_that_is_read_is_described_and_the_reverse(daemon):
    read = set()
    for file in (ROOT / "src" / "front" / "http").rglob("*.cc"):
        if not file.name.endswith("_test.cc"):
            read |= set(re.findall(r'(?:query_param\(|param\(request, |query_value\(request, )"(\w+)"', file.read_text()))
    described = set()
    for method, path, operation in operations():
        for each in operation["parameters"]:
            if each["in"] != "query":
                continue
            described.add(each["name"])
            others = [f"{other['name']}={other['schema'].get('const', 1)}" for other in operation["parameters"]
                      if other["in"] == "query" and other.get("required") and other is not each]
            query = "&".join([*others, each["name"] + "=%zz"])
            answer = daemon.request(method, f"{filled(path, operation)}?{query}")
            assert answer.status == 400, (path, each["name"])
            if method != "HEAD":
                assert answer.json()["field"] == each["name"]
    assert read == described


def wrong_bodies(schema, value):
    """Copies of a good body with one field of a wrong type each, and that field's name."""
    schema = resolve(DOCUMENT, schema)
    for name, each in schema.get("properties", {}).items():
        wrong = openapi_schemas.wrong_value(each, DOCUMENT)
        if wrong is not None:
            yield {**value, name: wrong}, name
        inner = next((option for option in each.get("anyOf", [each]) if "$ref" in option), each)
        inner = resolve(DOCUMENT, inner)
        if inner.get("properties"):
            for body, field in wrong_bodies(inner, value.get(name) or {}):
                yield {**value, name: body}, f"{name}.{field}"


def make_for_merge(daemon, operation_id, where):
    if operation_id == "changeSlotConfig":
        daemon.put_config()
    elif operation_id == "changePolicy":
        assert daemon.post("/admin/policies", {"key": urllib.parse.unquote(where.rsplit("/", 1)[1])}).status == 201
    else:
        assert daemon.request("PUT", where, "{}").status == 200


def test_every_field_of_a_request_that_is_described_is_read(calls, daemon):
    """A value of a wrong type is refused, and by that field's name."""
    probed = 0
    good = {}
    for call in calls:
        if call.answer.status < 300 and "body" in call.example:
            good.setdefault(call.operation_id, call)
    for method, path, operation in operations():
        content = operation.get("requestBody", {}).get("content", {})
        if not content:
            continue
        call = good[operation["operationId"]]
        schema, body = resolve(DOCUMENT, content["application/json"]["schema"]), copy.deepcopy(call.example["body"])
        many = schema.get("type") == "array"
        where = filled(path, operation)
        if method == "PATCH":  # merges, so it needs something to merge with
            make_for_merge(daemon, operation["operationId"], where)
        for wrong, field in wrong_bodies(schema["items"] if many else schema, body[0] if many else body):
            answer = daemon.request(method, where, json.dumps([wrong] if many else wrong),
                                    {"Content-Type": "application/json"})
            said = answer.json()
            if answer.status == 200:
                said = said["results"][0]
            assert said["status"] == 400, (operation["operationId"], field, said)
            assert "field" in said, (operation["operationId"], field, said)
            named = said["field"].removeprefix("[0].")
            assert named == field or named.startswith(field + "."), (operation["operationId"], field, said)
            probed += 1
    assert probed > 70


# The page


def test_the_page_is_whole_and_stands_without_scripts(daemon):
    page = daemon.get("/docs")
    assert page.status == 200
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    text = page.body.decode()
    for _, _, operation in operations():
        assert f'id="{operation["operationId"]}"' in text
    for name in DOCUMENT["components"]["schemas"]:
        assert f'id="schema-{name}"' in text
    ids = set(re.findall(r'id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= ids
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text), "something of another place"
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", text), "something inline"
    for link in ("/docs/reference.css", "/docs/reference.js", "/openapi.json"):
        assert link in text and daemon.get(link).status == 200


def test_the_page_in_a_browser(browser, daemon):  # noqa: F811
    """At 1280 and 390 px, light and dark: it fits, can be read, is searched, and works by keyboard."""
    run("reference", daemon.url, *filter(None, [os.environ.get("CONSOLE_PICTURES")]))
