"""A language model for tests, which reads `The A is RELATION the B.` and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

from helpers.chat_server import asked_sentences

_SENTENCE = re.compile(
    r"(The [\w ]+?) is (not )?(left of|right of|above|below|inside) (the [\w ]+)[.]", re.I
)
_NAMES = {"left of": "left", "right of": "right"}


def plain_reply(body: dict[str, Any]) -> str:
    """Return the reply to a request (`symbouq.records.reading.Reply`), as JSON."""
    user = next(m for m in body["messages"] if m["role"] == "user")
    given = json.loads(user["content"])
    things = given.get("things", {}).items()
    ids = {name.lower().removeprefix("the "): thing for thing, (name, *_) in things}

    def thing(words: str) -> dict[str, str]:
        name = words.lower().removeprefix("the ")
        return {"id": ids.setdefault(name, f"t{len(ids) + 1}"), "words": words}

    sentences = []
    for label, text in asked_sentences(body).items():
        match = _SENTENCE.search(text)
        entry: dict[str, Any] = {
            "sentence": label,
            "things": [],
            "relations": [],
            "unexpressed": [],
        }
        if match is not None:
            subject, denied, words, ground = match.groups()
            entry["things"] = [thing(subject), thing(ground)]
            entry["relations"] = [
                {
                    "words": words,
                    "stance": "asserted",
                    "polarity": "denied" if denied else "affirmed",
                    "subject": entry["things"][0]["id"],
                    "relation": _NAMES.get(words.lower(), words.lower()),
                    "object": entry["things"][1]["id"],
                }
            ]
        sentences.append(entry)
    return json.dumps({"sentences": sentences, "asks": [], "answer": ""})
