"""Generating traces with language models: prompts, constrained output and engines."""
