"""Each layout, with wording of our own; splits, reductions, failures; the shared data."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from symbouq_cli.data import data as commands
from symbouq_cli.main import main as whole

from symbouq.experiments.benchmarks import (
    BENCHMARKS,
    Benchmark,
    BenchmarkError,
    import_benchmark,
)
from symbouq.experiments.benchmarks.catalog import LAYOUTS, Layout
from symbouq.records import Instance

SPARTUN_STORY = {
    "identifier": "s1",
    "story": ["A crate holds a lamp. The crate is north of a barrel."],
    "questions": [
        {
            "q_id": 1,
            "q_type": "FR",
            "question": "Where is the lamp regarding the barrel?",
            "answer": ["ABOVE", "dc"],
            "candidate_answers": ["left", "above", "dc"],
        },
        {
            "q_id": 2,
            "q_type": "YN",
            "question": "Is the lamp in the crate?",
            "answer": ["Yes"],
            "candidate_answers": ["Yes", "No"],
        },
    ],
}


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    if path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def rows(folder: Path, split: str) -> list[dict[str, Any]]:
    file = folder / f"{split}.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def take(name: str, path: Path, tmp_path: Path, split: str = "none", **options: Any) -> Any:
    found = import_benchmark(name, str(path), str(tmp_path / "out"), split=split, **options)
    return found, {s: rows(tmp_path / "out", s) for s in found.manifest["splits"]}


def stepgame(n: int, first: int = 0) -> dict[str, Any]:
    return {
        str(i): {
            "story": [f"Post {i} stands left of pole {i}."],
            "question": f"What is the relation of the agent P{i} to the agent Q{i}?",
            "label": "left",
            "k_hop": 1,
        }
        for i in range(first, first + n)
    }


# Layouts -------------------------------------------------------------------------------


def test_stepgame_objects(tmp_path: Path) -> None:
    path = write(tmp_path / "clean" / "qa3_valid.json", stepgame(2))
    found, splits = take("stepgame", path, tmp_path, split="source")
    assert not found.failed
    assert list(splits) == ["validation"]
    first = splits["validation"][0]
    assert first["scene"] == ["Post 0 stands left of pole 0."]
    assert (first["answer"], len(first["answer_space"])) == ("left", 9)
    assert first["meta"]["hops"] == 1
    assert first["meta"]["answer_kind"] == "single"


def test_stepgame_lines_and_text(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(row) for row in stepgame(3).values())
    _, splits = take("stepgame", write(tmp_path / "valid.jsonl", lines), tmp_path)
    assert [row["answer"] for row in splits["all"]] == ["left"] * 3
    text = (
        "1 Post is above pole.\n2 What is the relation of the agent A to the agent B?\tabove\t1\n"
    )
    _, splits = take("stepgame", write(tmp_path / "qa4_test.txt", text), tmp_path)
    (row,) = splits["all"]
    assert (row["dataset"], row["answer"], row["meta"]["hops"]) == ("stepgame", "above", 4)


def test_babi_questions_see_what_stands_before_them(tmp_path: Path) -> None:
    text = (
        "1 The tub is above the sink.\n"
        "2 Is the sink below the tub? \tyes\t1\n"
        "3 The sink is left of the stove.\n"
        "4 Is the stove left of the tub?\tno\t1 3\n"
        "1 The attic is north of the porch.\n"
        "2 How do you go from the porch to the attic?\tn,n\t1\n"
    )
    _, splits = take("babi", write(tmp_path / "qa17_x_test.txt", text), tmp_path)
    one, two, three = splits["all"]
    assert (len(one["scene"]), len(two["scene"]), len(three["scene"])) == (1, 2, 1)
    assert two["meta"]["supporting_sentences"] == [0, 1]
    assert (one["answer"], two["answer"], three["answer"]) == ("yes", "no", ["n", "n"])
    assert (one["dataset"], three["meta"]["answer_kind"]) == ("babi17", "sequence")


def test_stories(tmp_path: Path) -> None:
    path = write(tmp_path / "test.json", {"name": "x", "data": [SPARTUN_STORY]})
    _, splits = take("spartun", path, tmp_path, split="source")
    relation, yes = splits["test"]
    assert isinstance(relation["scene"], str)  # several sentences: the audit splits them
    assert (relation["answer"], yes["answer"]) == (["above", "dc"], ["Yes"])
    assert len(relation["answer_space"]) == 15
    assert relation["meta"]["qtype"] == "FR"


def test_spartqa_answers_by_position(tmp_path: Path) -> None:
    objects = ["the red vase", "the blue vase", "both of them", "none of them"]
    story = {
        "story": ["There are two vases."],
        "questions": [
            {"q_type": "CO", "question": "Which?", "candidate_answers": objects, "answer": [2]},
            {
                "q_type": "FR",
                "question": "How?",
                "candidate_answers": BENCHMARKS["spartqa"].spaces["FR"],
                "answer": [0, 4],
            },
            {"q_type": "FB", "question": "What?", "candidate_answers": ["A", "B"], "answer": []},
            {"q_type": "YN", "question": "Is it?", "candidate_answers": ["Yes"], "answer": ["DK"]},
        ],
    }
    _, splits = take("spartqa", write(tmp_path / "dev.json", {"data": [story]}), tmp_path)
    answers = [row["answer"] for row in splits["all"]]
    assert answers == [["both of them"], ["left", "near to"], [], ["DK"]]
    assert [row["meta"]["answer_kind"] for row in splits["all"]] == [
        "single",
        "set",
        "set",
        "single",
    ]


def test_spartqa_one_question_a_row(tmp_path: Path) -> None:
    row = {
        "story": "A pan is over a pot. It is hot.",
        "question": "Which one?",
        "candidate_answers": ["the pan", "the pot", "both of them", "none of them"],
        "answer": 0,
    }
    _, splits = take("spartqa", write(tmp_path / "x.jsonl", json.dumps(row)), tmp_path)
    assert splits["all"][0]["answer"] == ["the pan"]


@pytest.mark.parametrize("ending", ["json", "jsonl.gz", "csv", "tsv"])
def test_spacenli(tmp_path: Path, ending: str) -> None:
    row = {
        "id": "7-1",
        "premises": "Ann is in the hut. The hut is here.",
        "hypothesis": "Ann is here.",
        "label": "Entailment",
        "prem_num": 2,
    }
    if ending == "json":
        content: Any = {"generated with a command": "x", "data": [row]}
    elif ending.startswith("jsonl"):
        content = json.dumps(row) + "\n"
    else:
        between = "," if ending == "csv" else "\t"
        keys = ["id", "premises", "hypothesis", "label"]
        content = f"{between.join(keys)}\n{between.join(str(row[k]) for k in keys)}\n"
    _, splits = take("spacenli", write(tmp_path / f"problems.{ending}", content), tmp_path)
    (record,) = splits["all"]
    assert (record["question"], record["answer"]) == ("Ann is here.", "entailment")
    if ending in ("json", "jsonl.gz"):
        assert record["scene"] == ["Ann is in the hut.", "The hut is here."]


def test_a_number_for_a_label_is_refused(tmp_path: Path) -> None:
    row = {"premise": "Ann is in the hut.", "hypothesis": "Ann is here.", "label": 0}
    with pytest.raises(BenchmarkError, match="found 0, whose meaning the layout does not say"):
        take("spacenli", write(tmp_path / "x.jsonl", json.dumps(row)), tmp_path)


def test_sparp(tmp_path: Path) -> None:
    row = {
        "context": "A cup is over a plate. The plate is left of a fork.",
        "question": "Where is the cup?",
        "targets": ["above", "outside"],
        "target_choices": list(BENCHMARKS["sparp"].spaces["PS1"]),
        "context_id": 4,
        "question_id": 2,
        "num_hop": 2,
        "canary": "do not train",
    }
    _, splits = take("sparp", write(tmp_path / "val.json", [row]), tmp_path)
    (record,) = splits["all"]
    assert (record["dataset"], record["answer"]) == ("sparp_ps1", ["above", "outside"])
    assert record["meta"]["hops"] == 2
    assert "canary" not in record["meta"]


def test_a_new_benchmark_is_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(
        expected="text, query and gold",
        scene=("text",),
        question=("query",),
        answer=("gold",),
        space="place",
        hops=("steps",),
        left_out=("licence",),
    )
    spaces = {"place": ("near to", "far from")}
    monkeypatch.setitem(LAYOUTS, "rooms", layout)
    monkeypatch.setitem(
        BENCHMARKS, "rooms", Benchmark(name="rooms", title="", layouts=("rooms",), spaces=spaces)
    )
    row = {"text": "A is by B.", "query": "Where?", "gold": "Near", "steps": "2", "licence": "x"}
    _, splits = take("rooms", write(tmp_path / "dev.jsonl", json.dumps(row)), tmp_path)
    (record,) = splits["all"]
    assert (record["dataset"], record["answer"]) == ("rooms", "near to")
    assert (record["meta"]["hops"], "licence" in record["meta"]) == (2, False)


def test_records_and_traces_keep_their_fields(tmp_path: Path) -> None:
    row = {
        "id": "t1",
        "dataset": "stepgame",
        "scene": ["A is above B."],
        "question": "?",
        "answer": "above",
        "answer_space": list(BENCHMARKS["stepgame"].spaces["direction"]),
        "model": "m",
        "response": "above",
    }
    path = write(tmp_path / "llm_traces_x.jsonl.gz", json.dumps(row))
    _, splits = take("stepgame", path, tmp_path)
    assert splits["all"][0]["response"] == "above"
    again = tmp_path / "out" / "all.jsonl.gz"
    found = import_benchmark("stepgame", str(again), str(tmp_path / "two"), split="none")
    assert rows(tmp_path / "two", "all") == splits["all"]
    assert found.manifest["splits"]["all"]["sha256"]
    Instance.model_validate(splits["all"][0])


# What cannot be read -------------------------------------------------------------------


def test_valid_rows_survive_bad_ones(tmp_path: Path) -> None:
    good = stepgame(3)
    good["1"]["label"] = "sideways"
    path = write(tmp_path / "qa1_test.json", good)
    found, splits = take("stepgame", path, tmp_path)
    assert [row["id"][-1] for row in splits["all"]] == ["0", "2"]
    (failure,) = found.failed
    assert "'sideways' is no label" in failure.message
    line = path.read_text().splitlines()[failure.line - 1]
    assert (failure.file, '"1"' in line) == (str(path), True)


def test_a_document_that_breaks_off_gives_what_it_has(tmp_path: Path) -> None:
    text = json.dumps(stepgame(4), indent=1)
    path = write(tmp_path / "qa1_test.json", text[: text.index("Post 3")])
    found, splits = take("stepgame", path, tmp_path)
    assert len(splits["all"]) == 3
    assert found.failed[0].message.startswith("not valid JSON")
    assert found.failed[0].line


@pytest.mark.parametrize("bad", [0, 1])
def test_a_bad_line_is_named(tmp_path: Path, bad: int) -> None:
    lines = [json.dumps(row) for row in stepgame(3).values()]
    lines[bad] = lines[bad][:-5]
    path = write(tmp_path / "x.jsonl", "\n".join(lines))
    found, splits = take("stepgame", path, tmp_path)
    assert (len(splits["all"]), found.failed[0].line) == (2, bad + 1)


def test_a_bad_question_does_not_cost_the_others_of_its_story(tmp_path: Path) -> None:
    """They stand in one line, so a line does not identify them."""
    first, second = SPARTUN_STORY["questions"]
    bad = {**second, "q_id": 3, "q_type": "\ud800"}
    story = {**SPARTUN_STORY, "questions": [first, bad, second]}
    path = write(tmp_path / "test.json", {"data": [story]})
    found, splits = take("spartun", path, tmp_path)
    assert [row["meta"]["qtype"] for row in splits["all"]] == ["FR", "YN"]
    assert [error.message for error in found.failed] == ["not UTF-8, or half of a character"]
    assert (found.manifest["rows"]["read"], found.manifest["rows"]["failed"]) == (2, 1)


def test_a_header_that_is_not_utf8_costs_no_row(tmp_path: Path) -> None:
    path = tmp_path / "problems.csv"
    path.write_bytes(
        b"id,premises,hypothesis,label,caf\xe9\n7,Ann is here.,Ann is not here.,contradiction,x\n"
    )
    found, splits = take("spacenli", path, tmp_path)
    assert not found.failed
    assert [row["answer"] for row in splits["all"]] == ["contradiction"]


def test_bad_questions_alone_are_no_import(tmp_path: Path) -> None:
    bad = {"question": "\ud800", "q_type": "YN", "candidate_answers": ["Yes"], "answer": ["Yes"]}
    path = write(tmp_path / "test.json", {"data": [{**SPARTUN_STORY, "questions": [bad]}]})
    with pytest.raises(BenchmarkError, match=r"no row of spartun .*\(1 failed\); first: .*UTF-8"):
        take("spartun", path, tmp_path)


def test_another_layout_says_what_was_expected_and_found(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.jsonl", json.dumps({"premise": "a", "hypothesis": "b", "label": "c"})
    )
    with pytest.raises(BenchmarkError, match=r"expected id, dataset.*found premise, hypothesis"):
        take("stepgame", path, tmp_path)


def test_repeated_ids_are_failures(tmp_path: Path) -> None:
    row = {"id": "1", "premise": "A.", "hypothesis": "B.", "label": "neutral"}
    path = write(tmp_path / "x.jsonl", "\n".join([json.dumps(row)] * 2))
    found, splits = take("spacenli", path, tmp_path)
    assert len(splits["all"]) == 1
    assert "occurs before" in found.failed[0].message


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("chess", {}, "no benchmark 'chess'; known are: stepgame"),
        ("stepgame", {"reduce": "two-way"}, "has no reduction 'two-way'"),
        ("stepgame", {"split": "half"}, "expected paper, source, none"),
        ("stepgame", {"split": "test=0"}, "expected paper, source, none"),
    ],
)
def test_wrong_options(tmp_path: Path, name: str, options: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "qa1_test.json", stepgame(1))
    with pytest.raises(BenchmarkError, match=message):
        import_benchmark(name, str(path), str(tmp_path / "out"), **options)


def test_hub_needs_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(BenchmarkError, match=r"\[formats\]"):
        import_benchmark("sparp", "UKPLab/sparp", str(tmp_path / "out"))


def test_hub_rows_are_read_like_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        @staticmethod
        def load_dataset(name: str, configuration: str | None) -> dict[str, Any]:
            assert (name, configuration) == ("someone/stepgame", "clean")
            return {"validation": list(stepgame(2).values()), "test": list(stepgame(3, 9).values())}

    monkeypatch.setitem(sys.modules, "datasets", Library)
    found = import_benchmark("stepgame", "hf:someone/stepgame:clean", str(tmp_path), split="source")
    assert {k: v["rows"] for k, v in found.manifest["splits"].items()} == {
        "validation": 2,
        "test": 3,
    }


# Splits --------------------------------------------------------------------------------


def scenes(tmp_path: Path, split: str, n: int, first: int = 0, questions: int = 2) -> Path:
    lines = [
        json.dumps(
            {
                "id": f"{split}{i}-{q}",
                "scene": [f"Hill {i} is far."],
                "question": f"Is hill {i} near {q}?",
                "answer": "No",
                "answer_space": ["Yes", "No"],
                "meta": {"split": split} if split else {},
            }
        )
        for i in range(first, first + n)
        for q in range(questions)
    ]
    return write(tmp_path / "in" / f"{split or 'rows'}.jsonl", "\n".join(lines))


def test_scenes_stay_together_and_sizes_are_exact(tmp_path: Path) -> None:
    path = scenes(tmp_path, "", 50)
    found, splits = take("resq", path, tmp_path, split="validation=11,test=40")
    assert {k: len(v) for k, v in splits.items()} == {"validation": 11, "test": 40}
    sides = [{tuple(row["scene"]) for row in part} for part in splits.values()]
    assert not sides[0] & sides[1]
    assert found.manifest["rows"]["unused"] == 100 - 51


def test_splits_are_the_same_again_and_differ_by_seed(tmp_path: Path) -> None:
    path = scenes(tmp_path, "", 50)

    def drawn(seed: int) -> tuple[str, bytes]:
        out = tmp_path / f"o{seed}"
        found = import_benchmark("resq", str(path), str(out), split="test=20", seed=seed)
        return found.manifest["splits"]["test"]["sha256"], (out / "test.jsonl.gz").read_bytes()

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_what_does_not_suffice_is_said_and_shared_out(tmp_path: Path) -> None:
    found, splits = take(
        "resq", scenes(tmp_path, "", 10), tmp_path, split="validation=300,test=900"
    )
    assert {k: len(v) for k, v in splits.items()} == {"validation": 10, "test": 10}
    assert "validation has 10 of the 300 rows asked for" in found.manifest["notes"]


def test_missing_splits_are_drawn_where_that_is_fair(tmp_path: Path) -> None:
    found, splits = take(
        "resq", scenes(tmp_path, "test", 30), tmp_path, split="train=10,validation=6,test=50"
    )
    assert {k: len(v) for k, v in splits.items()} == {"validation": 6, "test": 50}
    assert "validation is drawn from the source's test" in found.manifest["notes"]
    assert "the source has no rows for train" in found.manifest["notes"]


def test_overlap_is_refused_with_the_ids_or_dropped(tmp_path: Path) -> None:
    scenes(tmp_path, "test", 4)
    folder = scenes(tmp_path, "valid", 4, first=3).parent
    with pytest.raises(
        BenchmarkError, match=r"1 scene is in two splits.*test3-0 \(test\).*valid3-0"
    ):
        take("resq", folder, tmp_path, split="source")
    found, splits = take("resq", folder, tmp_path, split="source", overlap="drop")
    assert {k: len(v) for k, v in splits.items()} == {"validation": 6, "test": 8}
    assert found.manifest["rows"]["overlapping"] == 2
    found, splits = take("resq", folder, tmp_path, split="validation=4,test=10", pool=True)
    assert {k: len(v) for k, v in splits.items()} == {"validation": 4, "test": 10}


def test_a_story_that_grows_is_one_scene(tmp_path: Path) -> None:
    text = "".join(
        f"1 Shed {i} is above barn {i}.\n2 Is it above?\tyes\t1\n3 Barn {i} is left of silo {i}.\n"
        f"4 Is the silo left?\tno\t1 3\n"
        for i in range(20)
    )
    path = write(tmp_path / "qa17.txt", text)
    _, splits = take("babi", path, tmp_path, split="validation=9,test=20")
    names = [{row["id"].split("-")[2] for row in part} for part in splits.values()]
    assert not names[0] & names[1]


# Reductions ----------------------------------------------------------------------------


def reduced(tmp_path: Path, name: str, reduce: str, answers: list[list[str]]) -> list[Any]:
    benchmark = BENCHMARKS[name]
    space = list(benchmark.spaces["PS1" if name == "sparp" else "FR"])
    lines = [
        json.dumps(
            {
                "id": str(i),
                "scene": [f"Rock {i}."],
                "question": "?",
                "answer": answer,
                "answer_space": space,
            }
        )
        for i, answer in enumerate(answers)
    ]
    path = write(tmp_path / "x.jsonl", "\n".join(lines))
    _, splits = take(name, path, tmp_path, reduce=reduce)
    return [(row["id"], row["answer"], row["answer_space"]) for row in splits["all"]]


def test_four_way(tmp_path: Path) -> None:
    given = [["left"], ["left", "near to"], ["left", "above"], ["touching"], ["DK"]]
    sides = ["left", "right", "above", "below"]
    assert reduced(tmp_path, "spartqa", "four-way", given) == [
        ("0", "left", sides),
        ("1", "left", sides),
    ]


def test_five_way(tmp_path: Path) -> None:
    given = [["left", "above"], ["outside", "below"], ["outside"], ["overlapping"]]
    found = reduced(tmp_path, "sparp", "five-way", given)
    assert [row[:2] for row in found] == [
        ("0", ["left", "above"]),
        ("1", ["below"]),
        ("3", ["overlapping"]),
    ]
    found = reduced(tmp_path, "sparp", "five-way-single", given)
    assert [row[:2] for row in found] == [("1", "below"), ("3", "overlapping")]


def test_diagonals_are_both_sides(tmp_path: Path) -> None:
    row = {
        "context": "One.",
        "question": "?",
        "targets": ["upper-left"],
        "target_choices": list(BENCHMARKS["stepgame"].spaces["direction"]),
    }
    path = write(tmp_path / "x.jsonl", json.dumps(row))
    _, splits = take("sparp", path, tmp_path, reduce="five-way")
    assert splits["all"][0]["answer"] == ["left", "above"]


def test_relation_sets(tmp_path: Path) -> None:
    given = [["left", "dc"], ["near"], ["tpp", "far"]]
    assert [r[:2] for r in reduced(tmp_path, "spartun", "topological", given)] == [
        ("0", ["dc"]),
        ("2", ["tpp"]),
    ]
    assert [r[1] for r in reduced(tmp_path, "spartun", "relation-set", given)] == given


# The commands --------------------------------------------------------------------------


def cli(*arguments: str) -> Result:
    group = type(whole)("symbouq", commands={"data": commands})
    assert isinstance(group, click.Group)
    return CliRunner().invoke(group, ["data", *arguments])


def test_import_command(tmp_path: Path) -> None:
    broken = stepgame(3)
    broken["2"]["label"] = "?"
    path = write(tmp_path / "qa1_test.json", broken)
    out = tmp_path / "out"
    found = cli("import", "stepgame", str(path), "--out", str(out), "--split", "none")
    assert found.exit_code == 1
    assert f"{path}:" in found.stderr
    assert "all: 2 rows, 2 scenes -> all.jsonl.gz" in found.stdout
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["source"][0]["file"] == "qa1_test.json"
    assert manifest["rows"]["failed"] == 1
    plain = cli(
        *("import", "stepgame", str(path), "--out", str(out), "--split", "none"),
        *("--suffix", ".jsonl"),
    )
    assert plain.exit_code == 1
    assert len((out / "all.jsonl").read_text().splitlines()) == 2


def test_wrong_name_and_path_are_unusable(tmp_path: Path) -> None:
    for name, path in (("chess", str(tmp_path)), ("stepgame", str(tmp_path / "no" / "file" / "x"))):
        found = cli("import", name, path, "--out", str(tmp_path / "out"))
        assert found.exit_code == 2
        assert "Traceback" not in found.output
    assert not (tmp_path / "out").exists()


def test_list_command() -> None:
    found = cli("list")
    assert found.exit_code == 0
    for name, benchmark in BENCHMARKS.items():
        assert name in found.stdout
        assert all(f"--reduce {r.name}" in found.stdout for r in benchmark.reductions)


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys, symbouq_cli.data; light = set(sys.modules); import symbouq.experiments.benchmarks; "
        "heavy = {'torch', 'pandas', 'sklearn', 'datasets', 'spacy'} & set(sys.modules); "
        "assert not heavy, heavy; assert not {'symbouq.experiments.benchmarks', 'clingo'} & light"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# The shared data -----------------------------------------------------------------------

SHARED = {
    ("stepgame", "", ""): {"train": 10_000, "validation": 300, "test": 3000},
    ("spartqa", "", ""): {"validation": 300, "test": 1535},
    ("spartqa", "four-way", ""): {"validation": 73, "test": 374},
    ("spartun", "", ""): {"validation": 300, "test": 1836},
    ("spartun", "relation-set", ""): {"validation": 150, "test": 913},
    ("spacenli", "", "drop"): {"validation": 278, "test": 2010},
    ("sparp", "", ""): {"validation": 300, "test": 996},
    ("sparp", "five-way", ""): {"validation": 199, "test": 678},
    ("babi", "", ""): {"test": 493},
    ("resq", "", ""): {"train": 1008, "validation": 333, "test": 350},
    ("consistency2d", "", ""): {"all": 1351},
}


@pytest.mark.parametrize(("name", "reduce", "overlap"), SHARED)
def test_shared_data(data: Path, tmp_path: Path, name: str, reduce: str, overlap: str) -> None:
    found = import_benchmark(
        name,
        str(data / name),
        str(tmp_path),
        reduce=reduce or None,
        overlap=overlap or "refuse",
    )
    assert not found.failed
    sizes = {split: entry["rows"] for split, entry in found.manifest["splits"].items()}
    assert sizes == SHARED[name, reduce, overlap]


def test_shared_spacenli_overlaps(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="22 scenes are in two splits"):
        import_benchmark("spacenli", str(data / "spacenli"), str(tmp_path))


def imported(folder: Path, **options: Any) -> tuple[list[str], list[str]]:
    """The answers that an import of StepGame writes, and what is said of the rows that failed."""
    out = folder.parent / "out"
    found = import_benchmark("stepgame", str(folder), str(out), split="none", **options)
    with gzip.open(out / "all.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["answer"] for line in lines], [e.message for e in found.failed]


def row(label: str, **more: Any) -> dict[str, Any]:
    told = {"story": [f"A is {label} of B."], "question": "Where is A relative to B?"}
    return told | {"label": label, **more}


def test_a_damaged_file_costs_what_follows_the_damage(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    lines = "".join(json.dumps(row("left", note=str(n))) + "\n" for n in range(3000))
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode())[:-500])
    write(folder / "b.jsonl", json.dumps(row("above")) + "\n")
    answers, (told,) = imported(folder)
    assert "compressed file is damaged" in told
    assert answers.count("above") == 1
    assert answers.count("left") > 1000


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_does_not_end_is_one_line(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symbouq.io.adapters.limits.ENDLESS", 1 << 24)
    folder = tmp_path / "in"
    folder.mkdir()
    text = json.dumps(row("left")).encode() + b"\n" + b" " * (1 << 25)
    file = folder / ("a.jsonl.gz" if packed else "a.jsonl")
    file.write_bytes(gzip.compress(text) if packed else text)
    write(folder / "b.jsonl", json.dumps(row("above")) + "\n")
    answers, (told,) = imported(folder)
    assert answers == ["left", "above"]
    assert "grows more than 900-fold" in told or "does not end within 16 MiB" in told


BAD_ROWS = {
    "deep nesting": '{"story": ' + "[" * 100_000,
    "a number of 5,000 digits": json.dumps(row("left", hops=0)).replace(
        ": 0}", f": {'9' * 5000}}}"
    ),
    "no UTF-8": json.dumps(row("left", question="Where is the caf\udce9?"), ensure_ascii=False),
    "half a character": json.dumps(row("left", question="Where is \ud800?")),
    "no number": json.dumps(row("left", hops=float("nan"))),
}


@pytest.mark.parametrize("name", BAD_ROWS)
@pytest.mark.parametrize("array", [False, True])
def test_a_bad_row_costs_no_other(name: str, array: bool, tmp_path: Path) -> None:
    """In an array, what is no JSON at all costs the rows that follow it in the file."""
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [json.dumps(row("above")), BAD_ROWS[name], json.dumps(row("below"))]
    text = "[" + ",\n".join(rows) + "]" if array else "\n".join(rows)
    (folder / "a.jsonl").write_bytes(b"")
    (folder / ("b.json" if array else "b.jsonl")).write_bytes(
        text.encode("utf-8", "surrogateescape" if name == "no UTF-8" else "strict")
    )
    write(folder / "c.jsonl", json.dumps(row("right")) + "\n")
    answers, (told,) = imported(folder)
    lost = array and name in ("deep nesting", "a number of 5,000 digits")
    assert answers == ["above", *([] if lost else ["below"]), "right"]
    assert "\n" not in told
    assert "internal error" not in told


def test_what_cannot_be_counted_is_no_number(tmp_path: Path) -> None:
    """Digits of other kinds, and numbers of lines that no file has."""
    text = f"1 The cup is north of the jug.\n{'9' * 5000} The jug is old.\n2 Is the cup?\tyes\t\u00b2\n"
    path = write(tmp_path / "in" / "qa17_test.txt", text)
    found = import_benchmark("babi", str(path), str(tmp_path / "out"), split="none")
    assert [(e.line, e.message[:17]) for e in found.failed] == [(2, "expected a number")]
    assert found.manifest["rows"]["written"] == 1


def test_an_import_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    write(folder / "a.jsonl", json.dumps(row("above")) + "\n")
    import_benchmark("stepgame", str(folder), str(out), split="none")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    write(folder / "a.jsonl", json.dumps(row("below")) + "\n")

    def full(_made: object, _content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("symbouq.io.output.Replacement.write", full)
    with pytest.raises(OSError, match="No space"):
        import_benchmark("stepgame", str(folder), str(out), split="none")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_folder_holds_the_splits_of_one_import(tmp_path: Path) -> None:
    path, out = str(scenes(tmp_path, "", 50)), tmp_path / "out"
    import_benchmark("resq", path, str(out), split="validation=11,test=40")
    write(out / "notes.txt", "no output of an import")
    import_benchmark("resq", path, str(out), split="test=40")
    assert sorted(p.name for p in out.iterdir()) == ["manifest.json", "notes.txt", "test.jsonl.gz"]
    import_benchmark("resq", str(out / "test.jsonl.gz"), str(out), split="validation=11")
    assert (out / "test.jsonl.gz").exists()  # what was read is kept


@pytest.mark.parametrize("changed", ["manifest", "split", "folder"])
def test_what_is_no_split_of_an_earlier_import_is_kept(tmp_path: Path, changed: str) -> None:
    path, out = str(scenes(tmp_path, "", 50)), tmp_path / "out"
    import_benchmark("resq", path, str(out), split="test=40", suffix=".jsonl")
    split = out / "test.jsonl"
    if changed == "manifest":
        write(out / "manifest.json", {"splits": {"test": {"file": "test.jsonl"}}})
    elif changed == "split":
        write(split, "mine")
    else:
        split.unlink()
        split.mkdir()
    import_benchmark("resq", path, str(out), split="validation=11")
    assert split.exists()
