"""Finds problems in an experiment before it runs, without a GPU or a model.

It checks access to models, tokenizers, context lengths, memory, disk space, running time, and
whether there is work with unused results.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter
from srsly import ruamel_yaml as yaml

from symbouq.errors import SymboUQError
from symbouq.evidence.devices import brief
from symbouq.evidence.generation.models import folder_of, parameters
from symbouq.evidence.scorers.registry import SCORERS, entry
from symbouq.evidence.signals.forward import TOKENS
from symbouq.experiments.backbones.pretrained import PRETRAINED
from symbouq.experiments.config import BackboneConfig, ExperimentConfig, GenerationConfig
from symbouq.experiments.experiment import MACHINES, Experiment
from symbouq.experiments.paper import paper_number
from symbouq.experiments.questions import dataset_file
from symbouq.experiments.scenes.families import FAMILIES
from symbouq.experiments.stages import Judged, Model, Signals, Traces
from symbouq.io.settings import SettingsError

GB = 1e9
CONTEXT = 4096
"""Number of tokens that is sufficient for any benchmark prompt with its trace."""
TRACE_TOKENS = 150
"""Assumed number of tokens in a trace."""
SHARE = 0.9
"""Share of a card's memory that vLLM takes by default."""
_RUNTIME = 2 * GB
"""Memory for a CUDA context, library buffers and recorded graphs."""
_BATCHED, _SEQUENCES = 8192, 1024
"""Number of tokens and number of texts in a vLLM step, for which vLLM measures its activations."""
_STORED = {"fp8": 1.0}
"""Bytes per quantised weight. Quantisation methods that are not listed need half a byte plus
scales."""

Kind = Literal["failure", "warning", "unchecked", "note"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Kinds of findings, worst first."""
Tokenizer = Literal["hf", "mistral", "both", "none"]


class Finding(NamedTuple):
    """A finding about a configuration.

    Attributes:
        kind: `failure` would end the run, `warning` is a waste of resources or a deviation from the
            paper, `unchecked` cannot be determined here, `note` is for information.
        about: The model or the part of the configuration concerned.
        text: The finding.
        mend: Suggested change to the settings.
    """

    kind: Kind
    about: str
    text: str
    mend: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.about}: {self.text}" + (f"; {self.mend}" if self.mend else "")


class Facts(BaseModel):
    """Properties of a model that determine memory use and running time.

    Attributes:
        parameters: Number of parameters.
        width: Bytes per stored parameter.
        context: Maximum number of tokens of prompt and text together, if known.
        gated: Whether terms must be accepted on the hub.
        tokenizer: Kind of tokenizer.
        template: Whether the model has a chat template.
        source: Where these facts come from.
        here: Whether the model is stored on this machine.
    """

    model_config = ConfigDict(frozen=True)

    parameters: float
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    intermediate: int
    vocabulary: int
    context: int | None = None
    width: float = 2.0
    gated: bool = False
    tokenizer: Tokenizer = "hf"
    template: bool = True
    source: str
    here: bool = False

    def weights(self, quantization: str | None = None) -> float:
        """Return the size of the weights in bytes."""
        stored = _STORED.get(quantization, 0.6) if quantization else self.width
        return self.parameters * stored

    def cache(self, tokens: int) -> float:
        """Return the bytes for the keys and values of a text with the given number of tokens."""
        return 2 * self.layers * self.kv_heads * self.head_dim * min(self.width, 2.0) * tokens

    @property
    def activations(self) -> float:
        """Estimated bytes for a vLLM step: the widest layer and the logits of all texts."""
        layer = _BATCHED * (4 * self.hidden + 2 * self.intermediate) * 2
        return layer + 2 * _SEQUENCES * self.vocabulary * 4

    def forward(self, tokens: int = TOKENS, length: int = 1024) -> float:
        """Estimate the bytes for extracting signals: logits, log-probabilities and the attention of
        one layer.
        """
        return tokens * (self.vocabulary * 10 + self.heads * length * 6 + 16 * self.hidden)


def facts_of(files: Iterable[str], read: Callable[[str], Any], **more: Any) -> Facts:
    """Determine facts of a model from the names of its files. `read` reads a JSON file. Parameters
    are counted unless their number is given in `more`.

    Raises:
        ValueError: If config.json does not contain the model's shape.
    """
    there = set(files)
    try:
        shape = _shape(read("config.json"))
        said = read("tokenizer_config.json") if "tokenizer_config.json" in there else {}
    except (OSError, KeyError, TypeError) as error:
        raise ValueError(f"its shape is not told: {brief(error)}") from error
    own = any(name == "tekken.json" or name.startswith("tokenizer.model.v") for name in there)
    usual = bool(there & {"tokenizer.json", "tokenizer.model", "vocab.json"})
    kind: Tokenizer = ("both" if own else "hf") if usual else "mistral" if own else "none"
    named = any(name.startswith("chat_template.") for name in there)
    known = {"tokenizer": kind, "template": named or "chat_template" in said}
    return Facts(**shape | {name: value for name, value in more.items() if value} | known)


def _shape(config: Mapping[str, Any]) -> dict[str, Any]:
    """Read the fields of `Facts` from a config.json, and compute the number of parameters from the
    shape.
    """
    text = config.get("text_config") or config
    hidden, layers = text["hidden_size"], text["num_hidden_layers"]
    heads = text["num_attention_heads"]
    kv_heads, width = text.get("num_key_value_heads") or heads, text["intermediate_size"]
    size, vocabulary = text.get("head_dim") or hidden // heads, text["vocab_size"]
    attention = 2 * hidden * size * (heads + kv_heads)
    embeddings = vocabulary * hidden * (1 if text.get("tie_word_embeddings") else 2)
    counted = layers * (attention + 3 * hidden * width + 2 * hidden) + embeddings + hidden
    dtypes = {each.get(key) for each in (text, config) for key in ("torch_dtype", "dtype")}
    return {
        "parameters": counted,
        "layers": layers,
        "hidden": hidden,
        "intermediate": width,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": size,
        "vocabulary": vocabulary,
        "context": text.get("max_position_embeddings"),
        "width": 4.0 if "float32" in dtypes else 2.0,
    }


@cache
def known_models() -> dict[str, Facts]:
    """Load the facts of well-known models (`models.yaml`), by hub id."""
    text = Path(__file__).with_name("models.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Facts]).validate_python(yaml.safe_load(text))


class AccessError(Exception):
    """Access to the hub failed. The first argument is the reason, the second a suggestion."""


Hub = Callable[[str, str], Facts]
"""Function that looks up a model on the hub by its id and commit. It raises AccessError if access
is denied. Network errors are passed on."""


def from_hub(identity: str, revision: str) -> Facts:
    """Determine facts of a model from its small files on the Hugging Face hub.

    Raises:
        AccessError: If the model does not exist, or this account has no access to it.
        ValueError: If the files do not contain the model's shape.
        Exception: If the hub cannot be reached.
    """
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    hub, commit = HfApi(), revision or None
    try:
        info = hub.model_info(identity, revision=commit, timeout=10)
        hub.auth_check(identity)
    except GatedRepoError as error:
        page = f"https://huggingface.co/{identity}"
        raise AccessError("gated", f"accept its terms at {page}, then `hf auth login`") from error
    except RevisionNotFoundError as error:
        raise AccessError(f"no commit {revision}", "model: name one of its commits") from error
    except RepositoryNotFoundError as error:
        raise AccessError("not found on the hub", "model: a folder or an id of the hub") from error
    return facts_of(
        [file.rfilename for file in info.siblings or ()],
        lambda name: _json(Path(hf_hub_download(identity, name, revision=commit))),
        parameters=info.safetensors and info.safetensors.total,
        gated=bool(info.gated),
        source="the hub",
    )


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def from_folder(folder: Path) -> Facts:
    """Determine facts of a model from its folder.

    Raises:
        ValueError: If its config.json is missing or incomplete.
    """
    files = [file.name for file in folder.iterdir()]
    more = {"parameters": parameters(folder), "source": str(folder), "here": True}
    return facts_of(files, lambda name: _json(folder / name), **more)


class Measured(BaseModel):
    """Speed of a model, measured by `experiments/gpu_check.py`: generated tokens per second over
    all concurrent texts, and traces per second when extracting signals. `engine` is None if only
    signals were measured.
    """

    model: str
    engine: str
    parameters: float
    tokens_per_second: float
    signals_per_second: float | None = None
    peak_gb: float = 0.0


class Rates(BaseModel):
    """Content of the file that `experiments/gpu_check.py` writes."""

    device: str
    memory_gb: float
    versions: dict[str, str] = {}
    runs: list[Measured]


@dataclass(frozen=True)
class Machine:
    """The machine that will run an experiment: number of GPUs, memory of each in GB, and free disk
    space in GB (None if it is not this machine).

    If `assumed`, the GPUs are only an assumption.
    """

    gpus: int = 1
    memory: float = 80.0
    disk: float | None = None
    assumed: bool = False


class _Loaded(NamedTuple):
    config: BackboneConfig
    generation: GenerationConfig
    facts: Facts


def machine(
    config: ExperimentConfig, folder: Path, gpus: int | None = None, memory: float | None = None
) -> Machine:
    """Describe the machine: as specified (number of GPUs, memory of each in GB), or this machine,
    or a machine with as many GPUs as needed.
    """
    import torch

    here, there = torch.cuda.device_count(), folder.absolute()
    while not there.exists():
        there = there.parent
    if here and memory is None:
        memory = torch.cuda.get_device_properties(0).total_memory / GB
    divided = (config.generation.of(model) for model in (*config.backbones, *config.judges))
    needed = max(loading.tensor_parallel or 1 for loading in divided)
    remote = config.generation.engine == "vllm" and not here
    return Machine(
        gpus or here or needed,
        memory or Machine.memory,
        None if remote else shutil.disk_usage(there).free / GB,
        not (gpus or here),
    )


def read_rates(path: Path) -> Rates:
    """Read rates from a file that `experiments/gpu_check.py` wrote.

    Raises:
        SymboUQError: If the file is invalid.
    """
    try:
        return Rates.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SymboUQError(f"no file of measured rates: {error}", str(path)) from error


def check(
    config: ExperimentConfig,
    machine: Machine,
    data: Path | None = None,
    rates: Rates | None = None,
    hub: Hub = from_hub,
) -> Iterator[Finding]:
    """Find what would fail, waste resources or deviate from the paper in an experiment.

    Without `data`, files are not checked. Without `rates`, running times are guesses. `hub` looks
    up models.
    """
    yield from _files(config, data)
    models: list[_Loaded] = []
    unreached: dict[str, str] = {}
    for model in dict.fromkeys([*config.backbones, *config.judges]):
        facts, found = _facts(model, hub, unreached)
        yield from found
        if facts is None:
            continue
        loaded = _Loaded(model, config.generation.of(model), facts)
        models.append(loaded)
        yield from _tokenizer(loaded)
        yield from _memory(loaded, machine)
        if model in config.backbones:
            yield from _signals(loaded, machine)
    if config.nli is not None:
        yield from _facts(BackboneConfig(name="nli", model=config.nli), hub, unreached)[1]
    yield from _unreached(unreached)
    experiment = _planned(config, data)
    yield from _waste(config, machine, models)
    yield from _unread(config, experiment)
    yield from _paper(config)
    yield from _disk(experiment, machine, models)
    yield from _hours(experiment, machine, rates)


def _planned(config: ExperimentConfig, data: Path | None) -> Experiment:
    drawn: dict[str, Any] = {"files": {}, "provider": None, "family": next(iter(FAMILIES))}
    datasets = [
        dataset if dataset.family else dataset.model_copy(update=drawn)
        for dataset in config.datasets
    ]
    config = config.model_copy(update={"datasets": datasets})
    return Experiment(config, Path("check"), data or Path())


def _files(config: ExperimentConfig, data: Path | None) -> Iterator[Finding]:
    read = [(d, split) for d in config.datasets if d.files for split in d.sizes]
    if data is None and read:
        yield Finding("unchecked", "datasets", "their files, without the folder", "give --data")
        return
    for dataset, split in read:
        try:
            dataset_file(dataset, split, data)
        except SettingsError as error:
            if not dataset.optional:
                mend = f"files: a {split} file of `symbouq data import`"
                yield Finding("failure", dataset.name, str(error), mend)


def _facts(
    model: BackboneConfig, hub: Hub, unreached: dict[str, str]
) -> tuple[Facts | None, list[Finding]]:
    """Determine facts of a model from its folder, the hub or `models.yaml`.

    `unreached` collects models that could not be looked up because the hub is unreachable, each
    with the reason.
    """
    facts: Facts | None
    if model.pretrained:
        facts = known_models().get(PRETRAINED[model.pretrained].origin)
        return facts, [Finding("note", model.name, "installed by the run")]
    name = str(model.model)
    folder = folder_of(name)
    if folder is not None:
        try:
            return from_folder(folder), [Finding("note", model.name, f"local: {folder}")]
        except ValueError as error:
            mend = "model: a folder with config.json, tokenizer and weights"
            return None, [Finding("failure", model.name, f"{folder}: {error}", mend)]
    identity, _, revision = name.partition("@")
    if identity.count("/") != 1:
        mend = "model: a folder, relative to the configuration, or an id of the hub"
        return None, [Finding("failure", model.name, f"no folder {name}", mend)]
    if not unreached:
        try:
            facts = hub(identity, revision)
            return facts, [Finding("note", model.name, "the hub gives it")]
        except AccessError as error:
            reason, mend = error.args
            facts = known_models().get(identity)
            return facts, [Finding("failure", model.name, f"{identity} is {reason}", mend)]
        except ValueError as error:
            return None, [Finding("unchecked", model.name, f"{identity}: {error}")]
        except Exception as error:  # without a network, hub clients raise many kinds of errors
            unreached[identity] = brief(error)
    unreached[identity] = next(iter(unreached.values()))
    facts = known_models().get(identity)
    unknown = f"{identity} is not among the models whose shape is known here"
    return facts, [] if facts else [Finding("unchecked", model.name, unknown)]


def _unreached(models: Mapping[str, str]) -> Iterator[Finding]:
    if not models:
        return
    known = known_models()
    gated = [name for name in models if name in known and known[name].gated]
    why = next(iter(models.values()))
    text = f"not reached ({why}), so access to {len(models)} model(s) is not checked"
    mend = f"accept the terms of {', '.join(gated)}, then `hf auth login`" if gated else ""
    yield Finding("unchecked", "the hub", text, mend)


def _tokenizer(model: _Loaded) -> Iterator[Finding]:
    config, facts = model.config, model.facts
    if facts.tokenizer in ("mistral", "none"):
        what = "only Mistral's own tokenizer (tekken.json), which has no chat template"
        text = what if facts.tokenizer == "mistral" else "no tokenizer"
        name = str(config.model).partition("@")[0].rpartition("/")[2]
        copies = [
            other
            for other, known in known_models().items()
            if other.endswith(f"/{name}") and known.tokenizer in ("hf", "both")
        ]
        copies += ["a copy with tokenizer.json and a chat template"]
        yield Finding("failure", config.name, text, f"model: {copies[0]}")
    elif not facts.template and config.chat_template is None:
        yield Finding("failure", config.name, "no chat template", "chat_template: a Jinja file")
    if (
        facts.tokenizer == "both"
        and model.generation.engine == "vllm"
        and model.generation.tokenizer_mode is None
    ):
        text = "a full snapshot has Mistral's own tokenizer as well, which vLLM switches to"
        yield Finding("failure", config.name, text, "tokenizer_mode: hf")


def _memory(model: _Loaded, machine: Machine) -> Iterator[Finding]:
    """Check that the memory suffices for the weights, one text of maximum length, and one step of
    the engine.
    """
    (config, generation, facts), cards = model, model.generation.tensor_parallel or 1
    most = facts.context or CONTEXT
    if generation.context and facts.context and generation.context > facts.context:
        text = f"its context is {facts.context:,} tokens, not {generation.context:,}"
        yield Finding("failure", config.name, text, f"context: {facts.context}")
        return
    context = generation.context or (most if generation.engine == "vllm" else CONTEXT)
    share = (generation.memory or SHARE) if generation.engine == "vllm" else 1.0

    def spare(cards: int, context: int, quantization: str | None) -> float:
        """Return the number of bytes that remain free."""
        room = cards * (machine.memory * GB * share - _RUNTIME)
        held = facts.weights(quantization) + facts.cache(context) + facts.activations
        return room - held

    if cards > machine.gpus and not machine.assumed:
        text = f"it is divided among {cards} cards, and there are {machine.gpus}"
        yield Finding("failure", config.name, text, f"tensor_parallel: {machine.gpus}")
    if spare(cards, context, generation.quantization) >= 0:
        return
    needs = (
        f"weights {facts.weights(generation.quantization) / GB:.1f} GB, KV cache of "
        f"{context:,} tokens {facts.cache(context) / GB:.1f} GB, activations about "
        f"{facts.activations / GB:.1f} GB do not fit into {share:.0%} of {cards} x "
        f"{machine.memory:.0f} GB"
    )
    short = min(context, CONTEXT)
    limit = machine.gpus if not machine.assumed else 8
    divided = [n for n in (1, 2, 4, 8) if cards <= n <= limit and facts.heads % n == 0]
    for number, how in (
        (n, q) for q in dict.fromkeys((generation.quantization, "fp8")) for n in divided
    ):
        if spare(number, short, how) < 0:
            continue
        mends = [f"tensor_parallel: {number}"] if number > cards else []
        mends += [f"context: {short}"] if short < context else []
        mends += [f"quantization: {how}"] if how != generation.quantization else []
        yield Finding("failure", config.name, needs, f"{', '.join(mends)} (under this model)")
        return
    count = ceil((facts.weights("fp8") + facts.activations) / (machine.memory * GB * SHARE))
    yield Finding("failure", config.name, needs, f"model: a smaller one, or {count} cards")


def _signals(model: _Loaded, machine: Machine) -> Iterator[Finding]:
    facts = model.facts
    needed = facts.weights() + facts.forward() + _RUNTIME
    if needed > machine.memory * GB:
        text = f"its signals need {needed / GB:.1f} GB on one card of {machine.memory:.0f} GB"
        yield Finding("failure", model.config.name, text, "model: a smaller one, or a larger card")


def _waste(config: ExperimentConfig, machine: Machine, models: list[_Loaded]) -> Iterator[Finding]:
    if machine.gpus > 1 and config.workers == 1:
        text = f"one stage at a time leaves {machine.gpus - 1} of {machine.gpus} cards idle"
        yield Finding("warning", "workers", text, f"workers: {machine.gpus}")
    whole, alone = config.generation.tensor_parallel or 1, []
    for model in models:
        undivided = model.generation.model_copy(update={"tensor_parallel": 1})
        if model.config.tensor_parallel or whole == 1:
            continue
        if not any(_memory(model._replace(generation=undivided), machine)):
            alone.append(model.config.name)
    if alone:
        text = f"{whole} for every model, and {', '.join(alone)} fit on one card"
        mend = f"tensor_parallel: {whole} under the models that need it"
        yield Finding("warning", "generation.tensor_parallel", text, mend)


def _unread(config: ExperimentConfig, experiment: Experiment) -> Iterator[Finding]:
    references = {judge.name for judge in config.reference_judges}
    every = sum(cell.size for cell in experiment.cells.values())
    judged = sum(c.size for c in experiment.cells.values() if references & c.judged.keys())
    if references and every > judged:
        text = (
            f"they label the {judged:,} traces that a table reads; {1 - judged / every:.0%} of "
            f"{every:,}, of train, validation and free-form, are left out"
        )
        yield Finding("note", "reference_judges", text)
    plain = {d.questions: d.name for d in config.datasets if not d.free_form}
    for dataset in config.datasets:
        if not dataset.free_form or dataset.backbones:
            continue
        pair = {"dataset": plain.get(dataset.questions, ""), "method": "free-form"}
        names = [
            b.name
            for b in config.backbones
            if paper_number("freeform_cot", "gain", backbone=b.name, **pair)
        ]
        others = len(config.backbones) - len(names)
        if names and others:
            each = 1 + config.generation.samples
            number = others * sum(
                size * (1 if split == "train" else each) for split, size in dataset.sizes.items()
            )
            text = (
                f"{number:,} generations that no table of the paper has: it has {names[0]}'s alone"
            )
            yield Finding("warning", dataset.name, text, f"backbones: [{', '.join(names)}]")


def _paper(config: ExperimentConfig) -> Iterator[Finding]:
    """If an experiment uses the paper's backbones and source, find settings that differ from the
    paper.
    """
    if not any(
        paper_number("result", "AUROC", backbone=b.name, dataset=config.source, method="CCP")
        for b in config.backbones
    ):
        return
    names = {entry(name).name for name in config.scorers} or {*SCORERS}
    if config.ccp != "likelihood" and "CCP" in names:
        text = "the paper's CCP is a reduction of the claim's own probabilities"
        yield Finding("warning", "ccp", text, "ccp: likelihood")
    if config.nli is None and names & {"Semantic Entropy", "SelfCheckGPT"}:
        text = "the paper's Semantic Entropy clusters by an entailment model"
        yield Finding("warning", "nli", text, "nli: microsoft/deberta-large-mnli")
    if config.search is None:
        text = "the paper's scorers are tuned on the source (Table search-space)"
        yield Finding("warning", "search", text, "search: {}")


def _disk(experiment: Experiment, machine: Machine, models: list[_Loaded]) -> Iterator[Finding]:
    config, facts = experiment.config, {model.config.name: model.facts for model in models}
    taken: Counter[str] = Counter()
    for known in facts.values():
        taken["models"] += 0 if known.here else int(known.weights())
    samples, views = config.generation.samples, len(config.scorer_views)
    for cell in experiment.cells.values():
        of = facts.get(cell.backbone.name)
        tokens, drawn = cell.size * TRACE_TOKENS, 0 if cell.name.split == "train" else samples
        taken["traces"] += tokens * 350 + cell.size * drawn * 800
        taken["audits"] += cell.size * views * 12_000
        taken["labels"] += cell.size * (1 + len(cell.judged)) * 1_000
        if of is not None:
            ratios = of.layers * (of.heads if config.lookback == "heads" else 1)
            taken["signals"] += tokens * (2 * of.hidden + 2 * ratios + 20)
    told = ", ".join(f"{name} {size / GB:.0f}" for name, size in taken.items())
    total = sum(taken.values()) / GB
    text = f"about {total:.0f} GB ({told})"
    if machine.disk is None or machine.disk >= total:
        yield Finding("note", "disk", text)
    else:
        text += f", and {machine.disk:.0f} GB are free"
        yield Finding("failure", "disk", text, f"--out: a folder with {total:.0f} GB")


def _hours(experiment: Experiment, machine: Machine, rates: Rates | None) -> Iterator[Finding]:
    engine = experiment.config.generation.engine
    runs = sorted(rates.runs if rates else (), key=lambda run: -run.parameters)
    written = next((run for run in runs if run.engine == engine), None)
    passed = next((run for run in runs if run.signals_per_second), None)
    spent: defaultdict[str, float] = defaultdict(float)
    alone = cards = 0.0
    for stage in experiment.run.stages:
        seconds = stage.cost
        if isinstance(stage, Traces) and written:
            texts = stage.cell.size * (1 + stage.generation_settings.samples)
            seconds = _scaled(written, stage.cell.backbone) * texts
        elif isinstance(stage, Judged) and written:
            seconds = _scaled(written, stage.judge) * stage.cell.size
        elif isinstance(stage, Signals) and passed and passed.signals_per_second:
            model = stage.cell.backbone
            seconds = stage.cell.size / passed.signals_per_second
            seconds *= model.parameters / passed.parameters
        spent[stage.kind] += seconds / 3600
        alone += seconds / 3600
        cards += seconds / 3600 * (stage.gpus if stage.on_gpu else 0)
    kinds = ", ".join(
        f"{kind} {hours:.1f}"
        for kind, hours in sorted(spent.items(), key=lambda item: -item[1])
        if hours >= 0.05
    )
    side = experiment.config.workers > 1
    took = max(cards / machine.gpus, alone / experiment.config.workers) if side else alone
    told = [name for name, of in (("generation", written), ("signals", passed)) if of]
    source = "rates are guesses: measure them with experiments/gpu_check.py, then --rates"
    if rates and told:
        source = f"rates of {' and '.join(told)} by {rates.device}, the rest guessed"
    guessed = engine == "transformers" and machine.assumed and not told
    where = MACHINES[engine] if guessed else f"{machine.gpus} card(s)"
    text = f"about {took:.1f} h on {where} ({kinds}); {source}"
    yield Finding("note", "hours", text)


def _scaled(run: Measured, model: Model) -> float:
    return TRACE_TOKENS / run.tokens_per_second * model.parameters / run.parameters
