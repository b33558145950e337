"""Spread work over a cluster with Ray Data, as `symbouq.io.stream` does on one machine: each worker
is set up once and processes batches.

`RAY_ADDRESS` names the cluster. Without it, one is started on this machine and stopped after the
work. A worker that dies is restarted, and its work is repeated.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from symbouq.errors import SymboUQError, extra
from symbouq.io.shards import stamp, write_shard
from symbouq.io.storage import located
from symbouq.io.stream import Batch, Job, Outcome, Worker, batches, distinct

_BLOCK = 1 << 18
"""Number of bytes in the lines of a batch. Auditing a batch takes about a second."""

_WORKERS_A_READER = 16
"""Number of workers per reader. Reading is that much faster than any job, even for Parquet."""

_RETRIES = 5
"""Maximum number of workers that may die on the same piece of work. Nodes come and go, but a record
that kills its workers must end the run eventually.
"""

_COLUMN = "value"

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Source = TypeVar("_Source")


class _RemoteError(Exception):
    """Traceback from a worker, as the cause of the local error."""


@dataclass(frozen=True)
class _Fault:
    """Error from a worker, in the form that is sent to this machine. Ray itself would keep only the
    traceback.
    """

    error: Exception
    traceback: str


@dataclass(frozen=True)
class Crew:
    """Workers of a cluster.

    Attributes:
        size: Number of workers.
        gpus: Number of GPUs per worker; 0 if it only needs a core.
        on_cluster: Number of GPUs in the cluster.
    """

    size: int
    gpus: float = 0
    on_cluster: int = 0

    def submit(self, function: Callable[[], _Result], gpus: float = 0) -> Future[_Result]:
        """Call a function on a worker that has one core and the given number of GPUs.

        Args:
            function: Function that cloudpickle can serialize.
            gpus: Number of GPUs.
        """
        import ray

        remote = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=_RETRIES)(_called_in)
        future: Future[_Result] = remote.remote(str(Path.cwd()), function).future()
        return future

    def each(
        self, make: Callable[[], Callable[[_Item], _Result]], items: Iterable[_Item]
    ) -> Iterator[_Result]:
        """Yield the results for items, in order and as soon as they are available.

        Args:
            make: Called once by each worker. Returns the function to apply to items.
            items: Picklable items, which are sent one at a time.
        """
        yield from self._results(_dataset(items), make)

    def stream(
        self,
        make: Callable[[], Callable[[_Item], _Result]],
        sources: Iterable[_Source],
        read: Callable[[_Source], Iterator[_Item]],
    ) -> Iterator[_Result]:
        """Yield the results for items that are read on the cluster, a few ahead of the workers.

        Args:
            make: As in `each`.
            sources: Files or other sources of items.
            read: Returns the items from one source.
        """
        from ray.data import TaskPoolStrategy

        items = _dataset(sources).map_batches(
            _read,
            batch_size=1,
            batch_format="pyarrow",
            compute=TaskPoolStrategy(size=1 + self.size // _WORKERS_A_READER),
            num_cpus=0,  # each core already has a worker
            fn_kwargs={"read": read, "folder": str(Path.cwd())},
        )
        yield from self._results(items, make)

    def _results(self, dataset: Any, make: Callable[[], Callable[[Any], Any]]) -> Iterator[Any]:
        from ray.data import ActorPoolStrategy

        with warnings.catch_warnings():
            # There is no other way yet, so ignore "ray_remote_args is deprecated".
            warnings.simplefilter("ignore", DeprecationWarning)
            worked = dataset.map_batches(
                _Actor,
                batch_size=None,
                batch_format="pyarrow",
                compute=ActorPoolStrategy(size=self.size),
                num_cpus=1,
                num_gpus=self.gpus,
                max_task_retries=_RETRIES,
                fn_constructor_args=(make, str(Path.cwd())),
            )
        # No prefetching, because finished results must not wait for later ones.
        for table in worked.iter_batches(
            batch_size=None, batch_format="pyarrow", prefetch_batches=0
        ):
            for value in map(pickle.loads, table[_COLUMN].to_pylist()):
                if isinstance(value, _Fault):
                    raise value.error from _RemoteError(value.traceback)
                yield value


def process(files: Iterable[str], job: Job, workers: int | None = None) -> Iterator[Outcome]:
    """Process every line of the given files with a job. Yield the outcomes in order, like
    `symbouq.io.stream.process`.

    Args:
        files: Paths or URIs that every node of the cluster can open.
        job: The job.
        workers: Number of workers; by default, all cores of the cluster.

    Raises:
        SymboUQError: If Ray is missing or fails.
    """
    with crew(workers) as there:
        results = there.stream(partial(_batching, job), files, _batches)
        yield from distinct(chain.from_iterable(results))


def shards(
    files: Iterable[str], job: Job, folder: str, workers: int | None = None
) -> Iterator[dict[str, Any]]:
    """Write one shard for each file, directly from the workers.

    Args:
        files: Paths or URIs that every node of the cluster can open.
        job: The job.
        folder: Output folder, a path or URI that every node can write to.
        workers: Number of workers; by default, all cores of the cluster.

    Yields:
        The note of each shard (`symbouq.io.shards.write_shard`), in the order of the files.

    Raises:
        OSError: If the folder cannot be created.
        SymboUQError: If Ray is missing or fails.
    """
    system, place = located(folder)
    system.create_dir(place)
    make = partial(_sharding, job, folder, stamp(job))
    with crew(workers) as there:
        # If a file is listed twice, two workers would write its shard.
        yield from there.each(make, dict.fromkeys(files))


@contextmanager
def crew(workers: int | None, gpus: float | None = 0) -> Iterator[Crew]:
    """Connect to the cluster for the duration of a block.

    Args:
        workers: Number of workers; by default, as many as the cluster's cores or GPUs allow.
        gpus: Number of GPUs per worker; by default, one if the cluster has any.

    Raises:
        SymboUQError: If Ray is missing or fails, or no node has enough GPUs.
        Exception: Any exception from a worker.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # errors are raised instead
    with extra("ray"):
        import ray
        import ray.data
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.target_max_block_size = _BLOCK
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    ours = not ray.is_initialized()
    with redirect_stdout(sys.stderr):  # Ray prints to stdout, where the records may go
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
            yield _crew(workers, gpus, [n["Resources"] for n in ray.nodes() if n["Alive"]])
        except (ray.exceptions.RayError, ConnectionError) as error:
            raise _reason(error) from error
        finally:
            if ours:
                ray.shutdown()


def _crew(workers: int | None, gpus: float | None, nodes: Sequence[Mapping[str, float]]) -> Crew:
    there = [node.get("GPU", 0) for node in nodes]
    most = max(there, default=0)
    if gpus is None:
        gpus = min(1, most)
    if gpus > most:
        raise SymboUQError(f"a worker is to have {gpus:g} GPUs, and no node has more than {most:g}")
    cores = sum(int(node.get("CPU", 0)) for node in nodes)
    room = sum(int(count / gpus) for count in there) if gpus else cores
    return Crew(workers or room, gpus, int(sum(there)))


def _reason(error: BaseException) -> SymboUQError:
    """Return the root cause of an error in one line. The rest is Ray's traceback."""
    cause = getattr(error, "cause", None)
    while isinstance(cause, BaseException):
        error, cause = cause, cause.__cause__
    if isinstance(error, SymboUQError):
        return error
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return SymboUQError(f"Ray: {lines[-1] if lines else type(error).__name__}")


def _dataset(items: Iterable[Any]) -> Any:
    import ray.data

    rows = [{_COLUMN: pickle.dumps(item)} for item in items]
    return ray.data.from_items(rows, override_num_blocks=max(1, len(rows)))


def _table(values: Iterable[bytes]) -> Any:
    import pyarrow

    return pyarrow.table({_COLUMN: pyarrow.array(values, pyarrow.large_binary())})


class _Actor:
    """Worker of the cluster.

    Args:
        make: Returns the function to apply to rows.
        folder: Base folder of relative paths.
    """

    def __init__(self, make: Callable[[], Callable[[Any], Any]], folder: str) -> None:
        _enter(folder)
        self._fault: Exception | None = None
        try:
            self._function = make()
        except Exception as error:
            self._fault = error
        gc.freeze()  # permanent objects need no garbage collection

    def __call__(self, table: Any) -> Any:
        return _table(map(self._result, table[_COLUMN].to_pylist()))

    def _result(self, row: bytes) -> bytes:
        try:
            if self._fault is not None:
                raise self._fault
            return pickle.dumps(self._function(pickle.loads(row)))
        except Exception as error:
            return pickle.dumps(_Fault(_portable(error), traceback.format_exc()))


def _portable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _read(table: Any, read: Callable[[Any], Iterator[Any]], folder: str) -> Iterator[Any]:
    _enter(folder)
    for source in table[_COLUMN].to_pylist():
        for item in read(pickle.loads(source)):
            yield _table([pickle.dumps(item)])


def _batches(file: str) -> Iterator[Batch]:
    return batches([file])


def _batching(job: Job) -> Callable[[Batch], list[Outcome]]:
    worker = Worker(job)
    return lambda batch: list(worker(batch))


def _sharding(job: Job, folder: str, stamped: str) -> Callable[[str], dict[str, Any]]:
    worker = Worker(job)
    return lambda file: write_shard(file, folder, job, worker, stamped)


def _called_in(folder: str, function: Callable[[], Any]) -> Any:
    _enter(folder)
    return function()


def _enter(folder: str) -> None:
    """Change to the user's folder, if the node has it, so that relative paths work."""
    with suppress(OSError):
        os.chdir(folder)
