"""Runs the stages of an experiment. Each stage has a folder, which is named by a hash.

The hash covers the stage's name, version and settings and the content of its input files. So
finished stages are skipped, an interrupted run can be resumed, and after a change, only the stages
that depend on it are run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar, Self

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.bank import TIMING
from symbouq.io.hashes import file_hash
from symbouq.io.output import replacing
from symbouq.io.pool import Child

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

DONE = "stage.json"
"""File that is written last in a stage's folder. It records the inputs of the stage and its running
time."""


class StageError(SymboUQError):
    """A stage cannot run, because an input file or an output is missing."""


class Stage(ABC):
    """One step of a run. Its inputs and settings determine its outputs.

    Subclasses implement `run`. Their constructors receive the stages and settings on which they
    depend.

    Args:
        about: Further parts of the stage's name, such as backbone and dataset. None is omitted.
        inputs: Paths, stages (for their first output), or `(stage, output)`.
        settings: JSON values that, together with the inputs, determine the outputs.
        cost: Estimated seconds on two CPU cores, for the plan.
        size: Number of units of work, such as traces; 0 if they are not counted.

    Attributes:
        kind: First part of the stage's name.
        version: Version number. Increase it when the same inputs no longer give the same outputs.
        outputs: Files or folders that the stage must write.
        on_gpu: Whether most of the work is done on a GPU, if there is one.
        gpus: Number of GPUs used, if available.
        holds: Identifies what the stage loads, such as a model in an engine. The next stage can
            reuse it.
        name: Name of the stage in the run's folder.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1
    outputs: ClassVar[tuple[str, ...]]
    on_gpu: bool = False
    gpus: int = 1
    holds: str = ""

    def __init__(
        self,
        about: Iterable[str | None] = (),
        inputs: Iterable[Path | Stage | Output] = (),
        settings: Mapping[str, Any] | None = None,
        cost: float = 0.0,
        size: int = 0,
    ) -> None:
        self.name = "-".join(filter(None, (self.kind, *about))).replace("/", "_").replace(" ", "_")
        self.inputs: tuple[Path | Output, ...] = tuple(
            dict.fromkeys(
                (item, item.outputs[0]) if isinstance(item, Stage) else item for item in inputs
            )
        )
        self.settings = {**(settings or {}), "version": self.version}
        self.cost = cost
        self.size = size

    @abstractmethod
    def run(self, work: Work) -> None:
        """Write the outputs to `work.out`. This folder may contain remains of an interrupted
        attempt.
        """


Output = tuple[Stage, str]
"""A stage and the name of one of its outputs."""


def silent(_count: int) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Work:
    """The argument of a stage's `run`.

    Attributes:
        out: Folder of the outputs.
        files: Paths of declared inputs from other stages.
        processes: Number of processes for jobs on many records; None: all cores.
        threads: Number of threads for models and networks on a CPU; None: all cores.
        advance: Called with the number of units of work just finished.
    """

    out: Path
    files: Mapping[Output, Path]
    processes: int | None = None
    threads: int | None = None
    advance: Callable[[int], None] = silent

    def input(self, stage: Stage, name: str = "") -> Path:
        """Return the path of a declared input: the output called `name` of the given stage, by
        default its first output.
        """
        return self.files[stage, name or stage.outputs[0]]


def carry_out(stage: Stage, work: Work) -> float:
    """Run a stage, check its outputs, and return the running time in seconds.

    Raises:
        StageError: If an output is missing.
    """
    work.out.mkdir(parents=True, exist_ok=True)
    if work.threads and stage.on_gpu:
        import torch

        torch.set_num_threads(work.threads)
    started = time.monotonic()
    stage.run(work)
    missing = [name for name in stage.outputs if not (work.out / name).exists()]
    if missing:
        raise StageError(f"stage {stage.name} did not write {', '.join(missing)}")
    return round(time.monotonic() - started, 2)


Submit = Callable[[Stage, Work], "Future[float]"]
"""Function that starts `carry_out` for a stage in some process."""


def run_here(
    stage: Stage, work: Work, do: Callable[[Stage, Work], float] = carry_out
) -> Future[float]:
    """Carry out a stage immediately, by default in this process."""
    future: Future[float] = Future()
    try:
        future.set_result(do(stage, work))
    except Exception as error:
        future.set_exception(error)
    return future


class Apart:
    """Runs stages one after the other. Stages with models run in a separate process, because an
    engine releases GPU memory only when its process ends.

    Stages that load the same model (`Stage.holds`) share a process, which ends before another model
    is loaded. With `all_stages`, stages without a model also run in the separate process. `gpus`
    are the visible GPUs, as in `CUDA_VISIBLE_DEVICES`; None: the GPUs visible to this process. As a
    context manager, it ends the last process on exit.
    """

    def __init__(self, all_stages: bool = False, gpus: str | None = None) -> None:
        self.gpus = gpus
        self._all_stages = all_stages
        self._child: Child | None = None
        self.holds: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def stop(self) -> None:
        """Stop the process, so that the current stage fails. This may be called from another
        thread.
        """
        if (child := self._child) is not None:
            child.process.terminate()

    def __call__(self, stage: Stage, work: Work) -> Future[float]:
        """Carry out a stage immediately."""
        return run_here(stage, work, self.carry_out)

    def carry_out(self, stage: Stage, work: Work) -> float:
        """Run a stage, as the function `carry_out` does.

        Raises:
            StageError: If the process ends.
            Exception: Whatever the stage raises.
        """
        if not (stage.on_gpu or self._all_stages):
            return carry_out(stage, work)
        if stage.on_gpu and stage.holds != self.holds:
            self.end()
        if self._child is None:
            self._child = Child("spawn", _work_apart, self.gpus, daemon=False)
            self.holds = stage.holds
        line = self._child.line
        try:
            line.send((stage, replace(work, advance=silent)))
            while isinstance(told := line.recv(), int):
                work.advance(told)
        except (EOFError, BrokenPipeError) as error:
            raise StageError(f"stage {stage.name}: its process ended ({self.end()})") from error
        except BaseException:
            self.stop()  # even in the middle of a stage
            self.end()
            raise
        if isinstance(told, float):
            return told
        self.end()  # the state of the process is unknown
        fault, trace = told
        raise fault from RuntimeError(trace)

    def end(self) -> str:
        """End the process and its children, because they would otherwise keep GPU memory. Return a
        description of how the process ended.
        """
        child, self._child, self.holds = self._child, None, None
        if child is None:
            return "before"
        child.line.close()  # an idle process then exits by itself
        child.process.join(_PATIENCE)
        if child.process.exitcode is None:
            child.process.terminate()
        told = child.ended()
        with suppress(ProcessLookupError, TypeError):  # no process is left, or none was started
            os.killpg(child.process.pid, signal.SIGKILL)  # type: ignore[arg-type]
        return told


class SideBySide:
    """Runs stages on several workers. Each worker has its own process (`Apart`), because text
    readers and random number generators cannot be shared. As a context manager, it ends the workers
    on exit.

    For each group of GPUs (`gpu_groups`), there is an additional worker for models. Without groups,
    every worker may run models.
    """

    def __init__(self, workers: int, gpus: Sequence[str] = ()) -> None:
        self._apart = bool(gpus)
        self._workers = [Apart(all_stages=True, gpus=group) for group in gpus]
        self._workers += [Apart(all_stages=True) for _ in range(workers)]
        self._idle = list(self._workers)
        self._pool = ThreadPoolExecutor(len(self._workers))
        self._begun: list[Future[float]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        while wait(self._begun, timeout=0.1).not_done:
            for worker in self._workers:
                worker.stop()
        for worker in self._workers:
            worker.end()

    def __call__(self, stage: Stage, work: Work) -> Future[float]:
        """Start a stage on an idle worker. There must be an idle worker. A stage with a model is
        assigned to the worker that has loaded the model, or else to a worker without a model.
        """
        fit: dict[str | None, int] = {"": 0, None: 1}
        if stage.on_gpu:
            fit = {"": 1, None: 1} | {stage.holds: 0}
        worker = min(
            (worker for worker in self._idle if self._serves(worker, stage)),
            key=lambda worker: fit.get(worker.holds, 2),
        )
        self._idle.remove(worker)
        future = self._pool.submit(self._done, worker, stage, work)
        self._begun.append(future)
        return future

    def _serves(self, worker: Apart, stage: Stage) -> bool:
        return not self._apart or stage.on_gpu == (worker.gpus is not None)

    def _done(self, worker: Apart, stage: Stage, work: Work) -> float:
        try:
            return worker.carry_out(stage, work)
        finally:
            self._idle.append(worker)


_PATIENCE = 10.0
"""Seconds that a process has to exit by itself."""


_GPUS = "CUDA_VISIBLE_DEVICES"


def gpu_groups(size: int = 1) -> list[str]:
    """Divide the GPUs visible to this process into groups of `size`; empty without GPUs.

    Raises:
        SymboUQError: If there are fewer GPUs than one group needs.
    """
    import torch

    count = torch.cuda.device_count()
    if 0 < count < size:
        raise _too_few(size, count)
    named = os.environ.get(_GPUS)
    each = named.split(",") if named else [str(number) for number in range(count)]
    return [",".join(each[n : n + size]) for n in range(0, count - size + 1, size)]


def _too_few(wanted: int, there: int) -> SymboUQError:
    return SymboUQError(
        f"a model is to be divided among {wanted} GPUs (tensor_parallel), and there are {there}"
    )


def _work_apart(told: Connection, gpus: str | None) -> None:
    """Run stages as they arrive. For each stage, report the progress, and finally the seconds or
    the error.
    """
    os.setpgid(0, 0)  # a process group, so that its children are ended, too
    if gpus is not None:
        os.environ[_GPUS] = gpus  # before any library reads it
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            stage, work = told.recv()
        except EOFError:
            return
        try:
            told.send(carry_out(stage, replace(work, advance=told.send)))
        except Exception as error:
            told.send((error, traceback.format_exc()))  # errors lose their traceback when sent


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None  # this process was spawned
    parent.join()
    os.killpg(0, signal.SIGKILL)


@dataclass(frozen=True)
class State:
    """State of a stage: its folder (None while the key is unknown because an input is unfinished),
    whether it is finished, and its running time in seconds.
    """

    stage: Stage
    folder: Path | None
    done: bool
    seconds: float = 0.0


class Run:
    """A run folder with its stages. Each stage is listed after the stages that it reads."""

    def __init__(
        self,
        folder: Path,
        stages: Sequence[Stage],
        processes: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.folder = folder
        self.stages = tuple(stages)
        self._processes = processes
        self._threads = threads
        self._digests: dict[tuple[Path, float, int], str] = {}
        self._made: dict[Stage, State] = {}

    @property
    def most_gpus(self) -> int:
        """The largest number of GPUs used by a single model."""
        return max((stage.gpus for stage in self.stages), default=1)

    def states(self) -> list[State]:
        """Determine the state of every stage, without running any."""
        return [self._state(stage) for stage in self.stages]

    def seconds(self, stage: Stage) -> float | None:
        """Return the running time of a stage in seconds; None unless it is known to be finished."""
        made = self._made.get(stage)
        return made.seconds if made else None

    def output(self, stage: Stage, name: str = "") -> Path:
        """Return the path of a stage's output, by default the first one.

        Raises:
            StageError: If the stage is not finished.
        """
        path = self._input((stage, name or stage.outputs[0]))
        if path is None:
            raise StageError(f"stage {stage.name} is not made")
        return path

    def make(
        self,
        begun: Callable[[Stage], None] | None = None,
        advance: Callable[[int], None] = silent,
        submit: Submit = run_here,
        room: int = 1,
        gpus: int = 0,
        most: float = inf,
    ) -> None:
        """Run unfinished stages, each as soon as its inputs are finished.

        Args:
            begun: Called with each stage before it is submitted.
            advance: Called with the number of units of work just finished.
            submit: Starts the work on a stage.
            room: Maximum number of concurrent stages.
            gpus: Maximum number of concurrent stages that use a GPU; 0 without GPUs.
            most: Maximum number of GPUs for a stage. Stages that need more are skipped, as are
                stages that depend on them.

        Raises:
            StageError: If an input is missing, or a stage does not write its outputs.
            Exception: The first error raised by a stage, after the other running stages have ended.
        """
        to_do = [stage for stage in self.stages if not self._state(stage).done]
        waiting = [stage for stage in to_do if stage.gpus <= most]
        running: dict[Future[float], State] = {}
        failed: list[BaseException] = []
        while True:
            while not failed and len(running) < room:
                at_work = sum(state.stage.on_gpu for state in running.values())
                state = self._next(waiting, on_gpu=not gpus or at_work < gpus)
                if state is None:
                    break
                stage, folder = state.stage, state.folder
                assert folder is not None  # all of its inputs are finished
                if begun:
                    begun(stage)
                outputs = [item for item in stage.inputs if not isinstance(item, Path)]
                files = {output: self.output(*output) for output in outputs}
                work = Work(folder, files, self._processes, self._threads, advance)
                running[submit(stage, work)] = state
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                error = future.exception()
                if error is None:
                    self._record(running[future], future.result())
                else:
                    failed.append(error)
                del running[future]
        if failed:
            raise failed[0]
        if waiting and not any(stage.gpus > most for stage in to_do):
            raise StageError(f"stage {waiting[0].name}: a stage that it reads is not made")

    def make_on_ray(self, begun: Callable[[Stage], None], workers: int | None) -> None:
        """Run unfinished stages on a Ray cluster, at most `workers` at once (default: as many as
        fit on the cluster).

        Raises:
            SymboUQError: As in `make`, or if there is no cluster or too few GPUs.
        """
        from symbouq.io import cluster

        divided = self.most_gpus
        with cluster.crew(workers) as crew:
            if 0 < crew.on_cluster < divided:
                raise _too_few(divided, crew.on_cluster)

            def submit(stage: Stage, work: Work) -> Future[float]:
                gpus = min(stage.gpus, crew.on_cluster) if stage.on_gpu else 0
                return crew.submit(partial(carry_out, stage, work), gpus)

            self.make(begun, submit=submit, room=crew.size, gpus=crew.on_cluster // divided)

    def _next(self, waiting: list[Stage], on_gpu: bool) -> State | None:
        """Remove and return the first stage that can start. Also remove stages that turn out to be
        finished because a remade input has the same content.
        """
        for stage in list(waiting):
            if (on_gpu or not stage.on_gpu) and all(
                isinstance(item, Path) or item[0] in self._made for item in stage.inputs
            ):
                waiting.remove(stage)
                state = self._state(stage)
                if not state.done:
                    return state
        return None

    def _record(self, state: State, seconds: float) -> None:
        stage, folder = state.stage, state.folder
        assert folder is not None  # the work was done in this folder
        made_from = {
            "name": stage.name,
            "settings": stage.settings,
            "inputs": [str(self._input(item)) for item in stage.inputs],
            "seconds": seconds,
        }
        # Written atomically: if the run is killed here, the mark is complete or missing.
        with replacing(folder / DONE) as stream:
            stream.write(json.dumps(made_from, indent=2).encode() + b"\n")
        self._made[stage] = State(stage, folder, True, seconds)

    def _state(self, stage: Stage) -> State:
        if stage in self._made:
            return self._made[stage]
        key = self._key(stage)
        if key is None:
            return State(stage, None, False)
        folder = self.folder / f"{stage.name}-{key}"
        mark = folder / DONE
        if not mark.exists():
            return State(stage, folder, False)
        self._made[stage] = State(stage, folder, True, json.loads(mark.read_text())["seconds"])
        return self._made[stage]

    def _key(self, stage: Stage) -> str | None:
        digest = hashlib.sha256(json.dumps([stage.name, stage.settings], sort_keys=True).encode())
        for item in stage.inputs:
            path = self._input(item)
            if path is None:
                return None
            digest.update(self._digest(path).encode())
        return digest.hexdigest()[:12]

    def _input(self, item: Path | Output) -> Path | None:
        if isinstance(item, Path):
            if not item.exists():
                raise StageError(f"{item}: no such file; it is read by this experiment")
            return item
        stage, name = item
        state = self._state(stage)
        return state.folder / name if state.folder is not None and state.done else None

    def _digest(self, path: Path) -> str:
        """Return the hash of a file, or of the files in a folder with their names. Timing files are
        ignored.
        """
        if path.is_dir():
            files = sorted(
                file for file in path.rglob("*") if file.is_file() and file.name != TIMING
            )
            listed = [[str(file.relative_to(path)), self._digest(file)] for file in files]
            return hashlib.sha256(json.dumps(listed).encode()).hexdigest()
        status = path.stat()
        version = (path, status.st_mtime, status.st_size)
        if version not in self._digests:
            self._digests[version] = file_hash(path)
        return self._digests[version]
