"""From a trace to its audit, and what else its scene settles."""
