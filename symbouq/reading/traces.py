"""Whole traces: scene, question and claims in order, by whichever parser reads their sentences."""

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
    """The texts of a trace, as a reader takes them.

    Attributes:
        scene: The scene's sentences.
        question: The question, possibly empty.
        reasoning: The reasoning claims, with `conclusion`.
        conclusion: The delivered answer.
        response: Free text, segmented into claims, whose answer is the last one.
        truncated: Whether that was cut off, so that it has no answer.
        options: What an answer may say, listed by letters.
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
        texts: The claims but the conclusion; the whole of a response.
        conclusion: The conclusion, where it is given apart.
        response: A response whose sentences are the claims; None where they are given one by one.
    """

    texts: Sequence[str]
    conclusion: str
    response: Response | None


@dataclass(frozen=True)
class Setting:
    """Scene and question of a trace, read.

    Attributes:
        scene: What each scene sentence states.
        pair: The pair that the question asks about: figure and ground.
        question: Reads the question.
        parser: Opens a parser of claims about the scene.
        faults: What of the scene is not read, a message each.
        lost: What of scene and question could not be, a message each.
        complete: Whether all that the scene says of places is read; None where that is not known.
        events: The clauses of each sentence of the scene, where the profile reads events.
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
    """Reads traces under the tables of one profile."""

    @abstractmethod
    def split(self, scene: str) -> list[str]:
        """The sentences of a scene given as one string."""

    @abstractmethod
    def question(self, scene: Sequence[str], question: str) -> Question:
        """Reads a question about a scene.

        Args:
            scene: The scene's sentences.
            question: The question, or a statement to be judged.
        """

    @abstractmethod
    def setting(self, told: Told) -> Setting:
        """Reads scene and question of a trace.

        Raises:
            LimitError: If a surrounding `time_limit` is over.
            ReadingError: If a sentence of the scene has no end.
        """

    def ahead(self, traces: Iterable[Told]) -> None:  # noqa: B027
        """Reads some traces' sentences in the same batches, where that costs less than alone."""

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
        """Reads one trace (`Told`): its claims either given one by one or as free text.

        Raises:
            ReadingError: If a sentence of the scene has no end.
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
                # Again without it: it may have left the things half changed.
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
        """The texts of a trace's claims, however they are given."""
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
