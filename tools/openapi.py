#!/usr/bin/env python3
"""Assembles the description of the API: the route table and docs/openapi/*.yaml -> OpenAPI 3.1.

Usage: openapi.py            prints the document as the daemon serves it

What the program knows comes from the program: methods, paths, tokens, bodies, summaries and the schemas of described
records from the table that the build prints (generated/api_table.json in $PENSTOCK_BUILD). What only a person can say
stands in docs/openapi, in a short hand that docs/openapi/README.md tells. The answers in the examples stand in
docs/openapi/answers.json, recorded from a real daemon.
"""
import copy
import json
import os
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "openapi"
ANSWERS = FOLDER / "answers.json"
METHODS = ["get", "head", "post", "put", "patch", "delete", "options"]  # in which the page shows those of one path
PARTS = ["slots", "throttle", "dispatch", "payments", "gateway", "daemon"]

BATCH_ENTRIES_MAX = 10_000  # wire::kBatchEntriesMax
# The keys of components.responses in api.yaml, and the names they get.
USUAL = {"400": "BadRequest", "401": "Unauthorized", "403": "Forbidden", "408": "RequestTimeout", "413": "ContentTooLarge",
         "414": "UriTooLong", "415": "UnsupportedMediaType", "417": "ExpectationFailed",
         "421": "MisdirectedRequest", "429": "TooManyGuesses", "431": "HeaderFieldsTooLarge", "500": "InternalServerError",
         "503": "ServiceUnavailable"}
# Those that a part words in its own way when it answers them itself.
OWN_WORDS = {"400", "404", "409", "413", "429", "500", "503"}
SECURITY = {"everyone": [], "open": [{}, {"apiToken": []}, {"adminToken": []}],
            "api": [{"apiToken": []}, {"adminToken": []}], "admin": [{"adminToken": []}]}
# For the tests only; see docs/openapi/README.md.
TEST_KEYS = {"x-unseen", "x-open", "x-request"}


class Mistake(Exception):
    """The sources do not fit together."""


def ref(kind: str, name: str) -> dict:
    return {"$ref": f"#/components/{kind}/{name}"}


def table_file() -> pathlib.Path:
    return pathlib.Path(os.environ.get("PENSTOCK_BUILD", ROOT / "build" / "release")) / "generated" / "api_table.json"


def check_names(value, where: str) -> None:
    """A comma in a sentence without quotes makes a name of its rest."""
    if isinstance(value, dict):
        for name, each in value.items():
            if " " in str(name) or str(name).endswith("."):
                if where.rsplit("/", 1)[-1] not in ("operations", "tags"):
                    raise Mistake(f"{where}: {name!r} looks like the end of a sentence; put it in quotes")
            check_names(each, f"{where}/{name}")
    elif isinstance(value, list):
        for each in value:
            check_names(each, where)


def load(name: str) -> dict:
    part = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    check_names(part, f"{name}.yaml")
    return part


def nullable(schema: dict) -> dict:
    """The same, or null: what is optional in a request may be null."""
    schema = copy.deepcopy(schema)
    if "$ref" in schema:
        target = schema.pop("$ref")
        return {**schema, "anyOf": [{"$ref": target}, {"type": "null"}]}
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if "null" in kinds:
            return schema
        schema["type"] = [*kinds, "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    return schema


def merged(under: dict, over: dict) -> dict:
    """Both; where both have an object, theirs merged; else, and where a reference stands over, what stands over."""
    out = copy.deepcopy(under)
    for name, each in over.items():
        both = isinstance(each, dict) and isinstance(out.get(name), dict) and "$ref" not in each
        out[name] = merged(out[name], each) if both else copy.deepcopy(each)
    return out


def finish_schema(schema: dict, records: dict) -> dict:
    schema = copy.deepcopy(schema)
    record = schema.pop("record", None)
    if record is not None:  # the program's own description of it; what stands here says more
        if record not in records:
            raise Mistake(f"there is no described record {record}")
        schema = merged(records[record], schema)
    if schema.pop("request", False):
        schema["x-request"] = True
        required = schema.get("required", [])
        schema["properties"] = {name: each if name in required else nullable(each)
                                for name, each in schema["properties"].items()}
    return schema


def json_content(schema: dict) -> dict:
    return {"application/json": {"schema": schema}}


def request_body(operation: dict) -> dict | None:
    if "requestBody" in operation:
        return operation.pop("requestBody")
    if "request" in operation:
        return {"required": True, "content": json_content(ref("schemas", operation.pop("request")))}
    if "batch" not in operation:
        return None
    entry = ref("schemas", operation.pop("batch"))
    content = json_content({"type": "array", "maxItems": BATCH_ENTRIES_MAX, "items": entry})
    for lines in ("application/x-ndjson", "application/ndjson"):
        content[lines] = {"schema": {"type": "string", "description": "One such entry a line, as JSON."}}
    if "csv" in operation:
        content["text/csv"] = {"schema": {"type": "string", "description": operation.pop("csv")}}
    return {"required": True, "content": content}


def response(code: str, short: dict, problem: str) -> dict:
    out = {"description": short["description"],
           "headers": {"X-Request-Id": ref("headers", "RequestId"), **short.get("headers", {})}}
    if "content" in short:
        out["content"] = short["content"]
    elif "schema" in short:
        out["content"] = json_content(ref("schemas", short["schema"]))
    elif "array" in short:
        out["content"] = json_content({"type": "array", "items": ref("schemas", short["array"])})
    elif int(code) >= 400:
        out["content"] = json_content(ref("schemas", problem))
    return out


def usual_codes(operation: dict, method: str) -> list[str]:
    codes = ["400", "408", "413", "414", "415", "417", "421", "431", "500", "503"]
    if operation["x-access"] != "everyone":
        codes += ["401", "429"]
    if method not in ("get", "head", "options"):
        codes.append("403")
    return codes


def finish_responses(operation: dict, usual: dict, problem: str, method: str) -> dict:
    responses = {code: response(code, short, problem if code in OWN_WORDS else "Problem")
                 for code, short in operation.pop("responses").items()}
    for code in usual_codes(operation, method):
        if code in responses:
            continue
        own = problem != "Problem" and code in OWN_WORDS and code != "429"  # of wrong tokens: the server's
        responses[code] = response(code, usual[code], problem) if own else ref("responses", USUAL[code])
    return dict(sorted(responses.items()))


def place_value(place: dict, name: str, example: dict, value) -> None:
    entry = {"value": value}
    if "summary" in example:
        entry["summary"] = example["summary"]
    place.setdefault("examples", {})[name] = entry


def add_examples(operation: dict, examples: list, shared: list, answers: dict, where: str) -> None:
    """The examples in OpenAPI's form: parameter, body and answer of one call have one name."""
    own = {(each["in"], each["name"]): each for each in operation.get("parameters", [])}
    for example in examples:
        name = example["name"]
        for part, kind in (("path", "path"), ("query", "query"), ("headers", "header")):
            for key, value in example.get(part, {}).items():
                if (kind, key) not in own:
                    raise Mistake(f"{where}: the example {name} has {key}, which is no {kind} parameter")
                if isinstance(value, dict):  # of an answer that came before
                    before = answers.get(value["from"], {}).get(value["example"])
                    if before is None:
                        continue  # not recorded yet
                    value = before["body"][value["member"]]
                place_value(own[kind, key], name, example, value)
        if "body" in example or "text" in example:
            media = example.get("type", "application/json")
            place_value(operation["requestBody"]["content"][media], name, example, example.get("body", example.get("text")))
        answer = answers.get(operation["operationId"], {}).get(name)
        if answer is None or "body" not in answer:
            continue
        target = operation["responses"][str(example["status"])]
        if "$ref" in target:  # an example belongs to one operation, so its response is written out
            target = copy.deepcopy(shared[target["$ref"].rsplit("/", 1)[1]])
            operation["responses"][str(example["status"])] = target
        place_value(next(iter(target["content"].values())), name, example, answer["body"])


def inline_parameters(path: str, operation: dict, components: dict) -> list:
    """All parameters of an operation, written out: each operation has examples of its own."""
    parameters = components["parameters"]
    of_path = {each["name"]: each for each in parameters.values() if each["in"] == "path"}
    own = [parameters[each["$ref"].rsplit("/", 1)[1]] if "$ref" in each else each for each in operation.pop("parameters", [])]
    said = {each["name"] for each in own if each["in"] == "path"}
    named = [of_path[name] for name in re.findall(r"{(\w+)}", path) if name not in said]
    return [copy.deepcopy(each) for each in [*named, *own, parameters["RequestId"]]]


def read_answers() -> dict:
    return json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}


def assemble(table: pathlib.Path | None = None) -> tuple[dict, list]:
    """The document with the keys for tests, and the examples as (method, path, operation id, example) in their order."""
    program = json.loads((table or table_file()).read_text())
    routes = {each["operationId"]: each for each in program["routes"]}
    document = load("api")
    document["info"]["version"] = (ROOT / "VERSION").read_text().strip()
    components = document["components"]
    usual = components.pop("responses")
    components["responses"] = {USUAL[code]: response(code, short, "Problem") for code, short in usual.items()}
    document["paths"] = {}
    answers = read_answers()
    steps = []
    for part in map(load, PARTS):
        for name, schema in part["schemas"].items():
            if name in components["schemas"]:
                raise Mistake(f"the schema {name} stands twice")
            components["schemas"][name] = finish_schema(schema, program["schemas"])
        for name, said in part["operations"].items():
            if name not in routes:
                raise Mistake(f"{name} is described, but in no row of the route table, or stands twice")
            route, operation = routes.pop(name), copy.deepcopy(said)
            method, path = route["method"], route["path"]
            examples, order = operation.pop("examples"), operation.pop("order")
            operation.update({"operationId": name, "summary": route["summary"], "x-access": route["access"],
                              "x-body": route["body"], "security": SECURITY[route["access"]]})
            for key in ("stream", "static", "twin"):
                if key in operation:
                    operation[f"x-{key}"] = operation.pop(key)
            operation["parameters"] = inline_parameters(path, operation, components)
            body = request_body(operation)
            if body:
                operation["requestBody"] = body
            problem = operation.pop("problem", "Problem")
            operation["responses"] = finish_responses(operation, usual, problem, method.lower())
            add_examples(operation, examples, components["responses"], answers, f"{method} {path}")
            steps += [(order, len(steps), method, path, name, each) for each in examples]
            document["paths"].setdefault(path, {})[method.lower()] = operation
    if routes:
        raise Mistake(f"docs/openapi does not describe {', '.join(routes)}")
    components.pop("parameters")
    steps.sort(key=lambda step: step[:2])
    return document, [step[2:] for step in steps]


def without(value, keys):
    if isinstance(value, dict):
        return {key: without(each, keys) for key, each in value.items() if key not in keys}
    return [without(each, keys) for each in value] if isinstance(value, list) else value


def published(table: pathlib.Path | None = None) -> dict:
    return without(assemble(table)[0], TEST_KEYS)


if __name__ == "__main__":
    json.dump(published(), sys.stdout, indent=1, ensure_ascii=False)
    print()
