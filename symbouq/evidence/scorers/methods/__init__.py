"""Scorers, one module per family; `symbouq.evidence.scorers.registry` finds them.

To add one, subclass `Scorer` in the module for its family, or in a new one. Declare `name`,
`family`, `needs`, `orientation` and whether it is `banked` (a candidate of the composer), and
implement `values`. For a network, subclass `Learned` and implement `build`.
"""
