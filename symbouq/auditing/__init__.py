"""Audits of traces, and answers from scenes."""
