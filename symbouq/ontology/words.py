"""Word classes of the grammars. These are the possible classes in lexeme/2.

The grammar defines the function of a class in a sentence, so a class that no reader knows is the
author's mistake.
"""

NAMING = (
    "hedge", "answer", "retraction", "existential", "inference", "reference", "citation",
    "condition", "supposition", "modal", "former", "abbreviation", "gloss", "clipping", "numero",
    "negation", "denial", "reason", "reciprocal", "between", "have", "copula", "relative",
    "possessive", "pronoun", "with", "and", "or", "link", "clock", "hour", "clockless",
    "filler", "article", "by", "respective",
)  # fmt: skip
"""Classes in every reader's lexicon (ontology/language.lp). If a word has several, the first
counts.
"""

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
"""Classes in the grammar of events (ontology/events.lp). If a word has several, the first counts.
"""

AUXILIARY, PICKING = ASKED = ("auxiliary", "picking")
"""Classes of question words. Each word also belongs to another class."""

OPENING = ("fronted", "enumerating", "consequent")
"""Classes of words at the beginning of a sentence. Each word also belongs to another class."""

MEASURES = ("quantity", "unit")
"""Classes of words in measures. Each word also belongs to another class."""

PARTICIPLE = "participle"
"""Class of words in descriptions. Each word also belongs to another class."""

BY_TEXT = frozenset(
    ("past_form", "passive_agent", "infinitive", "viewing", "relative", "determiner")
)
"""Classes of words in texts about events. Each word also belongs to another class."""

CLASSES = frozenset(
    (*NAMING, *DESCRIBING, *EVENTFUL, *ASKED, *OPENING, *MEASURES, PARTICIPLE, *BY_TEXT)
)
