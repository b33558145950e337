"""The paper's numbers."""

from __future__ import annotations

from symbouq.experiments.paper import paper_number


def test_numbers_are_found_by_name() -> None:
    number = paper_number(
        "result", "AUROC", backbone="Gemma-2-9B-it", dataset="SpaRP", method="SymboUQ"
    )
    assert number == "0.907"
    assert (
        paper_number("valsize", "128", backbone="Mistral-7B-Instruct", dataset="SpaRTUN") == "0.630"
    )
    assert paper_number("prefix", "claims", dataset="All") == "17963"
    assert (
        paper_number(
            "ablation",
            "AUROC",
            backbone="Mistral-7B-Instruct",
            dataset="StepGame",
            method="shuffled",
        )
        == "0.814"
    )
    assert paper_number("result", "AUROC", backbone="tiny", dataset="chains", method="MLP") is None
