"""Ontologies: `.lp` files, checked and compiled into the tables of their profiles."""
