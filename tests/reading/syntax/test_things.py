"""Which noun phrases mean the same thing."""

from __future__ import annotations

from symbouq.reading.syntax.things import Things


def test_a_name_with_fewer_or_more_words_means_the_only_such_thing() -> None:
    things = Things()
    lamp = things.thing(["red", "lamp"], "lamp")
    assert things.find(["lamp"], "lamp") == lamp
    assert things.find(["big", "red", "lamp"], "lamp") == lamp
    assert things.find(["blue", "lamp"], "lamp") is None
    assert things.find(["red"], "red") is None
    other = things.thing(["blue", "lamp"], "lamp")
    assert other != lamp
    assert things.find(["lamp"], "lamp") is None  # which of the two?


def test_owners_tell_things_apart() -> None:
    things = Things()
    field = things.thing(["my", "field"], "field")
    assert things.thing(["field", "of", "my", "cousin"], "field") != field
    sheet = things.thing(["My", "opponent", "'s", "sheet"], "sheet")
    assert things.thing(["my", "sheet"], "sheet") != sheet


def test_what_belongs_to_different_things_is_different() -> None:
    things = Things()
    field = things.thing(["field", "of", "my", "cousin"], "field")
    assert things.find(["my", "field"], "field") is None
    assert things.find(["field"], "field") == field


def test_possessives_of_different_persons_are_of_different_things() -> None:
    things = Things(persons={"our": "we", "my": "I"})
    tent = things.thing(["our", "tent"], "tent")
    assert things.suits(tent, "our") and things.suits(tent, "my")
    assert not things.suits(tent, "their")


def test_letters_keep_their_case_unless_there_is_but_one_such_thing() -> None:
    things = Things()
    big, small = things.thing(["X"], "X"), things.thing(["Y"], "Y")
    assert things.find(["x"], "x") == big
    assert things.thing(["y"], "y") == small
    assert things.thing(["Marker B"], "Marker B") == things.find(["B"], "Marker B")


def test_a_noun_before_a_numbered_thing_is_a_part_of_its_name() -> None:
    things = Things(describing={"red"})
    table = things.thing(["Table 1"], "Table 1")
    assert things.find(["Side", "table 1"], "table 1") is None
    assert things.find(["red", "table 1"], "table 1") == table
    assert things.find(["1"], "1") == table
    assert things.find(["table 12"], "table 12") is None


def test_a_proper_name_may_follow_what_it_names() -> None:
    things = Things(naming={"star"})
    star = things.thing(["star Alpha Centauri"], "star Alpha Centauri")
    assert things.find(["Alpha", "Centauri"], "Centauri", proper=True) == star
    other = things.thing(["ship Alpha Centauri"], "ship Alpha Centauri")
    assert other != star


def test_a_copy_is_independent() -> None:
    things = Things()
    things.thing(["A"], "A")
    twin = things.copy()
    twin.thing(["B"], "B")
    assert (len(things), len(twin)) == (1, 2)


def test_a_thing_may_be_named_by_what_it_holds() -> None:
    things = Things()
    stall = things.thing(["fish", "stall"], "stall")
    things.thing(["kitchen", "table"], "table")
    assert things.eponym(["fish"], {"stall"}) == stall
    assert things.eponym(["kitchen"], {"stall"}) is None
    things.thing(["second", "fish", "stall"], "stall")
    assert things.eponym(["fish"], {"stall"}) is None  # which of the two?
    things.thing(["clay", "layer"], "layer")
    things.thing(["clay", "figure"], "figure")
    assert things.eponym(["clay"], {"layer"}) is None  # the clay of the figure, too


def test_pronouns_of_one_person_are_one_name() -> None:
    things = Things({"me": "I", "my": "I"})
    speaker = things.thing(["me"], "me")
    assert things.thing(["my"], "my") == speaker
    assert things.spellings[speaker] == "I"


def test_the_last_word_of_a_proper_name_means_the_same() -> None:
    things = Things()
    uncle = things.thing(["Uncle", "Piet"], "Piet", proper=True)
    assert things.find(["Piet"], "Piet", proper=True) == uncle


def test_a_name_goes_with_what_it_is_of() -> None:
    things = Things()
    save = things.thing(["Save"], "Save", proper=True)
    assert things.titled(["Save", "button"], {"button"}) == save
    assert things.titled(["save", "button"], {"button"}) is None
    assert things.titled(["Save", "shop"], {"button"}) is None
    assert things.titled(["save", "button"], (), {"button"}) == save
    things.thing(["Save", "button"], "button")
    assert things.titled(["Save", "button"], {"button"}) is None


def test_a_label_opens_with_what_a_thing_is() -> None:
    things = Things()
    coach = things.thing(["coach C"], "coach C")
    assert things.is_a(coach, "coach")
    assert not things.is_a(coach, "engine")
