"""Reader of sentences by syntax: a trained parser and the rules in `rules/reading/`."""
