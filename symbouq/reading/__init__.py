"""Read text into relations."""
