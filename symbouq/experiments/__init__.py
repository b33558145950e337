"""Experiments, run in stages. Each stage writes files and is identified by a hash of its inputs."""
