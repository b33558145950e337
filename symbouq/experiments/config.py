"""Configurations of experiments: YAML files, checked before anything runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.registry import entry
from symbouq.evidence.scorers.settings import ClaimProbability, SelfCheck
from symbouq.evidence.scorers.sweep import Grid
from symbouq.experiments.backbones.plan import FURTHER_RATE, FURTHER_STEPS, Plan
from symbouq.experiments.backbones.pretrained import PRETRAINED
from symbouq.experiments.scenes.families import FAMILIES
from symbouq.io.settings import read_settings
from symbouq.records import Answers
from symbouq.reliability.darc import EPSILON, FIXED, FOLDS

_People = TypeVar("_People", bound="_ByPeople")

_ONLY_VLLM = ("quantization", "memory", "tensor_parallel", "tokenizer_mode")

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")


class _Part(BaseModel):
    """A part of a configuration: no other fields, no changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


View = Literal["grounded", "non-committal", "dual"]
"""Verdicts that the constraint scorers see in place of those of the assumed context (rows of Table
ablation): of another context, or assumed and grounded ones side by side."""


class TrainingConfig(_Part):
    """How a backbone is trained further before it is used (`symbouq backbone train --from`)."""

    steps: Annotated[int, Field(ge=1)] = FURTHER_STEPS
    """Optimiser steps."""
    tokens: Annotated[int, Field(ge=1)] = Plan.tokens
    """Tokens in a batch, padding included."""
    rate: Annotated[float, Field(gt=0)] = FURTHER_RATE
    """Peak learning rate."""
    seed: int = Plan.seed
    """Draws the scenes that it is trained on."""
    hops: tuple[Annotated[int, Field(ge=1, le=3)], ...] = Plan.hops
    """Numbers of hops of these scenes; one that stands there twice is drawn twice as often."""
    wordings: str | None = None
    """Training split of a benchmark, relative to the data folder, whose sentences word three
    chains of four."""
    threads: Annotated[int, Field(ge=1)] | None = None
    """Threads of the training on a CPU; `threads` of the experiment where absent."""


class LoadingConfig(_Part):
    """How an engine loads a model and runs it."""

    batch: Annotated[int, Field(ge=1)] | None = None
    """Texts side by side; the engine's own choice where absent."""
    context: Annotated[int, Field(ge=1)] | None = None
    """Most tokens of a prompt with its trace; as many as the model takes where absent."""
    dtype: Literal["float32", "bfloat16", "float16"] | None = None
    """Numbers that the model computes with; its own on a GPU, float32 on a CPU, where absent."""
    quantization: str | None = None
    """How vLLM quantises weights, such as `fp8`; as they are stored where absent."""
    memory: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of a GPU's memory that vLLM takes; its own choice where absent."""
    tensor_parallel: Annotated[int, Field(ge=1)] | None = None
    """GPUs that vLLM divides a model among; one where absent."""
    tokenizer_mode: str | None = None
    """Which tokenizer vLLM loads: `hf` for that of transformers where a folder has Mistral's own as
    well, which vLLM prefers; vLLM's own choice where absent."""


class BackboneConfig(LoadingConfig):
    """A model whose traces are scored, or that judges them; how it is loaded goes before what
    `generation` says.
    """

    name: str
    """Its name in tables."""
    model: str | None = None
    """Its folder, relative to the configuration, or its id on the Hugging Face hub, with a commit
    after `@` where it is pinned."""
    pretrained: str | None = None
    """In place of `model`, the name of a pretrained model that `symbouq backbone install` knows."""
    training: TrainingConfig | None = None
    """How it is trained further; not at all where absent."""
    chat_template: Path | None = None
    """File with a Jinja chat template, in place of the model's own; the path starts from the
    configuration."""

    @property
    def weights(self) -> list[Path]:
        """Its folder, as an input of stages; empty where it comes from the hub or is installed."""
        folder = Path(self.model) if self.model is not None else None
        return [folder] if folder is not None and folder.is_dir() else []

    @property
    def identity(self) -> str:
        """The name of its folder, wherever that lies, or its name on the hub or as installed."""
        if self.model is None:
            return self.pretrained or ""
        return Path(self.model).name if self.weights else self.model

    @model_validator(mode="after")
    def _one_source(self) -> BackboneConfig:
        if (self.model is None) == (self.pretrained is None):
            raise ValueError(f"backbone {self.name} needs either `model` or `pretrained`")
        if self.pretrained is not None and self.pretrained not in PRETRAINED:
            known = ", ".join(PRETRAINED)
            raise ValueError(f"unknown pretrained model {self.pretrained}; there are {known}")
        return self


class DatasetConfig(_Part):
    """Questions: a family of generated scenes, or files of a benchmark."""

    name: str
    """Its name in tables."""
    family: str | None = None
    """Family of generated scenes (`symbouq scenes`)."""
    provider: str | None = None
    """Name by which an installed package brings questions (entry points `symbouq.datasets`)."""
    files: dict[Split, str] = {}
    """Files by split, relative to the data folder."""
    sizes: dict[Split, Annotated[int, Field(ge=0)]]
    """Questions of each split; of a file those whose ids have the smallest hashes, and of one that
    several splits name those that come next."""
    hops: tuple[int, ...] = ()
    """Numbers of hops that are taken; all where empty."""
    seed: int = 2026
    """Draws scenes, or the rows of files."""
    free_form: bool = False
    """Whether models reason in prose, with no schema."""
    backbones: tuple[str, ...] = ()
    """Names of the backbones that answer it; all where empty."""
    optional: bool = False
    """Whether it is left out where no data folder, or not this file, is given."""

    @property
    def questions(self) -> tuple[Hashable, ...]:
        """Source and drawing of the questions, whatever the form of the traces."""
        files = tuple(sorted(self.files.items()))
        return self.family, self.provider, files, self.hops, self.seed

    def passed_over(self, split: Split) -> int:
        """How many rows of a split's file the splits before it take."""
        earlier = SPLITS[: SPLITS.index(split)]
        same = (other for other in earlier if self.files.get(other) == self.files.get(split))
        return sum(self.sizes.get(other, 0) for other in same) if self.files else 0

    @model_validator(mode="after")
    def _one_source(self) -> DatasetConfig:
        sources = self.family, self.provider, self.files or None
        if sum(source is not None for source in sources) != 1:
            raise ValueError(f"dataset {self.name} needs either `family`, `files` or `provider`")
        if self.family is not None and self.family not in FAMILIES:
            raise ValueError(f"unknown family {self.family}; there are {', '.join(FAMILIES)}")
        missing = [split for split in self.sizes if self.files and split not in self.files]
        if missing:
            raise ValueError(f"dataset {self.name} has no file for {', '.join(missing)}")
        return self


class GenerationConfig(LoadingConfig):
    """How traces are generated, and models loaded of which nothing else is said."""

    engine: Literal["transformers", "vllm"] = "transformers"
    """Which library runs the models."""
    samples: Annotated[int, Field(ge=0)] = 10
    """Further traces of each validation and test question, for the sampling baselines."""
    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Temperature of the samples."""
    seed: int = 2026
    """Draws the samples."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Most tokens of a trace; as many as the longest structured trace has characters, or 1,024 of a
    free-form one, where absent."""

    def of(self, model: BackboneConfig) -> GenerationConfig:
        """The same with what is set of a model in place of its own."""
        own = model.model_dump(include={*LoadingConfig.model_fields}, exclude_none=True)
        return self.model_copy(update=own)


class _ByPeople(_Part):
    """What people say of a backbone's test traces."""

    backbone: str
    """Whose traces."""
    dataset: str
    """About which questions."""
    file: Path
    """Its file; the path starts from the configuration."""


class AnnotationConfig(_ByPeople):
    """Relations that people read in claims, for the parser's F1: JSON Lines with `id`, `claim`
    (from 1) and `relations`, a list of [subject, relation, object].
    """


class HumanLabelsConfig(_ByPeople):
    """Labels that people gave to steps, for the agreement of the judge with people: CSV or JSON
    Lines with `id`, `claim` (from 1) and `label` (1 right, 0 wrong).
    """


class ExperimentConfig(_Part):
    """A whole experiment."""

    name: str
    """Names the run's folder."""
    backbones: Annotated[list[BackboneConfig], Field(min_length=1)]
    """The models."""
    source: str
    """The dataset that scorers are trained on; it needs a `train` split."""
    datasets: Annotated[list[DatasetConfig], Field(min_length=1)]
    """Source and targets."""
    generation: GenerationConfig = GenerationConfig()
    """How traces are generated."""
    profile: str | None = None
    """Profile of every audit; each dataset's own where absent."""
    answers: Answers = "answer"
    """How conclusions are judged; `relation` is the paper's strict auditor."""
    pipeline: str | None = None
    """Package of the English pipeline that parses open text; the first installed where absent."""
    lookback: Literal["heads", "pooled"] = "heads"
    """Lookback ratios of every head, or their mean over a layer's."""
    scorers: list[str] = []
    """Scorers by their names in the paper, Constraint-Rule among them; all where empty."""
    nli: str | None = None
    """Entailment model that decides when samples agree, for Semantic Entropy and SelfCheckGPT: its
    folder, relative to the configuration, or its id on the Hugging Face hub; the auditor's rules
    decide where absent."""
    ccp: ClaimProbability = "alternatives"
    """Form of CCP: by the alternatives of each token, or by the likelihood of the claim."""
    selfcheck: SelfCheck = "support"
    """Form of SelfCheckGPT: by the samples that support a claim, or by those that contradict it."""
    views: list[View | Literal["worlds"]] = []
    """In place of the assumed context: constraint scorers are trained again on each; `worlds` is
    `dual` with how the answer stands in the worlds that the scene leaves possible."""
    judge: BackboneConfig | None = None
    """Labels the reasoning steps of traces that have no other labels."""
    reference_judges: list[BackboneConfig] = []
    """Judge the same steps, for the agreement of the judge with others."""
    annotations: list[AnnotationConfig] = []
    """Relations of some claims, as people read them."""
    human_labels: list[HumanLabelsConfig] = []
    """Steps of some traces, as people judge them."""
    epsilon: Annotated[float, Field(ge=0, le=0.5)] = EPSILON
    """Distance of a candidate's AUROC from 1/2 below which the composer leaves it out."""
    folds: Annotated[int, Field(ge=1)] = FOLDS
    """Folds of validation by which the composer chooses its features and their regularisation."""
    epsilons: tuple[Annotated[float, Field(ge=0, le=0.5)], ...] = (0.01, 0.02, 0.03, 0.04, 0.05)
    """Values of `epsilon` whose compositions Table search-space compares."""
    fold_numbers: tuple[Annotated[int, Field(ge=1)], ...] = (1, 3, 5, 7, 10)
    """Values of `folds` whose compositions Table search-space compares."""
    validation_sizes: tuple[Annotated[int, Field(ge=2)], ...] = (8, 16, 32, 64, 128)
    """Target labels of Table valsize; there are as many subsamples of each as seeds."""
    replayed: Annotated[int, Field(ge=1)] = 250
    """Test traces of each backbone and dataset in Table prefix."""
    threads: Annotated[int, Field(ge=1)] | None = None
    """Threads of the models and networks on a CPU; all cores where absent."""
    workers: Annotated[int, Field(ge=1)] = 1
    """Stages that this machine works on side by side, each model in a process of its own; of those
    on a GPU as many as there are GPUs."""
    seeds: Annotated[list[int], Field(min_length=1)] = [2026, 2027, 2028, 2029, 2030]
    """Seeds of the trained scorers."""
    search: Grid | None = None
    """How they are tuned, once for each scorer, with the first seed; where absent, or for what is
    not tuned, the three keys below hold."""
    epochs: Annotated[int, Field(ge=1)] = 30
    """Epochs of their training."""
    width: Annotated[int, Field(ge=1)] = 256
    """Their hidden width."""
    learning_rate: Annotated[float, Field(gt=0)] = 2e-4
    """Their learning rate; with few traces, and so few steps, a larger one than the paper's."""

    @model_validator(mode="after")
    def _has_source(self) -> ExperimentConfig:
        models: dict[str, BackboneConfig] = {}
        for model in (*self.backbones, *self.judges):
            if models.setdefault(model.name, model) != model:
                raise ValueError(f"two models have the name {model.name}")
        loaded = {"generation": self.generation, **models}
        for name, loading in loaded.items() if self.generation.engine != "vllm" else ():
            if told := [key for key in _ONLY_VLLM if getattr(loading, key) is not None]:
                raise ValueError(f"{name}: {told[0]} is a setting of the engine vllm")
        names = [dataset.name for dataset in self.datasets]
        if len(set(names)) < len(names):
            raise ValueError("two datasets have one name")
        backbones = {backbone.name for backbone in self.backbones}
        for dataset in self.datasets:
            if unknown := set(dataset.backbones) - backbones:
                raise ValueError(f"dataset {dataset.name}: no backbone {sorted(unknown)[0]}")
        source = next((d for d in self.datasets if d.name == self.source), None)
        if source is None:
            raise ValueError(f"source {self.source} is none of the datasets")
        if source.backbones:
            raise ValueError(f"source {self.source}: every backbone answers it")
        if not source.sizes.get("train"):
            raise ValueError(f"source {self.source} needs a `train` split")
        for dataset in self.datasets:
            used = dataset is source or dataset.sizes.get("test")
            if used and not dataset.sizes.get("validation"):
                raise ValueError(
                    f"dataset {dataset.name} needs a `validation` split: it calibrates the scores"
                )
        try:
            scorers = {entry(name).name for name in self.scorers}
        except SymboUQError as error:
            raise ValueError(error.message) from error
        if scorers and FIXED not in scorers:
            raise ValueError(f"`scorers` needs {FIXED}: it stands in where labels have one class")
        pairs = {
            (backbone, dataset.name)
            for dataset in self.datasets
            for backbone in dataset.backbones or backbones
        }
        by_people: dict[str, Sequence[_ByPeople]]
        by_people = {"annotations": self.annotations, "human_labels": self.human_labels}
        for key, items in by_people.items():
            about = [(item.backbone, item.dataset) for item in items]
            if len(set(about)) < len(about):
                raise ValueError(f"{key}: one file for a backbone and a dataset")
            for backbone, name in about:
                if (backbone, name) not in pairs:
                    raise ValueError(f"{key} of {backbone} on {name}: no such traces")
        for view, needed in (("dual", "grounded"), ("worlds", "dual")):
            if view in self.views and needed not in self.views:
                raise ValueError(f"the view `{view}` needs the view `{needed}` beside it")
        return self

    @property
    def judges(self) -> list[BackboneConfig]:
        """The judge, where there is one, and the reference judges."""
        return [*([self.judge] if self.judge else []), *self.reference_judges]

    def judges_of(self, dataset: DatasetConfig, split: Split) -> list[BackboneConfig]:
        """The judges of whose labels of a split something is made: training and tables about steps
        read the judge's, the table of agreement the reference judges' of tested traces, and none of
        them reads labels of prose but training.
        """
        judge = [self.judge] if self.judge else []
        if dataset.free_form:
            return judge if dataset.name == self.source else []
        return [*judge, *(self.reference_judges if split == "test" else [])]

    @property
    def scorer_views(self) -> list[View | None]:
        """The views that the constraint scorers are trained on: None, the assumed context, and
        after it those of `views`.
        """
        return [None, *(view for view in self.views if view != "worlds")]


def read_config(path: Path) -> ExperimentConfig:
    """A configuration from its YAML file; models' folders become absolute.

    Raises:
        SettingsError: If the file cannot be read or a value is wrong; every fault is named.
    """
    config = read_settings(path, ExperimentConfig)

    def beside(item: _People) -> _People:
        return item.model_copy(update={"file": path.parent / item.file})

    def found(model: str) -> str:
        folder = (path.parent / model).resolve()
        return str(folder) if folder.is_dir() else model

    def placed(model: BackboneConfig) -> BackboneConfig:
        update: dict[str, Any] = {"model": model.model and found(model.model)}
        if model.chat_template is not None:
            update["chat_template"] = path.parent / model.chat_template
        return model.model_copy(update=update)

    return config.model_copy(
        update={
            "backbones": [placed(backbone) for backbone in config.backbones],
            "judge": config.judge and placed(config.judge),
            "reference_judges": [placed(judge) for judge in config.reference_judges],
            "nli": config.nli and found(config.nli),
            "annotations": [*map(beside, config.annotations)],
            "human_labels": [*map(beside, config.human_labels)],
        }
    )
