"""Generated scenes with questions, sound reasoning and the true labels.

The five families mirror the benchmarks' answer spaces. Truth is computed from coordinates and
nesting. Nothing here uses the auditor, its rules or its parser, so the labels can be used to
evaluate the auditor.
"""
