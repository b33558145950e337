"""Settings in YAML files, which are checked before a run starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from srsly import ruamel_yaml as yaml
from srsly.ruamel_yaml.loader import SafeLoader

from symbouq.errors import SymboUQError


class SettingsError(SymboUQError):
    """Settings are invalid."""


_Kind = TypeVar("_Kind", bound=BaseModel)
_Price = Annotated[float, Field(ge=0)]


class ReaderSettings(BaseModel):
    """Settings of the model reader (`symbouq audit --reader-settings`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: Literal["transformers", "vllm"] = "transformers"
    """Engine that runs a local model."""
    readings: Annotated[str, Field(min_length=1)] = "readings.jsonl"
    """File for the model's replies; replies in the file are reused."""
    samples: Annotated[int, Field(ge=1)] = 2
    """Number of times to ask the model; readings that differ between replies are uncertain."""
    reuse: bool = False
    """Whether to accept readings made with earlier instructions but the same schema."""
    alone: bool = False
    """Whether the model sees each sentence separately. Other sentences then cannot affect its
    reading, and pronouns have no antecedent. Meant for small models and untrusted text.
    """
    ask: Literal["all", "undecided"] = "all"
    """With `--reader both`, whether the model reads all claims, or only those that remain undecided
    when the parser reads them.
    """
    share: bool = False
    """Whether claims of traces with the same scene and question are read in one request, if these
    traces have a conclusion of their own.
    """
    reply_tokens: Annotated[int, Field(ge=1)] = 8192
    """Maximum number of tokens in a reply."""
    token_budget: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of tokens that the run may read and write. There is no limit by default."""
    concurrency: Annotated[int, Field(ge=1)] = 8
    """Number of simultaneous requests."""
    reply_timeout: Annotated[float, Field(gt=0)] = 120
    """Time limit for a reply of the endpoint, in seconds."""
    retries: Annotated[int, Field(ge=0)] = 5
    """Number of retries after transient failures."""
    price: tuple[_Price, _Price] | None = None
    """Price per million tokens read and per million tokens written, to display the cost of the run.
    """

    @model_validator(mode="after")
    def _share_or_alone(self) -> Self:
        if self.share and self.alone:
            raise ValueError("`share` and `alone` exclude each other")
        return self


def read_settings(path: Path, kind: type[_Kind]) -> _Kind:
    """Read settings from a YAML file.

    Raises:
        SettingsError: If the file cannot be read or values are invalid. The message lists all
            errors.
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
    """Return the line of a setting in a document, or of the innermost part around it that exists;
    None for the whole document.
    """
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
