"""Reference of the predicates that an author may use, from the doc blocks in the `.lp` files:
`symbouq rules reference`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clingo import ast

from symbouq.authoring.show import as_markdown
from symbouq.ontology.compilation import checks
from symbouq.ontology.source import data_folder, fact_of, rule_files, shown


@dataclass(frozen=True)
class Entry:
    """One documented statement of a file: its heading, its doc block, what follows it."""

    heading: str
    text: str
    predicate: str


def entries(file: Path) -> tuple[str, list[Entry]]:
    """The doc block that opens a file, and the predicates documented in it."""
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
    """The reference as Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    folder = data_folder("rules")
    opening, documented = entries(folder / "vocabulary.lp")
    yield "# Predicate reference\n"
    yield "Made by `symbouq rules reference` from the doc blocks in `rules/`.\n"
    yield "## What an ontology may state\n"
    yield _paragraphs(opening) + "\n"
    heading = ""
    for entry in documented:
        if entry.heading != heading:
            heading = entry.heading
            yield f"### {heading}\n"
        head, _, text = entry.text.partition(":")
        yield f"`{head}`\n: {' '.join(text.split())}\n"
    yield "## What a rule may use of the audit\n"
    yield (
        "`holds(R, U, V)`\n: the closure of a context: thing U is R to thing V. A rule may "
        "conclude it and build on it, as a plain atom: without `not`, outside of aggregates and "
        "conditions. A direction that a rule concludes places the two things; as to bodies, "
        "directions are the layout's to decide, and hold in none.\n"
    )
    yield (
        "`clash(C, U, V)`\n: the context cannot be: C names what is wrong, and reason/2 says "
        "it in words. A rule may conclude it.\n"
    )
    yield (
        "A rule may also add facts of the predicates above, from other facts (not `family`, "
        "`axis`, `profile`, `default_profile`, `extends` and `dataset`, which are stated), and "
        "read them, stated or derived. Every other predicate is a helper: it is yours, whatever "
        "its name, and nothing of the rules below shares it.\n"
    )
    yield "## The rules themselves\n"
    parts = rule_files("compile", "hulls", "refutation", "repair", "premises")
    for file in (folder / "compile.lp", *parts):
        opening, _ = entries(file)
        yield f"### {shown(str(file))}\n\n```text\n{opening}\n```\n"
    yield "## What `symbouq rules check` finds\n"
    rows = [["code", "severity", "how to mend it"]]
    rows += [[code, check.severity, check.mend] for code, check in sorted(checks().items())]
    yield as_markdown(rows)


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
