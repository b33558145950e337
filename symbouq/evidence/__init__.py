"""The evidence of language models: traces, signals, labels, scores."""
