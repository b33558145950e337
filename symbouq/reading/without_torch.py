"""spaCy, imported without PyTorch unless one of its pipelines may need it.

thinc, spaCy's numerical library, imports PyTorch if it is installed, which takes more than half of
the time of a command on a few sentences. PyTorch can still be imported later.
"""

import sys
from importlib.util import find_spec

__all__ = ("spacy",)

_NEED_TORCH = ("spacy_transformers", "spacy_curated_transformers")
"""Packages whose pipelines run on PyTorch, through thinc."""


def _import_thinc() -> None:
    if "torch" in sys.modules or "thinc" in sys.modules or any(map(find_spec, _NEED_TORCH)):
        return
    sys.modules["torch"] = None  # type: ignore[assignment]  # its import fails meanwhile
    try:
        import thinc.compat  # noqa: F401
    finally:
        del sys.modules["torch"]


_import_thinc()
import spacy  # noqa: E402
