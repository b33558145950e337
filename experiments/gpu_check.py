"""Rates of this machine, for `symbouq experiment check --rates`: tokens a second that transformers,
and vLLM where it is installed, generate, traces a second that signals are taken of, and memory.

The models are SmolLM2-135M-Instruct, or random weights in its shape where it cannot be had, and
random weights in the shape of an 8B model, which need no download. Laid out for at most eight
minutes on one H100.

    python experiments/gpu_check.py --to rates.json
    python experiments/gpu_check.py --to rates.json --tiny    # a few seconds on a CPU
"""

from __future__ import annotations

import gc
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import click
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from symbouq.errors import SymboUQError
from symbouq.evidence.contract import SCHEMA
from symbouq.evidence.devices import best_device
from symbouq.evidence.generation.engine import Engine, EngineName, Options, Request
from symbouq.evidence.generation.engines import load_engine
from symbouq.evidence.generation.models import find_model, load_network, load_tokenizer, parameters
from symbouq.evidence.generation.prompts import Chat, user_message
from symbouq.evidence.signals.forward import Forced, ForcedPass
from symbouq.experiments.backbones.pretrained import install
from symbouq.experiments.backbones.training import train_tokenizer
from symbouq.experiments.check import GB, TRACE_TOKENS, Facts, Measured, Rates, known_models
from symbouq.experiments.scenes.families import problems
from symbouq.io.output import replacing
from symbouq.records import Instance, make_record

TINY = Facts(
    parameters=0,
    layers=2,
    heads=4,
    kv_heads=2,
    head_dim=16,
    hidden=64,
    intermediate=128,
    vocabulary=1024,
    context=2048,
    source="made here",
)


class Load(NamedTuple):
    """How much is measured.

    Attributes:
        texts: Texts, a batch of which is generated side by side; vLLM has them all at once.
        batch: Texts of a batch.
        tokens: Tokens of each.
        traces: Traces that signals are taken of.
    """

    texts: int
    batch: int
    tokens: int
    traces: int


WHOLE, LITTLE = Load(128, 64, TRACE_TOKENS, 256), Load(4, 4, 8, 4)


def messages(count: int) -> list[str]:
    """User messages about generated scenes."""
    drawn = enumerate(problems("chains", count, 2026))
    records = (problem.record(str(n)) for n, problem in drawn)
    return [user_message(make_record(Instance, record)) for record in records]


def random_model(shape: Facts, folder: Path) -> Path:
    """A folder with random weights in the shape of a model, and a tokenizer of few words."""
    tokenizer = train_tokenizer(messages(64), min(1024, shape.vocabulary))
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.intermediate,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        max_position_embeddings=shape.context or 2048,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    config.dtype = torch.bfloat16
    with torch.device(best_device()):
        LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    _release()
    return folder


def generated(name: EngineName, folder: Path, load: Load) -> tuple[float, float]:
    """Tokens a second that an engine generates, and GB of memory at the most."""
    options = Options(
        batch_size=load.batch if name == "transformers" else None, masked_logprobs=False
    )
    engine: Engine = load_engine(name, str(folder), options)
    # A long text, so that random weights do not end it before.
    requests = [
        Request(text, load.tokens, SCHEMA, 1.0, n) for n, text in enumerate(messages(load.texts))
    ]
    engine.generate(requests[: load.batch // 4])  # the first is slower
    _reset()
    started = monotonic()
    made = engine.generate(requests)
    seconds = monotonic() - started
    return sum(one.length for one in made) / seconds, _peak()


def signalled(folder: Path, load: Load) -> tuple[float, float]:
    """Traces a second that signals are taken of, and GB of memory at the most."""
    model = find_model(str(folder))
    chat = Chat(load_tokenizer(model))
    network = load_network(model, best_device(), attn_implementation="eager")
    forced = ForcedPass(network, "pooled")
    draw = random.Random(2026)
    sequences = [
        Forced(chat.ids(text), [draw.randrange(5, 300) for _ in range(load.tokens)], str(n))
        for n, text in enumerate(messages(load.traces))
    ]
    forced.signals(sequences[: load.traces // 4])
    _reset()
    started = monotonic()
    forced.signals(sequences)
    return load.traces / (monotonic() - started), _peak()


def measured(name: str, folder: Path, load: Load, device: str) -> Iterator[Measured]:
    """The rates of a model by each engine that is installed."""
    signals, peak = signalled(folder, load)
    _release()
    engines: list[EngineName] = ["transformers", "vllm"]
    for engine in engines:
        if engine == "vllm" and (device == "cpu" or find_spec("vllm") is None):
            continue
        try:
            speed, most = generated(engine, folder, load)
        except SymboUQError as error:
            click.echo(f"{name}, {engine}: {error}", err=True)
            continue
        _release()
        click.echo(f"{name}, {engine}: {speed:.0f} tokens/s, {signals:.1f} signals/s", err=True)
        yield Measured(
            model=name,
            engine=engine,
            parameters=parameters(folder),
            tokens_per_second=speed,
            signals_per_second=signals,
            peak_gb=max(peak, most),
        )


@contextmanager
def _room() -> Iterator[Path]:
    """A folder, in memory where there is room: 16 GB are written and read again."""
    memory = Path("/dev/shm")
    large = memory.is_dir() and shutil.disk_usage(memory).free > 40 * GB
    with tempfile.TemporaryDirectory(dir=memory if large else None) as folder:
        yield Path(folder)


def _release() -> None:
    gc.collect()
    torch.cuda.empty_cache()


def _reset() -> None:
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()


def _peak() -> float:
    return torch.cuda.max_memory_allocated() / GB if torch.cuda.is_available() else 0.0


def smollm2(folder: Path) -> Path:
    """SmolLM2, or random weights in its shape where it cannot be had."""
    try:
        return install("smollm2", folder / "installed")
    except SymboUQError as error:
        click.echo(f"random weights in place of SmolLM2: {error}", err=True)
        return random_model(
            known_models()["HuggingFaceTB/SmolLM2-135M-Instruct"], folder / "random"
        )


@click.command(help=__doc__)
@click.option("--to", type=click.Path(dir_okay=False, path_type=Path), required=True)
@click.option("--tiny", is_flag=True, help="A tiny model, to see that it runs.")
def main(to: Path, tiny: bool) -> None:
    device = best_device()
    runs: list[Measured] = []
    makers = {"SmolLM2-135M": smollm2, "random 8B": _random_8b}
    if tiny:
        makers = {"tiny": lambda folder: random_model(TINY, folder / "tiny")}
    for name, make in makers.items():
        with _room() as folder:
            runs += measured(name, make(folder), LITTLE if tiny else WHOLE, device)
    properties = torch.cuda.get_device_properties(0) if device == "cuda" else None
    packages = ("torch", "transformers", "vllm")
    rates = Rates(
        device=properties.name if properties else "cpu",
        memory_gb=properties.total_memory / GB if properties else 0.0,
        versions={each: version(each) for each in packages if find_spec(each)},
        runs=runs,
    )
    with replacing(to) as stream:
        stream.write(rates.model_dump_json(indent=1).encode() + b"\n")


def _random_8b(folder: Path) -> Path:
    return random_model(known_models()["meta-llama/Llama-3.1-8B-Instruct"], folder / "random")


if __name__ == "__main__":
    main()
