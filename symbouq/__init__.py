"""SymboUQ audits spatial reasoning traces with logic."""

__version__ = "0.1.0"
