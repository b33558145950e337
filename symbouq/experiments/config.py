"""Configurations for experiments: YAML files that are checked before anything runs."""

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
    """A part of a configuration. Unknown fields are refused, and values cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


View = Literal["grounded", "non-committal", "dual"]
"""Verdicts that constraint scorers use instead of the verdicts in the assumed context (rows of
Table ablation): verdicts in another context, or both assumed and grounded verdicts."""


class TrainingConfig(_Part):
    """Further training of a backbone (`symbouq backbone train --from`)."""

    steps: Annotated[int, Field(ge=1)] = FURTHER_STEPS
    """Optimiser steps."""
    tokens: Annotated[int, Field(ge=1)] = Plan.tokens
    """Number of tokens per batch, including padding."""
    rate: Annotated[float, Field(gt=0)] = FURTHER_RATE
    """Peak learning rate."""
    seed: int = Plan.seed
    """Seed for the training scenes."""
    hops: tuple[Annotated[int, Field(ge=1, le=3)], ...] = Plan.hops
    """Numbers of hops. A number that is repeated is drawn more often."""
    wordings: str | None = None
    """Training split of a benchmark. Three of four chains use phrasings from it."""
    threads: Annotated[int, Field(ge=1)] | None = None
    """Number of CPU threads for training; default: the experiment's `threads`."""


class LoadingConfig(_Part):
    """How an engine loads and runs a model."""

    batch: Annotated[int, Field(ge=1)] | None = None
    """Number of texts per batch; default: the engine's choice."""
    context: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of tokens of a prompt with its trace; default: the model's maximum."""
    dtype: Literal["float32", "bfloat16", "float16"] | None = None
    """Number format; default: the model's on a GPU, float32 on a CPU."""
    quantization: str | None = None
    """How vLLM quantises weights, such as `fp8`; default: as stored."""
    memory: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of GPU memory for vLLM; default: vLLM's choice."""
    tensor_parallel: Annotated[int, Field(ge=1)] | None = None
    """Number of GPUs across which vLLM splits a model."""
    tokenizer_mode: str | None = None
    """vLLM's tokenizer mode. If a folder also contains Mistral's own tokenizer, `hf` selects the
    one for transformers; default: vLLM's choice."""


class BackboneConfig(LoadingConfig):
    """A model that writes or judges traces. Its loading settings override the settings in
    `generation`.
    """

    name: str
    """Name shown in tables."""
    model: str | None = None
    """Folder or Hugging Face id; pin a commit after `@`."""
    pretrained: str | None = None
    """Name of a pretrained model for `symbouq backbone install`, instead of `model`."""
    training: TrainingConfig | None = None
    """Further training."""
    chat_template: Path | None = None
    """File with a Jinja chat template that replaces the model's own."""

    @property
    def weights(self) -> list[Path]:
        """The model's folder as an input for stages; empty for models from the hub or installed
        models.
        """
        folder = Path(self.model) if self.model is not None else None
        return [folder] if folder is not None and folder.is_dir() else []

    @property
    def identity(self) -> str:
        """Name of the model's folder, or name of the model on the hub or as an installed model."""
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
    """A set of questions: a family of generated scenes, or files of a benchmark."""

    name: str
    """Name shown in tables."""
    family: str | None = None
    """Family of generated scenes (`symbouq scenes`)."""
    provider: str | None = None
    """Dataset from an installed package (entry point `symbouq.datasets`)."""
    files: dict[Split, str] = {}
    """File of each split."""
    sizes: dict[Split, Annotated[int, Field(ge=0)]]
    """Number of questions per split. From a file, the questions with the smallest hashes of their
    ids are taken. Splits from the same file have no rows in common."""
    hops: tuple[int, ...] = ()
    """Numbers of hops to include; default: all."""
    seed: int = 2026
    """Seed for generating scenes or selecting rows."""
    free_form: bool = False
    """Whether models reason in prose, without a schema."""
    backbones: tuple[str, ...] = ()
    """Names of the backbones that answer the questions of this dataset; default: all."""
    optional: bool = False
    """Whether to skip the dataset if the data folder or a file is missing."""

    @property
    def questions(self) -> tuple[Hashable, ...]:
        """Source and selection of the questions, independent of the form of the traces."""
        files = tuple(sorted(self.files.items()))
        return self.family, self.provider, files, self.hops, self.seed

    def passed_over(self, split: Split) -> int:
        """Return the number of rows in a split's file that are used by earlier splits."""
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
    """How traces are generated, and how models are loaded by default."""

    engine: Literal["transformers", "vllm"] = "transformers"
    """Library that runs the models."""
    samples: Annotated[int, Field(ge=0)] = 10
    """Number of additional traces per validation and test question, for the sampling baselines."""
    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Temperature of the samples."""
    seed: int = 2026
    """Seed of the samples."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of tokens of a trace."""

    def of(self, model: BackboneConfig) -> GenerationConfig:
        """Return the generation settings, overridden by the model's own settings."""
        own = model.model_dump(include={*LoadingConfig.model_fields}, exclude_none=True)
        return self.model_copy(update=own)


class _ByPeople(_Part):
    """Human judgements about a backbone's test traces."""

    backbone: str
    """Backbone that wrote the traces."""
    dataset: str
    """Dataset of the questions."""
    file: Path
    """File with the judgements; its path is relative to the configuration."""


class AnnotationConfig(_ByPeople):
    """Relations that people annotated in claims, to measure the parser's F1: JSON Lines with `id`,
    `claim` (from 1) and `relations`, a list of [subject, relation, object].
    """


class HumanLabelsConfig(_ByPeople):
    """Human labels for steps, to measure how well the judge agrees with people: CSV or JSON Lines
    with `id`, `claim` (from 1) and `label` (1 right, 0 wrong).
    """


class ExperimentConfig(_Part):
    """A whole experiment."""

    name: str
    """Name of the run's folder."""
    backbones: Annotated[list[BackboneConfig], Field(min_length=1)]
    """Models that write traces."""
    source: str
    """Dataset for training the scorers. It must have a `train` split."""
    datasets: Annotated[list[DatasetConfig], Field(min_length=1)]
    """The source and the targets."""
    generation: GenerationConfig = GenerationConfig()
    """Settings for generation."""
    profile: str | None = None
    """Profile for all audits; default: the profile of each dataset."""
    answers: Answers = "answer"
    """How conclusions are judged: `answer`, or `relation` for the strict auditor of the paper."""
    pipeline: str | None = None
    """English pipeline that parses open text; default: the first one installed."""
    lookback: Literal["heads", "pooled"] = "heads"
    """Lookback ratios: `heads` for every head, `pooled` for their mean per layer."""
    scorers: list[str] = []
    """Scorers to use, by their names in the paper. Constraint-Rule must be included; default:
    all."""
    nli: str | None = None
    """Entailment model for Semantic Entropy and SelfCheckGPT, as a folder or a Hugging Face id;
    default: the auditor's rules decide."""
    ccp: ClaimProbability = "alternatives"
    """Form of CCP: with the `alternatives` of each token, or the claim's own `likelihood`."""
    selfcheck: SelfCheck = "support"
    """Form of SelfCheckGPT: by samples that `support` a claim, or by `contradiction`."""
    views: list[View | Literal["worlds"]] = []
    """Views in addition to the assumed context. The constraint scorers are retrained on each
    view."""
    judge: BackboneConfig | None = None
    """Model that labels reasoning steps if there are no other labels."""
    reference_judges: list[BackboneConfig] = []
    """Models that label the same steps, to measure how well the judge agrees with them."""
    annotations: list[AnnotationConfig] = []
    """Relations that people annotated in some claims."""
    human_labels: list[HumanLabelsConfig] = []
    """Human labels for some steps."""
    epsilon: Annotated[float, Field(ge=0, le=0.5)] = EPSILON
    """Screening threshold. The composer drops candidates with an AUROC closer to 1/2 than this."""
    folds: Annotated[int, Field(ge=1)] = FOLDS
    """Number of validation folds for choosing features and regularisation."""
    epsilons: tuple[Annotated[float, Field(ge=0, le=0.5)], ...] = (0.01, 0.02, 0.03, 0.04, 0.05)
    """Values of `epsilon` tried in Table search-space."""
    fold_numbers: tuple[Annotated[int, Field(ge=1)], ...] = (1, 3, 5, 7, 10)
    """Values of `folds` tried in Table search-space."""
    validation_sizes: tuple[Annotated[int, Field(ge=2)], ...] = (8, 16, 32, 64, 128)
    """Numbers of target labels in Table valsize; there is one subsample per seed."""
    replayed: Annotated[int, Field(ge=1)] = 250
    """Number of test traces per backbone and dataset in Table prefix."""
    threads: Annotated[int, Field(ge=1)] | None = None
    """Number of CPU threads for models and networks; default: all cores."""
    workers: Annotated[int, Field(ge=1)] = 1
    """Number of stages that run concurrently on this machine. Each model has its own process; with
    GPUs, there is at most one per GPU."""
    seeds: Annotated[list[int], Field(min_length=1)] = [2026, 2027, 2028, 2029, 2030]
    """Seeds for the trained scorers."""
    search: Grid | None = None
    """Grid for tuning the scorers with the first seed. Without a grid, the next three keys
    apply."""
    epochs: Annotated[int, Field(ge=1)] = 30
    """Number of training epochs."""
    width: Annotated[int, Field(ge=1)] = 256
    """Hidden width."""
    learning_rate: Annotated[float, Field(gt=0)] = 2e-4
    """Learning rate. It is larger than in the paper because there are few traces."""

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
        """The judge, if there is one, and the reference judges."""
        return [*([self.judge] if self.judge else []), *self.reference_judges]

    def judges_of(self, dataset: DatasetConfig, split: Split) -> list[BackboneConfig]:
        """Return the judges that provide labels for a split.

        The judge's labels are used for training and in the tables about steps. The reference
        judges' labels on test traces are used in the table of agreement. For free-form traces,
        labels are used only for training.
        """
        judge = [self.judge] if self.judge else []
        if dataset.free_form:
            return judge if dataset.name == self.source else []
        return [*judge, *(self.reference_judges if split == "test" else [])]

    @property
    def scorer_views(self) -> list[View | None]:
        """Views for the constraint scorers: None (the assumed context), followed by the views in
        `views`.
        """
        return [None, *(view for view in self.views if view != "worlds")]


def read_config(path: Path) -> ExperimentConfig:
    """Read a configuration from a YAML file, with absolute paths to model folders.

    Raises:
        SettingsError: If the file cannot be read or contains invalid values. The message lists all
            of them.
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
