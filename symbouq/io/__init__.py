"""Input and output of records: formats, files, streams, processes and clusters."""
