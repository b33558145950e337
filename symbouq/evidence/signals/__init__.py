"""Cached signals from a model, aligned with the claims of its traces. Scorers read them."""
