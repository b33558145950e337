from __future__ import annotations

import pytest

from symbouq.reading.stems import singular_of, stems


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("stands", "stand"),
        ("touches", "touch"),
        ("placed", "place"),
        ("dragged", "drag"),
        ("lie", "lie"),
    ],
)
def test_stems(word: str, stem: str) -> None:
    assert stem in stems(word)


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        *(("boxes", "box"), ("shelves", "shelf"), ("benches", "bench"), ("bushes", "bush")),
        *(("cities", "city"), ("lamps", "lamp"), ("sheep", "sheep")),
    ],
)
def test_singulars(plural: str, singular: str) -> None:
    assert singular_of(plural) == singular
