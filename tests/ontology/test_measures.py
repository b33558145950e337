"""Directions with amounts, as relations of an extended ontology."""

from __future__ import annotations

from fractions import Fraction

from symbouq.ontology.library import builtin
from symbouq.ontology.measures import Measure, Shift, common_unit, with_measures


def test_the_common_unit_is_the_largest_that_divides_all() -> None:
    measures = [
        Measure("left", (Shift("x", Fraction(-3, 2)), Shift("y", Fraction(0))), ""),
        Measure("above", (Shift("y", Fraction(2)),), ""),
    ]
    assert common_unit(measures) == Fraction(1, 2)
    assert common_unit([]) == 1


def test_an_extended_ontology_has_them_and_their_converses() -> None:
    ontology = builtin().ontology("everyday")
    measure = Measure("left", (Shift("x", Fraction(-3)),), "3 m")
    extended = with_measures(ontology, frozenset([measure]), Fraction(1), 8)
    other = measure.mirrored("right").name
    assert extended.relations.mirror[measure.name] == other
    assert extended.lexicon.wording[measure.name][0] == "3 m to the left of"
    assert measure.name not in ontology.relations.family
    key = extended.encoding.readings["asserted", measure.name]
    base = ontology.encoding.readings["asserted", "left"]
    assert extended.encoding.facts[key].startswith(
        ontology.encoding.patterns[base].replace("{key}", str(key))
    )


def test_of_several_texts_of_an_amount_always_the_same_is_told() -> None:
    """A set has them in an order that changes from run to run."""
    shift = (Shift("x", Fraction(-200)),)
    texts = [f"{number} of {unit}" for number in range(5) for unit in ("m", "metres", "cm")]
    measures = frozenset(Measure("left", shift, text) for text in texts)
    extended = with_measures(builtin().ontology("everyday"), measures, Fraction(1), 8)
    name = next(iter(measures)).name
    assert extended.lexicon.wording[name][0] == "4 of metres to the left of"
