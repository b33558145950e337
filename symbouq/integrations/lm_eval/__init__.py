"""Tasks for lm-evaluation-harness: `lm_eval --include_path FOLDER --tasks symbouq_stepgame`. FOLDER
is the path in `TASKS`, and `--metadata` gives the file of questions.
"""

from pathlib import Path

TASKS = Path(__file__).parent / "tasks"
"""Folder of the tasks."""
