"""Read scenes that describe their things: "the medium black square in block A".

`syntax` parses a sentence into clauses over noun phrases. `referents` finds the thing for each noun
phrase among the things mentioned so far. `queries` parses a question into a query. `reader`
combines them for whole traces. The words come from `ontology/descriptions.lp`.
"""
