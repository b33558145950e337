"""Texts read by a language model: what it is asked, and what its replies say, judged."""
