"""The generator and the reader of a constraint world: from a drawn arrangement to sentences, and from the
sentences back."""

from __future__ import annotations

from collections.abc import Sequence

from evolake.families.model.contract import Alternative, MutationPoint
from evolake.families.model.statement import whole
from evolake.families.worlds.declaring import declared_source
from evolake.families.worlds.engines import law_constant, view_functions
from evolake.families.worlds.kinds import Kind, expression
from evolake.families.worlds.laws import Law
from evolake.families.worlds.questions import Question
from evolake.families.worlds.structures import NAMED, Structure
from evolake.families.worlds.themes import Theme
from evolake.program_templates import fill_template

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
