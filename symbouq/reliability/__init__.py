"""The Determinacy-Aware Reliability Composer (DARC): many scores and a profile, one probability."""
