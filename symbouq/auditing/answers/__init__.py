"""Answers to a trace's question: the delivered answer, the answer that follows from the scene, and
the comparison of the two.

`delivered` returns the labels that a response commits to. `answer` returns the labels that the
scene entails. `symbouq.auditing.answers.delivery` compares the two.
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
