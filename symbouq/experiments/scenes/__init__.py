"""Generated scenes with questions, sound reasoning and the truth.

Five families mirror the answer spaces of the benchmarks. The truth comes from coordinates and
nesting. Nothing here uses the auditor, its rules or its parser, so its labels can judge them.
"""
