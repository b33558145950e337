"""Answers to a trace's question: the one that is delivered, the scene's own, and what the first is
worth by the second.

`delivered` gives the labels that a text commits to, `answer` those that the scene entails, and
`symbouq.auditing.answers.delivery` judges the one by the other.
"""

from symbouq.auditing.answers.answer import Answer
from symbouq.auditing.answers.matching import (
    AnswerSpace,
    Delivered,
    Kind,
    agrees,
    delivered,
    labels_named,
    space_of,
)
from symbouq.auditing.answers.questions import Parsers, answer

__all__ = [
    "Answer",
    "AnswerSpace",
    "Delivered",
    "Kind",
    "Parsers",
    "agrees",
    "answer",
    "delivered",
    "labels_named",
    "space_of",
]
