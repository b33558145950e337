"""Assertions about traces, for pytest and other test runners.

Examples:
    >>> from symbouq.testing import assert_audit
    >>> scene = "The lamp is above the desk. The desk is left of the door."
    >>> assert_audit(scene, "The lamp is upper left of the door.").claims[0].verdict
    'entailed'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from symbouq.api import Audit, TraceAuditor, audit
from symbouq.auditing.messages import claim_text
from symbouq.records import ClaimAudit, Trace, make_record


def assert_audit(
    scene: str | Sequence[str] | Sequence[Sequence[str]],
    text: str | Sequence[str] | Sequence[Sequence[Sequence[str]]],
    profile: str | None = None,
    question: str = "",
    max_contradicted: int = 0,
) -> Audit:
    """Assert that at most `max_contradicted` claims contradict the scene or earlier claims.

    Unknown claims, and claims that cannot be evaluated after a contradiction, do not count.

    Args:
        scene: The trusted description, in any form that `symbouq.audit` accepts.
        text: The reasoning: a string, or claims in any form that `symbouq.audit` accepts.
        profile: Name of the profile; by default `nine-way`.
        question: The question.
        max_contradicted: Number of contradicted claims to allow.

    Returns:
        The audit, for further assertions.

    Raises:
        AssertionError: If more claims are contradicted. The message lists each of them with its
            premises.
        SymboUQError: As for `symbouq.audit`.
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    found = audit(scene, text, question, profile=profile)
    wrong = [claim for claim in found.claims if claim.verdict == "contradicted"]
    if len(wrong) > max_contradicted:
        sentences = _sentences(scene, profile)
        raise AssertionError("\n".join(_told(found, wrong, sentences, max_contradicted)))
    return found


def _told(
    found: Audit, wrong: Sequence[ClaimAudit], sentences: Sequence[str], most: int
) -> Iterator[str]:
    yield f"{len(wrong):,} of {len(found.claims):,} claims contradicted, {most:,} allowed:"
    said = {"scene": sentences, "claim": [claim_text(claim.model_dump()) for claim in found.claims]}
    for claim in wrong:
        yield f'claim {claim.index}, "{said["claim"][claim.index - 1]}": {claim.message}'
        for premise in claim.premises:
            kind, number = premise.split(":")
            yield f"    {kind} {number}: {said[kind][int(number) - 1]}"
    others = Counter(claim.verdict for claim in found.claims)
    del others["contradicted"]
    if others:
        yield "others: " + ", ".join(f"{n:,} {verdict}" for verdict, n in others.items())


def _sentences(
    scene: str | Sequence[str] | Sequence[Sequence[str]], profile: str | None
) -> list[str]:
    """Return the text of each `scene:N`, with N counted from 1."""
    if not isinstance(scene, str):
        return [each if isinstance(each, str) else " ".join(each) for each in scene]
    trace = make_record(Trace, {"id": "trace", "scene": scene, "response": ""})
    return TraceAuditor(profile).parser_for(trace).sentences(trace)
