"""Reference of the predicates for rule authors (`symbouq rules reference`), generated from the doc
blocks of `.lp` files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clingo import ast

from symbouq.authoring.show import as_markdown
from symbouq.ontology.compilation import checks
from symbouq.ontology.source import data_folder, fact_of


@dataclass(frozen=True)
class Entry:
    """A documented statement in a file: heading, doc block, and the statements after it."""

    heading: str
    text: str
    predicate: str


def entries(file: Path) -> tuple[str, list[Entry]]:
    """Return the doc block at the beginning of a file, and the predicates documented in it."""
    opening = ""
    heading = block = ""
    documented: list[Entry] = []
    statements: list[ast.AST] = []
    ast.parse_files([str(file)], statements.append)
    for statement in statements:
        if statement.ast_type is ast.ASTType.Comment:
            text = statement.value
            if text.startswith("%*!"):
                block = text.removeprefix("%*!").removesuffix("*%").strip()
                opening = opening or block
            elif text.startswith("%"):
                heading = text.lstrip("% ").strip()
        elif (fact := fact_of(statement)) is not None and fact.name == "signature":
            documented.append(Entry(heading, block, str(fact.arguments[0])))
    return opening, documented


def reference() -> str:
    """Return the reference as Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    folder = data_folder("rules")
    opening, documented = entries(folder / "vocabulary.lp")
    yield "# Predicates\n"
    yield _paragraphs(opening) + "\n"
    yield "`symbouq rules reference` prints this page.\n"
    rows: dict[str, list[list[str]]] = {}
    for entry in documented:
        head, _, text = entry.text.partition(":")
        rows.setdefault(entry.heading, []).append([f"`{head}`", " ".join(text.split())])
    for heading, facts in rows.items():
        yield f"## {heading}\n"
        yield as_markdown([["fact", "meaning"], *facts]) + "\n"
    yield "## What rules may use\n"
    yield (
        "`holds(R, U, V)`: U is R to V in the closure of a context. A rule may conclude it, or use "
        "it as a plain atom: without `not`, outside aggregates and conditions. A direction that a "
        "rule concludes places the two things. Directions never hold in a body, because the layout "
        "decides them.\n"
    )
    yield (
        "`clash(C, U, V)`: the context is impossible. C names the reason, and reason/2 explains "
        "it. A rule may conclude it.\n"
    )
    yield (
        "A rule may read the predicates above. It may also derive them from other facts, except "
        "`family`, `axis`, `profile`, `default_profile`, `extends` and `dataset`. Every other "
        "predicate is a private helper.\n"
    )
    yield "## What `symbouq rules check` finds\n"
    found = [[code, check.severity, check.mend] for code, check in sorted(checks().items())]
    yield as_markdown([["code", "severity", "remedy"], *found])


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
