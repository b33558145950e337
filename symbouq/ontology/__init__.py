"""The `.lp` files of an ontology, checked and compiled into the tables of its profiles."""
