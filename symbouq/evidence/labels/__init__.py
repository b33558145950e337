"""Whether claims and answers are right: sources of labels, and how far they agree."""
