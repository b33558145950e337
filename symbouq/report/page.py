"""The page: template, style and scripts in one self-contained file.

Data from traces are embedded as JSON without `<`, in blocks that a browser does not execute. The
script displays these data only as text. The page's content security policy (CSP) forbids
connections and allows only one script and one style sheet, identified by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files
from typing import Any

from pydantic_core import to_json

from symbouq.version import __version__

_ESCAPES = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))


def page(
    title: str, kind: str, data: Any, sheets: Iterable[Iterable[bytes]] = ()
) -> Iterator[bytes]:
    """Yield the parts of a page in the order in which they are written.

    `kind` selects the script. The browser decodes `data` immediately, and `sheets` (batches of
    encoded JSON objects) when needed.
    """
    style = _asset("style.css")
    script = _asset("common.js") + _asset(f"{kind}.js")
    values = {
        "title": escape(title),
        "style": style,
        "script_hash": _hash(script),
        "style_hash": _hash(style),
        "version": escape(__version__),
    }
    yield re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _asset("head.html")).encode()
    yield b'<script type="application/json" id="data">' + json_block(to_json(data)) + b"</script>\n"
    for batch in sheets:
        yield b'<script type="application/json" class="sheets">['
        for number, sheet in enumerate(batch):
            yield (b",\n" if number else b"") + json_block(sheet)
        yield b"]</script>\n"
    yield f"<script>{script}</script>\n</body>\n</html>\n".encode()


def json_block(encoded: bytes) -> bytes:
    """Escape JSON so that it can neither end its HTML block nor start another one."""
    for character, escaped in _ESCAPES:
        encoded = encoded.replace(character, escaped)
    return encoded


def _asset(name: str) -> str:
    return files("symbouq.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
