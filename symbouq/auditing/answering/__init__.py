"""Questions answered from their scene."""
