"""Logic programs for the relations of a trace."""
