"""Traces from language models: the prompt, the constrained output, the engines."""
