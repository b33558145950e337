"""Word classes of the grammars: the values of lexeme/2's class.

The grammar defines the role of a class in a sentence, so a class that no reader knows is an
author's mistake.
"""

NAMING = (
    "hedge", "answer", "retraction", "existential", "inference", "reference", "citation",
    "condition", "supposition", "modal", "former", "abbreviation", "gloss", "clipping", "numero",
    "negation", "denial", "reason", "reciprocal", "between", "have", "copula", "relative",
    "possessive", "pronoun", "with", "and", "or", "link", "clock", "hour", "clockless",
    "filler", "article", "by", "respective",
)  # fmt: skip
"""Classes of every reader's lexicon (ontology/language.lp). The first of a word's classes
counts."""

DESCRIBING = (
    "definite", "demonstrative", "indefinite", "additive", "every", "any", "both", "naming",
    "numbering", "stating", "inquiry", "contrast", "source",
    "observing", "topical", "reflexive", "relating",
)  # fmt: skip
"""Additional classes for described things (ontology/descriptions.lp)."""

EVENTFUL = (
    "being", "having", "doing", "negation", "determiner", "backwards", "at_least", "comparison",
    "and", "existential", "relative", "aside",
    "viewing", "reciprocal", "likeness", "hedging",
)  # fmt: skip
"""Classes of the grammar of events (ontology/events.lp). The first of a word's classes counts."""

AUXILIARY, PICKING = ASKED = ("auxiliary", "picking")
"""Classes of question words, which also belong to another class."""

OPENING = ("fronted", "enumerating", "consequent")
"""Such classes at the beginning of a sentence."""

MEASURES = ("quantity", "unit")
"""Such classes in measures."""

PARTICIPLE = "participle"
"""Such a class in descriptions."""

BY_TEXT = frozenset(
    ("past_form", "passive_agent", "infinitive", "viewing", "relative", "determiner")
)
"""Such classes in texts about events."""

CLASSES = frozenset(
    (*NAMING, *DESCRIBING, *EVENTFUL, *ASKED, *OPENING, *MEASURES, PARTICIPLE, *BY_TEXT)
)
