"""What differs between two files of audits, and the command that tells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from symbouq_cli.main import main

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.compare import answer_flips, comparison, flips, same_response
from symbouq.records import Trace, make_record

SCENE = ["A is above B.", "B is right of C."]


def audited(
    *claims: str, identity: str = "t", scene: list[str] = SCENE, **options: Any
) -> dict[str, Any]:
    record = {
        "id": identity,
        "scene": scene,
        "reasoning": list(claims[:-1]),
        "conclusion": claims[-1],
    }
    return TraceAuditor(**options).audited(make_record(Trace, record), "f.jsonl", 1)


def turns(found: Any) -> list[tuple[int, str, str, bool]]:
    return [(flip.claim, flip.before, flip.after, flip.grounded) for flip in found]


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_other_rules() -> None:
    claims = ("A is left of D.", "A is upper left of D.", "A is above B.")
    first, second = audited(*claims), audited(*claims, profile="half-plane")
    # Left is a column in half-plane: it leaves the upper left of D open.
    assert turns(flips(first, second)) == [
        (2, "contradicted", "unknown", False),
        (3, "not-evaluable", "entailed", False),
    ]


def test_contexts_are_compared_by_their_own_verdicts() -> None:
    claims = ("A is left of D.", "D is right of A.", "C is below A.")
    first, second = audited(*claims), audited(*claims, context="grounded")
    found = list(flips(first, second))
    # By the scene alone D is anywhere; C lies to the lower left of A in both.
    assert turns(found) == [(2, "entailed", "unknown", False)]
    # The message is about the assumed verdict, so it is told of that one only.
    assert (bool(found[0].was), found[0].now) == (True, "")
    assert turns(flips(second, second)) == []
    # What contradicts an earlier claim alone is told by a non-committal audit, not by a grounded.
    broken = ("A is left of D.", "A is right of D.")
    grounded, strict = (audited(*broken, context=c) for c in ("grounded", "non-committal"))
    assert turns(flips(grounded, strict)) == [(2, "unknown", "contradicted", False)]


def test_grounded_verdict_alone() -> None:
    first = audited("A is left of D.", "D is right of A.")
    second = audited("A is left of D.", "D is right of A.", scene=[*SCENE, "A is left of D."])
    assert turns(flips(first, second)) == [
        (1, "unknown", "entailed", False),
        (2, "unknown", "entailed", True),
    ]


def test_other_response_compares_scene_and_conclusion() -> None:
    first = audited("A is below B.", "A is above B.")
    second = audited("A is above B.", "C is below A.")
    assert not same_response(first, second)
    assert turns(answer_flips(first, second)) == [(2, "not-evaluable", "contradicted", False)]


def test_same_response_however_it_is_cut() -> None:
    whole, cut = audited("A is above B. So C is left."), audited("A is above B.", "So C  is left.")
    assert same_response(whole, cut)
    assert not same_response(whole, audited("A is above B."))


def test_same_response_in_relations() -> None:
    def of(relation: str) -> dict[str, Any]:
        claims = [{"relations": [["A", relation, "B"]]}]
        record = {"id": "r", "scene_relations": [["A", "left", "B"]], "claims": claims}
        return TraceAuditor().audited(make_record(Trace, record))

    assert same_response(of("left"), of("left"))
    assert not same_response(of("left"), of("right"))


def test_files_in_any_order(tmp_path: Path) -> None:
    right, wrong = "A is above B.", "A is below B."
    first = write(
        tmp_path / "a",
        audited(right, identity="1"),
        audited(right, identity="2"),
        audited(right, identity="gone"),
        audited(wrong, identity="3"),
    )
    second = write(
        tmp_path / "b",
        audited(wrong, identity="3"),
        audited(wrong, identity="2"),
        audited(right, identity="1"),
        audited(right, identity="new"),
        audited(right, identity="newer"),
    )
    seen: list[tuple[bool, bool, int]] = []
    found = comparison(
        str(first),
        str(second),
        each=lambda a, b, here: seen.append((a is None, b is None, len(here))),
    )
    assert (found.traces, found.same, found.flipped, found.only) == (3, 2, 1, (1, 2))
    assert found.conclusions == {
        ("entailed", "entailed"): 1,
        ("contradicted", "contradicted"): 1,
        ("entailed", "contradicted"): 1,
    }
    assert dict(found.counts) == {("entailed", "contradicted", False): 1}
    assert sorted(seen) == [
        (False, False, 0),
        (False, False, 0),
        (False, False, 1),
        (False, True, 0),
        (True, False, 0),
        (True, False, 0),
    ]


def test_an_id_that_comes_again(tmp_path: Path) -> None:
    audits = [audited("A is above B."), audited("A is below B.")]
    files = [str(write(tmp_path / name, *audits)) for name in "ab"]
    found = comparison(*files)
    assert (found.traces, found.flipped, found.only) == (2, 0, (0, 0))


def test_examples_are_the_first_ones(tmp_path: Path) -> None:
    first = write(tmp_path / "a", *(audited("A is above B.", identity=str(n)) for n in range(5)))
    second = write(tmp_path / "b", *(audited("A is below B.", identity=str(n)) for n in range(5)))
    (some,) = comparison(str(first), str(second), examples=2).examples.values()
    assert [flip.id for flip in some] == ["0", "1"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    first = write(tmp_path / "a.jsonl", audited("A is above B."), audited("Hm.", identity="u"))
    return first, write(tmp_path / "b.jsonl", audited("A is below B."))


def test_command(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files[0].parent)
    result = run("compare", "a.jsonl", "b.jsonl")
    assert result.exit_code == 1
    assert result.stdout == (
        "a.jsonl -> b.jsonl: 1 verdict flip in 1 of 1 traces (1 claims)\n"
        "one response in both: 0 of 1 traces\n"
        "only in a.jsonl: 1 trace\n"
        "\n"
        "entailed -> contradicted: 1\n"
        "  f.jsonl:1 t, claim 1: A is below B.\n"
        "    was: A is above B: stated by scene 1.\n"
        "    now: A is below B: cannot hold together with scene 1.\n"
    )


def test_command_as_json_and_page(files: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "c.html"
    result = run("compare", *files, "--format", "json", "--report", page)
    found = json.loads(result.stdout)
    assert (found["traces"], found["only_first"], found["same_response"]) == (1, 1, 0)
    assert found["flips"][0]["examples"][0]["id"] == "t"
    text = page.read_text(encoding="utf-8")
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert block is not None
    data = json.loads(block[1])
    assert data["names"] == [str(file) for file in files]
    assert [side["traces"] for side in data["sides"]] == [2, 1]
    assert data["listed"][0]["before"] == "entailed"
    assert data["conclusions"] == found["conclusions"]


def test_lines_that_are_no_audits(files: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = files
    first.write_text('{"id": "x"}\n' + first.read_text(encoding="utf-8"), encoding="utf-8")
    result = run("compare", first, second)
    assert result.exit_code == 1
    assert f"{first}:1: ontology: Field required" in result.stderr
    bare = write(tmp_path / "bare", {"id": "x"})
    assert run("compare", bare, second).exit_code == 2


def test_the_exit_code_says_whether_they_differ(files: tuple[Path, Path], tmp_path: Path) -> None:
    both, one = files
    same = write(tmp_path / "same", audited("A is above B."))
    other = write(tmp_path / "other", audited("A is above B.", identity="o"))
    empty = write(tmp_path / "empty")
    for first, second, code in (
        (one, one, 0),
        (both, both, 0),
        (empty, empty, 0),
        (same, one, 1),  # a flip
        (both, same, 1),  # a trace that one of them lacks
        (one, other, 2),  # no trace is in both
        (one, empty, 2),
    ):
        result = run("compare", first, second)
        assert result.exit_code == code, (first, second)
        told = f"nothing to compare: {first} and {second} have no id in common\n"
        assert result.stderr == (told if code == 2 else "")


def test_one_side_may_come_in(files: tuple[Path, Path]) -> None:
    first, second = map(str, files)
    named = CliRunner().invoke(main, ["compare", first, second])
    piped = CliRunner().invoke(main, ["compare", "-", second], input=files[0].read_bytes())
    assert (piped.exit_code, piped.output) == (named.exit_code, named.output.replace(first, "-"))
    both = CliRunner().invoke(main, ["compare", "-", "-"], input=b"")
    assert both.exit_code == 2 and "standard input can be only one" in both.output


def test_report_must_not_overwrite(files: tuple[Path, Path]) -> None:
    result = run("compare", *files, "--report", files[0])
    assert result.exit_code == 2
    assert "is one of the input files" in result.stderr


@pytest.mark.slow
def test_rules_diff_writes_the_same_page(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.lp").write_text('extends(nine_way).\nphrase(above, "skyward from").\n')
    record = {"id": "t", "scene": SCENE, "reasoning": [], "conclusion": "A is skyward from B."}
    corpus = write(tmp_path / "in.jsonl", record)
    command = ["rules", "diff", "builtin", tmp_path / "mine", "--corpus", corpus, "--jobs", "1"]
    assert run(*command, "--report", tmp_path / "d.html").exit_code == 1
    text = (tmp_path / "d.html").read_text(encoding="utf-8")
    assert 'phrase(above,\\"skyward from\\")' in text
    assert '"conclusions":[{"before":"unread","after":"entailed","count":1}]' in text


def test_audits_with_odd_values_are_compared_or_refused(tmp_path: Path) -> None:
    plain = audited("A is above B.")
    first = write(tmp_path / "a", plain)
    second = write(tmp_path / "b", {**audited("A is below B."), "source": {"place": "x"}})
    assert run("compare", first, second).exit_code == 1
    for share in (1e308, -1):
        wrong = {**plain, "profile": {**plain["profile"], "determinacy": share}}
        result = run("compare", first, write(tmp_path / "b", wrong), "--report", tmp_path / "r")
        assert result.exit_code == 2
        assert "profile.determinacy: Input should be" in result.stderr


@pytest.mark.parametrize("bare", ["first", "second"])
def test_traces_are_no_audits(bare: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    traces = tmp_path / "traces.jsonl"
    traces.write_text(
        '{"id": "a", "scene": "A is left of B.", "response": "B is right of A."}\n' * 9
    )
    result = run("compare", *((traces, files[1]) if bare == "first" else (files[0], traces)))
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"Error: {traces}:1: not an audit; run `symbouq audit {traces} --out audits.jsonl`, and "
        "compare what that writes"
    ]


def test_plain_text_is_told_how_to_be_a_trace(tmp_path: Path) -> None:
    text = tmp_path / "pasted.txt"
    text.write_text("The lamp is left of the sofa.\nThe sofa is right of the lamp.\n" * 30)
    for command in ("audit", "explain"):
        told = [line for line in run(command, text).stderr.splitlines() if "plain text" in line]
        assert len(told) <= 2
        assert (
            '{"scene": "A is left of B.", "question": "", "response": "B is right of A."}'
            in told[0]
        )
