"""Experiments: stages that write files, keyed by their inputs."""
