"""Scores for the reliability of a trace's answer: the reliability evidence bank and the
baselines.
"""
