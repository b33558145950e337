"""Determinacy-Aware Reliability Composer (DARC): scores and a profile to one probability."""
