"""Draw constraint worlds: a structure, a theme, some kinds of constraints and a question make a family,
without a parent. The same random numbers give the same family, to the byte.

The generator goes from a drawn arrangement to sentences, the reader from the sentences back. Three engines
share no code:

search    values are struck out as things are decided, the thing with the fewest values left next
sat       clauses over "thing e has value v", for a SAT solver that lists models or is asked under assumptions
listing   every order, distribution or choice, each looked at as a whole
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from evolake.families.model.contract import CATEGORIES, Alternative, Answer, Category, Family, MutationPoint
from evolake.families.model.guessing import constant_share
from evolake.families.model.statement import whole
from evolake.families.worlds.constraints import (
    LAWS,
    NAMED,
    QUESTIONS,
    STRUCTURES,
    WORD,
    Kind,
    Law,
    Question,
    Structure,
    Theme,
    expression,
    points_of,
    upper,
)
from evolake.families.worlds.liveliness import NoWorld, answer_text, entry, generating, is_alive
from evolake.families.worlds.parts import declared_source
from evolake.program_templates import fill_template


def search_source(
    structure: Structure, kinds: Sequence[Kind], laws: Sequence[Law], question: Question
) -> str:
    """Return the primary."""
    known = "".join(
        f'    "{kind.name}": ({kind.name}, {0 if kind.whole else kind.things}),\n' for kind in kinds
    )
    constraints = (
        _functions(kinds, laws, f"x, {structure.more}", "check")
        + f'\n\nKINDS = {{\n{known}    "law": (law, 0),\n}}\n'
    )
    return _filled(
        "search",
        structure,
        laws,
        question,
        constraints=constraints,
        more="more, room" if structure.name == "groups" else "more",
        rest=structure.rest,
        values=structure.values,
        answer=f"{question.search}\n",
    )


def sat_source(structure: Structure, kinds: Sequence[Kind], laws: Sequence[Law], question: Question) -> str:
    """Return an independent validator."""
    given = "weights," if structure.name == "selection" else ""
    constraints = _functions(kinds, laws, "X, V, S" + (", weights" if given else ""), "clauses") + _table(
        kinds
    )
    return _filled(
        "sat",
        structure,
        laws,
        question,
        constraints=constraints,
        values=structure.values,
        given=given,
        exclusive=structure.excludes,
        answer=f"{question.sat}\n",
    )


def listing_source(
    structure: Structure, kinds: Sequence[Kind], laws: Sequence[Law], question: Question
) -> str:
    """Return an independent validator."""
    return _filled(
        "listing",
        structure,
        laws,
        question,
        constraints=view_functions(structure, kinds, laws) + _table(kinds),
        view=structure.view,
        views=structure.all_views,
        answer=f"{question.listing}\n",
    )


def view_functions(structure: Structure, kinds: Sequence[Kind], laws: Sequence[Law]) -> str:
    """Return the constraints and laws on whole arrangements, and `value` of a thing in one."""
    functions = _functions(kinds, laws, f"{structure.view}, {structure.more}", "view")
    return f"{functions}\n\ndef value({structure.view}, e):\n    return {structure.value_of}\n"


def law_constant(laws: Sequence[Law]) -> str:
    """Return the assignment that the mutation point `law` changes."""
    return f'LAW = "{laws[0].name}"\n'


def _functions(kinds: Sequence[Kind], laws: Sequence[Law], head: str, meaning: str) -> str:
    single = "".join(
        f"\n\ndef {kind.name}({head}{kind.signature}):\n    return {getattr(kind, meaning)}\n"
        for kind in kinds
    )
    several = "".join(
        f"\n\ndef law_{law.name}({head}, some):\n    return {getattr(law, meaning)}\n" for law in laws
    )
    table = "\n\nLAWS = {" + ", ".join(f'"{law.name}": law_{law.name}' for law in laws) + "}\n"
    return single + several + table + f"\n\ndef law({head}, *some):\n    return LAWS[LAW]({head}, some)\n"


def _table(kinds: Sequence[Kind]) -> str:
    return (
        "\n\nKINDS = {"
        + ", ".join(f'"{name}": {name}' for name in [*(kind.name for kind in kinds), "law"])
        + "}\n"
    )


def _filled(
    name: str, structure: Structure, laws: Sequence[Law], question: Question, **values: object
) -> str:
    """Return the source of an engine: what each of them begins with, and what is its own."""
    keys = ["names", "clues", "ask", *structure.extra]
    point = {"extreme": 'EXTREME = "smallest"\n', "force": 'FORCE = "must"\n', None: ""}[question.point]
    return fill_template(
        f"evolake.families.worlds.templates.{name}",
        constants=law_constant(laws) + point,
        keys="{" + ", ".join(f'"{key}"' for key in keys) + "}",
        detail=repr(", ".join(keys)),
        bind=f"    {structure.bind}\n",
        numbers=structure.more,
        **values,
    )


UNIQUE = "    count = n = 4 + difficulty // 3\n    more = (n,)\n"
"""Of questions on an order that is the only one."""
ASKED = {
    "thing": 'names.index(match["slot{slot}"])',
    "rank": 'int(match["slot{slot}"])',
    "statements": '[sentence(line.split(") ", 1)[1], names) for line in match["slot{slot}"].split("\\n")]',
}
"""How the reader takes a key of `ask` from its slot."""
FORM = {"thing": r"\w+", "rank": r"\d+"}
"""Regular expressions of the slots of what is asked."""


def template(theme: Theme, structure: Structure, question: Question) -> str:
    """Return the statement with its slots and rule."""
    base = structure.slots
    slots = {f"s{number}": f"[Input Slot {base + number}]" for number in range(1, len(question.keys) + 1)}
    law = f"Of the {theme.words['folk']}, [Input Slot {base}] {theme.words['wear']}. [Rule law]"
    return (
        f"{theme.opening} {law}\n\nThis is known:\n\n[Input Slot 2]\n\n<!-- question -->\n"
        f"{question.text.format(**theme.words, **slots)}\n"
    )


def generator_source(
    theme: Theme, structure: Structure, kinds: Sequence[Kind], laws: Sequence[Law], question: Question
) -> str:
    """Return the generator. Raises KeyError for a theme that lacks a word of the question."""
    rows = []
    for kind in kinds:
        spans = ", ".join(f"lambda {structure.more}: {span}" for span in kind.spans)
        apart = len(kind.spans) == 2 and kind.spans[0] == kind.spans[1]
        rows.append(
            f"    {kind.name!r}: ({kind.name}, {kind.things}, [{spans}], {apart}, "
            f"{kind.sentences(theme.words)!r}),\n"
        )
    return fill_template(
        "evolake.families.worlds.templates.constraint_generator",
        names=list(theme.names),
        constants=law_constant(laws),
        constraints=view_functions(structure, kinds, laws),
        kinds="{\n" + "".join(rows) + "}",
        sizes=UNIQUE if question.most == 1 else structure.sizes,
        views=f"{structure.view} for {structure.view} in {structure.all_views}",
        wanted="1" if question.most == 1 else "3 + difficulty // 2",
        least=question.least,
        most=question.most,
        make=question.make,
        clues_and_own=f"clues{structure.own_inputs}",
        lines_and_own=f'"\\n".join(lines){structure.own_texts}',
    )


def reader_source(
    theme: Theme,
    structure: Structure,
    kinds: Sequence[Kind],
    question: Question,
    points: Sequence[MutationPoint],
) -> str:
    """Return the reader: the whole statement must be this family's, and each sentence that of exactly one
    pattern. It declares its sentences."""
    rows = []
    for kind in kinds:
        for pattern in kind.sentences(theme.words):
            result, letters = expression(pattern, ["<name>"])
            rows.append(f"    ({kind.name!r}, {kind.args!r}, {letters!r}, {result!r}),\n")
    base = structure.slots
    forms = {**structure.forms, base: NAMED} | {
        base + number: FORM.get(key, ".+?") for number, key in enumerate(question.keys, start=1)
    }
    ask = ", ".join(
        f'"{key}": ' + ASKED[key].replace("{slot}", str(base + number))
        for number, key in enumerate(question.keys, start=1)
    )
    text = template(theme, structure, question)
    listed = [(sentence, kind.name) for kind in kinds for sentence in kind.sentences(theme.words)]
    return fill_template(
        "evolake.families.worlds.templates.constraint_reader",
        whole=repr(whole(text, points, forms)),
        patterns="[\n" + "".join(rows) + "]",
        declared=declared_source(text, points, _holder, listed),
        ask=ask,
        clues_and_own=f"clues{structure.read_own}",
        base=base,
    )


def _holder(point: MutationPoint, item: Alternative) -> str:
    return f"law_{item.name}" if point.name == "law" else ""


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
    for turn in range(DRAWS):
        if turn % TURNS == 0:
            structure = list(STRUCTURES.values())[
                int(random.choice(len(STRUCTURES), p=[one.share for one in STRUCTURES.values()]))
            ]
        theme = structure.themes[int(random.integers(len(structure.themes)))]
        asked = [question for question in QUESTIONS if structure.name in question.structures]
        question = asked[int(random.integers(len(asked)))]
        kinds = _kinds(structure, question, random)
        lawful = [law for law in LAWS if structure.name in law.structures]
        laws = [lawful[place] for place in random.choice(len(lawful), size=2, replace=False).tolist()]
        if _worth_solving(family := world_of(structure, theme, kinds, laws, question)):
            return family
    raise NoWorld("no constraints and question were found of which the answer depends and varies")


def _kinds(structure: Structure, question: Question, random: np.random.Generator) -> list[Kind]:
    known = structure.kinds
    count = min(int(random.integers(FEWEST, MOST + 1)), len(known))
    kinds = [known[place] for place in sorted(random.choice(len(known), size=count, replace=False).tolist())]
    if (
        structure.name == "selection"
        and question.name not in WEIGHED
        and not any(kind.name in BOUNDS for kind in kinds)
    ):
        bounds = [kind for kind in known if kind.name in BOUNDS]
        kinds[-1] = bounds[int(random.integers(len(bounds)))]
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


def world_of(
    structure: Structure, theme: Theme, kinds: list[Kind], laws: list[Law], question: Question
) -> Family:
    """Return the family of these choices; the first of the laws is in force."""
    way = structure.way
    theme = Theme(
        theme.key, theme.title, theme.category, theme.names, theme.opening, {**theme.words, "ways": f"{way}s"}
    )
    points = (law_point(laws, theme), *points_of(question, way))
    return Family(
        name="constraint_world",
        title=title(theme, kinds, question),
        category=_category(theme.category),
        language="en",
        generator=generator_source(theme, structure, kinds, laws, question),
        template=template(theme, structure, question),
        validator=search_source(structure, kinds, laws, question),
        validators={
            "listing": listing_source(structure, kinds, laws, question),
            "sat": sat_source(structure, kinds, laws, question),
        },
        reader=reader_source(theme, structure, kinds, question, points),
        answer=Answer(question.answer),
        points=points,
        parents=(),
        operator="constraint_world",
    )


def law_point(laws: list[Law], theme: Theme) -> MutationPoint:
    """Return the rule slot of a world's law."""
    texts = {law.name: upper(WORD.sub(lambda match: theme.words[match[1]], law.text)) for law in laws}
    return MutationPoint(
        "law", tuple(Alternative(name, text, f'"{name}"') for name, text in texts.items()), laws[0].name
    )


def title(theme: Theme, kinds: list[Kind], question: Question) -> str:
    """Return what the puzzle is about, what is asked, and what the constraints speak of."""
    labels = list(dict.fromkeys(kind.label for kind in kinds))
    spoken = labels[0] if len(labels) == 1 else ", ".join(labels[:-1]) + " and " + labels[-1]
    return f"{theme.title}: {question.title}, from {spoken}"[:LONGEST_TITLE]


def _category(name: str) -> Category:
    assert name in CATEGORIES
    return name  # pyright: ignore[reportReturnType]
