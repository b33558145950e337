"""`symbouq schema`: JSON Schemas of the records."""

from __future__ import annotations

import json

import click

# The same as in `symbouq.records.RECORDS`, because importing that would slow down every command's
# help.
_NAMES = ("trace", "question", "audit", "answer", "reliability", "reading")


@click.command()
@click.argument("name", required=False, type=click.Choice(_NAMES))
def schema(name: str | None) -> None:
    """Print the JSON Schema of the record NAME, or of all records.

    `symbouq audit` reads traces; `answer` and `generate` read questions; `audit`, `answer` and
    `predict` write audits, answers and reliabilities. A reading is a line stored by `--reader
    model`.

    Example: symbouq schema audit > audit.schema.json
    """
    from symbouq.records import json_schema

    schemas = json_schema()
    click.echo(json.dumps(schemas[name] if name else schemas, indent=2, ensure_ascii=False))
