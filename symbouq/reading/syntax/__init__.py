"""Sentences read by their syntax: a trained parser, and the rules in `rules/reading/`."""
