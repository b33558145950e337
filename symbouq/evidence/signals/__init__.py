"""What scorers read: cached signals of a model, aligned with the claims of its traces."""
