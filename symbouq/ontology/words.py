"""The word classes that the grammars know: every class that word/2 may name.

What a class does in a sentence is grammar, so a class that no reader knows is a mistake of
whoever states a word of it.
"""

NAMING = (
    "hedge", "answer", "retraction", "existential", "inference", "reference", "citation",
    "condition", "supposition", "modal", "former", "abbreviation", "gloss", "clipping", "numero",
    "negation", "denial", "reason", "reciprocal", "between", "have", "copula", "relative",
    "possessive", "pronoun", "with", "and", "or", "link", "clock", "hour", "clockless",
    "filler", "article", "by", "respective",
)  # fmt: skip
"""Classes of every reader's lexicon (ontology/language.lp), the first of a word's classes
counts."""

DESCRIBING = (
    "definite", "demonstrative", "indefinite", "additive", "every", "any", "both", "naming",
    "numbering", "stating", "inquiry", "contrast", "source",
    "observing", "topical", "reflexive", "relating",
)  # fmt: skip
"""Those beside it where things are described (ontology/descriptions.lp)."""

EVENTFUL = (
    "being", "having", "doing", "negation", "determiner", "backwards", "at_least", "comparison",
    "and", "existential", "relative", "aside",
    "viewing", "reciprocal", "likeness", "hedging",
)  # fmt: skip
"""Classes of the grammar of events (ontology/events.lp), the first of a word's classes
counts."""

AUXILIARY, PICKING = ASKED = ("auxiliary", "picking")
"""Classes of words of questions, which are of another class, too."""

OPENING = ("fronted", "enumerating", "consequent")
"""The same at the head of a sentence."""

MEASURES = ("quantity", "unit")
"""The same in measures."""

PARTICIPLE = "participle"
"""The same in descriptions."""

BY_TEXT = frozenset(
    ("past_form", "passive_agent", "infinitive", "viewing", "relative", "determiner")
)
"""The same in texts of events."""

CLASSES = frozenset(
    (*NAMING, *DESCRIBING, *EVENTFUL, *ASKED, *OPENING, *MEASURES, PARTICIPLE, *BY_TEXT)
)
