"""Scenes of the project's own, with questions, sound reasoning and the truth.

Five families mirror the answer spaces of the benchmarks. The truth comes from coordinates
and nesting; nothing here knows the auditor, its rules or its parser, so labels made with it
can judge them.
"""
