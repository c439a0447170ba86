"""What the structures of constraint worlds are: things in a row, on a ring, in groups, or a selection of
them. All that their sources differ in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evolake.families.worlds.kinds import KINDS, Kind
from evolake.families.worlds.themes import THEMES, Theme

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
