"""A run is a graph of stages, each a folder that is named by what it was made from.

The key of a stage is the hash of its name, version, settings and the content of its input
files. So a stage that is there is not run again, a stopped run goes on at the stage that it
stopped in, and what changes, an ontology or a setting, remakes only what depends on it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.bank import TIMING

DONE = "stage.json"
"""Written last into a stage's folder: what it was made from, and how long that took."""

_PIECE = 1 << 20


class StageError(SymboUQError):
    """A stage cannot be run: an input file is missing, or it wrote less than it must."""


@dataclass(frozen=True, eq=False)
class Stage:
    """One step of a run.

    Attributes:
        name: What it is called in the run's folder; it names the things it is about, too.
        work: Makes the outputs in the folder that it is given; it may find there what an
            earlier, stopped attempt left.
        outputs: The files or folders that it must leave there.
        settings: What decides its outputs besides its inputs; JSON values.
        inputs: Files or folders that it reads: paths, or `(stage, output)`.
        cost: Estimated seconds on two CPU cores, for the plan.
        on_gpu: Whether a GPU does most of it, where there is one.
        size: Pieces of work in it, such as traces; 0 where they are not counted.
    """

    name: str
    work: Callable[[Path], None]
    outputs: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Path | tuple[Stage, str], ...] = ()
    cost: float = 0.0
    on_gpu: bool = False
    size: int = 0


def work_on(stage: Stage, folder: Path) -> float:
    """Does the work of a stage in its folder.

    Returns:
        Seconds that it took.

    Raises:
        StageError: If the stage does not leave its outputs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    stage.work(folder)
    missing = [name for name in stage.outputs if not (folder / name).exists()]
    if missing:
        raise StageError(f"stage {stage.name} did not write {', '.join(missing)}")
    return round(time.monotonic() - started, 2)


Submit = Callable[[Stage, Path], "Future[float]"]
"""Has `work_on` done somewhere."""


def here(stage: Stage, folder: Path) -> Future[float]:
    """Does a stage at once, in this process."""
    done: Future[float] = Future()
    try:
        done.set_result(work_on(stage, folder))
    except Exception as error:
        done.set_exception(error)
    return done


@dataclass(frozen=True)
class State:
    """Where a stage stands.

    Attributes:
        stage: The stage.
        folder: Its folder; None while an input is not made yet, so that the key is unknown.
        done: Whether it is made.
        seconds: How long that took.
    """

    stage: Stage
    folder: Path | None
    done: bool
    seconds: float = 0.0


class Run:
    """A folder of stages.

    Args:
        folder: Where the stages lie.
        stages: All stages, each after those that it reads.
    """

    def __init__(self, folder: Path, stages: Sequence[Stage]) -> None:
        self.folder = folder
        self.stages = tuple(stages)
        self._digests: dict[tuple[Path, float, int], str] = {}
        self._made: dict[Stage, State] = {}

    def states(self) -> list[State]:
        """Where every stage stands, without running any."""
        return [self._state(stage) for stage in self.stages]

    def make(
        self,
        begun: Callable[[Stage], None] | None = None,
        submit: Submit = here,
        room: int = 1,
        gpus: int = 0,
    ) -> None:
        """Runs what is not made yet, each stage once those that it reads are made.

        Args:
            begun: Told of each stage before it is submitted.
            submit: Has a stage worked on.
            room: Stages that are worked on side by side.
            gpus: How many of them may be on a GPU; 0 where there is none.

        Raises:
            StageError: If an input is missing, or a stage does not leave its outputs.
            Exception: The first that a stage raises, once the others that were begun are made.
        """
        waiting = [stage for stage in self.stages if not self._state(stage).done]
        running: dict[Future[float], State] = {}
        failed: list[BaseException] = []
        while True:
            while not failed and len(running) < room:
                at_work = sum(state.stage.on_gpu for state in running.values())
                state = self._next(waiting, on_gpu=not gpus or at_work < gpus)
                if state is None:
                    break
                assert state.folder is not None  # what it reads is made
                if begun:
                    begun(state.stage)
                running[submit(state.stage, state.folder)] = state
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                error = future.exception()
                if error is None:
                    self._note(running[future], future.result())
                else:
                    failed.append(error)
                del running[future]
        if failed:
            raise failed[0]
        if waiting:
            raise StageError(f"stage {waiting[0].name}: a stage that it reads is not made")

    def _next(self, waiting: list[Stage], on_gpu: bool) -> State | None:
        """Takes out the first stage that can be worked on, and those that prove to be made: where
        an input is made anew, with the same content.

        Args:
            waiting: The stages that are left.
            on_gpu: Whether one on a GPU can be worked on.
        """
        for stage in list(waiting):
            if (on_gpu or not stage.on_gpu) and all(
                isinstance(given, Path) or given[0] in self._made for given in stage.inputs
            ):
                waiting.remove(stage)
                state = self._state(stage)
                if not state.done:
                    return state
        return None

    def _note(self, state: State, seconds: float) -> None:
        """Notes that a stage is made."""
        stage, folder = state.stage, state.folder
        assert folder is not None  # it was worked on there
        written = {
            "name": stage.name,
            "settings": dict(stage.settings),
            "inputs": [str(self._input(given)) for given in stage.inputs],
            "seconds": seconds,
        }
        (folder / DONE).write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
        self._made[stage] = State(stage, folder, True, seconds)

    def output(self, stage: Stage, name: str) -> Path:
        """A file that a stage has made.

        Raises:
            StageError: If it is not made.
        """
        state = self._state(stage)
        if state.folder is None or not state.done:
            raise StageError(f"stage {stage.name} is not made")
        return state.folder / name

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
        made = State(stage, folder, True, json.loads(mark.read_text())["seconds"])
        self._made[stage] = made
        return made

    def _key(self, stage: Stage) -> str | None:
        digest = hashlib.sha256(
            json.dumps([stage.name, dict(stage.settings)], sort_keys=True).encode()
        )
        for given in stage.inputs:
            path = self._input(given)
            if path is None:
                return None
            digest.update(self._digest(path).encode())
        return digest.hexdigest()[:12]

    def _input(self, given: Path | tuple[Stage, str]) -> Path | None:
        if isinstance(given, Path):
            if not given.exists():
                raise StageError(f"{given}: no such file; it is read by this experiment")
            return given
        stage, name = given
        state = self._state(stage)
        return state.folder / name if state.folder is not None and state.done else None

    def _digest(self, path: Path) -> str:
        """Hash of a file's content, or of the files of a folder with their names, but for how long
        something took, which decides nothing.
        """
        if path.is_dir():
            files = (file for file in path.rglob("*") if file.is_file())
            parts = sorted(file for file in files if file.name != TIMING)
            listed = [[str(file.relative_to(path)), self._digest(file)] for file in parts]
            return hashlib.sha256(json.dumps(listed).encode()).hexdigest()
        status = path.stat()
        known = (path, status.st_mtime, status.st_size)
        if known not in self._digests:
            digest = hashlib.sha256()
            with path.open("rb") as stream:
                while piece := stream.read(_PIECE):
                    digest.update(piece)
            self._digests[known] = digest.hexdigest()
        return self._digests[known]
