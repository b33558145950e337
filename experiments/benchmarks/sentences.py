"""Shapes of English sentences, each with its formula, or with several where it has more than one
sound reading. `meanings.py` fills them in.

A text has slots, and each relation a letter: "{x} {r} {y}" is `f`, "{x} {o} {y}" its opposite `o`;
"{u} {r} {y}" and "{v} {r} {y}" are `u` and `v`, of further subjects, and "{x} {r} {u}" is `b`;
"{x} {q} {y}" is `q`, on another axis, and "{x} {q} {v}" is `h`; "{y} {k} {l}" is `t`, and
"{z} {s} {w}" is `g`, of other things. "|" parts sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from layouts import TRUE, And, Apart, Before, Fact, Formula, Not, Or, Within, both, count, either

# Relations -----------------------------------------------------------------------------

_SIDES = {
    "left": (("x", False),),
    "right": (("x", True),),
    "below": (("y", False),),
    "above": (("y", True),),
    "behind": (("z", False),),
    "front": (("z", True),),
    "upper left": (("x", False), ("y", True)),
    "upper right": (("x", True), ("y", True)),
    "lower left": (("x", False), ("y", False)),
    "lower right": (("x", True), ("y", False)),
}
"""The axes of a direction, and whether it is the far side of them."""
_EXCLUDES = {"near": "far", "far": "near", "touching": ""}
"""Facts, and which fact each excludes."""


@dataclass(frozen=True)
class Relation:
    """A thing's place as seen from another."""

    name: str
    subject: str
    object: str

    @property
    def pair(self) -> tuple[str, str]:
        """Subject and object."""
        return self.subject, self.object

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it bounds."""
        return tuple(axis for axis, _ in _SIDES.get(self.name, ()))

    @property
    def formula(self) -> Formula:
        """Its meaning."""
        if self.name == "inside":
            return Within(self.subject, self.object)
        if self.name in _EXCLUDES:
            return Fact(self.name, frozenset((self.subject, self.object)), _EXCLUDES[self.name])
        parts = [Before(axis, *self._ordered(beyond)) for axis, beyond in _SIDES[self.name]]
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _ordered(self, beyond: bool) -> tuple[str, str]:
        return (self.object, self.subject) if beyond else (self.subject, self.object)

    @property
    def opposite(self) -> Relation:
        """The other way, for the same pair; of what has none, itself."""
        flipped = tuple((axis, not beyond) for axis, beyond in _SIDES.get(self.name, ()))
        name = next((name for name, side in _SIDES.items() if side == flipped), self.name)
        return Relation(name, self.subject, self.object)

    @property
    def converse(self) -> Relation:
        """The same, told of the other thing; "inside" has none here."""
        if self.name == "inside":
            return self
        return Relation(self.opposite.name, self.object, self.subject)

    def by(self, most: bool, amount: int, strict: bool = False) -> Formula:
        """That the two are at most, or at least, so far apart in this direction."""
        ((axis, beyond),) = _SIDES[self.name]
        return Apart(axis, *self._ordered(beyond), most, amount, strict)


def directions(axes: list[str], diagonal: bool = False) -> list[str]:
    """The names of the directions on some axes, of one axis each or of two."""
    return [
        name
        for name, sides in _SIDES.items()
        if (len(sides) == 2) == diagonal and all(axis in axes for axis, _ in sides)
    ]


# Readings ------------------------------------------------------------------------------

VERDICTS = ("entailed", "contradicted", "unknown")


@dataclass(frozen=True)
class Reading:
    """One sound reading of a sentence.

    Attributes:
        stance: `asserted`; `nothing`; `approached`, which is wrong where it cannot be; or what
            is said of the open layouts: `possible`, `impossible`, `necessary`, `unnecessary`,
            `undetermined`.
        formula: What it is about.
    """

    stance: str
    formula: Formula = TRUE

    @property
    def premise(self) -> Formula:
        """What a scene with the sentence gains by it."""
        if self.stance in ("asserted", "necessary"):
            return self.formula
        return Not(self.formula) if self.stance == "impossible" else TRUE

    def verdict(self, can_hold: bool, can_fail: bool) -> str:
        """What a claim is in a scene under which its formula can hold, can fail."""
        match self.stance:
            case "nothing":
                return "unknown"
            case "asserted":
                return "unknown" if can_hold and can_fail else VERDICTS[not can_hold]
            case "approached":
                return VERDICTS[2 if can_hold else 1]
            case "possible":
                return VERDICTS[not can_hold]
            case "impossible":
                return VERDICTS[can_hold]
            case "necessary":
                return VERDICTS[can_fail]
            case "unnecessary":
                return VERDICTS[not can_fail]
            case "undetermined":
                return VERDICTS[not (can_hold and can_fail)]
        raise ValueError(self.stance)


@dataclass(frozen=True)
class Slots:
    """The relations of a sentence, and its words.

    Attributes:
        relations: By letter, as the module's docstring has them.
        group: The first relation, for each thing of the group.
        everything: The same, for each thing of the scene.
        amount: A number, in the smallest unit.
        unit: How much a unit is in the smallest.
        text: The words of each slot.
    """

    relations: dict[str, Relation]
    group: tuple[Relation, ...]
    everything: tuple[Relation, ...]
    amount: int
    unit: int
    text: dict[str, str]

    def __getitem__(self, letter: str) -> Formula:
        """A relation's formula, by its letter; of "-f", its denial."""
        formula = self.relations[letter.removeprefix("-")].formula
        return Not(formula) if letter.startswith("-") else formula

    def apart(self, *bounds: tuple[bool, int, bool]) -> Formula:
        """The first relation with bounds of the amount, each so many units more."""
        f = self.relations["f"]
        held = (f.by(most, self.amount + more * self.unit, strict) for most, more, strict in bounds)
        return And((f.formula, *held))


Means = Callable[[Slots], Reading]


def nothing(_: Slots) -> Reading:
    """It asserts nothing."""
    return Reading("nothing")


def that(*letters: str) -> Means:
    """All of these hold."""
    return lambda s: Reading("asserted", And(tuple(s[each] for each in letters)))


def one(*letters: str) -> Means:
    """One of these at least holds."""
    return lambda s: Reading("asserted", Or(tuple(s[each] for each in letters)))


def some(least: int, most: int, *letters: str) -> Means:
    """So many of these hold."""
    return lambda s: Reading("asserted", count([s[each] for each in letters], least, most))


def just(number: int, *letters: str) -> Means:
    """So many of these hold, and no more."""
    return some(number, number, *letters)


def stance(kind: str, letter: str = "f") -> Means:
    """It is said of the layouts."""
    return lambda s: Reading(kind, s[letter])


def group(least: int, most: int | None = None) -> Means:
    """So many things of the group are there."""
    return lambda s: Reading("asserted", count([r.formula for r in s.group], least, most))


def nobody(*spared: str) -> Means:
    """No thing of the scene is there, but those with these letters."""

    def reading(s: Slots) -> Reading:
        others = [r for r in s.everything if all(r != s.relations[each] for each in spared)]
        held = [s[each] for each in spared]
        return Reading("asserted", And((*held, *(Not(r.formula) for r in others))))

    return reading


def alone_in_group(s: Slots) -> Reading:
    """The first is there, and no other of its group."""
    others = [Not(r.formula) for r in s.group if r != s.relations["f"]]
    return Reading("asserted", And((s["f"], *others)))


def everybody(s: Slots) -> Reading:
    """All things of the scene are there."""
    return Reading("asserted", And(tuple(r.formula for r in s.everything)))


def everybody_else(s: Slots) -> Reading:
    """All things of the scene are there but the first."""
    others = (r.formula for r in s.everything if r != s.relations["f"])
    return Reading("asserted", And((*others, Not(s["f"]))))


def apart(*bounds: tuple[bool, int, bool]) -> Means:
    """`Slots.apart`."""
    return lambda s: Reading("asserted", s.apart(*bounds))


def not_apart(*bounds: tuple[bool, int, bool]) -> Means:
    """Its denial."""
    return lambda s: Reading("asserted", Not(s.apart(*bounds)))


def fact(name: str, *letters: str) -> Means:
    """Relations hold, and a fact of the first one's pair that decides nothing else."""

    def reading(s: Slots) -> Reading:
        f = s.relations["f"]
        told = Fact(name, frozenset((f.subject, f.object)))
        return Reading("asserted", And((*(s[each] for each in letters), told)))

    return reading


def implied(condition: str, result: str) -> Means:
    """What logic calls an implication."""
    return lambda s: Reading("asserted", either(Not(s[condition]), s[result]))


def same(first: str, second: str) -> Means:
    """Both hold, or neither."""
    return lambda s: Reading(
        "asserted", either(both(s[first], s[second]), both(Not(s[first]), Not(s[second])))
    )


def minus(s: Slots) -> Reading:
    """So far the other way."""
    f = s.relations["f"].opposite
    held = both(f.formula, f.by(True, s.amount), f.by(False, s.amount))
    return Reading("asserted", held)


def level(s: Slots) -> Reading:
    """As far as the other on the axis."""
    f = s.relations["f"]
    return Reading("asserted", both(f.by(True, 0), f.by(False, 0)))


def straight(s: Slots) -> Reading:
    """The amount, and nothing on the other axes."""
    f = s.relations["f"]
    level = (Apart(axis, *f.pair, most, 0) for axis in "xyz" for most in (True, False))
    held = (each for each in level if each.axis not in f.axes)
    return Reading("asserted", And((s.apart((True, 0, False), (False, 0, False)), *held)))


def about(share: int) -> Means:
    """The amount, more or less: so many hundredths."""

    def reading(s: Slots) -> Reading:
        f, more = s.relations["f"], s.amount * share // 100
        held = both(f.formula, f.by(True, s.amount + more), f.by(False, s.amount - more))
        return Reading("asserted", held)

    return reading


def unlike(s: Slots) -> Reading:
    """What "not near" means to many: far."""
    f = s.relations["f"]
    other = _EXCLUDES[f.name]
    held = Relation(other, f.subject, f.object).formula if other else Not(f.formula)
    return Reading("asserted", held)


def remote(s: Slots) -> Reading:
    """The first relation's pair is not near."""
    f = s.relations["f"]
    return Reading("asserted", Not(Relation("near", f.subject, f.object).formula))


def far_off(s: Slots) -> Reading:
    """The first relation's pair is far from each other."""
    f = s.relations["f"]
    return Reading("asserted", Relation("far", f.subject, f.object).formula)


def ranked(ahead: str, behind: str, *letters: str) -> Means:
    """One subject is further in the first relation's direction than the other, and these hold."""

    def reading(s: Slots) -> Reading:
        first, second = (s.relations[each].subject for each in (ahead, behind))
        order = Relation(s.relations["f"].name, first, second).formula
        return Reading("asserted", And((order, *(s[each] for each in letters))))

    return reading


# Templates -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Template:
    """A shape of sentence.

    Attributes:
        name: Its topic, and what is particular.
        text: With slots.
        claim: Its readings as a claim.
        scene: Its readings in a scene.
        steps: The readings of its sentences as claims that follow each other.
        needs: `direction`, `diagonal`, `sideways`, `inside` or `fact` for the first relation;
            `amount`; `group`; `plural`; or the shape of the names.
    """

    name: str
    text: str
    claim: tuple[Means, ...] = ()
    scene: tuple[Means, ...] = ()
    steps: tuple[tuple[Means, ...], ...] = ()
    needs: frozenset[str] = frozenset()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Where it may stand."""
        return tuple(host for host in ("claim", "scene", "steps") if getattr(self, host))


def _both(name: str, text: str, *means: Means, needs: str = "", **other: Any) -> Template:
    """A template that means in a scene what it means as a claim, if nothing else is given."""
    return Template(
        name,
        text,
        other.get("claim", means),
        other.get("scene", means),
        needs=frozenset(needs.split()),
    )


def _rows(topic: str, rows: dict[str, tuple[Any, ...]], needs: str = "") -> tuple[Template, ...]:
    """Templates of a topic: what is particular, then the text and its readings."""
    return tuple(
        _both(f"{topic}, {name}", text, *readings, needs=needs)
        for name, (text, *readings) in rows.items()
    )


_LEAST, _MORE, _MOST, _LESS = (
    (False, 0, False),
    (False, 0, True),
    (True, 0, False),
    (True, 0, True),
)
_EXACTLY = (_LEAST, _MOST)
_PERHAPS = (stance("possible"), nothing)
_IDLE = (nothing,)
_VIEW = (nothing, that("f"))

_DENIALS = tuple(
    _both(f"denial, {name}", text, that("-f"))
    for name, text in {
        "not": "{x} is not {r} {y}.",
        "isn't": "{x} isn't {r} {y}.",
        "at no point": "At no point is {x} {r} {y}.",
        "in no photo": "In no photo is {x} {r} {y}.",
        "not the case": "It is not the case that {x} is {r} {y}.",
        "not true": "It is not true that {x} is {r} {y}.",
        "isn't so": "It isn't so that {x} is {r} {y}.",
        "false": "It is false that {x} is {r} {y}.",
        "untrue": "That {x} is {r} {y} is untrue.",
        "a lie": "It is a lie that {x} is {r} {y}.",
        "a mistake": "It is a mistake to think that {x} is {r} {y}.",
        "wrong to say": "It would be wrong to say that {x} is {r} {y}.",
        "wrongly": "{who} wrongly thinks that {x} is {r} {y}; it is not.",
        "claim is false": "The claim that {x} is {r} {y} is false.",
        "never": "{x} is never {r} {y}.",
        "by no means": "{x} is by no means {r} {y}.",
        "in no way": "In no way is {x} {r} {y}.",
        "under no circumstances": "Under no circumstances is {x} {r} {y}.",
        "not at all": "{x} is not at all {r} {y}.",
        "anything but": "{x} is anything but {r} {y}.",
        "nowhere": "Nowhere is {x} {r} {y}.",
        "no longer": "{x} is no longer {r} {y}.",
        "not yet": "{x} is not yet {r} {y}.",
        "certainly not": "{x} is certainly not {r} {y}.",
        "as one may think": "{x} is not, as one may think, {r} {y}.",
        "one would think": "One would think that {x} is {r} {y}, but it is not.",
        "seems but is not": "{x} seems {r} {y} but is not.",
        "looks though not": "Though it looks so, {x} is not {r} {y}.",
        "not anywhere": "{x} is not anywhere {r} {y}.",
        "not to be found": "{x} is not to be found {r} {y}.",
        "without being": "{x} is somewhere without being {r} {y}.",
    }.items()
)

_MARKS = tuple(
    _both(f"mark, {name}", text, that("-f"), nothing)
    for name, text in {
        "¬": "¬({x} is {r} {y}).",
        "(false)": "{x} is {r} {y} (false).",
        "(incorrect)": "{x} is {r} {y} (incorrect).",
        "(not true)": "{x} is {r} {y} (not true).",
        "✗": "✗ {x} is {r} {y}.",
        "✗ after": "{x} is {r} {y} ✗",
        "no after a quote": '"{x} is {r} {y}": no.',
        "false after": "{x} is {r} {y}: false.",
        "false before": "False: {x} is {r} {y}.",
        "not so": "{x} is {r} {y}? Not so.",
        "= false": "({x} is {r} {y}) = false.",
    }.items()
)

_IDLE_DOUBTS = tuple(
    _both(name, text, nothing)
    for name, text in {
        "doubt, seems": "{x} seems to be {r} {y}.",
        "doubt, seemingly": "Seemingly, {x} is {r} {y}.",
        "doubt, appears to be": "{x} appears to be {r} {y}.",
        "doubt, looks as if": "{x} looks as if it were {r} {y}.",
        "doubt, allegedly": "Allegedly, {x} is {r} {y}.",
        "doubt, supposedly": "{x} is supposedly {r} {y}.",
        "doubt, reportedly": "{x} is reportedly {r} {y}.",
        "doubt, I doubt": "I doubt that {x} is {r} {y}.",
        "doubt, not sure": "I am not sure that {x} is {r} {y}.",
        "doubt, question": "Is {x} {r} {y}?",
        "doubt, question mark": "{x} is {r} {y}?",
        "doubt, could it be": "Could {x} be {r} {y}?",
        "doubt, whether": "Let us check whether {x} is {r} {y}.",
        "doubt, used to be": "{x} used to be {r} {y}.",
        "doubt, was once": "{x} was once {r} {y}.",
        "doubt, will be": "{x} will be {r} {y} tomorrow.",
        "report, says": "{who} says that {x} is {r} {y}.",
        "report, according to": "According to {who}, {x} is {r} {y}.",
        "report, claimed": "It has been claimed that {x} is {r} {y}.",
        "report, rumour": "Rumour has it that {x} is {r} {y}.",
        "report, denies": "{who} denies that {x} is {r} {y}.",
        "report, hopes": "{who} hopes that {x} is {r} {y}.",
        "report, wrote": '"{x} is {r} {y}" is what {who} wrote.',
        "report, quoted denial": '"{x} is not {r} {y}", says {who}.',
        "report, dreamt": "{who} dreamt that {x} was {r} {y}.",
        "report, asks": "{who} asks whether {x} is {r} {y}.",
        "order, wish": "If only {x} were {r} {y}!",
        "if, idle": "If {cond}, {x} is {r} {y}.",
        "if, after": "{x} is {r} {y} if {cond}.",
        "if, unless": "{x} is {r} {y} unless {cond}.",
        "if, whenever": "Whenever {cond}, {x} is {r} {y}.",
        "if, provided": "{x} is {r} {y}, provided that {cond}.",
        "if, only if": "{x} is {r} {y} only if {cond}.",
        "if, as long as": "As long as {cond}, {x} is {r} {y}.",
        "if, in case": "In case {cond}, {x} is {r} {y}.",
        "if, assuming": "Assuming {cond}, {x} is {r} {y}.",
        "if, when": "When {cond}, {x} is {r} {y}.",
        "if, otherwise": "Either {cond}, or {x} is {r} {y}.",
        "if, brackets": "{x} is {r} {y} (if {cond}).",
        "back, scratch that": "{x} is {r} {y} — hmm, scratch that.",
        "back, strike that": "{x} is {r} {y} (strike that).",
        "back, never mind": "{x} is {r} {y} ... never mind.",
        "back, forget it": "{x} is {r} {y} - no, forget that.",
    }.items()
)

_BACK = tuple(
    _both(f"back, {name}", text, that("o"), needs="direction")
    for name, text in {
        "no wait": "{x} is {r} {y} - no wait, {o} {y}.",
        "no, it": "{x} is {r} {y}, no, {o} it.",
        "oops": "{x} is {r} {y} — oops, I mean {o} {y}.",
        "I mean": "{x} is {r}, I mean {o}, {y}.",
        "sorry": "{x} is {r} {y}, sorry, {o} it.",
        "correction inside": "{x} is {r} {y} (correction: {o} it).",
        "rather": "{x} is {r} {y}; rather, it is {o} {y}.",
        "correction": "{x} is {r} {y}.| Correction: {x} is {o} {y}.",
        "wait": "{x} is {r} {y}.| Wait, no, {x} is {o} {y}.",
        "actually": "{x} is {r} {y}.| Actually, no: it is {o} {y}.",
        "misspoke": "{x} is {r} {y}.| I misspoke: {x} is {o} {y}.",
    }.items()
)

_VIEWS = tuple(
    _both(f"view, {name}", text, nothing, scene=_VIEW, needs="sideways")
    for name, text in {
        "point of view": "From {who}'s point of view, {x} is {r} {y}.",
        "as seen by": "As seen by {who}, {x} is {r} {y}.",
        "for": "For {who}, who stands at {z}, {x} is {r} {y}.",
        "facing": "Facing {z}, {x} is {r} {y}.",
        "standing": "Standing at {z} and looking out, {x} is {r} {y}.",
        "standing and facing": "Standing at {z} and facing {w}, {x} is {r} {y}.",
        "looking from": "Looking from {z}, {x} is {r} {y}.",
    }.items()
)

_TWO = tuple(
    _both(name, text, that("f", "g"))
    for name, text in {
        "reason, so": "{x} is {r} {y}, so {z} is {s} {w}.",
        "reason, hence": "{x} is {r} {y}, hence {z} is {s} {w}.",
        "reason, since": "Since {x} is {r} {y}, {z} is {s} {w}.",
        "reason, because": "{x} is {r} {y} because {z} is {s} {w}.",
        "reason, as": "As {x} is {r} {y}, {z} is {s} {w}.",
        "reason, which means": "{x} is {r} {y}, which means that {z} is {s} {w}.",
        "reason, therefore": "{x} is {r} {y}; therefore, {z} is {s} {w}.",
        "two, and": "{x} is {r} {y} and {z} is {s} {w}.",
        "two, semicolon": "{x} is {r} {y}; {z} is {s} {w}.",
        "two, comma": "{x} is {r} {y}, {z} is {s} {w}.",
        "two, while": "{x} is {r} {y}, while {z} is {s} {w}.",
        "two, although": "Although {x} is {r} {y}, {z} is {s} {w}.",
        "two, with": "With {x} {r} {y}, {z} is {s} {w}.",
        "two, as well as": "{x} is {r} {y} just as {z} is {s} {w}.",
    }.items()
)

_CONTRASTS = tuple(
    _both(f"contrast, {name}", text, that("f", "-u"))
    for name, text in {
        "not": "{x}, not {u}, is {r} {y}.",
        "and not": "{x} and not {u} is {r} {y}.",
        "rather than": "It is {x} rather than {u} that is {r} {y}.",
        "unlike": "Unlike {u}, {x} is {r} {y}.",
        "not but": "Not {u} but {x} is {r} {y}.",
        "instead of": "{x} instead of {u} is {r} {y}.",
        "is not": "{x} is {r} {y}, and {u} is not.",
        "whereas": "{x} is {r} {y}, whereas {u} is not.",
        "in contrast to": "In contrast to {u}, {x} is {r} {y}.",
        "not so": "{x} is {r} {y}; not so {u}.",
    }.items()
)

SHAPES: dict[str, tuple[str, ...]] = {
    "letters": tuple("ABCDEFGHKMPQRSTW"),
    "small letters": ("p", "q", "r", "s", "t", "v", "x", "y", "z"),
    "stars": ("Vega", "Rigel", "Altair", "Deneb", "Castor", "Pollux", "Mira"),
    "coloured": ("the red box", "the blue cup", "the green jug", "the white plate"),
    "nouns": ("the lamp", "the vase", "the piano", "the clock", "the basket", "the candle"),
    "described": ("the old chest", "the tall ladder", "the wicker chair", "the brass bell"),
    "rack_A_01": ("rack_A_01", "rack_A_02", "rack_B_01", "rack_B_02"),
    "bed_room_1": ("bed_room_1", "bath_room_1", "bed_room_2", "store_room_1"),
    "P_1": ("P_1", "P_2", "P_3", "P_11"),
    "cube (1)": ("cube (1)", "cube (2)", "cube (3)", "cube (12)"),
    "Side table 1": ("Table 1", "Side table 1", "Table 2", "Side table 2"),
    "Box 14": ("Box 4", "Box 14", "Box 41", "Crate 4"),
    "gate B2": ("gate B2", "gate B6", "gate C2", "gate C6"),
    "room 402": ("room 402", "room 404", "room 42", "room 4"),
    "K1": ("K1", "K3", "K10", "T2", "T5"),
    "node-7": ("node-7", "node-12", "node-72", "sensor-7"),
    "Lot 15": ("Lot 15", "Lot 16", "Lot 5", "Lot 6"),
    "the back door": ("the back door", "the front desk", "the left speaker", "the side gate"),
    "Far Field": ("Far Field", "Inner Glade", "Upper Mill", "North Gate", "Nether End"),
    "Left Bank": ("Left Bank", "Top Farm", "Overlook Hill", "West Pier", "Underwood"),
    "the clay layer": ("the clay layer", "the limestone bedrock", "the quartz vein"),
    "Vulpecula": ("the constellation Vulpecula", "the constellation Lyra", "the ferry Alba"),
    "Omar's tent": ("Kim's bike", "Omar's tent", "the guard's hut", "Lena's desk"),
    "the X-ray machine": ("the tea-pot", "the T-junction", "the X-ray machine", "the 3D printer"),
    "the inside pocket": ("the inside pocket", "the upper deck", "the far wall", "the near goal"),
    "item #3": ("item #3", "item #4", "item #33", "part #3"),
    "img_1.png": ("img_1.png", "img_2.png", "img_12.png", "map_1.png"),
}
"""Names, by what they look like. What a sentence begins with has a capital letter, unless it has a
digit or is a single one."""

_NAMES = tuple(
    Template(
        f"names, {shape}", "{x} {is} {r} {y}.", (that("f"),), (that("f"),), needs=frozenset({shape})
    )
    for shape in SHAPES
)

TEMPLATES: tuple[Template, ...] = (
    *_NAMES,
    *_DENIALS,
    *_MARKS,
    *_IDLE_DOUBTS,
    *_BACK,
    *_VIEWS,
    *_TWO,
    *_CONTRASTS,
    *_rows(
        "plain",
        {
            "turned round": ("{R} {y} is {x}.", that("f")),
            "contrary to": ("{x} is, contrary to what {who} says, {r} {y}.", that("f")),
            "true that": ("It is true that {x} is {r} {y}.", that("f")),
            "no doubt": ("There is no doubt that {x} is {r} {y}.", that("f")),
        },
    ),
    *_rows(
        "plain",
        {
            "has": ("{y} has {x} {r} it.", that("f")),
        },
        "direction",
    ),
    *_rows(
        "plain",
        {
            "diagonal": ("{x} is {r} {y}.", that("f")),
            "diagonal denied": ("{x} is not {r} {y}.", that("-f")),
        },
        "diagonal",
    ),
    *_rows(
        "plain",
        {
            "fact": ("{x} is {r} {y}.", that("f")),
            "fact denied": ("{x} is not {r} {y}.", that("-f"), unlike),
            "fact at no point": ("At no point is {x} {r} {y}.", that("-f"), unlike),
        },
        "fact",
    ),
    *_rows(
        "denial",
        {
            "cannot be called": ("{x} cannot be called {r} {y}.", that("-f"), stance("impossible")),
            "double": ("It is not the case that {x} is not {r} {y}.", that("f")),
            "not false": ("It is not false that {x} is {r} {y}.", that("f")),
            "cannot deny": ("Nobody can deny that {x} is {r} {y}.", that("f"), nothing),
            "neither nor": ("{x} is neither {r} nor {q} {y}.", that("-f", "-q")),
            "neither nor it": ("{x} is neither {r} {y} nor {q} it.", that("-f", "-q")),
            "neither of two": ("Neither {x} nor {u} is {r} {y}.", that("-f", "-u")),
            "nor is": ("{x} is not {r} {y}, nor is {u}.", that("-f", "-u")),
            "either": ("{x} isn't {r} {y}, and {u} isn't either.", that("-f", "-u")),
            "none of list": ("None of {x}, {u} and {v} is {r} {y}.", that("-f", "-u", "-v")),
            "not or": ("{x} is not {r} or {q} {y}.", that("-f", "-q"), one("-f", "-q")),
            "not both": ("{x} and {u} are not both {r} {y}.", one("-f", "-u"), just(1, "f", "u")),
            "not and": (
                "It is not true that {x} is {r} {y} and {z} is {s} {w}.",
                one("-f", "-g"),
                that("-f", "g"),
            ),
            "not and not": ("{x} is not {r} {y}, and {z} is not {s} {w}.", that("-f", "-g")),
            "neither clause": (
                "It is neither true that {x} is {r} {y} nor that {z} is {s} {w}.",
                that("-f", "-g"),
            ),
            "nothing": ("Nothing is {r} {y}.", nobody()),
            "no two of list": (
                "No two of {x}, {u} and {v} are {r} {y}.",
                some(0, 1, "f", "u", "v"),
            ),
        },
    ),
    *_rows(
        "inside",
        {
            "plain": ("{x} is {r} {y}.", that("f")),
            "contains": ("{y} contains {x}.", that("f")),
            "not": ("{x} is not {r} {y}.", that("-f")),
            "outside": ("{x} is outside {y}.", that("-f")),
            "almost": ("{x} is almost {r} {y}.", that("-f"), nothing, stance("approached")),
            "nearly": ("{x} is nearly {r} {y}.", that("-f"), nothing, stance("approached")),
            "not quite": ("{x} is not quite {r} {y}.", that("-f")),
            "no longer": ("{x} is no longer {r} {y}.", that("-f")),
            "at no point": ("At no point is {x} {r} {y}.", that("-f")),
            "anywhere but": ("{x} is anywhere but {r} {y}.", that("-f")),
            "does not contain": ("{y} does not contain {x}.", that("-f")),
            "nothing in": ("There is nothing {r} {y}.", nobody()),
            "empty": ("{y} is empty.", nobody()),
            "everything but": ("Everything but {x} is {r} {y}.", everybody_else),
            "hence also": (
                "{x} is {r} {y}, hence it is also {q} {v}.",
                that("f", "h"),
            ),
        },
        "inside",
    ),
    *_rows(
        "contrast",
        {
            "relation": ("{x} is {r}, not {q}, {y}.", that("f", "-q")),
            "not relation but": ("{x} is not {r} {y} but {q} it.", that("-f", "q")),
            "instead": ("{x} is not {r} {y}; it is {q} it instead.", that("-f", "q")),
            "far from": ("Far from being {r} {y}, {x} is {q} it.", that("-f", "q")),
            "but not": ("{x} is {r} {y} but not {u}.", that("f", "-u"), that("f", "-b")),
            "so is": ("{x} is {r} {y}, and so is {u}.", that("f", "u")),
            "as is": ("{x} is {r} {y}, as is {u}.", that("f", "u")),
            "not only": ("Not only is {x} {r} {y}, but it is also {q} it.", that("f", "q")),
            "not only alone": ("Not only is {x} {r} {y}.", that("f"), nothing),
            "two but not": ("Both {x} and {u}, but not {v}, are {r} {y}.", that("f", "u", "-v")),
            "without": ("{x} is {r} {y} without being {q} it.", that("f", "-q")),
            "which is not": ("{x}, which is not {q} {y}, is {r} it.", that("f", "-q")),
            "of landmark": ("{x} is {r} {y}, which is {k} {l}.", that("f", "t")),
            "of landmark not": ("{x} is {r} {y}, which is not {k} {l}.", that("f", "-t")),
            "clause not": ("{x} is {r} {y}, but {z} is not {s} {w}.", that("f", "-g")),
            "first not": ("{x} is not {r} {y}, but {z} is {s} {w}.", that("-f", "g")),
        },
    ),
    *_rows(
        "amount",
        {
            "plain": ("{x} is {n} {unit} {r} {y}.", apart(*_EXACTLY)),
            "at least": ("{x} is at least {n} {unit} {r} {y}.", apart(_LEAST)),
            "or more": ("{x} is {n} {unit} or more {r} {y}.", apart(_LEAST)),
            "no less than": ("{x} is no less than {n} {unit} {r} {y}.", apart(_LEAST)),
            "more than": ("{x} is more than {n} {unit} {r} {y}.", apart(_MORE)),
            "over": ("{x} is over {n} {unit} {r} {y}.", apart(_MORE)),
            "less than": ("{x} is less than {n} {unit} {r} {y}.", apart(_LESS)),
            "under": ("{x} is a little under {n} {unit} {r} {y}.", apart(_LESS)),
            "at most": ("{x} is at most {n} {unit} {r} {y}.", apart(_MOST)),
            "up to": ("{x} is up to {n} {unit} {r} {y}.", apart(_MOST)),
            "no more than": ("{x} is no more than {n} {unit} {r} {y}.", apart(_MOST)),
            "not more than": (
                "{x} is not more than {n} {unit} {r} {y}.",
                apart(_MOST),
                not_apart(_MORE),
            ),
            "exactly": ("{x} is exactly {n} {unit} {r} {y}.", apart(*_EXACTLY), straight),
            "only": ("{x} is only {n} {unit} {r} {y}.", apart(*_EXACTLY)),
            "about": ("{x} is about {n} {unit} {r} {y}.", about(5), about(50)),
            "roughly": ("{x} is {r} {y}, roughly {n} {unit} away.", about(5), about(50), that("f")),
            "between": (
                "{x} is between {n} and {m} {unit} {r} {y}.",
                apart(_LEAST, (True, 2, False)),
                apart(_MORE, (True, 2, True)),
            ),
            "minus": ("{x} is minus {n} {unit} {r} {y}.", minus, nothing),
            "sign": ("{x} is -{n} {unit} {r} {y}.", minus, nothing),
            "zero": ("{x} is 0 {unit} {r} {y}.", level, that("-f"), nothing),
            "zero in words": ("{x} is zero {unit} {r} {y}.", level, that("-f"), nothing),
            "by": ("{x} is {r} {y} by at least {n} {unit}.", apart(_LEAST)),
            "nearly": ("{x} is nearly {n} {unit} {r} {y}.", apart(_LESS), about(5), about(50)),
        },
        "amount",
    ),
    *_rows(
        "how many",
        {
            "none of": ("None of the {kinds} is {r} {y}.", group(0, 0)),
            "no": ("No {kind} is {r} {y}.", group(0, 0)),
            "all of": ("All of the {kinds} are {r} {y}.", group(3)),
            "every": ("Every {kind} is {r} {y}.", group(3)),
            "all three": ("All three {kinds} are {r} {y}.", group(3)),
            "not every": ("Not every {kind} is {r} {y}.", group(0, 2), group(1, 2)),
            "not all": ("Not all of the {kinds} are {r} {y}.", group(0, 2), group(1, 2)),
            "some": (
                "Some of the {kinds} are {r} {y}.",
                group(1),
                group(2),
                group(1, 2),
                group(2, 2),
            ),
            "exactly one": ("Exactly one of the {kinds} is {r} {y}.", group(1, 1)),
            "only one": ("Only one {kind} is {r} {y}.", group(1, 1)),
            "at most two": ("At most two of the {kinds} are {r} {y}.", group(0, 2)),
            "at most one": ("At most one {kind} is {r} {y}.", group(0, 1)),
            "no more than one": ("No more than one of the {kinds} is {r} {y}.", group(0, 1)),
            "at least two": ("At least two of the {kinds} are {r} {y}.", group(2)),
            "two": ("Two of the {kinds} are {r} {y}.", group(2), group(2, 2)),
            "fewer": ("Fewer than two of the {kinds} are {r} {y}.", group(0, 1)),
            "more": ("More than one of the {kinds} is {r} {y}.", group(2)),
            "most": ("Most of the {kinds} are {r} {y}.", group(2), group(2, 2)),
            "all but one": ("All but one of the {kinds} are {r} {y}.", group(2, 2)),
            "none but": ("None of the {kinds} but {x} is {r} {y}.", alone_in_group),
            "only": ("Only {x} is {r} {y}.", nobody("f"), alone_in_group),
            "alone": ("{x} alone is {r} {y}.", nobody("f"), alone_in_group),
            "nothing but": ("Nothing but {x} is {r} {y}.", nobody("f")),
        },
        "group",
    ),
    *_rows(
        "how many",
        {
            "everything": ("Everything else is {r} {y}.", everybody),
            "one of list": ("Exactly one of {x}, {u} and {v} is {r} {y}.", just(1, "f", "u", "v")),
            "two of list": ("Exactly two of {x}, {u} and {v} are {r} {y}.", just(2, "f", "u", "v")),
            "both": ("Both {x} and {u} are {r} {y}.", that("f", "u")),
            "and": ("{x} and {u} are {r} {y}.", that("f", "u")),
            "list": ("{x}, {u} and {v} are {r} {y}.", that("f", "u", "v")),
            "at least one of": ("At least one of {x} and {u} is {r} {y}.", one("f", "u")),
            "only one of": ("Only one of {x} and {u} is {r} {y}.", just(1, "f", "u")),
        },
    ),
    *_rows(
        "how many",
        {
            "plural": ("{plural} are {r} {y}.", that("f", "u")),
            "plural not": ("{plural} are not {r} {y}.", that("-f", "-u"), one("-f", "-u")),
        },
        "plural",
    ),
    *_rows(
        "back",
        {
            "or rather": ("{x} is {r} {y}, or rather {q} it.", that("q"), that("f", "q")),
            "No.": ("{x} is {r} {y}. No.", that("-f"), nothing),
            "that is wrong": ("{x} is {r} {y}.| No, that is wrong.", that("-f"), nothing),
            "scratch that sentence": ("{x} is {r} {y}.| Scratch that.", nothing),
            "ignore": ("{x} is {r} {y}.| Ignore the last sentence.", nothing),
            "it is not": ("{x} is {r} {y}.| Actually, it is not.", that("-f")),
            "the second": ("{z} is {s} {w}.| {x} is {r} {y} — hmm, scratch that.", that("g")),
        },
    ),
    *_rows(
        "doubt",
        {
            "sometimes": ("Sometimes {x} is {r} {y}.", nothing, stance("approached")),
            "why not": ("Why is {x} not {r} {y}?", nothing, that("-f")),
            "rarely": ("{x} is rarely {r} {y}.", nothing, that("-f")),
            "hardly ever": ("{x} is hardly ever {r} {y}.", nothing, that("-f")),
            "perhaps": ("Perhaps {x} is {r} {y}.", *_PERHAPS),
            "maybe": ("Maybe {x} is {r} {y}.", *_PERHAPS),
            "probably": ("{x} is probably {r} {y}.", *_PERHAPS),
            "unclear": ("It is unclear whether {x} is {r} {y}.", nothing, stance("undetermined")),
        },
    ),
    *_rows(
        "if",
        {
            "until": ("{x} is {r} {y} until {cond}.", nothing, that("f")),
            "places": ("If {z} is {s} {w}, then {x} is {r} {y}.", nothing, implied("g", "f")),
            "places when": ("{x} is {r} {y} when {z} is {s} {w}.", nothing, implied("g", "f")),
            "iff": ("{x} is {r} {y} iff {z} is {s} {w}.", nothing, same("f", "g")),
            "places unless": ("{x} is {r} {y} unless {z} is {s} {w}.", nothing, one("f", "g")),
            "were": (
                "If {x} were {r} {y}, {z} would be {s} {w}.",
                nothing,
                implied("f", "g"),
                that("-f"),
            ),
            "had been": (
                "Had {x} been {r} {y}, {z} would be {s} {w}.",
                nothing,
                implied("f", "g"),
                that("-f"),
            ),
        },
    ),
    *_rows(
        "report",
        {
            "believes wrongly": (
                "{who} wrongly believes that {x} is {r} {y}.",
                that("-f"),
                nothing,
            ),
        },
    ),
    *_rows(
        "modal",
        {
            "could": ("{x} could be {r} {y}.", *_PERHAPS),
            "must": ("{x} must be {r} {y}.", stance("necessary"), that("f")),
            "cannot": ("{x} cannot be {r} {y}.", stance("impossible"), that("-f")),
            "need not": ("{x} need not be {r} {y}.", stance("unnecessary"), nothing),
            "might not": ("{x} might not be {r} {y}.", stance("unnecessary"), nothing),
            "not necessarily": ("{x} is not necessarily {r} {y}.", stance("unnecessary"), nothing),
            "impossible": (
                "It is impossible that {x} is {r} {y}.",
                stance("impossible"),
                that("-f"),
            ),
        },
    ),
    *_rows(
        "or",
        {
            "it": ("{x} is {r} {y} or {q} it.", one("f", "q"), just(1, "f", "q")),
            "either": ("{x} is either {r} or {q} {y}.", one("f", "q"), just(1, "f", "q")),
            "subjects": ("{x} or {u} is {r} {y}.", one("f", "u"), just(1, "f", "u")),
            "clauses": (
                "Either {x} is {r} {y} or {z} is {s} {w}.",
                one("f", "g"),
                just(1, "f", "g"),
            ),
            "one not": (
                "{x} is not {r} {y}, or {z} is {s} {w}.",
                one("-f", "g"),
                just(1, "-f", "g"),
            ),
            "not both": ("{x} is {r} {y} or {z} is {s} {w}, but not both.", just(1, "f", "g")),
        },
    ),
    *_rows(
        "degree",
        {
            "less": (
                "{x} is less {r} {y} than {u} is.",
                nothing,
                ranked("u", "f"),
                ranked("u", "f", "f", "u"),
            ),
            "further": (
                "{x} is further {r} {y} than {u} is.",
                nothing,
                ranked("f", "u"),
                ranked("f", "u", "f", "u"),
            ),
        },
        "direction",
    ),
    *_rows(
        "degree",
        {
            "almost": ("{x} is almost {r} {y}.", nothing, that("-f"), stance("approached")),
            "nearly": ("{x} is nearly {r} {y}.", nothing, that("-f"), stance("approached")),
            "not quite": ("{x} is not quite {r} {y}.", nothing, that("-f")),
        },
    ),
    *_rows(
        "degree",
        {
            "nowhere near": ("{x} is nowhere near {y}.", far_off, remote),
            "not near": ("{x} is not near {y}.", far_off, remote),
        },
        "fact",
    ),
    *_rows(
        "two",
        {
            "relations": ("{x} is {r} and {q} {y}.", that("f", "q")),
            "and it": ("{x} is {r} {y} and {q} it.", that("f", "q")),
            "so it": ("{x} is {r} {y}, so it is also {q} it.", that("f", "q")),
            "touch": ("{x} is {r} {y}, and the two touch.", fact("touching", "f")),
            "must touch": ("Since {x} is {r} {y}, the two must touch.", fact("touching", "f")),
            "given that": (
                "Given that {x} is {r} {y}, {z} is {s} {w}.",
                that("f", "g"),
                implied("f", "g"),
            ),
            "must": (
                "{x} is {r} {y}; therefore {z} must be {s} {w}.",
                that("f", "g"),
                lambda s: Reading("necessary", both(s["f"], s["g"])),
            ),
            "heavier": (
                "{x} is {r} {y}, and it is heavier than {u}.",
                fact("heavier", "f"),
                that("f"),
            ),
        },
    ),
    Template(
        "plain, self-contradiction",
        "{x} is {r} {y}.| {x} is not {r} {y}.",
        scene=(that("f", "-f"),),
    ),
    Template(
        "plain, both sides",
        "{x} is {r} {y}.| {x} is {o} {y}.",
        scene=(that("f", "o"),),
        needs=frozenset({"direction"}),
    ),
    _both(
        "amount, denied",
        "{x} is not {n} {unit} {r} {y}.",
        not_apart(*_EXACTLY),
        scene=(not_apart(*_EXACTLY), that("f")),
        needs="amount",
    ),
    Template("steps, scratch that", "{x} is {r} {y}.| Scratch that.", steps=(_IDLE, _IDLE)),
    Template(
        "steps, correction",
        "{x} is {r} {y}.| Correction: {x} is {o} {y}.",
        steps=(_IDLE, (that("o"),)),
        needs=frozenset({"direction"}),
    ),
    Template(
        "steps, wait",
        "{x} is {r} {y}.| Wait, no: it is {o} {y}.",
        steps=(_IDLE, (that("o"),)),
        needs=frozenset({"direction"}),
    ),
    Template(
        "steps, the second",
        "{z} is {s} {w}.| {x} is {r} {y} — hmm, scratch that.",
        steps=((that("g"),), _IDLE),
    ),
    Template(
        "steps, oops",
        "{z} is {s} {w}.| {x} is {r} {y} — oops, I mean {o} {y}.",
        steps=((that("g"),), (that("o"),)),
        needs=frozenset({"direction"}),
    ),
    Template(
        "steps, suppose",
        "Suppose {x} is {r} {y}.| Then {z} is {s} {w}.",
        steps=(_IDLE, (nothing, implied("f", "g"))),
    ),
    Template("steps, question", "Is {x} {r} {y}?| {z} is {s} {w}.", steps=(_IDLE, (that("g"),))),
    Template("steps, No.", "Is {x} {r} {y}?| No.", steps=(_IDLE, (nothing, that("-f")))),
    Template(
        "steps, denied then",
        "{x} is not {r} {y}.| {z} is {s} {w}.",
        steps=((that("-f"),), (that("g"),)),
    ),
    *(
        _both(
            f"view, {name}",
            text,
            nothing,
            that("o"),
            scene=(nothing, that("f"), that("o")),
            needs="sideways",
        )
        for name, text in (
            ("seen from behind", "Seen from behind, {x} is {r} {y}."),
            ("viewed from behind", "{x} is {r} {y} when viewed from behind."),
            ("from behind it", "From behind {y}, {x} is {r} it."),
            ("in the mirror", "In the mirror, {x} is {r} {y}."),
        )
    ),
    _both(
        "doubt, cannot say",
        "We can't say that {x} is {r} {y}.",
        nothing,
        stance("undetermined"),
        stance("unnecessary"),
        that("-f"),
        scene=(nothing,),
    ),
    _both("report, printed", '"{x} is {r} {y}" is printed on the ticket.', nothing, scene=_VIEW),
    # Of a scene, an instruction may be its making.
    _both("order, put", "Put {x} {r} {y}.", nothing, scene=_VIEW),
    _both("order, make sure", "Make sure that {x} is {r} {y}.", nothing, scene=_VIEW),
    _both("order, suppose", "Suppose {x} is {r} {y}.", nothing, scene=_VIEW),
    _both("order, imagine", "Imagine that {x} is {r} {y}.", nothing, scene=_VIEW),
    _both(
        "order, should",
        "{x} should be {r} {y}.",
        nothing,
        stance("necessary"),
        that("f"),
        scene=_VIEW,
    ),
)
