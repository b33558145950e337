"""Start a new ontology with tests: `symbouq rules new`."""

from __future__ import annotations

from pathlib import Path

from symbouq.errors import OntologyError

_RULES = """\
%*! An ontology of your own. It extends the built-in one: everything that is there stays,
and what you state here is added. A relation that you declare with family/2 is yours, what
the built-in ontology says of that name is set aside.

`symbouq rules check DIR` reads it for mistakes, `symbouq rules test DIR` runs the tests
beside it, `symbouq rules diff builtin DIR --corpus FILE` shows which verdicts it changes,
and `symbouq audit FILE --ontology DIR` audits with it.
*%

extends(nine_way).

% A relation: its family, how it behaves, the phrases that state it, and the wording that
% messages use for it.
family(adjoining, topology).
symmetric(adjoining).
phrase(adjoining, ("adjoining"; "adjoins"; "borders on")).
wording(adjoining, 1, "adjoining").

% What adjoins touches: an implication is a fact.
implies(adjoining, touching).

% And what adjoins is not far. A rule may conclude holds/3, or name a clash with clash/3
% and say why with reason/2.
clash(adjoining_and_far, U, V) :- holds(adjoining, U, V), holds(far, U, V).
reason(adjoining_and_far, "what adjoins is not far").
"""

_TESTS = """\
# Tests of the ontology beside them: a scene, then claims with the verdict expected.

test: what adjoins touches, both ways
scene:
  The barn adjoins the stable.
claims:
  entailed: The barn is touching the stable. by scene 1
  entailed: The stable is adjoining the barn. by scene 1
  unknown: The barn borders on the mill.

test: what adjoins is not far
scene:
  barn adjoining stable
claims:
  contradicted: stable far barn by scene 1
"""


def start(folder: str) -> list[Path]:
    """Write a new ontology with a test into a folder without `.lp` files. Return the written files.

    Raises:
        OntologyError: If the folder already has rules, or cannot be written.
    """
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.rglob("*.lp"))):
        raise OntologyError(f"{folder} exists and is not empty of rules; name another folder")
    try:
        place.mkdir(parents=True, exist_ok=True)
        files = {place / "rules.lp": _RULES, place / "rules.test": _TESTS}
        for file, text in files.items():
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OntologyError(f"{folder} cannot be written: {error.strerror or error}") from error
    return list(files)
