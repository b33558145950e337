"""Stages run once for what they are made from, and go on where they were stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from symbouq.experiments.stages import Run, Stage, StageError


class Graph:
    """Two stages: one copies a file, one doubles the copy; runs are counted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ran: list[str] = []
        self.broken = False
        self.times = 2

    def run(self) -> Run:
        given = self.folder / "in.txt"

        def copy(out: Path) -> None:
            self.ran.append("copy")
            (out / "copy.txt").write_text(given.read_text().strip())

        def repeat(out: Path) -> None:
            self.ran.append("repeat")
            (out / "started").touch()
            if self.broken:
                raise KeyboardInterrupt
            text = run.output(first, "copy.txt").read_text()
            (out / "repeated.txt").write_text(text * self.times)

        first = Stage("copy", copy, ("copy.txt",), inputs=(given,))
        second = Stage(
            "repeat",
            repeat,
            ("repeated.txt",),
            {"times": self.times},
            ((first, "copy.txt"),),
        )
        run = Run(self.folder / "run", (first, second))
        return run

    def result(self) -> str:
        run = self.run()
        run.make()
        return run.output(run.stages[1], "repeated.txt").read_text()


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
        graph.run().output(second.stage, "repeated.txt")


def test_errors_name_what_is_missing(graph: Graph) -> None:
    (graph.folder / "in.txt").unlink()
    with pytest.raises(StageError, match=r"in\.txt: no such file"):
        graph.result()
    stage = Stage("empty", lambda _: None, ("nothing.txt",))
    with pytest.raises(StageError, match=r"stage empty did not write nothing\.txt"):
        Run(graph.folder, (stage,)).make()
