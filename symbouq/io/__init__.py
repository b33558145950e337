"""Records in and out: formats, files, streams, processes and clusters."""
