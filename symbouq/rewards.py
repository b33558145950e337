"""Training rewards for spatial reasoning, from the audit of a completion.

A reward has two parts, each in [0, 1]. A part is None if nothing was decided. None means unscored,
never zero:

- `outcome`: whether the answer is right. If no right answer is known, whether the scene alone
  entails (1) or contradicts (0) the answer.
- `process`: share of entailed claims among the decided ones. Only the scene can entail a claim, so
  claims built on unfounded claims earn nothing. The scene or earlier text can contradict a claim.
  Claims that repeat the scene or an earlier claim do not count, except for the conclusion.

`total` is the mean of the available parts. A completion is unscored if it was cut off, is empty, or
could not be audited in time. No operating system signals are used, so any thread may compute
rewards. Audits in one process take turns.
"""

# Annotations are not strings here, because verl loads this file without registering it as a module,
# so a dataclass could not resolve them.
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial, update_wrapper
from itertools import repeat
from statistics import fmean
from typing import Any

from symbouq.auditing.answers import labels_named
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.correctness import answer_label, right_labels
from symbouq.auditing.verdicts import Verdict
from symbouq.errors import OntologyError, SymboUQError, internal
from symbouq.evidence.contract import Structured
from symbouq.io.messages import role_of, written
from symbouq.limits import time_limit, turn
from symbouq.reading.segments import options
from symbouq.reading.syntax.pipeline import PipelineError
from symbouq.records import Trace, make_record
from symbouq.records.base import encodable
from symbouq.records.features import CLAIM_FEATURES

TIMEOUT = 5.0
"""Default time limit for one audit, in seconds."""

UNDECIDED = 0.5
"""Score of an unscored completion, for trainers that need a number: neither right nor wrong."""

_RESTATED, _REPEATED = (list(CLAIM_FEATURES).index(name) for name in ("restated", "repeated"))
_USUAL_SPACES = (("yes", "no"), ("entailment", "contradiction", "neutral"))


@dataclass(frozen=True)
class Reward:
    """Reward of a completion.

    Attributes:
        claims: 1 for each entailed claim, 0 for each contradicted one, None for others and for
            repeated claims. The conclusion is last.
        outcome: Whether the answer is right; None if undecided.
        verdicts: The verdict on each claim, in the assumed context.
        fault: Why the completion, or part of it, was not audited; otherwise empty.
        audit: The audit as a dictionary; None without an audit.
    """

    claims: tuple[float | None, ...] = ()
    outcome: float | None = None
    verdicts: tuple[str, ...] = ()
    fault: str = ""
    audit: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def truncated(self) -> bool:
        """Whether the completion was cut off or is empty, and therefore unscored."""
        return bool(self.audit and self.audit["truncated"])

    @property
    def process(self) -> float | None:
        """Share of entailed claims among the decided ones; None if no claim is decided."""
        return _mean(self.claims)

    @property
    def total(self) -> float | None:
        """Mean of the available parts, outcome and process; None if there are none."""
        return _mean((self.outcome, self.process))

    @property
    def values(self) -> dict[str, float]:
        """Numbers to log, NaN if undecided: `outcome` and `process`; `free_of_errors`, which is 0
        if a claim is contradicted, otherwise 1; and `determinacy`, the share of claims that logic
        decides (the Determinacy Profile).
        """
        decided = any(value is not None for value in self.claims)
        profile = self.audit["profile"] if self.audit and not self.truncated else {}
        values = {
            "outcome": self.outcome,
            "process": self.process,
            "free_of_errors": float(self.first_error is None) if decided else None,
            "determinacy": profile.get("determinacy"),
        }
        return {name: math.nan if value is None else value for name, value in values.items()}

    @property
    def first_error(self) -> int | None:
        """Number of the first contradicted claim, from 1; None if there is none."""
        contradicted = (n for n, value in enumerate(self.claims, start=1) if value == 0)
        return next(contradicted, None)


def _mean(values: Iterable[float | None]) -> float | None:
    decided = [value for value in values if value is not None]
    return fmean(decided) if decided else None


@lru_cache(maxsize=8)
def _auditor(profile: str | None, ontology: str | None) -> TraceAuditor:
    return TraceAuditor(profile, ontology, partial=True)


def reward(
    scene: str | Sequence[str],
    completion: str | Sequence[Mapping[str, Any]],
    question: str = "",
    *,
    answer: Any = None,
    any_of: Sequence[Any] | None = None,
    answer_space: Sequence[str] | None = None,
    dataset: str | None = None,
    profile: str | None = None,
    ontology: str | None = None,
    timeout: float | None = TIMEOUT,
    truncated: bool = False,
) -> Reward:
    """Compute the reward for one completion.

    Examples:
        >>> from symbouq.rewards import reward
        >>> scene = "A is left of B. B is left of C."
        >>> found = reward(scene, "A is left of C. Answer: C is left of A")
        >>> found.claims, found.first_error
        ((1.0, 0.0), 2)

    Args:
        scene: The trusted description: a string or a list of sentences.
        completion: Prose, an object with `reasoning` and `conclusion`, or a chat. Reasoning that a
            message stores separately is audited, too.
        question: The question.
        answer: The right answer, if known: a label, or a list of labels that together are the
            answer.
        any_of: Several right answers, each of which is sufficient; used instead of `answer`.
        answer_space: The possible labels. The default depends on the answer: the directions of the
            profile, yes and no, or entailment, contradiction and neutral.
        dataset: Name of the dataset, which may determine the profile.
        profile: Name of the profile; by default the dataset's, or the default profile.
        ontology: Folder of your ontology.
        timeout: Time limit for the audit, in seconds; None for no limit.
        truncated: Whether the completion was cut off, if its messages do not say so.

    Raises:
        OntologyError: If the ontology or the profile is invalid.
        PipelineError: If no English pipeline is installed.
    """
    record: dict[str, Any] = {"id": "completion", "scene": scene, "question": question}
    record |= {"dataset": dataset, "truncated": truncated}
    with turn():
        auditor = _auditor(profile, ontology)
        try:
            with time_limit(timeout):
                return _judged(auditor, record, completion, any_of or (answer,), answer_space)
        except (OntologyError, PipelineError):
            raise
        except SymboUQError as error:
            fault = error.message
        except Exception as error:  # training continues, even if the model's output causes an error
            fault = internal(error)
    return Reward(fault=encodable(fault))


def _judged(
    auditor: TraceAuditor,
    record: Mapping[str, Any],
    completion: str | Sequence[Mapping[str, Any]],
    answers: Sequence[Any],
    answer_space: Sequence[str] | None,
) -> Reward:
    text, cut = _said(completion)
    structured = Structured.of(text)
    if structured is None:
        said: dict[str, Any] = {"response": text}
    else:
        said = {"reasoning": list(structured.reasoning), "conclusion": structured.conclusion}
    record = {**record, **said, "answer_space": list(answer_space) if answer_space else None}
    trace = make_record(Trace, record | {"truncated": cut or record["truncated"]})
    audit = auditor.audited(trace)
    verdicts = tuple(claim["verdict"] for claim in audit["claims"])
    if audit["truncated"]:
        return Reward(fault="it was cut off, or is empty", audit=audit)
    values = tuple(map(_value, audit["claims"], audit["features"]["claims"]))
    decided = _of(audit["claims"][-1]) if audit["claims"] else None
    outcomes = (
        _outcome(record, answer, answer_space or _space(answer, auditor, trace))
        for answer in answers
    )
    known = max((each for each in outcomes if each is not None), default=None)
    fault = encodable("; ".join(audit["faults"]))
    return Reward(values, decided if known is None else known, verdicts, fault, audit)


def _said(completion: str | Sequence[Mapping[str, Any]]) -> tuple[str, bool]:
    """Return the text of a completion, or of the assistant's messages in a chat, and whether the
    last one was cut off.
    """
    if isinstance(completion, str):
        return completion, False
    said = [written(each) for each in completion if role_of(dict(each)) in ("", "assistant")]
    return "\n".join(each.response for each in said), bool(said) and said[-1].truncated


def _of(claim: Mapping[str, Any]) -> float | None:
    """Return 1 if the scene entails a claim, 0 if the scene or earlier text contradicts it,
    otherwise None.
    """
    if Verdict.CONTRADICTED in (claim["verdict"], claim["grounded_verdict"]):
        return 0.0
    return 1.0 if claim["grounded_verdict"] == Verdict.ENTAILED else None


def _value(claim: Mapping[str, Any], features: Sequence[float]) -> float | None:
    value = _of(claim)
    is_old = max(features[_RESTATED], features[_REPEATED]) == 1
    return None if value == 1 and is_old and claim["type"] != "conclusion" else value


def _space(answer: Any, auditor: TraceAuditor, trace: Trace) -> Sequence[str] | None:
    if answer is None:
        return None
    listed = options(trace.question)
    if listed and set(right_labels(answer, listed)) <= set(listed):
        return listed
    relations = auditor.parser_for(trace).ontology.relations
    named = [str(label) for label in (answer if isinstance(answer, list | tuple) else [answer])]
    for labels in ((*relations.displacement,), (*relations.family,), *_USUAL_SPACES):
        if all(labels_named(label, labels) for label in named):
            return labels
    return None


def _outcome(record: Mapping[str, Any], answer: Any, space: Sequence[str] | None) -> float | None:
    if answer is None or not space:
        return None
    label = answer_label({**record, "answer": answer, "answer_space": list(space)})
    return None if label is None else float(label)


def trl_reward(
    completions: Sequence[Any], *, scene: Sequence[Any], **columns: Any
) -> list[float | None]:
    """Compute rewards for TRL: the `total` of each completion, None if unscored.

    Columns of the dataset are keyword arguments. `scene` is required; `question`, `answer`,
    `answer_space` and `dataset` are optional. Use `trl_reward_for` for other settings.

    Args:
        completions: Texts, or chats.
        scene: The scene for each completion.
        columns: `question`, `answer`, `answer_space` and `dataset` for each completion, and
            `truncated`, whether it was cut off. TRL also passes `log_extra`, a callback for a
            column of the completions table, and `log_metric`, a callback for a number.

    Raises:
        SymboUQError: If a column does not have one value per completion.
        OntologyError: As for `reward`.
        PipelineError: As for `reward`.
    """
    return _trl_rewards(None, TIMEOUT, completions, scene=scene, **columns)


def trl_reward_for(
    *, profile: str | None = None, timeout: float | None = TIMEOUT
) -> Callable[..., list[float | None]]:
    """Return a reward function like `trl_reward`, with settings. TRL displays its `__name__`, which
    is `trl_reward`, or `trl_reward_PROFILE` if a profile is given.

    Args:
        profile: Name of the profile; by default the dataset's, or the default profile.
        timeout: Time limit for each audit, in seconds; None for no limit.

    Raises:
        OntologyError: If the profile is invalid.
    """
    with turn():
        _auditor(profile, None)  # report an invalid profile before training begins
    made = update_wrapper(partial(_trl_rewards, profile, timeout), trl_reward)
    if profile is not None:
        made.__name__ += "_" + profile.replace("-", "_")
    return made


def _trl_rewards(
    profile: str | None,
    timeout: float | None,
    /,
    completions: Sequence[Any],
    *,
    scene: Sequence[Any],
    question: Sequence[str | None] | None = None,
    answer: Sequence[Any] | None = None,
    answer_space: Sequence[Any] | None = None,
    dataset: Sequence[str | None] | None = None,
    truncated: Sequence[bool] | None = None,
    log_extra: Callable[[str, list[Any]], None] | None = None,
    log_metric: Callable[[str, float], None] | None = None,
    **_columns: Any,
) -> list[float | None]:
    columns = {
        "scene": scene, "question": question, "answer": answer, "answer_space": answer_space,
        "dataset": dataset, "truncated": truncated,
    }  # fmt: skip
    lengths = {name: len(each) for name, each in columns.items() if each is not None}
    if wrong := [f"`{name}` has {n:,}" for name, n in lengths.items() if n != len(completions)]:
        raise SymboUQError(
            f"there are {len(completions):,} completions, and a column needs a value for each: "
            + ", ".join(wrong)
        )
    values = (repeat(None) if each is None else each for each in columns.values())
    rows = zip(completions, *values, strict=False)
    judged = partial(reward, profile=profile, timeout=timeout)
    found = [
        judged(of, text, ask or "", answer=a, answer_space=space, dataset=name, truncated=bool(cut))
        for text, of, ask, a, space, name, cut in rows
    ]
    if log_extra is not None:
        log_extra("verdicts", [" ".join(each.verdicts) or each.fault for each in found])
    if log_metric is not None and found:
        log_metric("symbouq/unscored", fmean(each.total is None for each in found))
        for name in ("outcome", "process"):
            if (mean := _mean(getattr(each, name) for each in found)) is not None:
                log_metric(f"symbouq/{name}", mean)
        log_metric("symbouq/with_error", fmean(each.first_error is not None for each in found))
    return [each.total for each in found]


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    undecided: float = UNDECIDED,
    **_more: Any,
) -> dict[str, float]:
    """Compute a reward for verl: `score` is the `total`; the parts of the reward are additional
    fields.

    Args:
        data_source: Name of the dataset, which may determine the profile.
        solution_str: The completion.
        ground_truth: The right answer; None if unknown.
        extra_info: `scene`, and optionally `question`, `answer_space`, `profile`, and `truncated`,
            whether the completion was cut off.
        undecided: Score for an unscored completion, because verl accepts only numbers.

    Raises:
        SymboUQError: If there is no scene.
        OntologyError: As for `reward`.
        PipelineError: As for `reward`.
    """
    given = dict(extra_info or {})
    if not given.get("scene"):
        raise SymboUQError("a row of verl's data needs `scene` in its `extra_info`")
    found = reward(
        given["scene"],
        solution_str,
        given.get("question") or "",
        answer=ground_truth,
        answer_space=given.get("answer_space"),
        dataset=data_source,
        profile=given.get("profile"),
        truncated=bool(given.get("truncated")),
    )
    parts = {"score": found.total, "outcome": found.outcome, "process": found.process}
    told = {name: undecided if value is None else value for name, value in parts.items()}
    return told | {"scored": float(found.total is not None)}
