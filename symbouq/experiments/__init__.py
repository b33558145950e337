"""Experiments: stages that write files and are keyed by their inputs."""
