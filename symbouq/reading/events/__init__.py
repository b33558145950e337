"""Reader and judge of texts about events: "Ann walked out of the garden."

A sentence is parsed into clauses (`grammar`), and clauses become facts. `answers` asks the solver
what holds in every world that the premises allow. The words are data (`ontology/events.lp`), their
consequences are rules (`rules/events.lp`).
"""
