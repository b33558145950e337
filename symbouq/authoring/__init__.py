"""The rule author's kit: check, test, cover, compare, show and start ontologies."""
