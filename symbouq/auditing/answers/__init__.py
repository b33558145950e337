"""Answers to a trace's question: the delivered answer, the scene's own answer, and the judgement of
the first by the second.

`delivered` returns the labels that a text commits to, and `answer` those that the scene entails.
`symbouq.auditing.answers.delivery` judges the delivered answer by the scene's.
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
