"""The ontology: rules as data, errors with file and line, a new axis without Python."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import symbouq
from symbouq.errors import OntologyError
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import table_groups, vocabulary

BEHIND = """\
extends(nine_way).

axis(z).
family(behind, direction).
component(behind, z, -1).
inverse(behind, front).
phrase(behind, "behind").
wording(behind, 1, "behind").

family(front, direction).
component(front, z, 1).
phrase(front, "in front of").
wording(front, 1, "in front of").
"""


def folder(tmp_path: Path, text: str) -> Path:
    (tmp_path / "mine.lp").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_new_axis_needs_no_python(tmp_path: Path) -> None:
    mine = folder(tmp_path, BEHIND)
    audit = symbouq.audit(
        [
            "The lamp is behind the sofa.",
            "The sofa is behind the table.",
            "The lamp is above the rug.",
        ],
        [
            "The lamp is behind the table.",
            "The table is in front of the sofa.",
            "The lamp is left of the sofa.",
            "The lamp is in front of the table.",
        ],
        ontology=mine,
    )
    assert [claim.verdict for claim in audit.claims] == [
        "entailed",
        "entailed",
        "unknown",  # the other axes are open
        "contradicted",
    ]
    assert audit.claims[0].premises == ["scene:1", "scene:2"]
    assert audit.claims[0].message == "lamp is behind table: follows from scene 1 and scene 2."


def test_directions_exclude_each_other_only_on_shared_axes(tmp_path: Path) -> None:
    ontology = OntologyLibrary(folder(tmp_path, BEHIND)).ontology()
    assert ontology.relations.excludes["behind"] == {"front"}
    assert "behind" not in ontology.relations.excludes["above"]


def test_a_folder_turns_a_built_in_scale(tmp_path: Path) -> None:
    scene = ["The cup is on floor 1.", "The jug is on floor 2."]
    claims = ["The cup is below the jug."]
    assert symbouq.audit(scene, claims).claims[0].verdict == "entailed"
    mine = folder(tmp_path, "extends(nine_way).\nscale(storey, below).\n")
    assert symbouq.audit(scene, claims, ontology=mine).claims[0].verdict == "contradicted"


def test_a_user_rule_joins_the_audit(tmp_path: Path) -> None:
    rule = "extends(nine_way).\nholds(near, U, V) :- holds(touching, U, V).\n"
    claim = [[["A", "near", "B"]]]
    plain = symbouq.audit([["A", "touching", "B"]], claim)
    ruled = symbouq.audit([["A", "touching", "B"]], claim, ontology=folder(tmp_path, rule))
    assert plain.claims[0].verdict == "unknown"
    assert ruled.claims[0].verdict == "entailed"


@pytest.mark.parametrize(
    "helper",
    [
        # Names of the rules that make the tables, and of those that decide a trace.
        "closed(R) :- family(R, topology), symmetric(R).",
        "active(R) :- family(R, topology), symmetric(R).",
        "in_use(R) :- family(R, topology), symmetric(R).",
        "on(R) :- family(R, topology), symmetric(R).",
        "refute(R) :- family(R, topology), symmetric(R).",
        "_fired(R) :- family(R, topology), symmetric(R).",
    ],
)
def test_a_helper_may_have_any_name(tmp_path: Path, helper: str) -> None:
    """What a helper is called changes nothing: here it makes symmetric contact nearness."""
    name = helper.partition("(")[0]
    rule = f"extends(nine_way).\n{helper}\nholds(near, U, V) :- holds(R, U, V), {name}(R).\n"
    scene = [["A", "touching", "B"], ["A", "above", "C"], ["D", "inside", "E"]]
    asked = [["B", "near", "A"], ["C", "below", "A"], ["E", "contains", "D"], ["D", "near", "E"]]
    audit = symbouq.audit(scene, [[claim] for claim in asked], ontology=folder(tmp_path, rule))
    assert [claim.verdict for claim in audit.claims] == ["entailed"] * 3 + ["unknown"]
    assert audit.claims[0].premises == ["scene:1"]


def test_a_helper_may_depend_on_what_holds(tmp_path: Path) -> None:
    """A helper of a helper, and a rule that reads the ontology's facts beside them."""
    rule = """\
extends(nine_way).
reached(U, V) :- holds(touching, U, V).
reached(U, W) :- reached(U, V), reached(V, W).
joined(U, V) :- reached(U, V), U != V.
holds(S, U, V) :- joined(U, V), opposite(R, S), holds(R, V, U).
opposite(R, S) :- inverse(R, S), family(R, containment), not incompatible(R, S).
"""
    scene = [["A", "touching", "B"], ["B", "touching", "C"], ["A", "inside", "C"]]
    audit = symbouq.audit(scene, [[["C", "contains", "A"]]], ontology=folder(tmp_path, rule))
    assert audit.claims[0].verdict == "entailed"
    assert not OntologyLibrary(tmp_path).ontology().encoding.rules.count(" opposite(")


STACKED = """\
extends(nine_way).
family(stacked_on, topology).
phrase(stacked_on, "stacked on").
wording(stacked_on, 1, "stacked on").
"""


@pytest.mark.parametrize(
    "profile",
    [
        "nine-way",
        *(
            pytest.param(p, marks=pytest.mark.slow)
            for p in ("unit-grid", "half-plane", "everyday", "spartun")
        ),
    ],
)
@pytest.mark.parametrize(
    "said",
    [
        "implies(stacked_on, above).",
        "holds(above, U, V) :- holds(stacked_on, U, V).",
        "over(R) :- inverse(R, below).\nholds(R, U, V) :- holds(stacked_on, U, V), over(R).",
        "family(heaped_on, topology).\nimplies(stacked_on, heaped_on).\nimplies(heaped_on, above).",
    ],
)
def test_a_direction_may_follow(tmp_path: Path, said: str, profile: str) -> None:
    """What follows from a relation that closure decides places things: A and B and C lie one
    over the other, the lamp beside them.
    """
    scene = [["A", "stacked_on", "B"], ["B", "stacked_on", "C"], ["C", "above", "D"]]
    mine = folder(tmp_path, STACKED + said)

    def verdict(claim: list[str]) -> tuple[str, list[str]]:
        (found,) = symbouq.audit(scene, [[claim]], ontology=mine, profile=profile).claims
        return found.verdict, sorted(found.premises)

    assert verdict(["A", "above", "B"]) == ("entailed", ["scene:1"])
    assert verdict(["D", "below", "A"]) == ("entailed", ["scene:1", "scene:2", "scene:3"])
    assert verdict(["C", "above", "A"]) == ("contradicted", ["scene:1", "scene:2"])
    assert verdict(["D", "stacked_on", "A"])[0] == "contradicted"
    assert verdict(["A", "stacked_on", "A"])[0] == "contradicted"
    assert verdict(["A", "near", "B"])[0] == "unknown"


def test_a_direction_that_follows_is_as_far_as_in_either_role(tmp_path: Path) -> None:
    """Under unit steps a stated direction is one step, a claimed one is any number: what follows
    is above, and may be two steps above.
    """
    mine = folder(tmp_path, STACKED + "implies(stacked_on, above).")
    scene = [["A", "stacked_on", "C"], ["A", "above", "B"], ["B", "above", "C"]]
    audit = symbouq.audit(scene, [[["A", "above", "C"]]], ontology=mine, profile="unit-grid")
    assert (audit.scene.feasible, audit.claims[0].verdict) == (True, "entailed")


MADE = "component(stacked_on, x, 0). component(stacked_on, y, 1). means(stacked_on, touching)."


def test_a_relation_made_of_a_direction_and_contact(tmp_path: Path) -> None:
    mine = folder(tmp_path, STACKED + MADE)
    claims = [[["A", "stacked_on", "B"]], [["C", "stacked_on", "B"]], [["B", "stacked_on", "A"]]]
    scene = [["A", "above", "B"], ["A", "touching", "B"], ["C", "above", "B"]]
    found = symbouq.audit(scene, claims, ontology=mine).claims
    assert [claim.grounded_verdict for claim in found] == ["entailed", "unknown", "contradicted"]
    assert found[0].premises == ["scene:1", "scene:2"]


def test_a_derived_fact_of_events_is_known(tmp_path: Path) -> None:
    """A rule adds to what words of events mean as a fact does."""
    rule = "extends(event).\nopaque(V) :- posture(V).\n"
    ontology = OntologyLibrary(folder(tmp_path, rule)).ontology()
    assert ontology.events.members("posture") <= ontology.events.members("opaque")


def test_a_new_clash_is_a_fact(tmp_path: Path) -> None:
    clash = "extends(nine_way).\nincompatible(inside, touching).\n"
    claim = [[["A", "touching", "B"]]]
    audit = symbouq.audit([["A", "inside", "B"]], claim, ontology=folder(tmp_path, clash))
    assert audit.claims[0].verdict == "contradicted"
    assert "inside and touching exclude each other" in audit.claims[0].message


def test_a_profile_of_ones_own(tmp_path: Path) -> None:
    text = """\
extends(nine_way).
profile(terse).
extends(terse, unit_grid).
dataset("my-set", terse).
phrase(terse, left, "port").
"""
    library = OntologyLibrary(folder(tmp_path, text))
    assert library.profile_of("my-set") == "terse"
    terse = library.ontology("terse")
    assert terse.lexicon.phrase["port"] == "left"
    assert "port" not in library.ontology("nine-way").lexicon.phrase
    unit = library.ontology("unit-grid")
    readings = {name for name in terse.encoding.readings.items() if name[0][1] == "left"}
    assert readings == {name for name in unit.encoding.readings.items() if name[0][1] == "left"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("familly(beyond, direction).", 1, "undefined predicate familly/2; did you mean family/2?"),
        ("\n\ninverse(beyond, above).", 3, "unknown relation beyond"),
        ("family(beyond, direction).\ncomponent(beyond, w, -1).", 2, "unknown axis w"),
        ("component(above, x, 2).", 1, "unknown sign 2"),
        ("symmetric(abov).", 1, "did you mean above?"),
        ("family(behind direction).", 1, "syntax error"),
        ("family(behind, direction)", 1, "syntax error"),
        ("holds(near, U, V) :- holdz(far, U, V).", 1, "undefined predicate holdz/3"),
        ("#show family/2.", 1, "only facts and rules belong in an ontology"),
        ("family(X, direction).", 1, "facts are ground"),
        ("reading(nine_way, claimed, strict).", 1, "unknown role claimed"),
        ("extends(two_way).", 1, "unknown profile two_way"),
        ("clsh(foo, U, V) :- holds(inside, U, V).", 1, "undefined predicate clsh/3"),
        ("clash(foo, U, V) :- holds(insid, U, V).", 1, "unknown relation insid"),
        ('clash("oops", U, V) :- holds(near, U, V).', 1, "unknown clash"),
        ("clash(foo, U, V) :- holds(inside, U, W).", 1, "unsafe variables"),
        ('phrase(X, "x") :- axis(Y).', 1, "unsafe variables"),
        ("phrase(abov, T) :- phrase(below, T).", 1, "unknown relation abov"),
        ('component(above, "y", 1).', 1, 'unknown axis "y"'),
        ('clock("12", below).', 1, "unknown hour"),
        ("phrase(above, foo).", 1, "unknown text foo"),
        ('phrase(above, "").', 1, "unknown text"),
        ('wording(above, first, "aloft").', 1, "unknown rank first"),
        ("interval(odd, 1, foo, 2).", 1, "unknown bound foo"),
        ("interval(odd, 1, 3, 2).", 1, "the interval from 3 to 2 is empty"),
        (
            "family(behind, directoin).",
            1,
            "family directoin in argument 2 of family/2 is used by no",
        ),
        ("incompatible(above, near).", 1, "is for relations without components"),
        ("{ family(x, direction) }.", 1, "the head of a rule is one plain atom"),
        ("axis(u); axis(v).", 1, "the head of a rule is one plain atom"),
        ("-axis(u).", 1, "the head of a rule is one plain atom"),
        (":- holds(near, U, V).", 1, "the head of a rule is one plain atom"),
        ("axis(u) :- &diff { p - q } <= 1.", 1, "not by &diff"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    header = "" if text.startswith("extends") else "extends(nine_way).\n"
    mine = folder(tmp_path, header + text)
    with pytest.raises(OntologyError) as caught:
        OntologyLibrary(mine).ontology()
    assert caught.value.file == str(mine / "mine.lp")
    assert caught.value.line == line + bool(header)
    assert words in caught.value.message


def test_default_profile_of_an_extending_folder(tmp_path: Path) -> None:
    text = "profile(mine).\nextends(mine, nine_way).\ndefault_profile(mine).\n"
    library = OntologyLibrary(folder(tmp_path, text))
    assert library.profile_of(None) == "mine"
    assert library.profile_of("stepgame") == "unit-grid"
    assert library.ontology().lexicon.phrase["above"] == "above"


def test_a_folder_that_replaces_the_builtin(tmp_path: Path) -> None:
    text = """\
profile(line).
default_profile(line).
uses(line, order).
reading(line, (asserted; queried), strict).
interval(strict, 1, 1, #sup). interval(strict, -1, #inf, -1).
axis(t).
family(after, order). component(after, t, 1). inverse(after, before).
family(before, order). component(before, t, -1).
"""
    chain = [["C", "after", "B"], ["B", "after", "A"]]
    audit = symbouq.audit(chain, [[["A", "before", "C"]]], ontology=folder(tmp_path, text))
    assert (audit.ontology.profile, audit.claims[0].verdict) == ("line", "entailed")
    with pytest.raises(symbouq.RecordError, match="unknown relation 'above' in profile line"):
        symbouq.audit([["A", "above", "B"]], [], ontology=tmp_path)


def test_missing_folder_and_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match="does not exist"):
        OntologyLibrary(tmp_path / "nowhere")
    with pytest.raises(OntologyError, match=r"holds no \.lp file"):
        OntologyLibrary(tmp_path)


def test_unknown_profile_lists_the_known() -> None:
    with pytest.raises(OntologyError, match=r"there are: nine-way, babi, .*unit-grid"):
        OntologyLibrary().ontology("ten-way")


def test_datasets_choose_profiles() -> None:
    library = OntologyLibrary()
    assert library.profile_of("stepgame") == "unit-grid"
    assert library.profile_of("StepGame") == "unit-grid"
    assert library.profile_of(None) == library.profile_of("elsewhere") == "nine-way"


def test_hash_follows_the_files(tmp_path: Path) -> None:
    first = OntologyLibrary(folder(tmp_path, BEHIND)).ontology().hash
    again = OntologyLibrary(tmp_path).ontology().hash
    second = OntologyLibrary(folder(tmp_path, BEHIND + "% edited\n")).ontology().hash
    assert first == again != second


def test_the_paper_s_relation_system() -> None:
    """Nine directions, and exactly the inverses, symmetries and clashes of the paper."""
    ontology = OntologyLibrary().ontology("nine-way")
    directions = {r for r, family in ontology.relations.family.items() if family == "direction"}
    assert len(directions) == 9
    assert all(ontology.relations.excludes[r] == directions - {r} for r in directions)
    for first, second in [
        ("inside", "contains"),
        ("not_inside", "not_contains"),
        ("left", "right"),
    ]:
        assert ontology.relations.converse[first] == second
        assert ontology.relations.converse[second] == first
    assert ontology.relations.symmetric - directions == {
        "near",
        "far",
        "touching",
        "disconnected",
        "overlap",
    }
    assert ontology.encoding.closure_facts.count("transitive(") == 2
    assert ontology.encoding.closure_facts.count("incompatible(") == 7


def test_canonical_names_take_dashes_and_suggest() -> None:
    ontology = OntologyLibrary().ontology()
    assert ontology.canonical("upper-left") == "upper_left"
    with pytest.raises(KeyError, match="did you mean 'upper_left'"):
        ontology.canonical("uper_left")


def test_what_the_vocabulary_declares_as_a_table_is_one() -> None:
    """A predicate that readers have as a plain table is named in `rules/vocabulary.lp` alone."""
    library = OntologyLibrary()
    tables = library.ontology("spartqa").tables
    for key, group in table_groups().items():
        if group != "events" and not {"profile", "relation"} & {*vocabulary()[key]}:
            assert sorted(tables.get(key, [])) == sorted(library.source.rows[key]), key


@pytest.mark.parametrize("name", [b"rules/caf\xe9.lp", b"caf\xe9/rules.lp"])
def test_a_file_whose_name_is_not_utf8_is_told(name: bytes, tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(name)
    file.parent.mkdir()
    file.write_text("extends(nine_way).\n")
    with pytest.raises(OntologyError, match="no name in UTF-8; rename it") as caught:
        OntologyLibrary(file.parent)
    assert r"caf\xe9" in str(caught.value)
