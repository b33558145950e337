"""The trace formats, one module each, named as for `--format` (`lm_eval` is `lm-eval`).

A module has a subclass of `symbouq.io.adapters.base.Adapter` called `ADAPTER`. The subclass says by
which name or first record it recognises a file (`detects`), and which fields of a trace a record
gives (`fields`). The base class handles `--map`, the prompt, the id, arrays and lines, compression,
limits and errors.
"""
