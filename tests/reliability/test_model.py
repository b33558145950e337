"""The model file: what it predicts, what it refuses, what does not change it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers.labelled_traces import traces

from symbouq.errors import SymboUQError
from symbouq.metrics import auroc
from symbouq.records import Reliability, Trace
from symbouq.reliability.labels import gold_of, label_of
from symbouq.reliability.model import OPERATIONAL, Model, _dealt, fit
from symbouq.reliability.reading import GROUNDED_RULE, RULE, Reader, Reading


@cache
def reader() -> Reader:
    return Reader("dual")


def read(rows: list[dict[str, Any]]) -> tuple[list[Reading], list[int]]:
    given = [Trace.model_validate(row) for row in rows]
    return [reader().read(t) for t in given], [label_of(gold_of(t), {}) for t in given]


@cache
def validation() -> tuple[list[Reading], list[int]]:
    return read(traces(60))


def readings() -> list[Reading]:
    return validation()[0]


def labels() -> list[int]:
    return validation()[1]


@cache
def plain() -> Model:
    return fitted()


def fitted(
    given: list[Reading] | None = None, right: list[int] | None = None, **more: Any
) -> Model:
    return fit(given or readings(), right or labels(), "dual", reader().ontology_hash, **more)


def test_predictions_rank_and_have_the_records_shape() -> None:
    model = plain()
    rows = model.predict(readings())
    assert [Reliability.model_validate(row).id for row in rows] == [r.id for r in readings()]
    assert auroc([row["reliability"] for row in rows], labels()) == 1
    assert set(rows[0]["scores"]) == {RULE, GROUNDED_RULE, "Constraint-Only"}
    assert set(rows[0]["contributions"]) <= set(rows[0]["scores"])
    assert rows[0]["model_hash"] == model.hash
    assert rows[0]["missing"] == []


def test_traces_are_predicted_one_by_one_as_together() -> None:
    alone = [plain().predict([reading])[0] for reading in readings()[:5]]
    for first, second in zip(alone, plain().predict(readings()[:5]), strict=True):
        assert first["reliability"] == pytest.approx(second["reliability"])
        assert first["contributions"] == pytest.approx(second["contributions"])


def test_the_order_of_validation_does_not_matter() -> None:
    assert fitted(readings()[::-1], labels()[::-1]).hash == plain().hash


def test_the_seed_deals_folds_anew() -> None:
    assert fitted(seed=1).hash != fitted(seed=2).hash


def test_the_file_holds_the_model(tmp_path: Path) -> None:
    model = plain()
    model.save(tmp_path / "model.json")
    again = Model.load(tmp_path / "model.json")
    assert again == model
    assert again.predict(readings()) == model.predict(readings())


def test_one_class_is_constraint_rule_as_it_stands(tmp_path: Path) -> None:
    model = fitted(right=[1] * 60)
    assert model.composer.kind == "fixed"
    model.save(tmp_path / "model.json")
    rows = Model.load(tmp_path / "model.json").predict(readings())
    assert [row["reliability"] for row in rows] == [r.scores[RULE] for r in readings()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"notes": {}}, "was changed"),
        ({"format": 0}, "format 0"),
        ({"composer": None}, "was changed"),
    ],
)
def test_changed_files_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(plain().record() | change))
    with pytest.raises(SymboUQError, match=message) as caught:
        Model.load(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}'])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(SymboUQError, match="not a reliability model"):
        Model.load(path)


def test_another_ontology_is_a_fault(tmp_path: Path) -> None:
    model = plain()
    assert model.fault(reader()) is None
    (tmp_path / "mine.lp").write_text('extends(nine_way). phrase(above, "perched over").\n')
    fault = model.fault(model.reader(ontology=tmp_path))
    assert fault is not None and "another version of the ontology" in fault


def test_scores_that_every_trace_has_are_candidates() -> None:
    rows = [
        row | {"scores": {"judge": label / 2, "some": 1.0 if n else None}}
        for n, (row, label) in enumerate(zip(traces(60), labels(), strict=True))
    ]
    model = fitted(*read(rows))
    assert "judge" in model.candidates and "some" not in model.candidates
    assert model.notes["left_out"] == ["some"]


def test_a_missing_score_is_named_and_its_mean_stands_for_it() -> None:
    rows = [
        row | {"scores": {"judge": label / 2}}
        for row, label in zip(traces(60), labels(), strict=True)
    ]
    model = fitted(*read(rows))
    found = model.predict(readings()[:1])[0]
    assert found["missing"] == ["judge"]
    assert "judge" not in found["scores"]
    evidence, _ = model.evidence(readings()[:1])
    assert evidence.of(["judge"])[0, 0] == model.candidates["judge"].mean


def test_a_given_constraint_only_takes_the_place_of_ours() -> None:
    rows = [
        row | {"scores": {"Constraint-Only": label / 2 + 0.1}}
        for row, label in zip(traces(60), labels(), strict=True)
    ]
    model = fitted(*read(rows))
    assert model.constraint_only is None
    assert "Constraint-Only" in model.candidates


def test_tokens_add_the_decoding_scores() -> None:
    rows = []
    for row, label in zip(traces(60), labels(), strict=True):
        words = row["response"].replace(" ", "| ").split("|")
        rows.append(
            row | {"tokens": [{"text": w, "logprob": -0.1 if label else -0.4} for w in words]}
        )
    model = fitted(*read(rows))
    calibrator = model.candidates["Perplexity"].calibrator
    assert calibrator is not None and calibrator.minmax is not None  # an uncertainty
    assert model.composer.aurocs["Perplexity"] == 1
    assert not model.composer.flipped[model.composer.names.index("Perplexity")]


@pytest.mark.parametrize("variant", OPERATIONAL)
def test_variants(variant: str) -> None:
    model = fitted(variant=variant)
    kinds = {"evaluable-only": "evaluable", "discounted": "discounted"}
    assert model.coverage == kinds.get(variant, "paper")
    assert bool(model.composer.gated) == (variant == "gated")
    assert Model.of(model.record()).predict(readings()[:2]) == model.predict(readings()[:2])


def test_variants_of_whole_splits_make_no_model() -> None:
    for variant in ("shuffled", "fixed average"):
        with pytest.raises(SymboUQError, match="fitted as one of"):
            fitted(variant=variant)


def test_adapting_reads_no_label_and_keeps_the_weights() -> None:
    model = plain()
    adapted = model.adapted(readings()[:20])
    assert adapted.composer.weights == model.composer.weights
    assert adapted.composer.mean != model.composer.mean
    assert adapted.notes["source"] == model.hash
    assert Model.of(adapted.record()) == adapted


def test_no_traces_are_refused() -> None:
    with pytest.raises(SymboUQError, match="needs traces"):
        fit([], [], "dual", reader().ontology_hash)


def signed(body: dict[str, Any]) -> dict[str, Any]:
    """A record of a model with the hash that its content has."""
    from symbouq.reliability.model import _hash

    return {**body, "hash": _hash(body)}


def body() -> dict[str, Any]:
    record = json.loads(json.dumps(plain().record()))
    del record["hash"]
    return dict(record)


@pytest.mark.parametrize("field", sorted(set(body()) - {"format", "symbouq", "guarantee"}))
def test_a_model_without_a_field_is_none(field: str, tmp_path: Path) -> None:
    record = body()
    del record[field]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(signed(record)))
    with pytest.raises(SymboUQError, match="not a reliability model") as caught:
        Model.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    if field != "composer":  # without which it is no model at all
        assert f"it has no '{field}'" in str(caught.value)


def leaves(value: Any, *place: Any) -> Any:
    """The places of a record's values, down to the first of each list."""
    yield place
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, *place, name)
    elif isinstance(value, list) and value:
        yield from leaves(value[0], *place, 0)


@pytest.mark.parametrize("other", ["text", [], {}, -5, True], ids=str)
def test_a_model_with_a_wrong_value_is_none_or_predicts(other: Any) -> None:
    refused = 0
    for place in filter(None, leaves(body())):
        record = body()
        holder: Any = record
        for name in place[:-1]:
            holder = holder[name]
        holder[place[-1]] = other
        try:
            Model.of(signed(record)).predict(readings()[:2])
        except SymboUQError as error:
            assert "\n" not in str(error), place
            refused += 1
    assert refused


def test_a_nested_model_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text("[" * 100_000)
    with pytest.raises(SymboUQError, match="not a reliability model"):
        Model.load(tmp_path / "model.json")


def test_a_guarantee_is_calibrated_on_scenes_that_are_not_fitted_on(tmp_path: Path) -> None:
    # Ten of twenty scenes are held out, and at a level of .5 two traces make a guarantee of .25.
    model = fitted(level=0.5, delta=0.25)
    guarantee = model.guarantee
    assert guarantee is not None
    assert guarantee.threshold is not None
    assert guarantee.scenes == len({r.group for r in readings()}) // 2 == 10
    assert model.notes["traces"] == 30
    model.save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json") == model
    rows = model.predict(readings())
    wanted = [row["reliability"] >= guarantee.threshold for row in rows]
    assert [row["accepted"] for row in rows] == wanted
    assert 0 < sum(wanted) < len(wanted)
    assert Reliability.model_validate(rows[0]).accepted is wanted[0]
    assert "accepted" not in plain().predict(readings()[:1])[0]


def test_held_out_labels_decide_nothing_but_the_guarantee() -> None:
    model = fitted(level=0.5, delta=0.25)
    assert model.guarantee is not None
    halves = {reading.group for reading in readings()}
    apart = set(sorted(halves, key=lambda group: _dealt(2026, group))[:10])
    turned = [y if r.group not in apart else 0 for r, y in zip(readings(), labels(), strict=True)]
    other = fitted(right=turned, level=0.5, delta=0.25)
    assert other.composer == model.composer
    assert other.guarantee is not None
    assert other.guarantee.threshold is None


def test_without_enough_scenes_all_are_fitted_on_and_nothing_is_accepted() -> None:
    model = fitted(level=0.05)
    assert model.composer == plain().composer
    assert "needs 45 held-out traces" in str(model.guarantee)
    assert not any(row["accepted"] for row in model.predict(readings()))


def test_an_adapted_model_has_no_guarantee() -> None:
    assert fitted(level=0.5, delta=0.25).adapted(readings()).guarantee is None


def test_reversed_scores_are_turned_before_their_map_but_in_the_papers_composition() -> None:
    given = [
        replace(reading, scores={**reading.scores, "mine": (n % 5) / 10 - 0.3 * y})
        for n, (reading, y) in enumerate(zip(readings(), labels(), strict=True))
    ]
    for composition, turned in (("dual", True), ("paper", False)):
        seen = [reading.seen_as(composition) for reading in given]  # type: ignore[arg-type]
        model = fit(seen, labels(), composition, reader().ontology_hash)  # type: ignore[arg-type]
        calibrator = model.candidates["mine"].calibrator
        assert calibrator is not None
        assert calibrator.turned is turned
        assert (calibrator.auroc > 0.5) is turned
        scores = model.evidence(seen)[0].of(["mine"])[:, 0]
        assert bool(scores.std() > 0.01) is turned
