"""Scores for how reliable a trace's answer is: the reliability evidence bank and its baselines."""
