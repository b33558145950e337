"""Read sentences with a trained parser and the rules in `rules/reading/`."""
