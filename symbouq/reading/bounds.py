"""Up to where texts are read. What is beyond is not read, so that reading takes time in
proportion to the length of a text.
"""

LONGEST_SENTENCE = 300
"""How many words and marks may stand between two full stops."""

LONGEST_WORD = 1000
"""How many characters without white space are looked at as one piece."""

MOST_PAIRS = 400
"""How many pairs of things one relation may be said of: "A, B and C are left of D and E" has
six."""

MOST_THINGS = 400
"""How many described things a text may speak of: any of them may be meant by a phrase."""

MOST_STOPS = 8
"""How many full stops may stand inside a sentence about described things."""

MOST_WAYS = 20_000
"""How many ways of parsing a sentence about events are tried."""
