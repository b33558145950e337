"""What exists and how it is said: the `.lp` files of an ontology, checked and compiled."""
