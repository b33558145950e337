"""SymboUQ audits spatial reasoning traces with logic.

Each claim of a trace is entailed, contradicted, unknown or not evaluable, and every decided claim
comes with its premises. The Determinacy Profile measures how much of the trace is covered.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from symbouq.version import __version__

if TYPE_CHECKING:
    from symbouq import testing
    from symbouq.api import Audit, TraceAuditor, audit, follow, relations_between
    from symbouq.errors import OntologyError, RecordError, SymboUQError
    from symbouq.records import Trace
    from symbouq.report.notebook import claims_frame, plot, traces_frame

__all__ = [
    "Audit",
    "LimitError",
    "OntologyError",
    "RecordError",
    "SymboUQError",
    "Trace",
    "TraceAuditor",
    "__version__",
    "audit",
    "claims_frame",
    "follow",
    "plot",
    "relations_between",
    "testing",
    "traces_frame",
]

_HOMES = {
    "Audit": "api",
    "LimitError": "limits",
    "OntologyError": "errors",
    "RecordError": "errors",
    "SymboUQError": "errors",
    "Trace": "records",
    "TraceAuditor": "api",
    "audit": "api",
    "claims_frame": "report.notebook",
    "follow": "api",
    "plot": "report.notebook",
    "relations_between": "api",
    "testing": "testing",
    "traces_frame": "report.notebook",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that `symbouq --help` is fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"symbouq.{_HOMES[name]}")
    return home if _HOMES[name] == name else getattr(home, name)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
