"""Tests whether any short text causes an error in a reader.

    python experiments/benchmarks/fuzz_texts.py [--texts N] [--first N] [--seed S] [--jobs N]

N texts (default: 1,000) are composed with a small grammar of noun phrases, places and clauses,
which are filled with words of the ontology. Many texts are then damaged: they are cut off, a word
is removed, doubled or moved, or an unusual sign is inserted. Ten texts form a record with a scene,
a question, and a response or separate claims. Profiles are used in turn; some records belong to a
dataset instead. Each record is audited and answered. No text may cause an internal error, not even
an error that affects only one sentence. The text with a given number does not depend on the number
of texts and processes. So `--first 40000 --texts 10000` continues an earlier run.

The script prints how many texts were read, and the faults with their texts. The exit code is 1 if
there are any faults.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import click
from fuzz import DATA, profiles

from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError, SymboUQError
from symbouq.io.pool import Pool
from symbouq.limits import LimitError, time_limit
from symbouq.ontology.library import builtin
from symbouq.records import Trace, make_record

TEXTS = 10
"""Number of texts in a record."""
_LIMIT = 60.0
"""A record that takes longer than this many seconds counts as a fault."""

# Words ---------------------------------------------------------------------------------


@cache
def relating() -> Sequence[str]:
    """Return phrases that relate things to each other."""
    rows = builtin().rows
    texts = {str(row[-1]) for table in DATA["tables"] for row in rows[tuple(table)]}
    return sorted(text.replace("#", "third").replace("_", " ") for text in texts)


@cache
def classes() -> Sequence[Sequence[str]]:
    """Return the phrases in each word class of the ontology."""
    rows = builtin().rows
    found: dict[str, set[str]] = {}
    for table in (("lexeme", 2), ("cue", 2), ("synonym", 2)):
        for name, text in rows[table]:
            found.setdefault(f"{table[0]} {name}", set()).add(str(text))
    found["verbs"] = {str(row[-1]) for row in rows["inflected", 3]} | {
        str(row[-1]) for row in rows["verb", 2]
    }
    found["prepositions"] = {str(row[-1]) for row in rows["way", 2]}
    found["units"] = {str(row[-1]) for row in rows["unit", 4]}
    return [sorted(found[name]) for name in sorted(found)]


_WORDS: dict[str, list[str]] = DATA["words"]
_WORDS["signs"] += ["\ud800", "\u0301"]


def a_word(chance: random.Random) -> str:
    """Choose a phrase from a random word class."""
    return chance.choice(chance.choice(classes()))


def a_thing(chance: random.Random, depth: int = 2) -> str:
    """Compose a noun phrase."""
    kind = chance.random()
    if kind < 0.25:
        return chance.choice(_WORDS["names"])
    if kind < 0.35:
        return chance.choice(_WORDS["bare"])
    noun = chance.choice(_WORDS["nouns"]) if chance.random() < 0.8 else a_word(chance)
    made = f"{chance.choice(_WORDS['articles'])} {noun}"
    if chance.random() < 0.15:
        made = f"{made.split()[0]} {a_word(chance)} {noun}"
    if depth and chance.random() < 0.25:
        made += chance.choice((" that is ", " ", " of ", " and ", ", ")) + (
            a_place(chance, depth - 1) if chance.random() < 0.5 else a_thing(chance, depth - 1)
        )
    return made


def a_place(chance: random.Random, depth: int = 2) -> str:
    """Compose an expression of place, related to a thing or not."""
    made = chance.choice(relating())
    if chance.random() < 0.15:
        made = f"{chance.choice(('3 m', 'two', 'far', 'directly', 'just', a_word(chance)))} {made}"
    if depth and chance.random() < 0.15:
        made += chance.choice((" and ", " or ", " of ", " ")) + chance.choice(relating())
    if chance.random() < 0.85:
        made += f" {a_thing(chance, depth)}"
    return made


def a_clause(chance: random.Random) -> str:
    """Compose a clause, or a piece of one."""
    thing, place, verb = a_thing(chance), a_place(chance), chance.choice(_WORDS["verbs"])
    match chance.randrange(9):
        case 0:
            return f"{place} {verb} {thing}"
        case 1:
            return f"there is {thing} {place}"
        case 2:
            return f"{verb} {thing} {place}"
        case 3:
            return f"{a_word(chance)} {thing} {verb} {place}"
        case 4:
            return chance.choice((thing, place))
        case 5:
            return f"{thing} {a_word(chance)} {place}"
        case _:
            return f"{thing} {verb} {place}"


def damaged(chance: random.Random, text: str) -> str:
    """Damage the given text, for example by removing or doubling a word."""
    words = text.split(" ")
    at = chance.randrange(len(words))
    match chance.randrange(7):
        case 0 | 1:
            return " ".join(words[: at + 1])
        case 2:
            return " ".join(words[:at] + words[at + 1 :])
        case 3:
            return " ".join(words[:at] + words[at : at + 3] + words[at:])
        case 4:
            words.insert(chance.randrange(len(words)), words.pop(at))
            return " ".join(words)
        case 5:
            return " ".join([*words[:at], a_word(chance), *words[at:]])
        case _:
            place = chance.randrange(len(text) + 1)
            return text[:place] + chance.choice(_WORDS["signs"]) + text[place:]


def a_text(seed: str, number: int) -> str:
    """Return the text with the given number for a seed: a sentence, possibly damaged."""
    chance = random.Random(f"{seed}-{number}")
    made = a_clause(chance)
    if chance.random() < 0.1:
        made = f"{a_place(chance)}, {made}"
    if chance.random() < 0.35:
        made += chance.choice(_WORDS["joints"]) + a_clause(chance)
    if chance.random() < 0.4:
        made = damaged(chance, made)
    if chance.random() < 0.8:
        made = made[:1].upper() + made[1:]
    return made + chance.choice((".", ".", ".", ".", "?", "", "!", ":"))


# Reading -------------------------------------------------------------------------------


def record(seed: str, number: int) -> dict[str, Any]:
    """Return the record with the given number for a seed."""
    texts = [a_text(seed, TEXTS * number + n) for n in range(TEXTS)]
    chance = random.Random(f"{seed}-record-{number}")
    made: dict[str, Any] = {
        "id": str(number),
        "profile": profiles()[number % len(profiles())],
        "scene": texts[:4],
        "question": texts[4],
    }
    if chance.random() < 0.3:  # read like the texts of a dataset
        del made["profile"]
        made["dataset"] = chance.choice(sorted(str(row[0]) for row in builtin().rows["texts", 2]))
    if chance.random() < 0.5:
        made |= {"reasoning": texts[5:-1], "conclusion": texts[-1]}
    else:
        made["response"] = " ".join(texts[5:])
    if chance.random() < 0.5:
        made["answer_space"] = chance.choice(
            (["yes", "no"], ["left", "right", "above"], ["DC", "EC", "PO"], ["A", "B"])
        )
    return made


def faults_of(auditor: TraceAuditor, given: dict[str, Any]) -> Iterator[str]:
    """Yield the faults for a record, each as one line."""
    trace = make_record(Trace, given)

    def audited() -> Sequence[str]:
        return auditor.audited(trace)["faults"]

    def answered() -> Sequence[str]:
        answer(auditor, trace)
        return ()

    does: tuple[Callable[[], Sequence[str]], ...] = (audited, answered)
    for act in does[: 2 if "answer_space" in given else 1]:
        try:
            with time_limit(_LIMIT):
                told = act()
        except RecordError as error:
            told = [str(error)]
        except (LimitError, SymboUQError) as error:
            told = [f"internal error: {error}"]
        except Exception as error:
            told = [f"internal error, the record is lost: {type(error).__name__}: {error}"]
        found = [fault for fault in told if "internal error" in fault]
        under = given.get("profile") or given["dataset"]
        yield from (f"{under}: {act.__name__}: {fault}" for fault in found)


def read(seed: str, numbers: Iterable[int]) -> Iterator[tuple[int, list[str]]]:
    """Read the given records, and yield the number and faults of each."""
    auditor = TraceAuditor(partial=True)
    for number in numbers:
        yield number, [*faults_of(auditor, record(seed, number))]


def lost(number: int, how: str) -> tuple[int, list[str]]:
    """Return the result for a record that made its process die."""
    return number, [f"the process died, {how}"]


@click.command()
@click.option("--texts", default=1000)
@click.option("--first", default=0)
@click.option("--seed", default="2026")
@click.option("--jobs", default=2)
def main(texts: int, first: int, seed: str, jobs: int) -> None:
    """Run the readers on short texts."""
    start = time.monotonic()
    numbers = range(first // TEXTS, -(-(first + texts) // TEXTS))
    kinds: Counter[str] = Counter()
    with Pool(jobs, partial(partial, read, seed), lost) as pool:
        for done in pool.map([*numbers[n : n + 20]] for n in range(0, len(numbers), 20)):
            for number, faults in done:
                for fault in faults:
                    kinds[fault.split(":")[0]] += 1
                    print(f"texts {TEXTS * number} and following: {fault!a}", flush=True)
    print(f"{TEXTS * len(numbers)} texts in {time.monotonic() - start:.0f} s")
    print(f"{kinds.total()} faults")
    sys.exit(1 if kinds else 0)


if __name__ == "__main__":
    main()
