"""Reading: text to relations."""
