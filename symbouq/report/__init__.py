"""The audit report: one self-contained page that shows audits, or what differs between two."""
