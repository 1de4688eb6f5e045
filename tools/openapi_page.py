"""Renders the description of the API as one page of HTML: no script is needed to read it, none is inline."""
import html
import json
import re

import openapi

STYLE = openapi.FOLDER / "reference.css"
SCRIPT = openapi.FOLDER / "reference.js"
DEPTH_MAX = 2  # fields of fields of fields stand in the schemas at the end of the page
TOKENS = {"everyone": "no token", "open": "no token on loopback; elsewhere any token, unless set otherwise",
          "api": "api token or admin token", "admin": "admin token"}
LIMITS = {"none": "", "single": "up to 1 MiB", "batch": "up to 16 MiB", "item": "up to the context limit and 64 KiB"}


def text(value) -> str:
    return html.escape(str(value))


def inline(source: str) -> str:
    """The little Markdown that descriptions use: code, bold and links."""
    out = text(source)
    parts = re.split(r"(`[^`]+`)", out)
    for i, part in enumerate(parts):
        if part.startswith("`") and len(part) > 1:
            parts[i] = f"<code>{part[1:-1]}</code>"
        else:
            part = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", part)
            parts[i] = re.sub(r"\[([^\]]+)\]\((/[^)]*)\)", r'<a href="\2">\1</a>', part)
    return "".join(parts)


def paragraphs(source: str) -> str:
    return "".join(f"<p>{inline(each)}</p>" for each in source.strip().split("\n\n"))


def pretty(value) -> str:
    """JSON as a person would write it: what is short stands on one line."""
    def show(each, indent: str) -> str:
        flat = json.dumps(each, ensure_ascii=False)
        if not isinstance(each, (dict, list)) or len(flat) + len(indent) <= 88:
            return flat
        deeper = indent + "  "
        if isinstance(each, dict):
            lines = [f"{deeper}{json.dumps(key, ensure_ascii=False)}: {show(member, deeper)}" for key, member in each.items()]
            return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
        return "[\n" + ",\n".join(deeper + show(member, deeper) for member in each) + f"\n{indent}]"
    return show(value, "")


class Page:
    def __init__(self, document: dict):
        self.document = document
        self.schemas = document["components"]["schemas"]
        self.asked = set()  # names of the schemas that requests are made of
        for item in document["paths"].values():
            for operation in item.values():
                self.collect(operation.get("requestBody", {}))

    def collect(self, value) -> None:
        if isinstance(value, list):
            for each in value:
                self.collect(each)
        if not isinstance(value, dict):
            return
        name = str(value.get("$ref", "")).rsplit("/", 1)[-1]
        if name in self.schemas and name not in self.asked:
            self.asked.add(name)
            self.collect(self.schemas[name])
        for key, each in value.items():
            if key != "examples":
                self.collect(each)

    def resolve(self, value: dict) -> dict:
        while "$ref" in value:
            kind, name = value["$ref"].split("/")[-2:]
            value = {**self.document["components"][kind][name], **{k: v for k, v in value.items() if k != "$ref"}}
        return value

    # What a schema says about a value.

    def unwrapped(self, schema: dict) -> tuple[dict, bool]:
        """Without the `or null` around it, and whether there was one."""
        options = schema.get("anyOf", [])
        if len(options) == 2 and options[1] == {"type": "null"}:
            return {**options[0], **{k: v for k, v in schema.items() if k != "anyOf"}}, True
        kinds = schema.get("type")
        if isinstance(kinds, list) and "null" in kinds:
            left = [kind for kind in kinds if kind != "null"]
            return {**schema, "type": left[0] if len(left) == 1 else left}, True
        return schema, False

    def link(self, schema: dict) -> str:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f'<a href="#schema-{name}">{name}</a>'

    def kind(self, schema: dict) -> str:
        schema, null = self.unwrapped(schema)
        if "$ref" in schema:
            out = self.link(schema)
        elif "anyOf" in schema and "properties" not in schema:
            out = " or ".join(self.kind(each) for each in schema["anyOf"])
        elif schema.get("type") == "array":
            out = f"array of {self.kind(schema['items'])}"
        elif "const" in schema:
            out = f"<code>{text(json.dumps(schema['const']))}</code>"
        else:
            kinds = schema.get("type", "any JSON")
            out = " or ".join(kinds) if isinstance(kinds, list) else kinds
        return out + (" or null" if null else "")

    def bounds(self, schema: dict) -> str:
        schema, _ = self.unwrapped(schema)
        said = []
        if "enum" in schema:
            said.append("one of " + ", ".join(f"<code>{text(each)}</code>" for each in schema["enum"] if each is not None))
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None and high is not None:
            said.append(f"{low:,} to {high:,}")
        elif low is not None:
            said.append(f"from {low:,}")
        if "exclusiveMinimum" in schema:
            said.append(f"more than {schema['exclusiveMinimum']}" + (f", up to {high:,}" if high is not None else ""))
        if "minItems" in schema and "maxItems" in schema:
            said.append(f"{schema['minItems']:,} to {schema['maxItems']:,} entries")
        elif "maxItems" in schema:
            said.append(f"at most {schema['maxItems']:,} entries")
        if "maxLength" in schema:
            said.append(f"at most {schema['maxLength']:,} characters")
        if "default" in schema:
            said.append(f"default <code>{text(json.dumps(schema['default']))}</code>")
        return "; ".join(said)

    def notes(self, said: str, schema: dict) -> str:
        bounds = self.bounds(schema)
        return " ".join(filter(None, [inline(said), f'<span class="quiet">{bounds}</span>' if bounds else ""]))

    def fields(self, schema: dict, asked: bool, depth: int = 0) -> str:
        """`asked`: of a request. There it matters what must be given, in an answer what may be missing."""
        schema = self.resolve(self.unwrapped(schema)[0])
        rows = ""
        for name, each in schema.get("properties", {}).items():
            needed = name in schema.get("required", [])
            must = ""
            if asked and needed:
                must = ' <span class="must">required</span>'
            elif not asked and not needed:
                must = ' <span class="quiet">optional</span>'
            inner = self.unwrapped(each)[0]
            if inner.get("type") == "array":
                inner = inner["items"]
            own = inner if "$ref" not in inner else {}
            own = self.unwrapped(own)[0]
            style = ["", "sub", "sub sub2"][min(depth, 2)]
            rows += (f'<tr class="{style}"><th scope="row"><code>{text(name)}</code>{must}</th>'
                     f'<td>{self.kind(each)}</td><td>{self.notes(each.get("description", ""), each)}</td></tr>')
            if depth < DEPTH_MAX and own.get("properties"):
                rows += self.fields(own, asked, depth + 1)
        return rows

    def table(self, rows: str) -> str:
        columns = '<colgroup><col class="name"><col class="type"><col></colgroup>'
        return f"<table>{columns}<tbody>{rows}</tbody></table>" if rows else ""

    # What an operation says.

    def parameters(self, operation: dict) -> str:
        rows = ""
        for each in operation["parameters"]:
            if each["name"] == "X-Request-Id":
                continue  # of all; the introduction tells
            must = ' <span class="must">required</span>' if each.get("required") else ""
            schema = each["schema"]
            notes = self.notes(each.get("description", ""), schema)
            rows += (f'<tr><th scope="row"><code>{text(each["name"])}</code> <span class="quiet">{each["in"]}</span>{must}</th>'
                     f"<td>{self.kind(schema)}</td><td>{notes}</td></tr>")
        return f"<h4>Parameters</h4>{self.table(rows)}" if rows else ""

    def body(self, operation: dict) -> str:
        if "requestBody" not in operation:
            return ""
        content = operation["requestBody"]["content"]
        schema = content["application/json"]["schema"]
        whole = self.resolve(schema)
        note = inline(whole["description"]) if "description" in whole else ""
        if whole.get("type") == "array":
            note = f"Array of {self.kind(whole['items'])}; at most {whole['maxItems']:,}."
            whole = self.resolve(whole["items"])
        media = ", ".join(f"<code>{each}</code>" for each in content)
        limit = LIMITS[operation["x-body"]]
        return (f'<h4>Body</h4><p class="quiet">{media}{", " + limit if limit else ""}</p>'
                + (f"<p>{note}</p>" if note else "") + self.table(self.fields(whole, asked=True)))

    def answers(self, operation: dict) -> str:
        usual, rows = [], ""
        names = {f"#/components/responses/{name}" for name in self.document["components"]["responses"]}
        texts = {each["description"] for each in self.document["components"]["responses"].values()}
        for code, short in operation["responses"].items():
            answer = self.resolve(short)
            if short.get("$ref") in names or answer["description"] in texts:
                usual.append(code)
                continue
            shape = ""
            for media, each in answer.get("content", {}).items():
                kind = self.kind(each["schema"])
                shape += f' <span class="quiet">{kind if media == "application/json" else text(media)}</span>'
            headers = [f"<code>{name}</code>" for name in answer.get("headers", {}) if name != "X-Request-Id"]
            with_headers = f'<br><span class="quiet">Headers: {", ".join(headers)}</span>' if headers else ""
            good = "ok" if int(code) < 400 else "no"
            rows += f'<dt class="code {good}">{code}</dt><dd>{inline(answer["description"])}{shape}{with_headers}</dd>'
        if usual:
            rows += f'<dt></dt><dd class="quiet">And as everywhere: <a href="#errors">{", ".join(usual)}</a></dd>'
        return f'<h4>Answers</h4><dl class="answers">{rows}</dl>'

    def examples(self, method: str, path: str, operation: dict) -> str:
        names: dict[str, dict] = {}
        for each in operation["parameters"]:
            for name, example in each.get("examples", {}).items():
                names.setdefault(name, {})[each["in"], each["name"]] = example["value"]
        asked = {}
        for media, each in operation.get("requestBody", {}).get("content", {}).items():
            for name, example in each.get("examples", {}).items():
                asked[name] = (media, example["value"], example.get("summary"))
        out = ""
        answered = {}
        for code, short in operation["responses"].items():
            for each in self.resolve(short).get("content", {}).values():
                for name, example in each.get("examples", {}).items():
                    answered[name] = (code, example)
        for name in [*dict.fromkeys([*names, *asked, *answered])]:
            media, value, summary = asked.get(name, ("", None, None))
            code, answer = answered.get(name, ("", {}))
            given = names.get(name, {})
            summary = summary or answer.get("summary") or re.sub(r"(?<!^)([A-Z])", lambda m: " " + m[1].lower(), name)
            good = "ok" if code < "4" else "no"
            out += (f'<details class="example"><summary><span class="code {good}">{code}</span> {inline(summary)}</summary>'
                    f"<h4>Call</h4><pre>{text(self.command(method, path, given, media, value))}</pre>")
            if answer:
                shown = answer["value"] if isinstance(answer["value"], str) else pretty(answer["value"])
                out += f"<h4>Answer</h4><pre>{text(shown)}</pre>"
            out += "</details>"
        return f"<h4>Examples</h4>{out}" if out else ""

    def command(self, method: str, path: str, given: dict, media: str, value) -> str:
        query = []
        curl_knows = method == "get" or (method == "post" and value is not None)
        words = ["curl"] + ([] if curl_knows else [f"-X {method.upper()}"])
        for (kind, name), each in given.items():
            if kind == "path":
                path = path.replace("{" + name + "}", escape(each))
            elif kind == "query":
                query.append(f"{name}={escape(each)}")
            elif kind == "header":
                words.append(f"-H '{name}: {each}'")
        url = f"http://127.0.0.1:8080{path}" + ("?" + "&".join(query) if query else "")
        words.append(f"'{url}'" if query or "*" in url else url)
        if value is None:
            return " ".join(words)
        words.append(f"-H 'Content-Type: {media}'")
        data = value if isinstance(value, str) else pretty(value)
        return " ".join(words) + " \\\n  --data-binary '" + data.rstrip("\n").replace("'", "'\\''") + "'"

    def operation(self, method: str, path: str, operation: dict) -> str:
        name = operation["operationId"]
        twins = "".join(f'<span class="method {other}" id="{each["operationId"]}">{other.upper()}</span>'
                        for other, each in self.document["paths"][path].items() if each.get("x-twin") == name)
        said = paragraphs(operation["description"]) if "description" in operation else ""
        words = html.escape(f"{method} {path} {operation['summary']} {' '.join(operation['tags'])}", quote=True)
        return (f'<article class="operation" id="{name}" data-words="{words}">'
                f'<h3 class="line"><span class="method {method}">{method.upper()}</span>{twins}'
                f'<a class="anchor path mono" href="#{name}">{text(path)}</a></h3>'
                f"<p><b>{inline(operation['summary'])}</b></p>{said}"
                f'<p class="quiet">Needs: {TOKENS[operation["x-access"]]}</p>'
                f"{self.parameters(operation)}{self.body(operation)}{self.answers(operation)}"
                f"{self.examples(method, path, operation)}</article>")

    # The page.

    def by_tag(self):
        for tag in self.document["tags"]:
            found = [(method, path, item[method]) for path, item in self.document["paths"].items()
                     for method in openapi.METHODS if method in item and tag["name"] in item[method]["tags"]
                     and "x-twin" not in item[method]]
            yield tag, found

    def contents(self) -> str:
        out = ('<ul><li><a href="#introduction"><span></span>Introduction</a></li>'
               '<li><a href="#errors"><span></span>Errors</a></li></ul>')
        for tag, found in self.by_tag():
            entries = "".join(f'<li><a href="#{each["operationId"]}"><span class="method {method}">{method.upper()}</span>'
                              f"<span>{inline(each['summary'])}</span></a></li>" for method, _, each in found)
            out += f"<details open data-group><summary>{tag['name']}</summary><ul>{entries}</ul></details>"
        return out + '<ul><li><a href="#schemas"><span></span>Schemas</a></li></ul>'

    def errors(self) -> str:
        codes = {name: code for code, name in openapi.USUAL.items()}
        rows = "".join(f'<dt class="code no">{codes[name]}</dt><dd>{inline(each["description"])}</dd>'
                       for name, each in sorted(self.document["components"]["responses"].items(), key=lambda e: codes[e[0]]))
        return (f'<h2 id="errors">Errors</h2><p>Their body is a {self.kind({"$ref": "#/components/schemas/Problem"})}. '
                'A path that there is not is 404, a method that a path does not have 405 with <code>Allow</code>.</p>'
                f'<dl class="answers">{rows}</dl>')

    def listed_schemas(self) -> str:
        out = ""
        for name, schema in sorted(self.schemas.items()):
            said = paragraphs(schema["description"]) if "description" in schema else ""
            inner = self.table(self.fields(schema, name in self.asked))
            if not inner:
                detail = "; ".join(filter(None, [self.kind(schema), self.bounds(schema)]))
                pattern = f"<br><code>{text(schema['pattern'])}</code>" if "pattern" in schema else ""
                inner = f'<p class="quiet">{detail}{pattern}</p>'
            out += (f'<section class="schema" id="schema-{name}"><h3><a class="anchor" href="#schema-{name}">{name}</a></h3>'
                    f'{said}{inner}</section>')
        return f'<section id="schemas"><h2>Schemas</h2>{out}</section>'

    def render(self) -> str:
        info = self.document["info"]
        own = "\n\n".join(each for each in info["description"].split("\n\n") if "[/docs]" not in each)
        sections = "".join(
            f"<section data-group><h2>{tag['name']}</h2><p>{inline(tag['description'])}</p>"
            + "".join(self.operation(*each) for each in found) + "</section>" for tag, found in self.by_tag())
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference · Penstock</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/reference.css">
<script type="module" src="/docs/reference.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="/"><img src="/favicon.svg" alt="" width="22" height="22"> Penstock</a>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search the operations" autocomplete="off">
<span class="spacer"></span>
<span class="links"><a href="/">Console</a> · <a href="/openapi.json">openapi.json</a></span>
<button id="theme" type="button" hidden></button>
</header>
<div class="frame">
<nav class="contents" aria-label="Contents"><div>{self.contents()}</div></nav>
<main id="content" tabindex="-1">
<section id="introduction"><h1>{text(info["title"])} API <span class="quiet">{text(info["version"])}</span></h1>
{paragraphs(own)}{self.errors()}</section>
<p class="nothing" hidden>Nothing here has these words.</p>
{sections}
{self.listed_schemas()}
</main>
</div>
</body>
</html>
"""


def escape(value) -> str:
    return re.sub(r"[^A-Za-z0-9._~:*-]", lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode()), str(value))


def render(document: dict) -> str:
    return Page(document).render()
