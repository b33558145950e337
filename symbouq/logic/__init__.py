"""The relations of a trace as logic programs."""
