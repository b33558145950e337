"""Stages run once for what they are made from, and go on where they were stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier

import pytest
from helpers.processes import PATIENCE, until

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.bank import TIMING
from symbouq.experiments.runner import (
    Apart,
    Output,
    Run,
    SideBySide,
    Stage,
    StageError,
    Work,
    carry_out,
    gpu_groups,
)


class Step(Stage):
    """A stage that calls a function."""

    def __init__(
        self,
        name: str,
        function: Callable[[Work], None],
        outputs: tuple[str, ...] = ("it",),
        settings: dict[str, int] | None = None,
        inputs: tuple[Path | Stage | Output, ...] = (),
        on_gpu: bool = False,
    ) -> None:
        self.kind, self.function, self.outputs, self.on_gpu = name, function, outputs, on_gpu
        super().__init__((), inputs, settings)

    def run(self, work: Work) -> None:
        self.function(work)


def touch(work: Work) -> None:
    (work.out / "it").touch()


class Graph:
    """Two stages: one copies a file, one doubles the copy; runs are counted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ran: list[str] = []
        self.broken = False
        self.times = 2

    def run(self) -> Run:
        given = self.folder / "in.txt"

        def copy(work: Work) -> None:
            self.ran.append("copy")
            (work.out / "copy.txt").write_text(given.read_text().strip())

        def repeat(work: Work) -> None:
            self.ran.append("repeat")
            (work.out / "started").touch()
            if self.broken:
                raise KeyboardInterrupt
            (work.out / "repeated.txt").write_text(work.input(first).read_text() * self.times)

        first = Step("copy", copy, ("copy.txt",), inputs=(given,))
        second = Step("repeat", repeat, ("repeated.txt",), {"times": self.times}, (first,))
        return Run(self.folder / "run", (first, second))

    def result(self) -> str:
        run = self.run()
        run.make()
        return run.output(run.stages[1]).read_text()


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    (tmp_path / "in.txt").write_text("ab")
    return Graph(tmp_path)


def test_what_is_made_is_not_made_again(graph: Graph) -> None:
    assert graph.result() == graph.result() == "abab"
    assert graph.ran == ["copy", "repeat"]
    assert [state.done for state in graph.run().states()] == [True, True]


def test_a_changed_setting_remakes_what_it_decides(graph: Graph) -> None:
    graph.result()
    graph.times = 3
    assert graph.result() == "ababab"
    assert graph.ran == ["copy", "repeat", "repeat"]
    graph.times = 2
    assert graph.result() == "abab"
    assert len(graph.ran) == 3


def test_a_changed_file_remakes_what_depends_on_its_content(graph: Graph) -> None:
    graph.result()
    (graph.folder / "in.txt").write_text("ab\n")  # copied without the line break
    assert graph.result() == "abab"
    assert graph.ran == ["copy", "repeat", "copy"]


def test_a_stopped_stage_finds_what_it_left(graph: Graph) -> None:
    graph.broken = True
    with pytest.raises(KeyboardInterrupt):
        graph.result()
    states = graph.run().states()
    assert [state.done for state in states] == [True, False]
    assert states[1].folder is not None and (states[1].folder / "started").exists()
    graph.broken = False
    assert graph.result() == "abab"
    assert graph.ran == ["copy", "repeat", "repeat"]


def test_before_anything_is_made_later_keys_are_unknown(graph: Graph) -> None:
    first, second = graph.run().states()
    assert first.folder is not None
    assert second.folder is None
    with pytest.raises(StageError, match="stage repeat is not made"):
        graph.run().output(second.stage)


def test_errors_name_what_is_missing(graph: Graph) -> None:
    (graph.folder / "in.txt").unlink()
    with pytest.raises(StageError, match=r"in\.txt: no such file"):
        graph.result()
    stage = Step("empty", lambda _: None, ("nothing.txt",))
    with pytest.raises(StageError, match=r"stage empty did not write nothing\.txt"):
        Run(graph.folder, (stage,)).make()


def test_stages_are_worked_on_side_by_side_once_their_inputs_are_made(tmp_path: Path) -> None:
    made: list[str] = []

    def stage(name: str, *inputs: Stage) -> Stage:
        def write(work: Work) -> None:
            if name == "broken":
                raise StageError("no")
            made.append(name)
            (work.out / "it").write_text(name)

        return Step(name, write, inputs=inputs)

    a, b = stage("a"), stage("b")
    run = Run(tmp_path, (a, b, stage("broken", a), stage("both", a, b), stage("last", b)))
    begun: list[str] = []
    with ThreadPoolExecutor() as threads, pytest.raises(StageError, match=r"^no$"):
        run.make(
            lambda stage: begun.append(stage.name),
            submit=partial(threads.submit, carry_out),
            room=2,
        )
    assert begun[:2] == ["a", "b"]
    # What was begun beside the one that failed is made; the others wait for the next run.
    assert sorted(made) == sorted({*begun} - {"broken"})
    assert {state.stage.name for state in run.states() if state.done} == set(made)


def test_how_long_something_took_decides_nothing(tmp_path: Path) -> None:
    taken = "1 s"

    def fit(work: Work) -> None:
        (work.out / "model").mkdir()
        (work.out / "model" / "weights").write_text("0.5")
        (work.out / "model" / TIMING).write_text(taken)

    def folders(place: str) -> list[str]:
        first = Step("fit", fit, ("model",))
        second = Step("use", touch, inputs=((first, "model"),))
        Run(tmp_path / place, (first, second)).make()
        return sorted(path.name for path in (tmp_path / place).iterdir())

    before = folders("a")
    taken = "2 s"
    assert folders("b") == before


def test_as_many_stages_as_there_is_room_for(tmp_path: Path) -> None:
    together = Barrier(3, timeout=PATIENCE)  # nobody passes it alone
    running: list[str] = []
    most = 0

    def meet(work: Work) -> None:
        nonlocal most
        running.append(work.out.name)
        together.wait()
        most = max(most, len(running))
        together.wait()
        running.remove(work.out.name)
        touch(work)

    stages = [Step(str(n), meet) for n in range(9)]
    with ThreadPoolExecutor() as threads:
        Run(tmp_path, stages).make(submit=partial(threads.submit, carry_out), room=3)
    assert most == 3


def test_what_waits_for_a_gpu_keeps_no_other_stage_waiting(tmp_path: Path) -> None:
    pending: dict[str, tuple[Stage, Work, Future[float]]] = {}
    order: list[str] = []

    def submit(stage: Stage, work: Work) -> Future[float]:
        order.append(stage.name)
        future: Future[float] = Future()
        pending[stage.name] = stage, work, future
        if len(pending) == 2:  # one on the GPU, one beside it
            assert sum(name.startswith("gpu") for name in pending) <= 1
            for waiting, to_do, promise in pending.values():
                promise.set_result(carry_out(waiting, to_do))
            pending.clear()
        return future

    names = ["gpu1", "gpu2", "gpu3", "cpu1", "cpu2", "cpu3"]
    stages = [Step(name, touch, on_gpu=name.startswith("gpu")) for name in names]
    Run(tmp_path, stages).make(submit=submit, room=2, gpus=1)
    assert order == ["gpu1", "cpu1", "gpu2", "cpu2", "gpu3", "cpu3"]


def test_a_stage_reads_only_what_it_declares(tmp_path: Path) -> None:
    first = Step("first", touch)
    second = Step("second", lambda work: touch(Work(work.input(first), {})))
    with pytest.raises(KeyError):
        Run(tmp_path, (first, second)).make()


def test_a_stage_whose_inputs_come_later_cannot_be_made(tmp_path: Path) -> None:
    never = Step("never", lambda _: None)
    stage = Step("stage", lambda _: None, inputs=(never,))
    with pytest.raises(StageError, match="stage stage: a stage that it reads is not made"):
        Run(tmp_path, (stage,)).make()


class Held(Stage):
    """A stage of a model that says which process it is worked on in."""

    kind, outputs, on_gpu = "held", ("process",), True

    def __init__(
        self, name: str = "", holds: str = "", fault: str = "", on_gpu: bool = True
    ) -> None:
        self.fault, self.on_gpu, self.holds = fault, on_gpu, holds
        super().__init__((name or fault or None,), size=3)

    def run(self, work: Work) -> None:
        work.advance(1)
        work.advance(2)
        if self.fault == "told":
            raise SymboUQError("no model here", "there")
        if self.fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        (work.out / "process").write_text(str(os.getpid()))
        (work.out / "gpus").write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "all"))


def test_models_have_processes_of_their_own(tmp_path: Path) -> None:
    counts: list[int] = []
    stages = (
        *(Held("a", "x"), Held("b", "x"), Held("c", on_gpu=False)),
        *(Held("d", "x"), Held("e", "y"), Held("f")),
    )
    run = Run(tmp_path, stages)
    with Apart() as apart:
        run.make(advance=counts.append, submit=apart)
    a, b, c, d, e, f = (int(run.output(stage).read_text()) for stage in stages)
    assert c == os.getpid()
    assert a == b == d
    assert len({a, c, e, f}) == 4
    assert counts == [1, 2] * 6
    assert not any(Path(f"/proc/{process}").exists() for process in (a, e, f))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("told", "there: no model here"),
        ("killed", "stage held-killed: its process ended (killed by SIGKILL)"),
    ],
)
def test_what_goes_wrong_in_another_process_is_told(
    fault: str, message: str, tmp_path: Path
) -> None:
    with Apart() as apart, pytest.raises(SymboUQError) as raised:
        Run(tmp_path, (Held(fault=fault),)).make(submit=apart)
    assert str(raised.value).startswith(message)
    if fault == "told":  # with the traceback of where it went wrong
        assert 'raise SymboUQError("no model here", "there")' in str(raised.value.__cause__)


class Meeting(Stage):
    """A stage of a model that ends once two of its kind are at work."""

    kind, outputs, on_gpu = "meeting", ("it",), True

    def run(self, work: Work) -> None:
        (work.out.parent / f"met {work.out.name}").touch()
        while len(list(work.out.parent.glob("met *"))) < 2:
            time.sleep(0.01)
        (work.out / "it").touch()


def test_workers_hold_models_of_their_own_side_by_side(tmp_path: Path) -> None:
    run = Run(tmp_path, (Meeting("a"), Meeting("b")))
    with SideBySide(2) as submit:
        run.make(submit=submit, room=2)
    assert all(state.done for state in run.states())


def test_no_two_stages_share_a_process_at_a_time(tmp_path: Path) -> None:
    """Nor do they share this one: what they load is not made for several threads."""
    held, first, second = Held("a", "x"), Held("b", on_gpu=False), Held("c", on_gpu=False)
    with SideBySide(2) as submit:
        work = {stage: Work(tmp_path / stage.name, {}) for stage in (held, first, second)}
        submit(held, work[held]).result()
        for future in [submit(stage, work[stage]) for stage in (first, second)]:
            future.result()
    made = [(tmp_path / f"held-{name}/process").read_text() for name in "abc"]
    # The one without a model goes to a new process, the other to the one that holds it still.
    assert made[1] != made[0] == made[2]
    assert str(os.getpid()) not in made


def test_a_worker_goes_on_with_the_model_that_it_holds(tmp_path: Path) -> None:
    a, b = Held("a", "x"), Held("b", "y")
    later = [Held(name, holds) for name, holds in (("c", "y"), ("d", "x"), ("e", "y"))]
    run = Run(tmp_path, (a, b, *later))
    with SideBySide(2) as submit:
        work = {stage: Work(tmp_path / stage.name, {}) for stage in run.stages}
        for future in [submit(stage, work[stage]) for stage in (a, b)]:
            future.result()
        for stage in later:
            submit(stage, work[stage]).result()
    made = {name: (tmp_path / f"held-{name}/process").read_text() for name in "abcde"}
    assert made["a"] == made["d"] != made["b"] == made["c"] == made["e"]
    assert not any(Path(f"/proc/{process}").exists() for process in made.values())


def test_no_more_models_are_held_than_there_is_room_for(tmp_path: Path) -> None:
    def process(name: str) -> str:
        return (tmp_path / f"held-{name}/process").read_text()

    stages = [Held("a", "x"), Held("b", "y"), Held("c", on_gpu=False), Held("d", "y")]
    with SideBySide(3, ["0"]) as submit:
        for stage in stages:
            submit(stage, Work(tmp_path / stage.name, {})).result()
        assert not Path(f"/proc/{process('a')}").exists()
        assert process("b") == process("d")
        assert process("c") not in (process("b"), str(os.getpid()))


def test_each_model_has_gpus_of_its_own(tmp_path: Path) -> None:
    stages = [Held("a", "x"), Held("b", "y"), Held("c", "z"), Held("d", on_gpu=False)]
    works = {stage: Work(tmp_path / stage.name, {}) for stage in stages}
    with SideBySide(2, ["0,1", "2,3"]) as submit:
        for future in [submit(stage, works[stage]) for stage in stages[:2]]:
            future.result()
        for stage in stages[2:]:
            submit(stage, works[stage]).result()
    gpus = {name: (tmp_path / f"held-{name}/gpus").read_text() for name in "abcd"}
    assert {gpus["a"], gpus["b"]} == {"0,1", "2,3"}
    assert gpus["c"] in ("0,1", "2,3")
    assert gpus["d"] == os.environ.get("CUDA_VISIBLE_DEVICES", "all")


@pytest.mark.parametrize(
    ("seen", "count", "size", "groups"),
    [
        (None, 0, 1, []),
        (None, 0, 4, []),
        (None, 3, 1, ["0", "1", "2"]),
        (None, 5, 2, ["0,1", "2,3"]),
        ("4,6,7", 3, 1, ["4", "6", "7"]),
        ("GPU-a,GPU-b", 2, 2, ["GPU-a,GPU-b"]),
    ],
)
def test_gpus_are_divided_among_models(
    seen: str | None, count: int, size: int, groups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if seen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", seen)
    monkeypatch.setattr("torch.cuda.device_count", lambda: count)
    assert gpu_groups(size) == groups


def test_models_on_more_gpus_are_left_with_what_reads_them(tmp_path: Path) -> None:
    large, small = Step("large", touch, on_gpu=True), Step("small", touch, on_gpu=True)
    after = Step("after", touch, inputs=(large,))
    large.gpus = 4
    run = Run(tmp_path, [large, after, small])
    assert run.most_gpus == 4
    for most, made in ((1, {"small"}), (4, {"large", "after", "small"})):
        run.make(gpus=1, most=most)
        assert {state.stage.name for state in run.states() if state.done} == made


def test_a_model_for_more_gpus_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    with pytest.raises(SymboUQError, match=r"among 2 GPUs .* and there are 1"):
        gpu_groups(2)


class Endless(Stage):
    """A stage of a model that works until it is stopped."""

    kind, outputs, on_gpu = "endless", ("process",), True

    def run(self, work: Work) -> None:
        (work.out / "process").write_text(str(os.getpid()))
        time.sleep(3600)


def test_what_is_at_work_is_stopped_with_the_run(tmp_path: Path) -> None:
    told = tmp_path / "process"
    with pytest.raises(KeyboardInterrupt), SideBySide(2) as submit:
        submit(Endless(), Work(tmp_path, {}))
        while not (told.exists() and told.read_text()):
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert not Path(f"/proc/{told.read_text()}").exists()


def begin_and_be_killed(folder: Path) -> None:
    told = folder / "process"
    with SideBySide(1) as submit:
        submit(Endless(), Work(folder, {}))
        while not (told.exists() and told.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_run_leaves_no_process(tmp_path: Path) -> None:
    process = get_context("spawn").Process(target=begin_and_be_killed, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    left = Path(f"/proc/{(tmp_path / 'process').read_text()}")
    until(lambda: not left.exists())


class Engined(Stage):
    """A stage of a model whose engine is a process of its own, and which may be killed."""

    kind, outputs, on_gpu = "engined", ("engine",), True

    def __init__(self, killed: bool) -> None:
        self.killed = killed
        super().__init__()

    def run(self, work: Work) -> None:
        engine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        (work.out / "engine").write_text(str(engine.pid))
        if self.killed:
            os.kill(os.getpid(), signal.SIGKILL)


def at_work(process: str) -> bool:
    """Whether a process is there, and not merely not waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("killed", [False, True])
def test_an_engine_ends_with_its_worker(killed: bool, tmp_path: Path) -> None:
    with Apart() as apart:
        done = apart(Engined(killed), Work(tmp_path, {}))
        engine = (tmp_path / "engine").read_text()
        assert isinstance(done.exception(), StageError) == killed
        if not killed:
            assert at_work(engine)
    until(lambda: not at_work(engine))
