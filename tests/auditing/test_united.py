from __future__ import annotations

import pytest

from symbouq.auditing.united import united
from symbouq.auditing.verdicts import ClaimResult, TraceResult, Verdict
from symbouq.reading.text import Claim, ParsedTrace, Statement

YES, NO, OPEN = Verdict.ENTAILED, Verdict.CONTRADICTED, Verdict.UNKNOWN


def audited(*verdicts: Verdict | None, relation: str = "left") -> tuple[ParsedTrace, TraceResult]:
    """A trace whose claims have verdicts, None where nothing is read of one."""
    claims, results = [], []
    for number, verdict in enumerate(verdicts):
        said = () if verdict is None else (Statement("cup", relation, "jug"),)
        claims.append(Claim("reasoning", f"Claim {number}.", said))
        if verdict is None:
            results.append(ClaimResult.unparsed())
        else:
            results.append(ClaimResult(verdict, verdict, feasible_after=verdict is not NO))
    return ParsedTrace((), tuple(claims)), TraceResult(True, (), [], results)


@pytest.mark.parametrize(
    ("own", "other", "verdict", "relation"),
    [
        (YES, YES, YES, "left"),
        (YES, OPEN, YES, "left"),
        (OPEN, YES, YES, "right"),
        (OPEN, NO, NO, "right"),
        (YES, NO, OPEN, "left"),
        (NO, YES, OPEN, "left"),
        (None, YES, YES, "right"),
        (None, OPEN, OPEN, "right"),
        (OPEN, None, OPEN, "left"),
        (NO, None, NO, "left"),
        (OPEN, OPEN, OPEN, "left"),
    ],
)
def test_a_claim_is_taken_from_the_reader_that_decides_it(
    own: Verdict | None, other: Verdict | None, verdict: Verdict, relation: str
) -> None:
    parsed, result = united(audited(own), audited(other, relation="right"))
    assert result.claims[0].grounded is verdict
    assert [statement.relation for statement in parsed.claims[0].relations] == [relation]


def test_what_both_decide_alike_is_as_good_as_certain() -> None:
    parsed, _ = united(audited(YES), audited(YES))
    assert parsed.claims[0].relations[0].confidence == 0.98


def test_what_one_reads_against_the_other_is_uncertain() -> None:
    parsed, result = united(audited(YES), audited(NO))
    assert result.claims[0].reason == "uncertain" and result.claims[0].feasible_after
    assert parsed.claims[0].relations[0].confidence == 0.5


def test_after_a_conflict_that_only_the_other_sees_no_claim_is_evaluable() -> None:
    _, result = united(audited(OPEN, YES), audited(NO, OPEN))
    assert [claim.verdict for claim in result.claims] == [NO, Verdict.NOT_EVALUABLE]
    assert [claim.grounded for claim in result.claims] == [NO, YES]
    assert [claim.first_conflict for claim in result.claims] == [True, False]


def test_after_a_conflict_that_the_judge_does_not_see_claims_are_evaluable() -> None:
    parsed, result = audited(NO, YES)
    result.claims[1] = ClaimResult.blocked("blocked", YES)
    _, found = united((parsed, result), audited(YES, OPEN))
    assert [claim.verdict for claim in found.claims] == [OPEN, YES]
    assert not any(claim.first_conflict for claim in found.claims)


def test_claims_are_matched_by_their_words() -> None:
    parsed, result = audited(OPEN, OPEN)
    read, found = audited(OPEN, YES, relation="right")
    turned = ParsedTrace((), parsed.claims[::-1])
    claims = united((turned, result), (read, found))[0].claims
    assert [claim.relations[0].relation for claim in claims] == ["right", "left"]
