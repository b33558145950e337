"""Read whole traces with any parser: scene, question and claims, in this order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from symbouq.reading.claims import Claims, SentenceParser
from symbouq.reading.clauses import Clauses
from symbouq.reading.faults import InternalError
from symbouq.reading.segments import Response, Segment, segmented, structured
from symbouq.reading.text import ParsedTrace, Question, Statement


class Told(NamedTuple):
    """The texts of a trace, as input for a reader.

    Attributes:
        scene: The scene's sentences.
        question: The question; may be empty.
        reasoning: The reasoning claims, if `conclusion` is given.
        conclusion: The delivered answer.
        response: Free text, to be split into claims with the answer last.
        truncated: Whether the response was cut off and has no answer.
        options: The possible answers, as a lettered list.
    """

    scene: Sequence[str]
    question: str
    reasoning: Sequence[str] | None = None
    conclusion: str | None = None
    response: str | None = None
    truncated: bool = False
    options: str = ""


@dataclass(frozen=True)
class ClaimTexts:
    """The texts of a trace's claims.

    Attributes:
        texts: The claims other than the conclusion, or the whole response.
        conclusion: The conclusion, if it is given separately.
        response: The response whose sentences are the claims; None if the claims are given as
            separate texts.
    """

    texts: Sequence[str]
    conclusion: str
    response: Response | None


@dataclass(frozen=True)
class Setting:
    """The scene and question of a trace, after reading.

    Attributes:
        scene: The statements of each scene sentence.
        pair: The pair that the question asks about: figure and ground.
        question: Function that reads the question.
        parser: Function that creates a parser for claims about the scene.
        faults: Messages about parts of the scene that were not read.
        lost: Messages about scene sentences or a question that cannot be read.
        complete: Whether everything about places in the scene was read; None if unknown.
        events: The clauses of each scene sentence, if the profile reads events.
    """

    scene: tuple[tuple[Statement, ...], ...]
    pair: tuple[str, str] | None
    question: Callable[[], Question]
    parser: Callable[[], SentenceParser[Any]]
    faults: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    complete: bool | None = None
    events: tuple[Clauses, ...] | None = None


class TraceReader(ABC):
    """Reader of traces with the tables of one profile."""

    @abstractmethod
    def split(self, scene: str) -> list[str]:
        """Split a scene, given as one string, into sentences."""

    @abstractmethod
    def question(self, scene: Sequence[str], question: str) -> Question:
        """Read a question about a scene.

        Args:
            scene: The scene's sentences.
            question: The question, or a statement to be judged.
        """

    @abstractmethod
    def setting(self, told: Told) -> Setting:
        """Read the scene and question of a trace.

        Raises:
            LimitError: If a surrounding `time_limit` is over.
            ReadingError: If a scene sentence does not end within the limit.
        """

    def ahead(self, traces: Iterable[Told]) -> None:  # noqa: B027
        """Read the sentences of several traces in the same batches, if that is faster."""

    def read(
        self,
        scene: Sequence[str],
        question: str,
        reasoning: Sequence[str] | None = None,
        conclusion: str | None = None,
        response: str | None = None,
        truncated: bool = False,
        options: str = "",
    ) -> ParsedTrace:
        """Read a trace. Its claims are given as separate texts or as free text.

        Raises:
            ReadingError: If a scene sentence does not end within the limit.
        """
        told = Told(scene, question, reasoning, conclusion, response, truncated, options)
        setting = self.setting(told)
        given = self.claims_of(reasoning, conclusion, response, truncated)
        failed: dict[str, str] = {}
        while True:
            claims = Claims(setting.parser(), failed, (question, response or "", options))
            try:
                if given.response is not None:
                    claims.segment(given.response)
                else:
                    claims.take(given.texts, given.conclusion)
            except InternalError as error:
                if error.part in failed:
                    raise
                # Read again without the claim, since the failed attempt may have changed things.
                failed[error.part] = str(error)
                continue
            return ParsedTrace(
                tuple((n, s) for n, told in enumerate(setting.scene, start=1) for s in told),
                tuple(claims.made),
                (*setting.lost, *setting.faults, *failed.values(), *claims.faults),
                None if setting.events is None else tuple(enumerate(setting.events, start=1)),
                all(setting.scene) if setting.complete is None else setting.complete,
                setting.lost,
                cache(setting.question),
            )

    def claims_of(
        self,
        steps: Sequence[str] | None,
        conclusion: str | None,
        response: str | None,
        truncated: bool = False,
    ) -> ClaimTexts:
        """Return the texts of a trace's claims, given as separate texts or as free text."""
        if response is None:
            return ClaimTexts(steps or (), conclusion or "", None)
        segments = segmented(response)
        if truncated:
            thought = Segment(0, len(segments.text), "thinking")
            return ClaimTexts([segments.text], "", Response(segments.text, (thought,)))
        given = structured(segments.said)
        if given is None:
            return ClaimTexts([segments.text], "", segments)
        return ClaimTexts([*self.split(segments.thought), *given[0]], given[1], None)
