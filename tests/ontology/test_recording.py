"""Recorded programs."""

from symbouq.ontology.recording import add_program, is_recording, recorded


def test_programs_are_recorded_inside_the_block_only() -> None:
    add_program((("layout",), "before."))
    with recorded() as programs:
        assert is_recording()
        add_program((("layout",), "inside."))
        with recorded() as inner:
            add_program((("layout",), "within."))
    add_program((("layout",), "after."))
    assert programs == [(("layout",), "inside.")]
    assert inner == [(("layout",), "within.")]
    assert not is_recording()
