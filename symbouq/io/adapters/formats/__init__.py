"""The trace formats, one module each, named as `--format` takes them (`lm_eval` is `lm-eval`).

A module has a subclass of `symbouq.io.adapters.base.Adapter` and names it `ADAPTER`. It says by
which name or first record it recognises a file (`detects`), and which fields of a trace a record
gives (`fields`); `--map`, the prompt, the id, arrays and lines, compression, bounds and errors are
the base class's.
"""
