"""Random depends on seed and id alone; a length is a count."""

from __future__ import annotations

import numpy as np
import scipy.stats
from helpers.synthetic import example

from symbouq.evidence.scorers.methods.reference import Length, Random
from symbouq.evidence.scorers.reduction import auroc


def test_random_depends_on_seed_and_id_alone() -> None:
    first, second = example(claims=3, id="a"), example(claims=2, id="b")
    together = Random(seed=1).score([first, second])
    (alone,) = Random(seed=1).score([second])
    assert together[1].tolist() == alone.tolist()
    assert [len(values) for values in together] == [3, 2]
    assert Random(seed=2).score([second])[0].tolist() != alone.tolist()
    many = np.array(
        [values[0] for values in Random().score([example(id=str(n)) for n in range(2000)])]
    )
    assert scipy.stats.kstest(many, "uniform").pvalue > 0.001


def test_random_does_not_tell_how_many_claims_there_are() -> None:
    # Right answers have one claim, wrong ones nine: with a value for each claim, the worst one would
    # rank right answers first in 9 of 10 pairs.
    given = [example(claims=1 if n % 2 else 9, id=str(n)) for n in range(400)]
    worst = [-values.max() for values in Random().score(given)]
    labels = [n % 2 for n in range(400)]
    assert abs(auroc(worst, labels) - 0.5) < 0.1
    assert all(len(set(values)) == 1 for values in Random().score(given))


def test_length_counts_claims() -> None:
    scores = Length().score([example(claims=3, id="a"), example(claims=1, id="b")])
    assert [values.tolist() for values in scores] == [[3, 3, 3], [1]]
