"""Cached signals of a model, aligned with the claims of its traces: the input of scorers."""
