"""Send a request to a language model and check the reply. If it is unusable, ask once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from symbouq.io.chat import Answer, Asker, Message, UnansweredError, json_objects
from symbouq.ontology.tables import Ontology
from symbouq.reading.model.dialogue import ModelRequest
from symbouq.reading.model.schema import reply_schema
from symbouq.records.reading import Reply, SentenceReading

_SHOWN = 80
"""Maximum number of characters quoted from a text that is not a valid reply."""
_AGAIN = (
    "That is no reply as it was asked for: {}. Reply again, with nothing but the JSON object, one "
    "entry for each of: {}."
)


def asked(
    asker: Asker,
    instructions: str,
    request: ModelRequest,
    ontology: Ontology,
    most: int,
    sample: int,
    spend: Callable[[Answer], None],
) -> Reply:
    """Return a model's reply to a request.

    Args:
        asker: The client that sends messages to the model.
        instructions: The prompt's instructions.
        request: The sentences that the model is asked to read.
        ontology: The tables of the profile.
        most: Maximum number of tokens in a reply.
        sample: Number of the sample.
        spend: Function that is called with every answer to account for the cost.

    Raises:
        SymboUQError: If the model cannot be reached.
        UnansweredError: If the second reply is unusable, too.
    """
    messages: list[Message] = [
        {"role": "system", "content": instructions},
        {"role": "user", "content": request.message},
    ]
    schema = reply_schema(ontology)
    for last in (False, True):
        answer = asker.ask(messages, schema, most, sample)
        spend(answer)
        try:
            return reply_in(answer.text, request)
        except ValueError as error:
            why = f"it was cut after {most} tokens" if answer.cut else str(error)
            if last or answer.cut:
                raise UnansweredError(f"the reply cannot be used: {why}") from error
            messages += [
                {"role": "assistant", "content": answer.text},
                {"role": "user", "content": _AGAIN.format(why, ", ".join(request.sentences))},
            ]
    raise AssertionError("the second time returns or raises")


def reply_in(text: str, request: ModelRequest) -> Reply:
    """Extract the reply from a model's output, ignoring any text around the JSON object.

    Sentences that are not in the requested form are omitted, so they count as unread. Unknown
    fields are ignored.

    Raises:
        ValueError: If the text contains none of the requested sentences.
    """
    content = next((value for value, _ in json_objects(text) if "sentences" in value), None)
    if content is None:
        start = " ".join(text.split())[:_SHOWN] or "with nothing"
        raise ValueError(f"it has no JSON object with `sentences`, and begins: {start}")
    given = content["sentences"] if isinstance(content["sentences"], list) else []
    read: dict[str, SentenceReading] = {}
    faults: list[str] = []
    for number, entry in enumerate(given):
        try:
            sentence = SentenceReading.model_validate(_known(SentenceReading, entry))
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(map(str, ("sentences", number, *fault["loc"])))
            faults.append(f"{place}: {fault['msg']}")
        else:
            if sentence.sentence in request.sentences:
                read.setdefault(sentence.sentence, sentence)
    if not read:
        raise ValueError(next(iter(faults), "`sentences` has no entry that was asked for"))
    asks, answer = content.get("asks"), content.get("answer")
    pair = [thing for thing in asks if isinstance(thing, str)] if isinstance(asks, list) else []
    return Reply(
        sentences=[read[label] for label in request.sentences if label in read],
        asks=pair if len(pair) == 2 else [],
        answer=answer if answer in read else "",
    )


def _known(kind: type[BaseModel], value: Any) -> Any:
    """Remove fields from a value that its record type does not have."""
    if not isinstance(value, dict):
        return value
    parts = {
        name: next((part for part in get_args(field.annotation) if isinstance(part, type)), None)
        for name, field in kind.model_fields.items()
    }
    return {
        name: [_known(part, each) for each in given]
        if isinstance(given, list) and (part := parts[name]) and issubclass(part, BaseModel)
        else given
        for name, given in value.items()
        if name in parts
    }
