"""SymboUQ inside tools that users already work with. Each module needs its host to be installed."""
