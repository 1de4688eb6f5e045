#!/usr/bin/env python3
"""Writes a C++ source that holds the description of the API and the page made of it.

Usage: embed_openapi.py API_TABLE OUTPUT
"""
import json
import pathlib
import sys

import embedding
import openapi
import openapi_page


def main() -> None:
    document = openapi.published(pathlib.Path(sys.argv[1]))
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    entries = [
        embedding.entry("/openapi.json", text.encode()),
        embedding.entry("/docs", openapi_page.render(document).encode(), ".html"),
        embedding.entry("/docs/reference.css", openapi_page.STYLE.read_bytes()),
        embedding.entry("/docs/reference.js", openapi_page.SCRIPT.read_bytes()),
    ]
    embedding.replace(pathlib.Path(sys.argv[2]), embedding.source("openapi_files", "tools/embed_openapi.py", entries))


if __name__ == "__main__":
    main()
