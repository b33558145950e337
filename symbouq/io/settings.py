"""Settings in YAML files, checked before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from srsly import ruamel_yaml as yaml
from srsly.ruamel_yaml.loader import SafeLoader

from symbouq.errors import SymboUQError


class SettingsError(SymboUQError):
    """Settings cannot be used."""


_Kind = TypeVar("_Kind", bound=BaseModel)
_Price = Annotated[float, Field(ge=0)]


class ReaderSettings(BaseModel):
    """How a language model reads (`symbouq audit --reader-settings`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: Literal["transformers", "vllm"] = "transformers"
    """What runs a local model."""
    readings: Annotated[str, Field(min_length=1)] = "readings.jsonl"
    """File that keeps the model's replies; what is there is not asked for again."""
    samples: Annotated[int, Field(ge=1)] = 2
    """How often the model is asked the same; what it does not repeat is uncertain."""
    reuse: bool = False
    """Whether readings by earlier instructions serve, where the schema is the same."""
    alone: bool = False
    """Whether the model sees each sentence alone: no other can change how it is read, and pronouns
    refer to nothing. For small models, and texts that are not trusted."""
    reply_tokens: Annotated[int, Field(ge=1)] = 8192
    """Most tokens of one reply."""
    token_budget: Annotated[int, Field(ge=1)] | None = None
    """Most tokens of the run, read and written; then no more is asked. No bound where absent."""
    concurrency: Annotated[int, Field(ge=1)] = 8
    """Requests at a time."""
    reply_timeout: Annotated[float, Field(gt=0)] = 120
    """Seconds that a reply of the endpoint may take."""
    retries: Annotated[int, Field(ge=0)] = 5
    """Retries after transient failures."""
    price: tuple[_Price, _Price] | None = None
    """Price of a million tokens, read and written, to show what the run costs."""


def read_settings(path: Path, kind: type[_Kind]) -> _Kind:
    """The settings in a YAML file.

    Raises:
        SettingsError: If the file cannot be read or a value is wrong; every fault is named.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document, value = yaml.compose(text, Loader=SafeLoader), yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot be read: {error}", str(path)) from error
    except (yaml.error.YAMLError, yaml.error.YAMLFutureWarning, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        raise SettingsError(f"not valid YAML: {error}", str(path), line) from error
    try:
        return kind.model_validate({} if value is None else value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        told = [
            (".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, "))
            for fault in faults
        ]
        message = "; ".join(": ".join(filter(None, pair)) for pair in told)
        raise SettingsError(message, str(path), _line(document, faults[0]["loc"])) from error


def _line(node: Any, place: Sequence[int | str]) -> int | None:
    """The line of the innermost part of a document on the way to a place; None for all of it."""
    line = None
    for part in place:
        if isinstance(node, yaml.MappingNode):
            members = {str(key.value): (key, value) for key, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            members = {str(n): (item, item) for n, item in enumerate(node.value)}
        else:
            break
        if str(part) not in members:
            break
        key, node = members[str(part)]
        line = key.start_mark.line + 1
    return line
