"""Assertions about texts: what passes, and what a failure says."""

from __future__ import annotations

import doctest

import pytest

import symbouq
from symbouq import testing
from symbouq.testing import assert_audit

pytest_plugins = ("pytester",)

SCENE = "The lamp is above the desk. The desk is left of the door."
AGAINST_ITSELF = "The mat is left of the lamp. So the mat is right of the lamp."


def failure(*given: object, **more: object) -> list[str]:
    with pytest.raises(AssertionError) as raised:
        assert_audit(*given, **more)  # type: ignore[arg-type]
    return str(raised.value).splitlines()


def test_the_example_of_the_docstring() -> None:
    assert doctest.testmod(testing).failed == 0


def test_what_passes_gives_its_audit() -> None:
    scene = "The lamp is above the desk. The desk is above the rug."
    text = "The lamp is above the rug."
    audit = symbouq.testing.assert_audit(scene, text, profile="everyday", max_contradicted=0)
    assert isinstance(audit, symbouq.Audit)
    assert [claim.verdict for claim in audit.claims] == ["entailed"]
    assert audit.ontology.profile == "everyday"
    # What is unknown contradicts nothing.
    assert assert_audit(SCENE, "The mat is left of the lamp.").claims[0].verdict == "unknown"


def test_a_failure_names_what_is_wrong_with_its_premises_and_counts_the_others() -> None:
    # The lamp is upper left of the door. The text has no conclusion, which is unknown, too.
    text = "The desk is left of the door. The lamp is below the door. The mat is on the floor."
    assert failure(SCENE, text) == [
        "1 of 4 claims contradicted, 0 allowed:",
        'claim 2, "The lamp is below the door.": lamp is below door: cannot hold together with '
        "scene 1 and scene 2.",
        "    scene 1: The lamp is above the desk.",
        "    scene 2: The desk is left of the door.",
        "others: 1 entailed, 2 unknown",
    ]


def test_claims_and_relations_are_premises_too() -> None:
    assert failure(SCENE, AGAINST_ITSELF) == [
        "1 of 3 claims contradicted, 0 allowed:",
        'claim 2, "So the mat is right of the lamp.": mat is to the right of lamp: cannot hold '
        "together with claim 1.",
        "    claim 1: The mat is left of the lamp.",
        "others: 2 unknown",
    ]
    assert failure(["A is above B.", "B is above C."], ["C is above A."])[2:] == [
        "    scene 1: A is above B.",
        "    scene 2: B is above C.",
    ]
    assert failure([["a", "above", "b"]], [[["b", "above", "a"]]]) == [
        "1 of 1 claims contradicted, 0 allowed:",
        'claim 1, "b above a": b is above a: cannot hold together with scene 1.',
        "    scene 1: a above b",
    ]


def test_so_many_may_be_contradicted() -> None:
    found = assert_audit(SCENE, AGAINST_ITSELF, max_contradicted=1)
    assert [claim.verdict for claim in found.claims[:2]] == ["unknown", "contradicted"]
    assert failure(SCENE, AGAINST_ITSELF)[0] == "1 of 3 claims contradicted, 0 allowed:"


def test_the_profile_decides() -> None:
    # On the table is above it, in everyday words.
    scene, text = "The cup is on the table.", "The cup is below the table."
    assert_audit(scene, text)
    assert failure(scene, text, "everyday")[-1] == "    scene 1: The cup is on the table."


def test_plain_pytest_shows_the_line_and_the_reason(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import symbouq

        def test_it():
            symbouq.testing.assert_audit({SCENE!r}, "The lamp is below the door.")
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*symbouq.testing.assert_audit(*",
            "E *1 of 1 claims contradicted, 0 allowed:",
            "E *scene 2: The desk is left of the door.",
            "*test_plain*.py:4: AssertionError",
        ],
        consecutive=False,
    )
    assert "found = audit" not in result.stdout.str()
