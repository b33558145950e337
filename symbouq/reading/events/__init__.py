"""Reading and judging texts about what happens where: "Ann walked out of the garden."

A sentence is parsed into clauses (`grammar`), clauses become facts, and `answers` asks the
solver what holds in every world that the premises allow. What the words mean is data
(`ontology/events.lp`), what follows from them are rules (`rules/events.lp`).
"""
