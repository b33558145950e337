"""The audit report: one self-contained page that shows audits, or the differences between two."""
