"""`rules diff`: what flips, and the change that is responsible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from symbouq_cli.main import main

TRACES = [
    {
        "id": "barn",
        "scene": ["The barn is touching the mill.", "The cup is above the jug."],
        "reasoning": ["The barn is near the mill.", "The cup is skyward from the jug."],
        "conclusion": "The barn is far from the mill.",
    },
    {"id": "same", "scene": ["A is above B."], "reasoning": [], "conclusion": "A is above B."},
    {
        "id": "scene",
        "scene_relations": [["A", "touching", "B"], ["B", "far", "A"]],
        "claims": [{"type": "conclusion", "relations": [["A", "far", "B"]]}],
    },
]


def diff(tmp_path: Path, old: str, new: str, *options: str) -> Result:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(trace) + "\n" for trace in TRACES), encoding="utf-8")
    names = []
    for name, text in (("old", old), ("new", new)):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "rules.lp").write_text("extends(nine_way).\n" + text, encoding="utf-8")
        names.append(str(folder) if text else "builtin")
    command = ["rules", "diff", *names, "--corpus", str(corpus), "--jobs", "1", *options]
    return CliRunner().invoke(main, command)


NEAR = 'implies(touching, near).\nphrase(above, "skyward from").\nphrase(below, "beneath it").\n'


@pytest.mark.slow
def test_flips_with_what_is_responsible(tmp_path: Path) -> None:
    told = diff(tmp_path, "", NEAR, "--format", "json")
    assert told.exit_code == 1
    found = json.loads(told.output)
    assert (found["traces"], found["flipped_traces"]) == (3, 2)
    assert len(found["changes"]) == 4  # extends/1 too
    seen = {
        (example["id"], example["claim"], flip["before"], flip["after"]): example["because"]
        for flip in found["flips"]
        for example in flip["examples"]
    }
    why = {key: [text.split(": ", 1)[1] for text in because] for key, because in seen.items()}
    assert why == {
        ("barn", 1, "unknown", "entailed"): ["implies(touching,near)."],
        ("barn", 2, "unread", "entailed"): ['phrase(above,"skyward from").'],
        ("barn", 3, "unknown", "contradicted"): ["implies(touching,near)."],
        ("scene", 0, "feasible", "contradictory"): ["implies(touching,near)."],
        ("scene", 1, "entailed", "not-evaluable"): ["implies(touching,near)."],
    }


@pytest.mark.slow
def test_a_removed_rule_is_responsible_too(tmp_path: Path) -> None:
    told = diff(tmp_path, NEAR, 'phrase(above, "skyward from").\n')
    assert told.exit_code == 1
    assert "entailed -> unknown: 1" in told.output
    assert "- " in told.output.split("because of")[1]
    assert "implies(touching,near)." in told.output


@pytest.mark.slow
def test_two_changes_together(tmp_path: Path) -> None:
    """Neither the relation's implication nor its phrase flips anything alone."""
    text = """\
family(adjoining, topology).
phrase(adjoining, "touching").
wording(adjoining, 1, "adjoining").
implies(adjoining, near).
"""
    told = diff(tmp_path, "", text, "--format", "json")
    # A phrase that two relations claim goes to one of them; the old one keeps it here.
    assert told.exit_code in (0, 1)
    own = text.replace('phrase(adjoining, "touching")', 'phrase(nine_way, adjoining, "touching")')
    found = json.loads(diff(tmp_path, "", own, "--format", "json").output)
    (because,) = [
        [text.split(": ", 1)[1] for text in example["because"]]
        for flip in found["flips"]
        for example in flip["examples"]
        if (example["id"], example["claim"]) == ("barn", 1)
    ]
    assert because == [
        "family(adjoining,topology).",
        'phrase(nine_way,adjoining,"touching").',
        "implies(adjoining,near).",
    ]


@pytest.mark.slow
def test_no_difference(tmp_path: Path) -> None:
    told = diff(tmp_path, NEAR, NEAR)
    assert told.exit_code == 0
    assert "0 verdicts flip in 0 of 3 traces" in told.output


def test_wrong_rules_cannot_run(tmp_path: Path) -> None:
    told = diff(tmp_path, "", "symmetric(abov).\n")
    assert told.exit_code == 2
    assert "rules.lp:2: unknown relation abov" in told.output


@pytest.mark.slow
def test_another_default_profile_is_responsible_alone(tmp_path: Path) -> None:
    told = diff(tmp_path, 'phrase(near, "by the side of").\n', "", "--format", "json")
    assert told.exit_code == 0
    for folder, profile in (("old", "nine_way"), ("new", "story")):
        (tmp_path / folder).mkdir(exist_ok=True)
        extra = 'phrase(near, "by the side of").\n' if folder == "new" else ""
        (tmp_path / folder / "rules.lp").write_text(
            f"extends({profile}).\n{extra}", encoding="utf-8"
        )
    corpus = tmp_path / "moves.jsonl"
    trace = {
        "id": "ball",
        "scene_relations": [["ball", "at", "hall"], ["ball", "at", "yard"]],
        "claims": [{"type": "conclusion", "relations": [["ball", "at", "yard"]]}],
    }
    corpus.write_text(json.dumps(trace) + "\n", encoding="utf-8")
    command = ["rules", "diff", str(tmp_path / "old"), str(tmp_path / "new")]
    command += ["--corpus", str(corpus), "--jobs", "1", "--format", "json"]
    found = json.loads(CliRunner().invoke(main, command).output)
    causes = {c for flip in found["flips"] for e in flip["examples"] for c in e["because"]}
    assert causes == {f"+ {tmp_path}/new/rules.lp:1: extends(story)."}


def test_a_corpus_that_cannot_be_read_is_no_success(tmp_path: Path) -> None:
    corpus = tmp_path / "broken.jsonl"
    corpus.write_text("{\n", encoding="utf-8")
    command = ["rules", "diff", "builtin", "builtin", "--corpus", str(corpus), "--jobs", "1"]
    assert CliRunner().invoke(main, command).exit_code == 2
