"""Engines by name; the packages of each are imported only where it is asked for."""

from __future__ import annotations

from symbouq.errors import SymboUQError, extra
from symbouq.evidence.generation.engine import ENGINES, Engine, EngineName, Options


def load_engine(name: EngineName, model: str, options: Options | None = None) -> Engine:
    """Loads a model.

    Args:
        name: Which library runs it.
        model: A model's folder, or its id on the Hugging Face hub.
        options: How.

    Raises:
        SymboUQError: If a package is missing, the model cannot be loaded, or the engine
            cannot do what the options say.
    """
    options = options or Options()
    if name == "transformers":
        with extra("models"):
            from symbouq.evidence.generation.transformers_engine import TransformersEngine
        return TransformersEngine(model, options)
    if name == "vllm":
        with extra("vllm"):
            from symbouq.evidence.generation.vllm_engine import VllmEngine
        return VllmEngine(model, options)
    raise SymboUQError(f"there is no engine {name}; there are {', '.join(ENGINES)}")
