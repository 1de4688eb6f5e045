"""Schemas of the API's description, as the tests use them: closed, and walked along with values."""
import copy

import jsonschema


def resolve(document: dict, value: dict) -> dict:
    while "$ref" in value:
        kind, name = value["$ref"].split("/")[-2:]
        value = {**document["components"][kind][name], **{k: v for k, v in value.items() if k != "$ref"}}
    return value


def closed(document: dict) -> dict:
    """The document with answers that may hold nothing but what is described; clients are told to expect more one day."""
    def close(schema):
        if isinstance(schema, list):
            return [close(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        if schema.get("x-request"):
            return schema
        out = {key: close(each) for key, each in schema.items()}
        if isinstance(out.get("properties"), dict) and not out.get("x-open") and out.get("type") == "object":
            out["additionalProperties"] = False
        return out

    out = copy.deepcopy(document)
    out["components"]["schemas"] = {name: close(each) for name, each in out["components"]["schemas"].items()}
    for kind in out["components"]["responses"].values():
        kind.update(close(kind))
    for item in out["paths"].values():
        for operation in item.values():
            operation["responses"] = close(operation["responses"])
    return out


def validator(document: dict, schema: dict):
    resolver = jsonschema.RefResolver("", document)
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


def problems(document: dict, schema: dict, value) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator(document, schema).iter_errors(value)]


class Fields:
    """Which of the described fields of answers have been seen."""

    def __init__(self, document: dict):
        self.document = document
        self.described: dict[tuple[str, str], str | None] = {}  # (schema, field) -> why it cannot be seen
        self.seen: set[tuple[str, str]] = set()

    def _place(self, schema: dict, where: str) -> tuple[dict, str]:
        if "$ref" not in schema:
            return schema, where
        return resolve(self.document, schema), schema["$ref"].rsplit("/", 1)[1]

    def describe(self, schema: dict, where: str) -> None:
        schema, where = self._place(schema, where)
        for name, each in schema.get("properties", {}).items():
            if (where, name) in self.described:
                continue
            self.described[where, name] = each.get("x-unseen")
            self.describe(each, f"{where}.{name}")
        for each in schema.get("anyOf", []):
            self.describe(each, where)
        if "items" in schema:
            self.describe(schema["items"], f"{where}[]")

    def see(self, schema: dict, value, where: str) -> None:
        schema, where = self._place(schema, where)
        if isinstance(value, dict):
            for name, each in schema.get("properties", {}).items():
                if name in value:
                    self.seen.add((where, name))
                    self.see(each, value[name], f"{where}.{name}")
        if isinstance(value, list) and "items" in schema:
            for each in value:
                self.see(schema["items"], each, f"{where}[]")
        for each in schema.get("anyOf", []):
            if not problems(self.document, each, value):
                self.see(each, value, where)

    def unseen(self) -> list[str]:
        return sorted(f"{where}.{name}" for (where, name), why in self.described.items()
                      if why is None and (where, name) not in self.seen)


def shape(value):
    """Names and types; null fits anything, since what is absent today is there tomorrow."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return None if value is None else type(value).__name__


def fits(mine, theirs) -> bool:
    if mine is None or theirs is None:
        return True
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(fits(mine[name], theirs[name]) for name in mine)
    if isinstance(mine, list) and isinstance(theirs, list):
        return bool(mine) == bool(theirs) and all(fits(a, b) for a, b in zip(mine, theirs, strict=False))
    return mine == theirs


def wrong_value(schema: dict, document: dict):
    """A value of a type that the schema does not have; None when it takes any."""
    for value in ({"no": "such"}, 5, "text", [True]):
        if problems(document, schema, value):
            return value
    return None
