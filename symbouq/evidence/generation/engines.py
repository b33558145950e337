"""Loading engines by name. An engine's packages are imported only when the engine is loaded."""

from __future__ import annotations

from symbouq.errors import SymboUQError, extra
from symbouq.evidence.generation.engine import ENGINES, Engine, EngineName, Options


def load_engine(name: EngineName, model: str, options: Options | None = None) -> Engine:
    """Load a model, given as a folder or as an id on the Hugging Face hub.

    Raises:
        SymboUQError: If a package is missing, the model cannot be loaded, or the engine does not
            support an option.
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
