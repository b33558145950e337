"""`symbouq doctor`: list what is installed and missing, and check that audits work.

Exit codes: 0 audits work, 2 they do not.
"""

from __future__ import annotations

import platform
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from typing import TYPE_CHECKING, NamedTuple

import click

from symbouq.errors import SymboUQError, install_command
from symbouq_cli.options import UNUSABLE, finish

if TYPE_CHECKING:
    from packaging.requirements import Requirement

PACKAGE = "symbouq"


CLAIM = [["A", "upper_right", "C"]]
"""A claim that follows from a scene with two relations."""


class Extra(NamedTuple):
    """An optional extra of the package.

    Attributes:
        name: Name of the extra.
        present: Versions of its packages that are installed.
        missing: Requirements that no installed package meets.
    """

    name: str
    present: dict[str, str]
    missing: list[str]


@click.command()
def doctor() -> None:
    """List what is installed and what is missing, and audit one trace as a check.

    For every incomplete extra, the output has the command that installs it. Include the output in
    bug reports.

    Example: symbouq doctor
    """
    import symbouq

    fault = trial()
    click.echo(f"core: {fault or 'works, a trace was audited'}")
    click.echo(f"symbouq {symbouq.__version__} in {symbouq.__path__[0]}")
    click.echo(f"Python {platform.python_version()} on {platform.platform()}")
    base, extras = installed()
    for extra in (base, *extras):
        click.echo(_line(extra))
    click.echo(f"English pipeline: {english()}")
    click.echo(f"GPU: {gpu()}")
    if base.missing or fault:
        finish(UNUSABLE)


def installed() -> tuple[Extra, list[Extra]]:
    """Return the installed and missing requirements of the package itself and of each extra.

    Raises:
        SymboUQError: If the package is run from its files without being installed, or the library
            that parses requirements is missing.
    """
    try:
        from packaging.requirements import Requirement
    except ImportError as error:
        raise SymboUQError(f"packaging is missing: {install_command('')}") from error
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError as error:
        raise SymboUQError(
            f"symbouq is not installed, only found: {install_command('')}"
        ) from error
    requirements = [Requirement(text) for text in package.requires or ()]

    def look(extra: str) -> Extra:
        present, missing = {}, []
        for requirement in (r for r in requirements if _belongs(r, extra)):
            version = version_of(requirement.name)
            if version and requirement.specifier.contains(version, prereleases=True):
                present[requirement.name] = version
            else:
                has = f" ({version} is installed)" if version else ""
                missing.append(f"{requirement.name}{requirement.specifier}{has}")
        return Extra(extra, present, missing)

    names = package.metadata.get_all("Provides-Extra") or []
    return look(""), [look(name) for name in sorted(names)]


def _belongs(requirement: Requirement, extra: str) -> bool:
    """Whether a requirement belongs to an extra or, if `extra` is empty, to the package itself."""
    marker = requirement.marker
    always = marker is None or marker.evaluate({"extra": ""})
    if not extra:
        return always
    return not always and marker is not None and marker.evaluate({"extra": extra})


def version_of(package: str) -> str | None:
    """Return the installed version of a package without importing it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _line(extra: Extra) -> str:
    title = f"extra {extra.name}" if extra.name else "required"
    present = ", ".join(f"{name} {version}" for name, version in extra.present.items())
    if not extra.missing:
        return f"{title}: complete ({present})"
    has = f"; has {present}" if present else ""
    return f"{title}: lacks {', '.join(extra.missing)}{has}\n  {install_command(extra.name)}"


def english() -> str:
    """Describe the pipeline that parses open text, and how to get the official one."""
    from symbouq.reading.syntax.pipeline import PIPELINES, installed

    found = installed()
    official = f"{shlex.quote(sys.executable)} -m spacy download {PIPELINES[0]}"
    if found is None:
        return f"none; open text cannot be read\n  {install_command('english')}\n  {official}"
    name, version = found
    more = "" if name == PIPELINES[0] else f"; the official one: {official}"
    return f"{name} {version}{more}"


def gpu() -> str:
    """Describe the GPUs that torch can use. torch is imported only if the driver finds a GPU."""
    if version_of("torch") is None:
        return "not checked: torch is not installed"
    program = shutil.which("nvidia-smi")
    if program is None:
        return "none (no nvidia-smi)"
    query = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    asked = subprocess.run(query, capture_output=True, text=True, check=False)
    names = "; ".join(asked.stdout.splitlines())
    if asked.returncode or not names:
        return "none that nvidia-smi finds"
    import torch

    if torch.cuda.is_available():
        return f"{names}; torch {torch.__version__} uses it"
    return f"{names}; torch {torch.__version__} cannot use it: CUDA is missing or does not match"


def trial() -> str | None:
    """Audit one small trace.

    Returns:
        What is wrong, or None if the result is as expected.
    """
    try:
        import symbouq

        audit = symbouq.audit([["A", "above", "B"], ["B", "right", "C"]], [CLAIM])
        verdict, premises = audit.claims[-1].verdict, audit.claims[-1].premises
    except Exception as error:  # the doctor reports every kind of error
        return f"does not work: {type(error).__name__}: {error}"
    if (verdict, premises) != ("entailed", ["scene:1", "scene:2"]):
        return f"is wrong: an entailed claim came out as {verdict} by {premises}"
    return None
