"""The command line of SymboUQ."""
