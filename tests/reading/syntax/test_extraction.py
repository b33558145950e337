"""What sentences say, construction by construction, over their words."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

import clingo
import pytest
from clingo.ast import AST, ASTType, ComparisonOperator, Sign, Transformer, parse_string
from hypothesis import given, settings
from hypothesis import strategies as st

from symbouq.errors import OntologyError
from symbouq.ontology.library import builtin
from symbouq.ontology.slicing import Slices
from symbouq.ontology.source import rule_statements
from symbouq.ontology.wellformed import variables_in
from symbouq.reading.syntax import extraction
from symbouq.reading.syntax.extraction import CONTEXT
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.sentences import Sentence, Sentences

ONTOLOGY = builtin().ontology("half-plane")
SENTENCES = Sentences(ONTOLOGY, pipeline())


def read(text: str) -> Sentence:
    (sentence,) = SENTENCES.read([text])[0]
    return sentence


def stated(text: str) -> list[tuple[str, ...]]:
    """Placed thing, relation, ground, and `not` or a force where there is one."""
    sentence = read(text)

    def name(head: int) -> str:
        return "..." if head == CONTEXT else " ".join(sentence.named[head][0]).lower()

    return [
        (name(s.figure), relation, name(s.ground))
        + (("not",) if s.negative else ())
        + ((s.force,) if s.force != "asserted" else ())
        for s in sentence.says.triplets
        if s.cost < 4
        for relation in s.relations
    ]


SAYS = {
    # formulas
    "So left(A, B).": [("a", "left", "b")],
    "We conclude that left(A, B).": [("a", "left", "b")],
    "Since left(A, B), A is above D.": [("a", "left", "b"), ("a", "above", "d")],
    "left(A, B): A is to the left of B.": [
        ("a", "left", "b", "glossed"),
        ("a", "left", "b", "glossed"),
    ],
    "left(A, B) is possible.": [("a", "left", "b", "doubted")],
    "left(A, B) or right(A, B).": [
        ("a", "left", "b", "doubted"),
        ("a", "right", "b", "doubted"),
    ],
    "left(A, B) means that A is above B.": [
        ("a", "left", "b", "glossed"),
        ("a", "above", "b", "glossed"),
    ],
    "A cannot be above B, from left(A, B).": [
        ("a", "above", "b", "not", "impossible"),
        ("a", "left", "b"),
    ],
    "A is in B (left).": [("a", "inside", "b")],
    # bounds and comparisons
    "The boundary of A is above B.": [("a", "", "b")],
    "Since 2 < 3, A is above B.": [("a", "above", "b", "glossed")],
    "Not all of A is in B.": [("a", "inside", "b", "not")],
    "If A is in B, then C is above D, but E is below D.": [
        ("a", "inside", "b", "supposed"),
        ("c", "above", "d", "supposed"),
        ("e", "below", "d", "supposed"),
    ],
    "left(A, B) is the same as right(B, A), so A is above B.": [
        ("a", "left", "b", "doubted"),
        ("b", "right", "a", "doubted"),
        ("a", "above", "b", "glossed"),
    ],
    # what goes on, and where to
    "A extends further to the left than B.": [("a", "left", "b", "doubted")],
    "A is aligned with B on the left.": [("b", "left", "...", "doubted")],
    "A is to the left of where B is.": [("a", "left", "b")],
    "A and B touch at their borders.": [("a", "touching", "b")],
    "z could contain x while also partly overlapping with y.": [
        ("z", "contains", "x", "possible"),
        ("z", "overlap", "y", "possible"),
    ],
    "A is at the same place as the left edge of B.": [
        ("a", "same_position", "..."),
        ("a", "left", "b", "doubted"),
    ],
    "A is not within the boundaries of B.": [("a", "inside", "b", "not")],
    "A cannot be adjacent to the boundary of B.": [("a", "next_to", "b", "not", "doubted")],
    "If you look at the plan, A is above B.": [("a", "above", "b")],
    "By no means is the studio south of the garage.": [("studio", "below", "garage", "not")],
    "I have not found a place where A could be left of B.": [
        ("a", "left", "b", "doubted"),
    ],
    "For left, A must be above B.": [
        ("a", "above", "b", "supposed"),
        ("a", "left", "...", "supposed"),
    ],
    "A being left of B means that C is above D.": [
        ("a", "left", "b", "supposed"),
        ("c", "above", "d"),
    ],
    "Given that A is left of B, this is not possible.": [("a", "left", "b")],
    "It is implausible that A is left of B.": [("a", "left", "b", "not", "impossible")],
    "A district of Kalm is in Torv.": [("kalm", "overlap", "torv")],
    # verbs and what belongs to them
    "The field extends into the wood.": [("field", "overlap", "wood")],
    "The field spills over into the wood.": [("field", "overlap", "wood")],
    "The field partly coincides with the wood.": [("field", "overlap", "wood")],
    "A hedge separates the field from the wood.": [("field", "disconnected", "wood")],
    "A hedge separates the field and the wood.": [("field", "disconnected", "wood")],
    "A hedge keeps the field from touching the wood.": [("field", "touching", "wood", "not")],
    "The card under the king is the ten.": [("ten", "below", "king")],
    # time is no condition
    "The mug was above the tray when I came.": [("mug", "above", "tray")],
    "As long as the mug is above the tray, all is well.": [("mug", "above", "tray", "supposed")],
    "The mug is above the tray, as is the jug.": [
        ("mug", "above", "tray"),
        ("jug", "above", "tray"),
    ],
    # order of words
    "The mug is above the tray.": [("mug", "above", "tray")],
    "Above the tray stands the mug.": [("mug", "above", "tray")],
    "There is a mug above the tray.": [("mug", "above", "tray")],
    "The mug standing above the tray is red.": [("mug", "above", "tray")],
    "The mug, which stands above the tray, is red.": [("mug", "above", "tray")],
    "What stands above the tray is the mug.": [("mug", "above", "tray")],
    "The thing above the tray is the mug.": [("mug", "above", "tray")],
    "It is the mug that stands above the tray.": [("mug", "above", "tray")],
    "You can see the mug above the tray.": [("mug", "above", "tray")],
    "Somebody has put the mug above the tray.": [("mug", "above", "tray")],
    # sides
    "The tray has the mug on its left.": [("mug", "left", "its")],
    "The tray's left neighbour is the mug.": [("mug", "left", "tray")],
    "With the mug on its left, the tray looks small.": [("mug", "left", "its")],
    "Seen from the tray, the mug is on the left.": [("mug", "left", "tray")],
    "A is above B, so relative to C, it could be either closer to the north or remain in the west.": [
        ("a", "above", "b"),
        ("it", "above", "c", "doubted"),
        ("it", "left", "c", "doubted"),
    ],
    # verbs
    "The crate contains the mug.": [("crate", "contains", "mug")],
    "The crate is touched by the mug.": [("mug", "touching", "crate")],
    "The mug and the tray touch each other.": [("mug", "touching", "tray")],
    "P shares a border with Q.": [("p", "touching", "q")],
    "There is no contact between P and Q.": [("p", "disconnected", "q")],
    # whose subject is whose
    "B is inside A and C touches B.": [("b", "inside", "a"), ("c", "touching", "b")],
    "It is consistent with B being inside A and C being outside B.": [
        ("b", "inside", "a"),
        ("c", "not_inside", "b"),
    ],
    # a part of what is overlapped, and what is part of something
    "A overlaps with part of B.": [("a", "overlap", "b")],
    "A could overlap with a part of B.": [("a", "overlap", "b", "possible")],
    "A overlaps with part of B and part of C.": [("a", "overlap", "b")],
    "B is inside C, and part of A is outside B.": [("b", "inside", "c"), ("a", "overlap", "b")],
    "The part of A inside B is above C.": [
        ("a", "inside", "b", "doubted"),
        ("a", "", "c"),  # of a part alone, which no relation says
    ],
    "A is above B's bottom.": [("a", "below", "b", "doubted")],
    "A reaches as far west as B.": [("a", "left", "...", "doubted")],
    # either may hold
    "The mug cannot both touch the tray and be inside the crate.": [
        ("mug", "inside", "crate", "doubted"),
        ("mug", "touching", "tray", "not", "doubted"),
    ],
    # legs of a way that have ends of their own
    "Walking west from the mug and then north of the tray leads to the crate.": [
        ("crate", "above", "tray", "doubted"),
        ("crate", "left", "mug", "doubted"),
        ("tray", "left", "mug", "doubted"),
    ],
    # typesetting
    r"\(A\) is above \(B\) and \(B\) is left of \[C\].": [
        ("a", "above", "b"),
        ("b", "left", "c"),
    ],
    # several things
    "A and B are above C.": [("a", "above", "c"), ("b", "above", "c")],
    "A is above B and C.": [("a", "above", "b"), ("a", "above", "c")],
    "A is left of B and B is above C.": [("a", "left", "b"), ("b", "above", "c")],
    "A is above B and C is below D.": [("a", "above", "b"), ("c", "below", "d")],
    "From left to right: A, B, C.": [("a", "left", "b"), ("b", "left", "c")],
    # ways
    "Walk east from A and you come to B.": [("b", "right", "a")],
    "Going up from A leads to B.": [("b", "above", "a")],
    # denied
    "A is not above B.": [("a", "above", "b", "not")],
    "You will not find the mug inside the crate.": [("mug", "inside", "crate", "not")],
    "The crate holds no mug.": [("crate", "contains", "mug", "not")],
    "Neither A nor B is above C.": [("a", "above", "c", "not"), ("b", "above", "c", "not")],
    "A is outside B rather than inside it.": [
        ("a", "inside", "it", "not"),
        ("a", "not_inside", "b"),
    ],
    "Nobody put the mug inside the crate.": [("mug", "inside", "crate", "not")],
    # neither asserted nor denied
    "If A is above B, then C is below D.": [
        ("a", "above", "b", "supposed"),
        ("c", "below", "d", "supposed"),
    ],
    "Is A above B?": [("a", "above", "b", "asked")],
    "A could be above B.": [("a", "above", "b", "possible")],
    "A must be above B.": [("a", "above", "b", "necessary")],
    "I think that A is above B.": [("a", "above", "b", "doubted")],
    # nothing
    "The mug is red.": [],
    "A is in line with B.": [],
}


@pytest.mark.parametrize("text", SAYS)
def test_what_a_sentence_says(text: str) -> None:
    assert sorted(stated(text)) == sorted(SAYS[text])


def test_a_part_of_a_thing_overlaps_what_it_is_in() -> None:
    assert stated("Part of the pond is in the park.") == [("pond", "overlap", "park")]
    assert stated("No part of the pond is in the park.") == [("pond", "inside", "park", "not")]


def test_what_the_text_before_says_is_left_open() -> None:
    assert stated("To the left of the tray.") == [("...", "left", "tray")]


def test_data_are_no_code() -> None:
    """Names are given to the rules as numbers, and words as quoted strings."""
    assert stated('The "a(b)" is above the tray.')[0][1:] == ("above", "tray")
    assert read("The mug\\ is above :- the tray.").text


@pytest.mark.derives
def test_sentences_read_together_make_no_difference_to_each_other() -> None:
    """What is read in one batch is in another order, among others, read as it is."""
    texts = sorted(SAYS)
    random.Random(1).shuffle(texts)
    orders = texts, texts[::-1], sorted(texts)
    first, *others = (
        dict(zip(order, Sentences(ONTOLOGY, pipeline()).read(order), strict=True))
        for order in orders
    )
    for other in others:
        different = [text for text in texts if first[text] != other[text]]
        assert not different


@pytest.mark.parametrize("text", ["", "...", "\0", "%*", "#include", '"', "\\"])
def test_any_text_is_taken(text: str) -> None:
    SENTENCES.read([text])


WORDS = sorted(
    {word for text in SAYS for word in text.strip(".?").split()}
    | {text for texts in ONTOLOGY.wording.lexeme.values() for text in texts}
    | {text for texts in ONTOLOGY.wording.expression.values() for text in texts}
)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=20), max_size=20))
@settings(max_examples=50)
def test_words_in_any_order_are_taken(texts: list[list[str]]) -> None:
    SENTENCES.read([" ".join(words) for words in texts])


class Needs(Transformer):
    """Which predicates each depends on, and on which only once they are complete."""

    def __init__(self) -> None:
        self.any: defaultdict[str, set[str]] = defaultdict(set)
        self.complete: set[tuple[str, str]] = set()
        self._names: set[str] = set()

    def visit_Rule(self, rule: AST) -> None:  # noqa: N802
        for head in self.named(rule.head):
            for literal in rule.body:
                needed = self.named(literal)
                self.any[head] |= needed
                negated = literal.sign != Sign.NoSign
                if negated or literal.atom.ast_type == ASTType.BodyAggregate:
                    self.complete |= {(head, name) for name in needed}

    def named(self, part: AST) -> set[str]:
        self._names = set()
        self.visit(part)
        return self._names

    def visit_SymbolicAtom(self, atom: AST) -> AST:  # noqa: N802
        self._names.add(atom.symbol.name)
        return atom

    def reached(self, start: str) -> set[str]:
        found: set[str] = set()
        new = {start}
        while new:
            found |= new
            new = {needed for each in new for needed in self.any[each]} - found
        return found


def test_nothing_depends_on_its_own_negation() -> None:
    needs = Needs()
    parse_string(extraction.reading_rules(), lambda rule: needs.visit(rule) and None)
    assert ("ground", "figure") in needs.complete
    circular = [(a, b) for a, b in needs.complete if a in needs.reached(b)]
    assert not circular


def test_rules_that_leave_a_reading_open_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = (
        extraction.reading_rules() + "says(T, A, B, 0) :- says(T, B, A, 0), not says(T, A, A, 0)."
    )
    monkeypatch.setattr(extraction, "reading_slices", lambda: Slices(rules))
    with pytest.raises(
        OntologyError, match=r"rules/reading\.lp: says/4 .* grounding does not decide"
    ):
        Sentences(ONTOLOGY, pipeline()).read(["The mug is above the tray."])


def test_the_rules_that_concern_a_sentence_derive_what_all_rules_do() -> None:
    for text in list(SAYS)[::8]:
        _, facts = SENTENCES.parsed(read(text))
        whole, part = clingo.Control(), clingo.Control()
        whole.add("base", [], extraction.reading_rules() + "".join(facts))
        part.add("base", [], extraction.reading_slices().beside(facts) + "".join(facts))
        found = []
        for control in (whole, part):
            control.ground()
            found.append({(atom.symbol, atom.is_fact) for atom in control.symbolic_atoms})
        assert found[0] == found[1], text


# Sentences are read together ------------------------------------------------------------

VALUES = {"best": 1, "chosen": 3, "class": 1, "dep": 2, "expresses": 1, "figure": 2, "ground": 2}
VALUES |= {"lemma": 1, "pair": 3, "pos": 1, "relatum": 2, "tense": 1, "trigger": 1, "word": 1}
"""Arguments that are no words of a sentence: words of one class may be far apart."""
AFTER = {ComparisonOperator.GreaterThan: 1, ComparisonOperator.GreaterEqual: 1}
AFTER |= {ComparisonOperator.LessThan: -1, ComparisonOperator.LessEqual: -1}


def groups_of(body: Sequence[AST]) -> list[set[str]]:
    """Group the words in a body by what ties them to one sentence: atoms, equations, or a place
    between two words of one group.
    """
    groups: list[set[str]] = []
    words: set[str] = set()
    order: set[tuple[str, str]] = set()

    def named(trees: Iterable[AST]) -> set[str]:
        return variables_in(trees) - {"_"}

    def tie(*tied: str) -> None:
        met = [group for group in groups if not group.isdisjoint(tied)]
        groups[:] = [group for group in groups if group not in met] + [set(tied).union(*met)]

    for part in (p for p in body if p.sign == Sign.NoSign):
        if part.atom.ast_type == ASTType.SymbolicAtom:
            atom = part.atom.symbol
            told = [a for n, a in enumerate(atom.arguments) if n != VALUES.get(atom.name)]
            words |= named(told)
            tie(*named(told))
        elif part.atom.ast_type != ASTType.Comparison or (
            part.atom.guards[0].comparison == ComparisonOperator.Equal
        ):
            tie(*named([part]))
        elif part.atom.guards[0].comparison in AFTER:
            sides = [str(part.atom.term), str(part.atom.guards[0].term)]
            order.add(tuple(sides[:: AFTER[part.atom.guards[0].comparison]]))
    for low, word in [(b, a) for a, b in order]:
        for high in [a for a, b in order if b == word]:
            if any({low, high} <= group for group in groups):
                tie(low, word)
    return [group for group in groups if not group.isdisjoint(words)]


def test_rules_do_not_join_words_of_different_sentences() -> None:
    """Sentences are ground together. What one says must not depend on another."""
    rules = [r for r in rule_statements("reading") if r.ast_type == ASTType.Rule]
    assert len(rules) > 1000
    assert [str(rule) for rule in rules if len(groups_of(rule.body)) > 1] == []
