"""Answers to a trace's question: the delivered one, the scene's own, and the judgement of one by
the other.

`delivered` gives the labels that a text commits to, `answer` those that the scene entails, and
`symbouq.auditing.answers.delivery` judges the former by the latter.
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
