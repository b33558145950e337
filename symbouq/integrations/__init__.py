"""Where users already work: the hosts that SymboUQ is used in. Each module needs its host."""
