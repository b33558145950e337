"""Evidence about language models' answers: traces, signals, labels and scores."""
