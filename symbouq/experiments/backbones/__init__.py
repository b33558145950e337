"""Small language models of the project's own, trained from nothing on generated scenes."""
