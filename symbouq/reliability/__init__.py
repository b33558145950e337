"""Determinacy-Aware Reliability Composer (DARC): combines scores and a profile into one
probability.
"""
