"""What would fail is told before an experiment runs, each fault with the setting that mends it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from huggingface_hub import errors
from symbouq_cli.main import main

from symbouq.errors import SymboUQError
from symbouq.experiments.check import (
    AccessError,
    Facts,
    Finding,
    Machine,
    Measured,
    Rates,
    check,
    facts_of,
    from_folder,
    from_hub,
    known_models,
    read_rates,
)
from symbouq.experiments.config import read_config

PAPER = Path(__file__).parents[2] / "experiments/paper.yaml"
BEFORE = """
name: paper
backbones:
  - {name: Mistral-7B-Instruct, model: mistralai/Mistral-7B-Instruct-v0.3}
  - {name: Llama-3.1-8B-Instruct, model: meta-llama/Llama-3.1-8B-Instruct}
  - {name: Gemma-2-9B-it, model: google/gemma-2-9b-it}
  - {name: Qwen3-8B, model: Qwen/Qwen3-8B}
judge: {name: Qwen3-1.7B, model: Qwen/Qwen3-1.7B}
reference_judges:
  - {name: Mistral-Small, model: mistralai/Mistral-Small-3.2-24B-Instruct-2506}
  - {name: Qwen2.5-72B-Instruct, model: Qwen/Qwen2.5-72B-Instruct}
  - {name: Llama-3.3-70B-Instruct, model: meta-llama/Llama-3.3-70B-Instruct}
source: StepGame
datasets:
  - name: StepGame
    files: {train: s/train, validation: s/validation, test: s/test}
    sizes: {train: 10000, validation: 300, test: 3000}
  - {name: SpaRTQA, files: &a {validation: a/v, test: a/t}, sizes: &of {validation: 300, test: 3000}}
  - {name: SpaRTUN, files: {validation: b/v, test: b/t}, sizes: *of}
  - {name: SpaceNLI, files: &n {validation: n/v, test: n/t}, sizes: *of}
  - {name: SpaRP, files: {validation: p/v, test: p/t}, sizes: {validation: 300, test: 1500}}
  - {name: SpaRTQA free-form, files: *a, sizes: *of, free_form: true}
  - {name: SpaceNLI free-form, files: *n, sizes: *of, free_form: true}
generation: {engine: vllm, samples: 10, temperature: 1.0, seed: 2026}
views: [grounded, non-committal, dual, worlds]
lookback: pooled
"""
"""The settings of `paper.yaml` as they were before they had been checked."""

SMALL = """
name: small
backbones: [{name: one, model: MODEL}]
source: chains
datasets: [{name: chains, family: chains, sizes: {train: 4, validation: 3, test: 2}}]
"""


def offline(identity: str, revision: str) -> Facts:
    raise OSError("no network")


def found(
    folder: Path, text: str, machine: Machine | None = None, **more: Any
) -> dict[str, list[Finding]]:
    file = folder / "experiment.yaml"
    file.write_text(text, encoding="utf-8")
    findings: dict[str, list[Finding]] = {}
    for one in check(read_config(file), machine or Machine(4), **{"hub": offline} | more):
        findings.setdefault(one.about, []).append(one)
    return findings


def kinds(findings: dict[str, list[Finding]], kind: str) -> set[str]:
    return {about for about, of in findings.items() if any(one.kind == kind for one in of)}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Finding]]:
    return found(tmp_path_factory.mktemp("before"), BEFORE)


@pytest.mark.parametrize(
    ("about", "kind", "text", "mend"),
    [
        ("Mistral-Small", "failure", "no chat template", "model: unsloth/Mistral-Small-3.2"),
        ("Mistral-Small", "failure", "131,072 tokens 21.5 GB", "context: 4096"),
        ("Mistral-7B-Instruct", "failure", "vLLM switches to", "tokenizer_mode: hf"),
        # 2 x 80 layers x 8 heads x 128 numbers x 2 bytes x 131,072 tokens = 42,949,672,960 bytes.
        (
            *("Llama-3.3-70B-Instruct", "failure"),
            *("141.1 GB, KV cache of 131,072 tokens 42.9 GB", "tensor_parallel: 4, context: 4096"),
        ),
        ("Qwen2.5-72B-Instruct", "failure", "weights 145.4 GB", "tensor_parallel: 4"),
        ("the hub", "unchecked", "not reached (OSError: no network)", "google/gemma-2-9b-it"),
        # Of 4 x 31,600 traces, those of five test splits: 4 x 13,500.
        ("reference_judges", "note", "the 54,000 traces that a table reads; 57% of 126,400", ""),
        # Three backbones, 3,300 questions, eleven texts; two datasets.
        ("SpaRTQA free-form", "warning", "108,900 generations", "[Mistral-7B-Instruct]"),
        ("SpaceNLI free-form", "warning", "108,900 generations", "[Mistral-7B-Instruct]"),
        ("workers", "warning", "leaves 3 of 4 cards idle", "workers: 4"),
        ("ccp", "warning", "paper", "ccp: likelihood"),
        ("nli", "warning", "entailment model", "nli: microsoft/deberta-large-mnli"),
        ("search", "warning", "Table search-space", "search: {}"),
        ("hours", "note", "rates are guesses", ""),
        ("disk", "note", "models 403, traces 7", ""),
    ],
)
def test_each_fault_is_named_with_its_mend(
    before: dict[str, list[Finding]], about: str, kind: str, text: str, mend: str
) -> None:
    assert any(
        one.kind == kind and text in one.text and mend in one.mend for one in before[about]
    ), before[about]


def test_nothing_else_would_fail_before(before: dict[str, list[Finding]]) -> None:
    assert kinds(before, "failure") == {
        *("Mistral-7B-Instruct", "Mistral-Small", "Qwen2.5-72B-Instruct"),
        "Llama-3.3-70B-Instruct",
    }


def test_the_papers_configuration_is_mended() -> None:
    findings = list(check(read_config(PAPER), Machine(4), hub=offline))
    assert not [str(one) for one in findings if one.kind in ("failure", "warning")]


def test_a_model_is_divided_among_no_more_cards_than_there_are(tmp_path: Path) -> None:
    model = "meta-llama/Llama-3.3-70B-Instruct\n    tensor_parallel: 4\n    context: 4096"
    text = SMALL.replace("[{name: one, model: MODEL}]", f"\n  - name: one\n    model: {model}")
    text += "generation: {engine: vllm}\n"
    findings = found(tmp_path, text, Machine(2))["one"]
    mends = [one.mend for one in findings if one.kind == "failure"]
    assert mends[0] == "tensor_parallel: 2"
    # Signals are taken on one card, whatever an engine divides.
    assert "signals need" in [one.text for one in findings if one.kind == "failure"][-1]


def test_eight_bits_a_weight_where_cards_are_few(tmp_path: Path) -> None:
    text = BEFORE.replace("samples: 10,", "samples: 10, context: 4096,")
    (one,) = [
        each
        for each in found(tmp_path, text, Machine(1))["Llama-3.3-70B-Instruct"]
        if each.kind == "failure"
    ]
    # 70.6 GB and more into 90 % of 80 GB.
    assert one.mend.startswith("model: a smaller one, or 2 cards")
    (one,) = [
        each
        for each in found(tmp_path, text, Machine(1, 141))["Llama-3.3-70B-Instruct"]
        if each.kind == "failure"
    ]
    assert one.mend == "quantization: fp8 (under this model)"


def test_dividing_all_models_is_waste(tmp_path: Path) -> None:
    text = BEFORE.replace("samples: 10,", "samples: 10, context: 4096, tensor_parallel: 4,")
    (one,) = found(tmp_path, text)["generation.tensor_parallel"]
    assert one.kind == "warning"
    assert "Mistral-7B-Instruct" in one.text
    assert "70B" not in one.text
    assert one.mend == "tensor_parallel: 4 under the models that need it"


def test_a_context_that_the_model_has_not(tmp_path: Path) -> None:
    text = BEFORE.replace("samples: 10,", "samples: 10, context: 10000,")
    assert any(one.mend == "context: 8192" for one in found(tmp_path, text)["Gemma-2-9B-it"])


@pytest.mark.parametrize(
    ("reason", "mend"), [("gated", "accept its terms"), ("not found on the hub", "model: a folder")]
)
def test_what_the_hub_refuses(tmp_path: Path, reason: str, mend: str) -> None:
    def refusing(identity: str, revision: str) -> Facts:
        raise AccessError(reason, mend)

    findings = found(tmp_path, SMALL.replace("MODEL", "some/model"), hub=refusing)
    assert findings["one"] == [Finding("failure", "one", f"some/model is {reason}", mend)]


def test_a_shape_that_is_not_told_leaves_other_models_to_the_hub(tmp_path: Path) -> None:
    def strange(identity: str, revision: str) -> Facts:
        files: dict[str, Any] = {"config.json": {"hidden_size": 8}}
        return facts_of(files, files.__getitem__, source="hub")

    text = SMALL.replace("MODEL", "some/model") + "judge: {name: two, model: some/other}\n"
    findings = found(tmp_path, text, hub=strange)
    for name in ("one", "two"):
        (one,) = findings[name]
        assert one.kind == "unchecked"
        assert "its shape is not told: KeyError: 'num_hidden_layers'" in one.text


def test_a_model_that_nobody_knows_is_unchecked(tmp_path: Path) -> None:
    asked: list[str] = []

    def counting(identity: str, revision: str) -> Facts:
        asked.append(f"{identity} {revision}")
        raise OSError("no network")

    text = SMALL.replace("MODEL", "some/model@abc") + "judge: {name: two, model: some/other}\n"
    findings = found(tmp_path, text, hub=counting)
    assert kinds(findings, "unchecked") == {"one", "two", "the hub"}
    assert not kinds(findings, "failure")
    assert asked == ["some/model abc"]  # once it is not reached, it is not asked again


@pytest.fixture
def local(tmp_path: Path) -> Path:
    folder = tmp_path / "local"
    folder.mkdir()
    config = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 4}
    config |= {"num_key_value_heads": 2, "intermediate_size": 16, "vocab_size": 10}
    (folder / "config.json").write_text(
        json.dumps(config | {"max_position_embeddings": 64, "torch_dtype": "float32"})
    )
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "x"}))
    return folder


def test_a_folder_tells_its_shape(local: Path, tmp_path: Path) -> None:
    facts = from_folder(local)
    # A layer: queries and output 8 x 8 each, keys and values 8 x 4 each, 3 x 8 x 16, two norms.
    assert facts.parameters == 3 * (128 + 64 + 384 + 16) + 2 * 80 + 8
    assert facts.weights() == 4 * facts.parameters
    assert facts.weights("fp8") == facts.parameters
    assert facts.cache(64) == 2 * 3 * 2 * 2 * 2 * 64
    findings = found(tmp_path, SMALL.replace("MODEL", "local"))
    assert not kinds(findings, "failure")
    assert findings["one"][0].text == f"local: {local}"
    (local / "tokenizer_config.json").write_text("{}")
    (_, one) = found(tmp_path, SMALL.replace("MODEL", "local"))["one"]
    assert (one.kind, one.text, one.mend) == (
        *("failure", "no chat template"),
        "chat_template: a Jinja file",
    )
    (local / "tokenizer.json").unlink()
    (_, one) = found(tmp_path, SMALL.replace("MODEL", "local"))["one"]
    assert one.text == "no tokenizer"
    (local / "config.json").write_text("{}")
    (one,) = found(tmp_path, SMALL.replace("MODEL", "local"))["one"]
    assert (one.kind, one.mend[:8]) == ("failure", "model: a")


def test_well_known_models_have_as_many_parameters_as_their_shapes() -> None:
    for name, facts in known_models().items():
        if "Small" in name or "deberta" in name:  # with parts for images, and of another shape
            continue
        shape = {
            "hidden_size": facts.hidden,
            "num_hidden_layers": facts.layers,
            "num_attention_heads": facts.heads,
            "num_key_value_heads": facts.kv_heads,
            "head_dim": facts.head_dim,
            "intermediate_size": facts.intermediate,
            "vocab_size": facts.vocabulary,
        }
        counted = []
        for tied in (False, True):
            files = {"config.json": shape | {"tie_word_embeddings": tied}}
            counted.append(facts_of(files, files.__getitem__, source="here").parameters)
        # Norms and offsets that some have more are no thousandth.
        assert min(abs(each / facts.parameters - 1) for each in counted) < 1e-4, name


def test_files_are_looked_for_where_a_folder_is_given(tmp_path: Path) -> None:
    findings = found(tmp_path, BEFORE, data=tmp_path)
    assert "no such file" in findings["SpaRP"][0].text
    assert findings["SpaRP"][0].kind == "failure"
    assert "datasets" not in findings


def test_hours_by_measured_rates(tmp_path: Path) -> None:
    run = Measured(
        model="one", engine="vllm", parameters=8.03e9, tokens_per_second=1500, signals_per_second=10
    )
    rates = Rates(device="H", memory_gb=80, runs=[run])
    text = BEFORE[: BEFORE.index("judge:")] + BEFORE[BEFORE.index("source:") :]
    (told,) = found(tmp_path, text, rates=rates)["hours"]
    assert "rates of generation and signals by H, the rest guessed" in told.text
    # 150 tokens take .1 s with 8.03 billion parameters, and a backbone has as many billions as its
    # name says (7, 8, 9, 8); each has 10,000 + 21,600 * 11 texts and 31,600 traces.
    hours = (10_000 + 21_600 * 11) * 0.1 * 32 / 8.03 / 3600
    assert f"traces {hours:.1f}" in told.text
    assert f"signals {31_600 * 0.1 * 32 / 8.03 / 3600:.1f}" in told.text
    slow = run.model_copy(update={"engine": "transformers", "tokens_per_second": 1})
    both = rates.model_copy(update={"runs": [slow, run]})
    assert found(tmp_path, text, rates=both)["hours"] == [told]
    (told,) = found(tmp_path, text, rates=rates.model_copy(update={"runs": [slow]}))["hours"]
    assert "rates of signals by H, the rest guessed" in told.text


def test_too_small_a_disk(tmp_path: Path) -> None:
    (one,) = found(tmp_path, BEFORE, Machine(4, disk=100))["disk"]
    assert one.kind == "failure"
    assert "100 GB are free" in one.text


class _Hub:
    """A hub with one model."""

    def __init__(self, fault: type[Exception] | None = None) -> None:
        self.fault = fault

    def model_info(self, identity: str, **_: Any) -> Any:
        names = ["config.json", "tokenizer_config.json", "tokenizer.json", "tekken.json"]
        files = [SimpleNamespace(rfilename=name) for name in names]
        weights = SimpleNamespace(total=77)
        return SimpleNamespace(siblings=files, safetensors=weights, gated="manual")

    def auth_check(self, identity: str) -> None:
        if self.fault:
            raise self.fault.__new__(self.fault)


def test_the_hub_tells_of_small_files(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi", _Hub)
    monkeypatch.setattr(
        "huggingface_hub.hf_hub_download", lambda _, name, revision: str(local / name)
    )
    facts = from_hub("some/model", "")
    assert (facts.parameters, facts.gated, facts.tokenizer) == (77, True, "both")
    assert facts.template
    for fault, reason in (
        (errors.GatedRepoError, "gated"),
        (errors.RepositoryNotFoundError, "not found on the hub"),
        (errors.RevisionNotFoundError, "no commit abc"),
    ):
        monkeypatch.setattr("huggingface_hub.HfApi", lambda fault=fault: _Hub(fault))
        with pytest.raises(AccessError) as raised:
            from_hub("some/model", "abc")
        assert raised.value.args[0] == reason


def test_the_command_ends_with_1_where_something_would_fail(local: Path, tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text(SMALL.replace("MODEL", "local"))
    done = CliRunner().invoke(main, ["experiment", "check", str(file)])
    assert done.exit_code == 0, done.output
    assert re.search(r"^0 failures, 0 warnings$", done.output, re.MULTILINE)
    (local / "tokenizer_config.json").write_text("{}")
    done = CliRunner().invoke(main, ["experiment", "check", str(file), "--gpus", "2"])
    assert done.exit_code == 1
    lines = done.output.splitlines()
    assert lines[0] == "failure: one: no chat template; chat_template: a Jinja file"
    assert lines[1].startswith("warning: workers: one stage at a time leaves 1 of 2")
    assert not (tmp_path / "runs").exists()


def test_a_file_of_rates_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "rates.json").write_text("[]")
    with pytest.raises(SymboUQError, match="no file of measured rates"):
        read_rates(tmp_path / "rates.json")
