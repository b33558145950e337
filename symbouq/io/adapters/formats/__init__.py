"""The trace formats, one module each, named as for `--format` (`lm_eval` is `lm-eval`).

A module has a subclass of `symbouq.io.adapters.base.Adapter` called `ADAPTER`. The subclass
recognises a file by its name or first record (`detects`), and converts a record to fields of a
trace (`fields`). The base class handles `--map`, the prompt, the id, arrays and lines, compression,
limits and errors.
"""
