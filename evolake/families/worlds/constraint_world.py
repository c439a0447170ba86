"""Draw constraint worlds: a structure (things in a row, on a ring, in groups, or a selection), a theme, some
kinds of constraints and a question make a family, without a parent.

The generator goes from a drawn arrangement to sentences, the reader from the sentences back. The engine and its
questions are `engines/arrangements.md`; each structure with its themes, kinds of constraints and laws is a
file next to it. What a constraint, a law or a question says is written separately for each of three programs,
so that a mistake in one is outvoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from evolake.families.model.contract import Family
from evolake.families.model.guessing import constant_share
from evolake.families.worlds.engine import Details, Engine, Question, Rule, family_of
from evolake.families.worlds.engine_files import (
    Words,
    checked,
    engine_parts,
    named_records,
    one_of,
    records,
    said,
    some_of,
    themes_of,
    upper,
)
from evolake.families.worlds.liveliness import NoWorld, answer_text, entry, generating, is_alive

THINGS, ARGUMENTS = "abc", "abckl"
ARGUMENT = re.compile(rf"\{{([{ARGUMENTS}])\}}")


@dataclass(frozen=True)
class Kind:
    """A kind of constraint.

    label: what it is about, for titles. patterns: sentences, with words of the theme, and {a}, {b}, {c} for
    things, {k}, {l} for numbers. check, clauses, view: its meanings. spans: for each number, the expression
    of the range it is drawn from. whole: whether it is about all things together, not about its arguments.
    """

    name: str
    label: str
    patterns: tuple[str, ...]
    check: str
    clauses: str
    view: str
    spans: tuple[str, ...] = ()
    whole: bool = False

    @property
    def args(self) -> str:
        """Return the letters of its arguments, in their order."""
        return "".join(letter for letter in ARGUMENTS if f"{{{letter}}}" in self.patterns[0])

    @property
    def scope(self) -> int:
        """Return how many of its arguments it depends on, 0 if on all things."""
        return 0 if self.whole else self.things

    @property
    def things(self) -> int:
        """Return how many of the arguments are things; they come first."""
        return sum(letter in THINGS for letter in self.args)

    def sentences(self, theme: Words) -> list[str]:
        """Return the patterns in the theme's words, arguments still open."""
        return [upper(said(pattern, theme)) for pattern in self.patterns]


@dataclass(frozen=True)
class Law:
    """What is said of a world's marked things (those with a hat, `some`, two at least). text: with words of the
    theme."""

    name: str
    text: str
    check: str
    clauses: str
    view: str


@dataclass(frozen=True)
class Structure:
    """A way in which things are arranged.

    Attributes:
        name: as questions call it. share: how often it is drawn. way: what one arrangement is called.
        view: name of a whole arrangement in the listing program. more: what every constraint gets next to the
            arrangement. given: what clauses get next to literals. extra: keys of the inputs next to names,
            clues, marked things and ask.
        slots: of the statement, before those of the question: names, constraints, what the structure has next
            to them, and last the marked things. forms: slot -> its regular expression.
        places: pieces of the programs. bind: how they take `more` from the inputs. values: of one thing; rest:
            those left to the others when a thing has got its own, with `searched` in reach. exclusive:
            clauses that every arrangement fulfils. views: every arrangement there is. value_of: the value of
            a thing in one. sizes: how a generator sets its sizes. own_inputs, own_texts, read_own: inputs,
            texts of slots, and how they are read, of what the structure has next to names and constraints.
    """

    name: str
    share: float
    way: str
    kinds: tuple[Kind, ...]
    laws: tuple[Law, ...]
    themes: tuple[Words, ...]
    view: str
    more: str
    slots: int
    places: Mapping[str, str]
    given: str = ""
    extra: Sequence[str] = ()
    forms: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Asked(Question):
    """A question. structures: where it may be asked. least, most: how many arrangements an instance leaves.
    point: the rule that the text holds."""

    structures: tuple[str, ...] = ()
    least: int = 3
    most: int = 60
    point: str = ""


def _structure(name: str) -> Structure:
    words, _ = engine_parts(name)
    if alike := words.pop("like", ""):
        shared, _ = engine_parts(alike)
        words = {**shared, **words}
    return Structure(
        name=name,
        kinds=records(Kind, words.pop("kinds"), name),
        laws=records(Law, words.pop("laws"), name),
        themes=themes_of(words.pop("themes"), words.pop("words", {}), name),
        **words,
    )


STRUCTURES = {name: _structure(name) for name in ("row", "ring", "groups", "selection")}
"""Name -> structure, in the order in which they are drawn."""
_WORDS, _PROGRAMS = engine_parts("arrangements")
QUESTIONS = named_records(Asked, _WORDS["questions"], "arrangements")
POINTS = {point: named_records(Rule, alike, "arrangements") for point, alike in _WORDS["rules"].items()}
"""Rule of a question -> its alternatives."""
READ: Mapping[str, Mapping[str, str]] = _WORDS["asked"]
"""Key of `ask` -> how the reader takes it from its slot, and the regular expression of that."""
ARRANGEMENTS = Engine(
    name="arrangements",
    text=_WORDS["text"],
    rules=POINTS,
    questions=QUESTIONS,
    themes=(),
    shared=_PROGRAMS.pop("shared"),
    reader=_PROGRAMS.pop("reader"),
    programs=_PROGRAMS,
    validators=("listing", "sat"),
    checkers=(),
    places=_WORDS["places"],
)
UNIQUE = "count = n = 4 + difficulty // 3\nmore = (n,)"
"""Sizes of questions on an order that is the only one."""
FEWEST, MOST = 5, 8
"""Kinds of constraints in one world."""
WEIGHED, BOUNDS = ("weight", "best"), ("budget", "floor")
"""Questions and constraints on the numbers of a choice's things: a world of choices has one of them, or its
numbers would be idle."""
DRAWS, TURNS = 40, 16
"""Choices that are tried, and after how many of them another structure is drawn: a share of structures should
not depend on how often they fail."""
TRIED, TRIES = (5, 7, 9), 6
"""Difficulties that a world's answers are looked at on, and instances of each."""
EASIEST, HARDER = (1,), (3, 7, 10)
"""Levels at which a world is tried: first the one whose instances cost least and at which most worlds
fail."""
COMMONEST = 0.25
"""Share of these answers that one of them may have."""
LONGEST_TITLE = 200


def constraint_world(random: np.random.Generator) -> Family:
    """Return a family that no other is a parent of. Raises NoWorld: no constraints and question were found of
    which the answer depends and varies."""
    known = list(STRUCTURES.values())
    for turn in range(DRAWS):
        if turn % TURNS == 0:
            structure = known[int(random.choice(len(known), p=[one.share for one in known]))]
        theme = one_of(random, structure.themes)
        question = one_of(random, [item for item in QUESTIONS if structure.name in item.structures])
        kinds, laws = _kinds(structure, question, random), some_of(random, structure.laws)
        if _worth_solving(family := world_of(structure, theme, kinds, laws, question)):
            return family
    raise NoWorld("no constraints and question were found of which the answer depends and varies")


def _kinds(structure: Structure, question: Asked, random: np.random.Generator) -> list[Kind]:
    known = structure.kinds
    count = min(int(random.integers(FEWEST, MOST + 1)), len(known))
    kinds = sorted(some_of(random, known, count), key=known.index)
    if (
        structure.name == "selection"
        and question.name not in WEIGHED
        and not any(kind.name in BOUNDS for kind in kinds)
    ):
        kinds[-1] = one_of(random, [kind for kind in known if kind.name in BOUNDS])
    return kinds


def _worth_solving(family: Family) -> bool:
    """Whether, of some instances, no answer is a good guess, answers depend on the law and on what is asked,
    and some on each kind of constraint."""
    if not is_alive(family, levels=EASIEST):
        return False
    make, solution = generating(family.generator), entry(family.validator, "solution")
    try:
        instances = [make(difficulty, Random(seed)) for seed, difficulty in enumerate(TRIED * TRIES)]
    except ValueError:  # its generator found no instance
        return False
    answers = [solution(instance) for instance in instances]
    if constant_share(list(map(answer_text, answers))) > COMMONEST:
        return False
    left = {clue[0] for instance in instances for clue in instance["clues"]}
    for element, answer in zip(instances, answers, strict=True):
        for kind in left & {clue[0] for clue in element["clues"]}:
            if (
                solution(element | {"clues": [clue for clue in element["clues"] if clue[0] != kind]})
                != answer
            ):
                left = left - {kind}
    return not left and is_alive(family, levels=HARDER)


NAMED = r"\w+(?:, \w+)* and \w+"
"""Regular expression of a list of names."""


def world_of(
    structure: Structure, theme: Words, kinds: Sequence[Kind], laws: Sequence[Law], question: Asked
) -> Family:
    """Return the family of these choices; the first of the laws is in force."""
    theme = {**theme, "way": structure.way, "ways": f"{structure.way}s", "base": str(structure.slots)}
    rules = {"law": [Rule(law.name, "", upper(said(law.text, theme))) for law in laws]}
    if question.point:
        rules[question.point] = list(POINTS[question.point])
    slot = structure.slots + 1
    asked = READ.get(question.key, {"form": "", "read": ""})
    forms = {int(number): form for number, form in structure.forms.items()}
    heads = {
        "check": f"x, {structure.more}",
        "clauses": ", ".join(filter(None, ["X, V, S", structure.given])),
        "view": f"{structure.view}, {structure.more}",
    }

    def constraints(part: str) -> str:
        meaning = {"primary": "check", "second": "clauses"}.get(part, "view")
        return _functions(kinds, laws, heads[meaning], meaning)

    details = Details(
        codes={
            "checked": checked(["names", "clues", "ask", "marked", *structure.extra], quote="'"),
            "law": f'LAW = "{laws[0].name}"',
            **structure.places,
            **({"sizes": UNIQUE} if question.most == 1 else {}),
        },
        places={
            "more": structure.more,
            "given": f"{structure.given}," if structure.given else "",
            "view": structure.view,
            "known": ", ".join(f'"{name}": {name}' for name in [*(kind.name for kind in kinds), "law"]),
            "scopes": "".join(f'    "{kind.name}": ({kind.name}, {kind.scope}),\n' for kind in kinds),
            "names": theme["names"].split(),
            "drawn": "".join(_drawn(kind, structure, theme) for kind in kinds),
            "wanted": "1" if question.most == 1 else "3 + difficulty // 2",
            "least": question.least,
            "most": question.most,
            "patterns": "".join(_read(kind, theme) for kind in kinds),
            "ask": asked["read"].replace("SLOT", f'match["slot{slot}"]'),
        },
        forms={**forms, 1: NAMED, 2: ".+?", structure.slots: NAMED, slot: asked["form"]},
        slot=slot,
        held={"law": "law_"},
        listed=[(sentence, kind.name) for kind in kinds for sentence in kind.sentences(theme)],
        rules=constraints,
    )
    labels = list(dict.fromkeys(kind.label for kind in kinds))
    spoken = labels[0] if len(labels) == 1 else ", ".join(labels[:-1]) + " and " + labels[-1]
    title = f"{theme['title']}: {question.title}, from {spoken}"[:LONGEST_TITLE]
    return replace(family_of(ARRANGEMENTS, theme, rules, question, "constraint_world", details), title=title)


def _functions(kinds: Sequence[Kind], laws: Sequence[Law], head: str, meaning: str) -> str:
    """Return the constraints and laws as functions, in the terms of one program."""
    single = "".join(
        f"\n\ndef {kind.name}({', '.join([head, *kind.args])}):\n    return {getattr(kind, meaning)}\n"
        for kind in kinds
    )
    several = "".join(
        f"\n\ndef law_{law.name}({head}, some):\n    return {getattr(law, meaning)}\n" for law in laws
    )
    table = "\n\nLAWS = {" + ", ".join(f'"{law.name}": law_{law.name}' for law in laws) + "}\n"
    return single + several + table + f"\n\ndef law({head}, *some):\n    return LAWS[LAW]({head}, some)\n"


def _drawn(kind: Kind, structure: Structure, theme: Words) -> str:
    """Return how a generator draws a constraint."""
    spans = ", ".join(f"lambda {structure.more}: {span}" for span in kind.spans)
    apart = len(kind.spans) == 2 and kind.spans[0] == kind.spans[1]
    return (
        f"    {kind.name!r}: ({kind.name}, {kind.things}, [{spans}], {apart}, {kind.sentences(theme)!r}),\n"
    )


def _read(kind: Kind, theme: Words) -> str:
    """Return how a reader reads a constraint: for each sentence the regular expression that exactly such
    sentences match, and its arguments in the order of the groups."""
    rows = ""
    for sentence in kind.sentences(theme):
        texts, letters = ARGUMENT.split(sentence)[::2], "".join(ARGUMENT.findall(sentence))
        groups = ["(<name>)" if letter in THINGS else r"(\d+)" for letter in letters]
        expression = "".join(
            re.escape(text) + group for text, group in zip(texts, [*groups, ""], strict=True)
        )
        rows += f"    ({kind.name!r}, {kind.args!r}, {letters!r}, {expression!r}),\n"
    return rows
