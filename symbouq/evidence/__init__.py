"""What models leave behind: traces, signals, labels, scores."""
