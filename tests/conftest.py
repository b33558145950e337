"""Where the shared data lies, and how tests that need it say that it is absent."""

from __future__ import annotations

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

# Tests start many processes, each of which would compile anew what it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# They share what is compiled of ontologies, of which a user's own cache shall have no part.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["SYMBOUQ_CACHE"] = tempfile.mkdtemp(prefix="symbouq-tests-")


# How fast a machine is, and what else it does, decides no test.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def clock_of_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has time limits count looks at the clock, a microsecond each, and no seconds."""
    looks = itertools.count()
    monkeypatch.setattr(limits, "monotonic", lambda: next(looks) / 1e6)


@pytest.fixture(autouse=True)
def no_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the lines of a slow run out of what tests compare."""
    monkeypatch.setattr(runs, "SECONDS", math.inf)


def pytest_unconfigure() -> None:
    """Takes the shared cache away at the end."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(os.environ["SYMBOUQ_CACHE"], ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets Ray warn of itself."""
    for item in items:
        if item.get_closest_marker("ray"):
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of benchmark instances and real traces, from SYMBOUQ_DATA."""
    folder = os.environ.get("SYMBOUQ_DATA")
    if not folder:
        pytest.skip("SYMBOUQ_DATA is not set: no benchmark data to read")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"SYMBOUQ_DATA names {folder}, which is not a folder")
    return path


@pytest.fixture(scope="session")
def nodes() -> Iterator[None]:
    """A Ray cluster of two nodes on this machine, which `RAY_ADDRESS` names."""
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


@pytest.fixture
def one_thread() -> Iterator[None]:
    """One thread for torch, as a worker of Ray has it: how sums are split shows in their digits."""
    torch = pytest.importorskip("torch", reason="the extra `models` is not installed")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
