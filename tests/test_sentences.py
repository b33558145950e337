"""The sentences of `docs/reading.md` read as the page says, and the facts it names exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.messages import relation_text
from symbouq.records import Trace, make_record

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
ENTRY = re.compile(
    r"^\| (?P<text>[A-Z].*[.?]) \| (?P<said>.*) \| (?P<why>.*`\w+` in `[\w/.]+`) \|$", re.M
)
NAMED = re.compile(r"`(?P<predicate>\w+)` in `(?P<file>[\w/.]+)`")
SCENE = re.search(r"^> (.+)$", PAGE, re.M)


class Entry(NamedTuple):
    """A sentence, or two, with what is read.

    Attributes:
        text: The sentences.
        stance: How it is claimed; empty of a scene.
        relations: What the page says that is read.
        why: Which fact or rule is responsible.
    """

    text: str
    stance: str
    relations: list[str]
    why: str


def entry(found: re.Match[str]) -> Entry:
    stance, _, _ = found["said"].rpartition(":")
    return Entry(found["text"], stance, re.findall(r"`([^`]+)`", found["said"]), found["why"])


ENTRIES = [entry(found) for found in ENTRY.finditer(PAGE)]


@pytest.fixture(scope="module")
def auditor() -> TraceAuditor:
    return TraceAuditor(profile="everyday")


def test_there_are_as_many_as_the_page_says() -> None:
    assert len(ENTRIES) == 30


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.text)
def test_a_sentence_reads_as_the_page_says(entry: Entry, auditor: TraceAuditor) -> None:
    assert SCENE is not None
    scene, response = (SCENE[1], entry.text) if entry.stance else (entry.text, "")
    record = {"id": "1", "scene": scene, "response": f"{response} That is all."}
    audit = auditor.audited(make_record(Trace, record))
    said = audit["claims"][0] if entry.stance else audit["scene"]
    assert [relation_text(relation) for relation in said["relations"]] == entry.relations
    assert said.get("stance", "") == entry.stance


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.text)
def test_what_a_sentence_is_read_by_exists(entry: Entry) -> None:
    named = NAMED.search(entry.why)
    assert named is not None
    text = (ROOT / named["file"]).read_text(encoding="utf-8")
    stated = rf"{named['predicate']}\(|\w+\({named['predicate']},"
    assert re.search(stated, text), entry.why
