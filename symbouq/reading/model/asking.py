"""One request to a language model: asked, checked, and asked once more where the reply is none."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

from symbouq.io.chat import Answer, Asker, Message, UnansweredError, json_objects
from symbouq.ontology.tables import Ontology
from symbouq.reading.model.dialogue import ModelRequest
from symbouq.reading.model.schema import reply_schema
from symbouq.records.reading import Reply

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
    """A model's reply to a request.

    Args:
        asker: Asks the model.
        instructions: The prompt's instructions.
        request: What it is to read.
        ontology: The tables of the profile.
        most: Most tokens of a reply.
        sample: Number of the reply.
        spend: Takes every answer, for what it costs.

    Raises:
        SymboUQError: If nothing can be asked.
        UnansweredError: If there is no reply that can be used, not at the second time either.
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
    """The reply that a model's text holds, whatever stands around the JSON object.

    Raises:
        ValueError: If it holds none, or not of each sentence.
    """
    content = next((value for value, _ in json_objects(text) if "sentences" in value), None)
    if content is None:
        raise ValueError("it has no JSON object with `sentences`")
    try:
        reply = Reply.model_validate(content)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise ValueError(f"{place}: {fault['msg']}" if place else fault["msg"]) from error
    labels = [sentence.sentence for sentence in reply.sentences]
    if labels != list(request.sentences):
        raise ValueError(f"`sentences` has entries for {', '.join(labels) or 'none'}")
    return reply
