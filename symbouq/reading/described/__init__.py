"""Reading scenes that describe their things: "the medium black square in block A".

A sentence is parsed into clauses over noun phrases (`syntax`), a noun phrase is looked up
among the things spoken of so far (`referents`), a question is parsed into what it asks
(`queries`), and `reader` reads whole traces with them. What the words mean is data:
`ontology/descriptions.lp`.
"""
