"""From text to relations."""
