"""Locate the shared data, and skip the tests that need it if it is absent."""

from __future__ import annotations

import inspect
import itertools
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from symbouq_cli import run as runs

from symbouq import limits
from symbouq.reading.syntax.kept import Kept

# Tests start many processes. Each would otherwise compile everything that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Processes that run beside each other would wait for each other's threads, and splitting sums
# changes their digits.
os.environ["OMP_NUM_THREADS"] = "1"

# The processes share compiled ontologies and readings, but not through a user's own cache.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["SYMBOUQ_CACHE"] = tempfile.mkdtemp(prefix="symbouq-tests-")


LONGEST = ("tests/experiments/", "tests/authoring/test_specs.py")

# How fast a machine is, and what else it is doing, must not decide a test.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def clock_of_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make time limits count checks of the clock, as a microsecond each, instead of seconds."""
    looks = itertools.count()
    monkeypatch.setattr(limits, "monotonic", lambda: next(looks) / 1e6)


@pytest.fixture(autouse=True)
def readings_are_derived(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test that replaces code, or looks at how sentences are read, take no reading from
    another test and leave it none. The others share what this run has derived.
    """
    replaces = "monkeypatch" in inspect.signature(request.function).parameters
    if replaces or request.node.get_closest_marker("derives"):
        monkeypatch.setattr(Kept, "load", lambda *_: {})
        monkeypatch.setattr(Kept, "save", lambda *_: None)


@pytest.fixture(autouse=True)
def no_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the progress lines of slow runs out of the output that tests compare."""
    monkeypatch.setattr(runs, "SECONDS", math.inf)


@pytest.fixture(autouse=True)
def no_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the advice after an audit, which reads the traces again under every profile; its
    own tests put it back.
    """
    monkeypatch.setattr("symbouq.auditing.advice.advice", lambda *_: None)


def pytest_unconfigure() -> None:
    """Remove the shared cache at the end."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(os.environ["SYMBOUQ_CACHE"], ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow warnings in tests of Ray, which issues some about itself. Put those first that take
    minutes, so that no process runs one alone at the end. Measure no coverage where examples are
    drawn: hundreds run the same lines, and others in each run.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
    for item in items:
        if getattr(getattr(item, "function", None), "is_hypothesis_test", False):
            item.add_marker("no_cover")
        if item.get_closest_marker("ray"):
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder with benchmark instances and real traces, from SYMBOUQ_DATA."""
    folder = os.environ.get("SYMBOUQ_DATA")
    if not folder:
        pytest.skip("SYMBOUQ_DATA is not set: no benchmark data to read")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"SYMBOUQ_DATA names {folder}, which is not a folder")
    return path


@pytest.fixture(scope="session")
def nodes() -> Iterator[None]:
    """Start a Ray cluster with two nodes on this machine, and name it in `RAY_ADDRESS`."""
    pytest.importorskip("ray", reason="ray is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        here = Path(__file__).parent
        patch.setenv("PYTHONPATH", f"{here}{os.pathsep}{here.parent}", prepend=os.pathsep)
        from ray.cluster_utils import Cluster

        started = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        try:
            started.add_node(num_cpus=1)
            patch.setenv("RAY_ADDRESS", started.address)
            yield
        finally:
            started.shutdown()
