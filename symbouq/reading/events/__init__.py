"""Read and judge texts about events: "Ann walked out of the garden."

`grammar` parses a sentence into clauses, which become facts. `answers` asks the solver what holds
in every world that the premises allow. The words are data (`ontology/events.lp`), and their
consequences are rules (`rules/events.lp`).
"""
