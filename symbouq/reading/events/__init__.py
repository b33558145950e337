"""Read and judge texts about events: "Ann walked out of the garden."

`grammar` parses a sentence into clauses, which become facts. `answers` uses the solver to find what
holds in every world that is consistent with the premises. The words are data
(`ontology/events.lp`), and their consequences are rules (`rules/events.lp`).
"""
