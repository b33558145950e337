"""What the site's build adds to the pages: titles of named code blocks, and the schemas."""

from __future__ import annotations

import json
import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from symbouq.records import json_schema

_NAMED = re.compile(r"^```(\w+) ([\w./-]+)$", re.M)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Writes the file name of a block (```json traces.jsonl) as the theme wants it."""
    return _NAMED.sub(r'```\1 title="\2"', markdown)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a file for the JSON Schema of each record."""
    for name, schema in json_schema().items():
        path = f"reference/{name}.schema.json"
        text = json.dumps(schema, indent=2, ensure_ascii=False)
        files.append(File.generated(config, path, content=text))
    return files
