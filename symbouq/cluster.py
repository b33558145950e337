"""The same work as `symbouq.stream` on a cluster, by Ray Data: each of its workers makes the
job's worker once and gives the outcomes of the lines that it is sent.

`RAY_ADDRESS` names the cluster; without it, one is started on this machine and ended with
the work. A worker that dies is started again, and what it was doing is done again.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from symbouq.errors import SymboUQError, missing_extra
from symbouq.shards import stamp, write_shard
from symbouq.storage import located
from symbouq.stream import Job, Outcome, Worker, batches, distinct

_BLOCK = 1 << 18
"""Bytes of lines that go to a worker together: about a second of auditing."""

_WORKERS_A_READER = 16
"""Reading is that much faster than any job, Parquet too."""

_RETRIES = 5
"""Workers that may die over one piece of work. Nodes come and go, but a record that kills
whoever reads it must end the run some time.
"""

_COLUMN = "value"


def process(files: Iterable[str], job: Job, workers: int | None = None) -> Iterator[Outcome]:
    """Does a job on every line of some files and gives the outcomes in order, as
    `symbouq.stream.process` does.

    Args:
        files: Paths or URIs that every node of the cluster can open.
        job: What to do.
        workers: How many workers; all cores of the cluster by default.

    Raises:
        SymboUQError: If Ray is missing, or cannot do it.
    """
    yield from distinct(_outcomes(files, job, workers))


def shards(
    files: Iterable[str], job: Job, folder: str, workers: int | None = None
) -> Iterator[dict[str, Any]]:
    """Writes one shard for each file, by the workers themselves.

    Args:
        files: Paths or URIs that every node of the cluster can open.
        job: What to do.
        folder: Where to write, a path or URI that every node can write to.
        workers: How many workers; all cores of the cluster by default.

    Yields:
        The note of each shard (`symbouq.shards.write_shard`), in the order of the files.

    Raises:
        OSError: If the folder cannot be made.
        SymboUQError: If Ray is missing, or cannot do it.
    """
    system, place = located(folder)
    system.create_dir(place)
    act = partial(_shard, folder=folder, job=job, stamped=stamp(job))
    with _cluster(workers) as size:
        # A file that is named twice would be written by two workers at once.
        yield from map(from_json, _values(_worked(_files(dict.fromkeys(files)), job, act, size)))


def _outcomes(files: Iterable[str], job: Job, workers: int | None) -> Iterator[Outcome]:
    with _cluster(workers) as size:
        from ray.data import TaskPoolStrategy

        readers = TaskPoolStrategy(size=1 + size // _WORKERS_A_READER)
        lines = _files(files).map_batches(
            _read,
            batch_size=1,
            batch_format="pyarrow",
            compute=readers,
            num_cpus=0,  # each core has a worker already
            fn_kwargs={"folder": str(Path.cwd())},
        )
        for encoded in _values(_worked(lines, job, _batch, size)):
            yield from pickle.loads(encoded)


@contextmanager
def _cluster(workers: int | None) -> Iterator[int]:
    """The cluster, while it is used; gives the number of workers."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what ends the work is raised
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise missing_extra("ray", error) from error
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.target_max_block_size = _BLOCK
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    ours = not ray.is_initialized()
    with redirect_stdout(sys.stderr):  # Ray prints there; the output may be ours
        try:
            if ours:
                address = os.environ.get("RAY_ADDRESS", "local")
                ray.init(
                    address=address,
                    num_cpus=workers if address == "local" else None,
                    include_dashboard=False if address == "local" else None,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
            logging.getLogger("ray.data").setLevel(logging.ERROR)
            yield workers or int(ray.cluster_resources()["CPU"])
        except (ray.exceptions.RayError, ConnectionError) as error:
            raise SymboUQError(f"Ray: {_reason(error)}") from error
        finally:
            if ours:
                ray.shutdown()


def _reason(error: Exception) -> str:
    """What lies at the bottom of an error, in a line; the rest of it is Ray's traceback."""
    cause = getattr(error, "cause", None)
    while isinstance(cause, Exception):
        error, cause = cause, cause.__cause__
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    return said[-1] if said else type(error).__name__


def _files(files: Iterable[str]) -> Any:
    """Files as a dataset, each a block of its own."""
    import ray.data

    rows = [{_COLUMN: pickle.dumps(file)} for file in files]
    return ray.data.from_items(rows, override_num_blocks=len(rows))


def _worked(dataset: Any, job: Job, act: Callable[[Worker, bytes], bytes], size: int) -> Any:
    from ray.data import ActorPoolStrategy

    return dataset.map_batches(
        _Actor,
        batch_size=None,
        batch_format="pyarrow",
        compute=ActorPoolStrategy(size=size),
        num_cpus=1,
        max_restarts=-1,
        max_task_retries=_RETRIES,
        fn_constructor_args=(job, act, str(Path.cwd())),
    )


def _values(dataset: Any) -> Iterator[bytes]:
    return (row[_COLUMN] for row in dataset.iter_rows())


def _table(values: Iterable[bytes]) -> Any:
    import pyarrow

    return pyarrow.table({_COLUMN: pyarrow.array(values, pyarrow.large_binary())})


class _Actor:
    """One worker of the cluster.

    Args:
        job: What to do.
        act: Does it to one row.
        folder: The folder that relative paths start from.
    """

    def __init__(self, job: Job, act: Callable[[Worker, bytes], bytes], folder: str) -> None:
        _enter(folder)
        self._worker = Worker(job)
        self._act = act
        gc.freeze()  # what is set up stays: the collector need not look at it again

    def __call__(self, table: Any) -> Any:
        """Does it to some rows."""
        return _table(self._act(self._worker, row) for row in table[_COLUMN].to_pylist())


def _read(table: Any, folder: str) -> Iterator[Any]:
    """The lines of some files, one batch a row."""
    _enter(folder)
    for file in table[_COLUMN].to_pylist():
        for batch in batches([pickle.loads(file)]):
            yield _table([pickle.dumps(batch)])


def _batch(worker: Worker, row: bytes) -> bytes:
    return pickle.dumps([worker(item) for item in pickle.loads(row)])


def _shard(worker: Worker, row: bytes, *, folder: str, job: Job, stamped: str) -> bytes:
    return to_json(write_shard(pickle.loads(row), folder, job, worker, stamped))


def _enter(folder: str) -> None:
    """Makes relative paths mean what they mean to the user, where the node has that folder."""
    with suppress(OSError):
        os.chdir(folder)
