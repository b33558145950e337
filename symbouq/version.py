"""Single source of the version number; importing it loads nothing else."""

__version__ = "0.2.0"
