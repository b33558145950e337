"""Errors travel: whatever class of the package an error has, another process gets it as it is."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import pickle
import signal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from symbouq.errors import SymboUQError

ROOT = Path(__file__).parents[1]
ARGUMENTS = {"str": "what is\nwrong", "int": 3, "object": "why", "int | Ended": signal.SIGTERM}
"""An argument of each kind that constructors of errors take."""


def error_classes() -> list[tuple[str, str]]:
    """Module and name of every class of the package that is an error, found in the source, so that
    no module needs to be imported to be looked at.
    """
    bases: dict[str, tuple[str, list[str]]] = {}
    for folder in (ROOT / "symbouq", ROOT / "cli/symbouq_cli"):
        for file in sorted(folder.rglob("*.py")):
            module = ".".join(file.relative_to(folder.parent).with_suffix("").parts)
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    bases[node.name] = module, [ast.unparse(base) for base in node.bases]
    errors = {
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    known = -1
    while known != len(errors):
        known = len(errors)
        errors |= {
            name
            for name, (_, own) in bases.items()
            if any(base.rpartition(".")[2] in errors for base in own)
        }
    return sorted((bases[name][0], name) for name in errors & bases.keys())


def made(kind: type[BaseException]) -> BaseException:
    """An error of a class, of an argument for each parameter of its constructor."""
    if kind.__init__ is Exception.__init__:
        return kind("why")
    parameters = inspect.signature(kind).parameters.values()
    return kind(*(ARGUMENTS[str(one.annotation).removesuffix(" | None")] for one in parameters))


def same(one: BaseException, other: BaseException) -> bool:
    def parts(error: BaseException) -> tuple[Any, ...]:
        return type(error), error.args, str(error), vars(error)

    return parts(one) == parts(other)


def test_the_errors_are_found() -> None:
    found = {name for _, name in error_classes()}
    assert {"SymboUQError", "LimitError", "ReadingError", "UnreachableError", "Ended"} <= found


@pytest.mark.parametrize(("module", "name"), error_classes(), ids=lambda value: value)
def test_an_error_is_pickled_as_it_is(module: str, name: str) -> None:
    error = made(getattr(import_module(module), name))
    error.add_note("a note")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert same(pickle.loads(pickle.dumps(error, protocol)), error)
    assert same(copy.copy(error), error)


class _AwkwardError(SymboUQError):
    """An error whose constructor takes nothing that its base does."""

    def __init__(self, *, first: int, second: list[str]) -> None:
        super().__init__(f"{first} of {len(second)}", "file.lp", first)
        self.second = second


def test_so_is_one_with_any_constructor() -> None:
    error = _AwkwardError(first=3, second=["a", "b"])
    back = pickle.loads(pickle.dumps(error))
    assert same(back, error) and str(back) == "file.lp:3: 3 of 2" and back.second == ["a", "b"]
