"""Compose the requests to a language model about a trace. The scene comes first, then the question
and the claims.

A request for claims contains the scene's things but not its sentences. A model that knows the scene
might read a wrong claim as if it were correct, and a sentence in the scene could influence how
claims are read. If each sentence is read alone, no sentence can influence another. In this case,
things are identified only by their words, and pronouns cannot be resolved.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from symbouq.reading.model.schema import EARLIER, EVERY
from symbouq.reading.segments import Role, segmented
from symbouq.reading.syntax.cutting import spans
from symbouq.reading.text import ANYTHING
from symbouq.records.reading import Reply, SentenceReading, ThingMention, UnexpressedReading

AT_ONCE = 24
"""Maximum number of sentences in a request."""
_BEFORE = 2
"""Number of preceding sentences that are included in a request."""
_IDS = ("id", "subject", "object", "thing", "of", "asks")
"""Fields of a reply that contain ids of things."""
_CALLED = 4
"""Maximum number of mentions shown in a request for a thing."""


@dataclass(frozen=True)
class ModelRequest:
    """Sentences for a language model to read.

    Attributes:
        part: Whether the sentences belong to the scene, or to question and claims.
        sentences: Maps each label to the text.
        things: Maps the id of each known thing to the words that mention it.
        before: The preceding sentences in the same part.
        headings: Maps the id of a thing to the direction that it faces, if this direction was read.
    """

    part: Literal["scene", "claims"]
    sentences: Mapping[str, str]
    things: Mapping[str, Sequence[str]] = field(default_factory=dict)
    before: Sequence[str] = ()
    headings: Mapping[str, str] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """The message for the model. It is JSON, so that no text can be mistaken for another part
        of the message.
        """
        known = {"things": self.things, "headings": self.headings, "before": self.before}
        given = {name: value for name, value in known.items() if value}
        return json.dumps({**given, "sentences": self.sentences}, ensure_ascii=False)

    @property
    def text(self) -> str:
        """SHA-256 of the request, in hexadecimal digits."""
        asked = [self.part, self.message]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


@dataclass(frozen=True)
class Shared:
    """One request for the claims of several traces over one scene. Labels of the first trace's
    claims begin at C1, of the second trace's at C101.

    Attributes:
        requests: The traces' own requests, which differ only in their claims.
    """

    requests: Sequence[ModelRequest]

    @property
    def request(self) -> ModelRequest:
        """The request that is sent."""
        texts = {
            _shared(label, n): text
            for n, request in enumerate(self.requests)
            for label, text in request.sentences.items()
        }
        return replace(self.requests[0], sentences=texts)

    def replies(self, reply: Reply) -> list[Reply]:
        """Divide the reply into one for each of the traces' own requests."""
        read = {sentence.sentence: sentence for sentence in reply.sentences}
        return [
            reply.model_copy(
                update={
                    "sentences": [
                        read[there].model_copy(update={"sentence": label})
                        for label in request.sentences
                        if (there := _shared(label, n)) in read
                    ],
                    "answer": "",
                }
            )
            for n, request in enumerate(self.requests)
        ]


def _shared(label: str, number: int) -> str:
    """The label of a sentence in the shared request for several traces."""
    return label if label[0] == "Q" else f"{label[0]}{100 * number + int(label[1:])}"


def shared(requests: Iterable[ModelRequest]) -> Iterator[Shared]:
    """Put requests that differ only in claims together, as long as they are not too long."""
    some: list[ModelRequest] = []
    for request in requests:
        if some and len(Shared([*some, request]).request.sentences) > AT_ONCE:
            yield Shared(some)
            some = []
        some.append(request)
    if some:
        yield Shared(some)


Answered = Callable[[ModelRequest], list[Reply]]
"""Function that returns the samples of the reply to a request."""


@dataclass(frozen=True)
class TraceTexts:
    """The texts of a trace, split into sentences.

    Attributes:
        scene: The sentences of the scene.
        question: The sentences of the question.
        claims: The claims.
        concluded: Whether the last claim was given as the conclusion.
        roles: The role of each claim in a response; empty if the claims are given as separate
            texts.
        left: Labels of claims that the model is not asked to read.
    """

    scene: Sequence[str]
    question: Sequence[str]
    claims: Sequence[str]
    concluded: bool
    roles: Sequence[Role] = ()
    left: Collection[str] = ()

    @classmethod
    def of(
        cls,
        scene: Sequence[str] | str,
        question: str,
        reasoning: Sequence[str] | None = None,
        conclusion: str | None = None,
        response: str | None = None,
        left: Collection[str] = (),
    ) -> TraceTexts:
        """Split the texts of a trace. They are given as in a record."""
        if isinstance(scene, str):
            scene = sentences_of(scene)
        if conclusion is None:
            segments = segmented(response or "")
            places = spans(segments.text)
            claims = [segments.text[start:end] for start, end in places]
            roles = [segments.role(start) for start, _ in places]
            return cls(scene, sentences_of(question), claims, False, roles, left)
        steps = [*(reasoning or ()), conclusion]
        return cls(scene, sentences_of(question), steps, True, left=left)

    @property
    def labelled(self) -> dict[str, str]:
        """Maps the label of every sentence to its text."""
        parts = (("S", self.scene), ("Q", self.question), ("C", self.claims))
        return {f"{mark}{n}": text for mark, some in parts for n, text in enumerate(some, 1)}

    @property
    def requested(self) -> dict[str, str]:
        """Maps the label of every sentence that the model is asked to read to its text."""
        return {label: text for label, text in self.labelled.items() if label not in self.left}

    @property
    def settled(self) -> bool:
        """Whether the model is asked to read none of the claims."""
        return 0 < len(self.left) == len(self.claims)


def left_to_parser(
    claims: Sequence[str], decided: Collection[str], pronouns: Collection[str]
) -> list[str]:
    """Return the labels of claims that a model need not read.

    Args:
        claims: All claims of the trace.
        decided: The claims that are decided as the parser reads them. They are left out unless the
            next claim is asked about and has a pronoun, which may refer to them.
        pronouns: Words that may refer to the claim before.
    """
    left: list[str] = []
    refers = False
    for number, claim in reversed([*enumerate(claims, 1)]):
        if claim in decided and not refers:
            left.append(f"C{number}")
        else:
            refers = not {*re.findall(r"\w+", claim.lower())}.isdisjoint(pronouns)
    return left[::-1]


def sentences_of(text: str) -> list[str]:
    """Split a text into sentences."""
    return [text[start:end] for start, end in spans(text)]


def dialogue(
    texts: TraceTexts, names: Names, answer: Answered, alone: bool = False
) -> list[list[Reply]]:
    """Return the replies to each request about a trace, in order.

    Args:
        texts: The trace's texts.
        names: Recorder for the things, unless each sentence is read alone.
        answer: Function that returns the samples of the reply to a request.
        alone: Whether each sentence is read alone. `together` can combine such replies.
    """
    labelled = texts.requested
    if alone:
        return [
            answer(ModelRequest("scene" if label[0] == "S" else "claims", {f"{label[0]}1": text}))
            for label, text in labelled.items()
        ]
    replies: list[list[Reply]] = []
    for part, marks in (("scene", "S"), ("claims", "QC")):
        labels = [label for label in labelled if label[0] in marks]
        before: list[str] = []
        for first in range(0, len(labels), AT_ONCE):
            asked = {label: labelled[label] for label in labels[first : first + AT_ONCE]}
            known = {thing: words[:_CALLED] for thing, words in names.said.items() if words}
            faced = {t: way for t, way in names.headings.items() if t in known}
            request = ModelRequest(part, asked, known, before, faced)  # type: ignore[arg-type]
            replies.append(answer(request))
            names.take((s for reply in replies[-1][:1] for s in reply.sentences), asked)
            before = list(asked.values())[-_BEFORE:]
    return replies


def together(
    texts: TraceTexts, names: Names, replies: Sequence[Sequence[Reply]]
) -> list[list[Reply]]:
    """Combine the samples for sentences that were read alone, as if they had been read together.
    Each sentence gets its label, and things mentioned by the same words get the same id.
    """
    joined: list[list[Reply]] = []
    for (label, text), given in zip(texts.requested.items(), replies, strict=True):
        joined.append([_placed(reply, label, text, names) for reply in given])
        names.take(joined[-1][0].sentences, {label: text})
    return joined


def _placed(reply: Reply, label: str, text: str, names: Names) -> Reply:
    """Adapt the reply for a sentence that was read alone to the trace's labels and things."""
    asked = f"{label[0]}1"
    sentence = next((s for s in reply.sentences if s.sentence == asked), None)
    if sentence is None:  # a reading that was edited by hand
        return Reply(sentences=[])
    by_words = names.by_words(sentence, text, label) | {EVERY: EVERY}
    own = Reply(
        sentences=[sentence.model_copy(update={"sentence": label})],
        asks=reply.asks,
        answer=label if reply.answer == asked else "",
    )
    return with_ids(own, lambda thing: by_words.get(thing, f"{thing} of {label}"))


def with_ids(reply: Reply, of: Callable[[str], str]) -> Reply:
    """Replace the ids of things in a reply, including ids for former places."""

    def other(value: Any) -> Any:
        if isinstance(value, list):
            return [other(thing) for thing in value]
        return value and of(moved(value)) + value.removeprefix(moved(value))

    def told(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: (other if key in _IDS else told)(part) for key, part in value.items()}
        return [told(part) for part in value] if isinstance(value, list) else value

    return Reply.model_validate(told(reply.model_dump()))


class Names:
    """The names of a trace's things, by ids.

    Args:
        lexeme: Maps a class of words to its words.

    Attributes:
        of: Maps an id to a name, that is, the first words that mention only this thing, without an
            article.
        said: Maps an id to the different mentions of the thing, in order.
        headings: Maps an id to the direction in which the thing was last stated to face.
    """

    def __init__(self, lexeme: Mapping[str, Collection[str]]) -> None:
        self._pronouns = {*lexeme["pronoun"], *lexeme.get("pronoun_form", ())}
        self._article = _opening(lexeme["article"])
        self._definite, self._indefinite = map(_opening, (lexeme["definite"], lexeme["indefinite"]))
        self.of: dict[str, str] = {}
        self.said: dict[str, list[str]] = {}
        self.headings: dict[str, str] = {}

    def take(self, sentences: Iterable[SentenceReading], texts: Mapping[str, str]) -> None:
        """Record the things that are mentioned in sentences."""
        own: dict[str, str] = {}
        for sentence in sentences:
            text = texts.get(sentence.sentence, "")
            for mention in sentence.things:
                said = self.said.setdefault(mention.id, [])
                words = words_of(mention, text)
                if words and words not in said:
                    said.append(words)
            for thing, words in self._own(sentence, text):
                own.setdefault(thing, words)
            self.headings |= {heading.thing: heading.direction for heading in sentence.headings}
        for thing, said in self.said.items():
            if said and thing not in self.of:
                self.of[thing] = self._name(thing, own.get(thing, said[0]), thing in own)

    def name(self, thing: str) -> str | None:
        """Return the name of a thing, or of its former place; None if unknown."""
        called = ANYTHING if thing == EVERY else self.of.get(moved(thing))
        return f"{called} (earlier)" if called and thing.endswith(EARLIER) else called

    def by_words(self, sentence: SentenceReading, text: str, label: str) -> dict[str, str]:
        """Map the things in a sentence that was read alone to ids, as far as they are known by
        their words. "The clock" is the grandfather clock if no other clock is known. In a scene,
        "a lamp" is another lamp than those known.
        """
        found: dict[str, str] = {}
        for thing, words in self._own(sentence, text):
            known = self._known(words, new=label[0] == "S")
            if len(known) < 2 and thing not in found and not {*known} & {*found.values()}:
                plain = self.plain(words)
                taken = f"{plain} of {label}" if plain in self.said else plain
                found[thing] = known[0] if known else taken
        return found

    def _known(self, words: str, new: bool) -> list[str]:
        """The known things that words may mention, if indefinite words mention a new thing."""
        if new and self._indefinite.match(words):
            return []
        plain = self.plain(words)
        names = {thing: self.plain(said[0]) for thing, said in self.said.items() if said}
        known = [thing for thing, name in names.items() if name == plain]
        if known or not self._definite.match(words):
            return known
        ending = f" {plain}"
        return [t for t, name in names.items() if f" {name.split(' of ')[0]}".endswith(ending)]

    def _own(self, sentence: SentenceReading, text: str) -> Iterator[tuple[str, str]]:
        """Yield each thing in a sentence with the words that mention only this thing."""
        given = dict.fromkeys((mention.id, words_of(mention, text)) for mention in sentence.things)
        times = Counter(words for _, words in given)
        for thing, words in given:
            if words and times[words] == 1 and self.plain(words) not in self._pronouns:
                yield thing, words

    def plain(self, words: str) -> str:
        """Return the given words in lower case, without an initial article."""
        return " ".join(self._article.sub("", words, count=1).lower().split())

    def _name(self, thing: str, words: str, own: bool) -> str:
        name = self._article.sub("", words, count=1) if self._article.match(words) else words
        taken = {other.lower() for other in self.of.values()}
        return name if own and name.lower() not in taken else f"{name} ({thing})"


def _opening(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of the words at the beginning of a text."""
    return re.compile(rf"(?:{'|'.join(map(re.escape, sorted(words)))})\s+", re.IGNORECASE)


def moved(thing: str) -> str:
    """Return the id of a thing, given its id or that of its former place."""
    return thing.removesuffix(EARLIER)


def words_of(mention: ThingMention | UnexpressedReading, text: str) -> str:
    """Return the words of a mention as spelled in the sentence; empty if the sentence does not
    contain them.
    """
    span = span_of(mention.words, text)
    return text[slice(*span)] if span else ""


def span_of(words: str | Sequence[int], text: str) -> tuple[int, int] | None:
    """Return the position of the given words in a sentence, ignoring case; None if the sentence
    does not contain them.
    """
    if not isinstance(words, str):
        start, end = words
        return (start, end) if 0 <= start < end <= len(text) else None
    found = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) if words else None
    found = found or (re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.I) if words else None)
    return found.span() if found is not None else None
