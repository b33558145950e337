"""Cached signals from a model, aligned with the claims in its traces, for use by scorers."""
