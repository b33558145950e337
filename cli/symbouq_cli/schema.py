"""`symbouq schema`: what the records look like, for other programs."""

from __future__ import annotations

import json

import click

# As `symbouq.records.RECORDS` has them; reading that here would slow every command's help.
_NAMES = ("trace", "question", "audit", "answer", "reliability", "reading")


@click.command()
@click.argument("name", required=False, type=click.Choice(_NAMES))
def schema(name: str | None) -> None:
    """Print the JSON Schema of the record NAME, or of all records, by name.

    A trace is what `symbouq audit` reads, a question what `symbouq answer` and `generate` read;
    an audit, an answer and a reliability are what `audit`, `answer` and `predict` write; a
    reading is a line of what `--reader model` keeps.

    Example: symbouq schema audit > audit.schema.json
    """
    from symbouq.records import json_schema

    schemas = json_schema()
    click.echo(json.dumps(schemas[name] if name else schemas, indent=2, ensure_ascii=False))
