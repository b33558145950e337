"""Tools for rule authors: check, test, cover, compare, show and start ontologies."""
