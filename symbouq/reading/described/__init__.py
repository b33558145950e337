"""Reader of scenes that describe their things: "the medium black square in block A".

A sentence is parsed into clauses over noun phrases (`syntax`), a noun phrase is looked up among
the things mentioned so far (`referents`), a question is parsed into a query (`queries`), and
`reader` combines them for whole traces. The words are data: `ontology/descriptions.lp`.
"""
