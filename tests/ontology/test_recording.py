"""Recorded programs."""

from symbouq.ontology.recording import add_program, is_recording, recorded


def test_programs_are_recorded_inside_the_block_only() -> None:
    programs: list[str] = []
    inner: list[str] = []
    assert not add_program(("layout",), "before.")
    with recorded(lambda parts, facts, _: programs.append(f"{parts[0]} {facts}") or True):
        assert is_recording()
        assert add_program(("layout",), "inside.")
        with recorded(lambda _parts, facts, _control: bool(inner.append(facts))):
            assert not add_program(("layout",), "within.")
    assert not add_program(("layout",), "after.")
    assert programs == ["layout inside."]
    assert inner == ["within."]
    assert not is_recording()
