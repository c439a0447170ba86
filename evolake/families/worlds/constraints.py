"""What constraint worlds are drawn of: structures (things in a row, on a ring, in groups, or a selection)
with their themes, kinds of constraints, laws, and questions.

A kind of constraint has its sentences, and its meaning in the terms of each of three engines:

    check     of values:    x[a] is the value of thing a, n the number of values          (search with propagation)
    clauses   of literals:  X(a, v) says that thing a has the value v, V lists the values  (SAT)
    view      of the whole: an order, `rooms` with their guests, or a set                  (enumeration)

The three are written separately, so that a mistake in one is outvoted; `tests/unit/families/test_worlds.py`
holds each against its own table. A law says something of a world's marked things (those with a hat, `some`,
two at least) in one sentence of its statement: a mutation point with two of them, with meanings as of a kind.
Names of a theme begin with different letters.

Questions are on all the arrangements that fit. `make` draws what is asked, in the generator, from `open_`,
the views that fit; it sets `ask` and `texts`, or leaves `ask` None. `search` folds `found`, mappings of
things to values; `sat` asks a solver, through `models(clauses)` and `possible(clauses, literals)`; `listing`
folds `views`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evolake.families.model.contract import Alternative, AnswerType, MutationPoint
from evolake.families.worlds.entries import entries, tables_in

ENTITIES = "abc"
LETTERS = "abckl"
ARGUMENT = re.compile(r"\{([abckl])\}")
WORD = re.compile(r"\{(\w\w+)\}")


@dataclass(frozen=True)
class Kind:
    """A kind of constraint.

    args: letters of its arguments, in order: a, b, c are things, k and l numbers. patterns: sentences, with
    {a} for arguments and {be} for words of the theme. spans: for each number, the expression of the range it
    is drawn from. whole: whether it is about all things together, not about its arguments. label: what it is
    about, for titles.
    """

    name: str
    args: str
    patterns: tuple[str, ...]
    check: str
    clauses: str
    view: str
    spans: tuple[str, ...] = ()
    whole: bool = False
    label: str = "order"

    @property
    def things(self) -> int:
        """How many of the arguments are things; they come first."""
        return sum(letter in ENTITIES for letter in self.args)

    @property
    def signature(self) -> str:
        """Return the further parameters of a function of this kind, as source text."""
        return "".join(f", {letter}" for letter in self.args)

    def sentences(self, words: Mapping[str, str]) -> list[str]:
        """Return the patterns in the theme's words, arguments still open; one that needs a word which the
        theme lacks is left out."""
        usable = [pattern for pattern in self.patterns if set(WORD.findall(pattern)) <= set(words)]
        return [upper(WORD.sub(lambda match: words[match[1]], pattern)) for pattern in usable]


KINDS = entries("kinds", Kind, "row", "ring", "groups", "selection")
"""Structure -> its kinds. A view of a row or a ring is the tuple of things by place, of groups the tuple of sets by
group, of a selection the set of the chosen."""


def upper(sentence: str) -> str:
    """Return the sentence with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def expression(
    sentence: str, names: Sequence[str], called: Mapping[str, str] | None = None
) -> tuple[str, str]:
    """Return (regular expression that matches exactly the sentences of a pattern, its arguments in the order
    of the groups).

    called: texts of numbers, where a theme calls them by its own words.
    """
    things = "|".join(re.escape(name) for name in names)
    parts, order, at = [], "", 0
    for match in ARGUMENT.finditer(sentence):
        parts.append(re.escape(sentence[at : match.start()]))
        parts.append(f"({things})" if match[1] in ENTITIES else r"(\d+)")
        order += match[1]
        at = match.end()
    return "".join([*parts, re.escape(sentence[at:])]), order


PERSONS = {"nobody": "nobody", "somebody": "somebody", "folk": "persons", "member": "person"}


@dataclass(frozen=True)
class Theme:
    """Words for one structure.

    opening: sentences before the clues, with [Input Slot 1] for the names and, where the structure has them,
    further slots. words: see the patterns of the structure's constraints and the questions.
    """

    key: str
    title: str
    category: str
    names: tuple[str, ...]
    opening: str
    words: Mapping[str, str]


_given = tables_in("themes")


def _row(key, title, category, names, opening, **words) -> Theme:
    place = words["place"]
    spoken = {
        "places": f"{place}s",
        "at": f"on {place}",
        "at_a": f"on a {place}",
        "next": f"on neighbouring {place}s",
        **PERSONS,
        **words,
    }
    spoken = {"first": f"on the first {place}", "last": f"on the last {place}"} | spoken
    spoken["the_next"] = f"{spoken['at'].split()[0]} the next {place}"
    return Theme(key, title, category, tuple(names.split()), opening, spoken)


ROW = tuple(_row(key, **entry) for key, entry in _given["row"].items())
RING = tuple(_row(key, **entry) for key, entry in _given["ring"].items())


def _groups(key, title, category, names, opening, **words) -> Theme:
    place = words["place"]
    spoken = {
        "places": f"{place}s",
        "at": f"in {place}",
        "in_a": f"in a {place}",
        "same": f"in the same {place}",
        "different": f"in different {place}s",
        **PERSONS,
        **words,
    }
    return Theme(key, title, category, tuple(names.split()), opening, spoken)


GROUPS = tuple(_groups(key, **entry) for key, entry in _given["groups"].items())


def _selection(key, title, category, names, opening, **words) -> Theme:
    return Theme(key, title, category, tuple(names.split()), opening, words)


SELECTION = tuple(_selection(key, **entry) for key, entry in _given["selection"].items())
THEMES = {"row": ROW, "ring": RING, "groups": GROUPS, "selection": SELECTION}


NAMED = r"\w+(?:, \w+)* and \w+"
"""Regular expression of a list of names."""
EXCLUSIVE = "    clauses += [[-X(d, v), -X(e, v)] for v in V for d, e in combinations(S, 2)]\n"
ROOM = (
    '    clauses += [[-X(e, v) for e in some] for v in V for some in combinations(S, inputs["room"] + 1)]\n'
)


@dataclass(frozen=True)
class Structure:
    """A way in which things are arranged. Texts are pieces of the sources of a family.

    Attributes:
        name: as worlds and questions call it. share: how often it is drawn. way: what one arrangement is
            called. kinds: its kinds of constraints.
        themes: stories that fit it. view: name of a whole arrangement in the listing engine. more: what every
            constraint gets next to the
        arrangement.
        bind: how an engine takes these from the inputs. extra: keys of the inputs next to names, clues and
            ask. values: of one thing.
        rest: values that are left to the others when a thing has got its own. excludes: clauses that every
            arrangement fulfils.
        all_views: every arrangement there is. value_of: the value of a thing in an arrangement. slots: of the
            statement, before those of the question: names, constraints, what the structure has next to them,
            and last the marked things. sizes: how a generator sets its sizes.
        own_inputs, own_texts: entries of the inputs, and texts of the slots, of what the structure has next
            to names and constraints. read_own: how the reader takes these back. forms: slot -> its regular
            expression.
    """

    name: str
    share: float
    way: str
    kinds: tuple[Kind, ...]
    themes: tuple[Theme, ...]
    view: str
    more: str
    bind: str
    extra: tuple[str, ...]
    values: str
    rest: str
    excludes: str
    all_views: str
    value_of: str
    slots: int
    sizes: str
    forms: Mapping[int, str]
    own_inputs: str = ""
    own_texts: str = ""
    read_own: str = ""


def _ordered(name: str, share: float, kinds: tuple[Kind, ...]) -> Structure:
    """Return a structure in which every thing has its own place."""
    return Structure(
        name=name,
        share=share,
        way="arrangement",
        kinds=kinds,
        themes=tuple(THEMES[name]),
        view="order",
        more="n",
        bind="n = count",
        extra=("marked",),
        values="range(1, n + 1)",
        rest="some - {v}",
        excludes=EXCLUSIVE,
        all_views="permutations(range(count))",
        value_of="order.index(e) + 1",
        slots=3,
        sizes="    count = n = 5 + difficulty // 4\n    more = (n,)\n",
        forms={1: NAMED, 2: ".+?"},
    )


STRUCTURES: dict[str, Structure] = {
    structure.name: structure
    for structure in (
        _ordered("row", 0.4, KINDS["row"]),
        _ordered("ring", 0.15, KINDS["ring"]),
        Structure(
            name="groups",
            share=0.2,
            way="distribution",
            kinds=KINDS["groups"],
            themes=tuple(THEMES["groups"]),
            view="rooms",
            more="n, room",
            bind='n, room = inputs["groups"], inputs["room"]',
            extra=("marked", "groups", "room"),
            values="range(1, n + 1)",
            rest="some - {v} if list(x.values()).count(v) == room else set(some)",
            excludes=ROOM,
            all_views=(
                "(tuple(frozenset(e for e in range(count) if dealt[e] == g) for g in range(n)) for dealt "
                "in product(range(n), repeat=count) if max(map(dealt.count, dealt)) <= room)"
            ),
            value_of="next(g for g, some in enumerate(rooms, start=1) if e in some)",
            slots=5,
            sizes="    count, n = 5 + difficulty // 4, 3\n    room = 3\n    more = (n, room)\n",
            forms={1: NAMED, 2: ".+?", 3: r"\d+", 4: r"\d+"},
            own_inputs=', "groups": n, "room": room',
            own_texts=", str(n), str(room)",
            read_own=', "groups": int(match["slot3"]), "room": int(match["slot4"])',
        ),
        Structure(
            name="selection",
            share=0.25,
            way="choice",
            kinds=KINDS["selection"],
            themes=tuple(THEMES["selection"]),
            view="team",
            more="n, weights",
            bind='n, weights = count, inputs["weights"]',
            extra=("marked", "weights"),
            values="(0, 1)",
            rest="set(some)",
            excludes="",
            all_views=(
                "(frozenset(team) for size in range(count + 1) for team in combinations(range(count), size))"
            ),
            value_of="int(e in team)",
            slots=4,
            sizes=(
                "    count = n = 5 + difficulty // 3\n    weights = random.sample(range(2, 12 + 2 * "
                "difficulty), count)\n    more = (n, weights)\n"
            ),
            forms={1: NAMED, 2: ".+?", 3: r"\d+(?:, \d+)*"},
            own_inputs=', "weights": weights',
            own_texts=', ", ".join(map(str, weights))',
            read_own=', "weights": [int(one) for one in match["slot3"].split(", ")]',
        ),
    )
}
"""Name -> structure, in the order in which they are drawn."""


@dataclass(frozen=True)
class Law:
    """One law. text: with words of the theme."""

    name: str
    structures: tuple[str, ...]
    text: str
    check: str
    clauses: str
    view: str


LAWS = entries("laws", Law, "laws")["laws"]


@dataclass(frozen=True)
class Question:
    """structures: where it may be asked. text: with {s1}, {s2} for its slots. keys: of `ask`, one per slot.

    least, most: how many arrangements an instance leaves. point: the rule that the text holds.
    """

    name: str
    title: str
    structures: tuple[str, ...]
    text: str
    make: str
    search: str
    sat: str
    listing: str
    keys: tuple[str, ...] = ()
    answer: AnswerType = "integer"
    least: int = 3
    most: int = 60
    point: str | None = None


QUESTIONS = entries("questions", Question, "questions", indented=("make", "search", "sat", "listing"))[
    "questions"
]


def points_of(question: Question, ways: str) -> tuple[MutationPoint, ...]:
    """Return the rule slot of a question: which end, or certain against possible. ways: what the arrangements
    are called, singular."""
    if question.point == "extreme":
        ends = tuple(Alternative(name, name, f'"{name}"') for name in ("smallest", "largest"))
        return (MutationPoint("extreme", ends, "smallest"),)
    if question.point == "force":
        texts = {
            "must": f"hold in every {ways} that fits the rules and what is known",
            "can": f"hold in at least one {ways} that fits the rules and what is known",
        }
        return (
            MutationPoint(
                "force", tuple(Alternative(name, text, f'"{name}"') for name, text in texts.items()), "must"
            ),
        )
    return ()
