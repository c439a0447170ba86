"""The generator and the reader of a constraint world: from a drawn arrangement to sentences, and from the sentences back."""

from __future__ import annotations

from collections.abc import Sequence

from evolake.families.model.contract import Alternative, MutationPoint
from evolake.families.model.statement import whole
from evolake.families.worlds.declaring import declared_source
from evolake.families.worlds.engines import ALL_VIEWS, MORE, VIEW, law_constant, view_functions
from evolake.families.worlds.kinds import Kind, expression
from evolake.families.worlds.laws import Law
from evolake.families.worlds.questions import Question
from evolake.families.worlds.themes import Theme
from evolake.program_templates import fill_template

SLOTS = {"row": 3, "ring": 3, "groups": 5, "selection": 4}
"""Slots before those of the question: names, constraints, what the structure has beside them, and last the marked things."""
SIZES = {
    "row": "    count = n = 5 + difficulty // 4\n    more = (n,)\n",
    "ring": "    count = n = 5 + difficulty // 4\n    more = (n,)\n",
    "groups": "    count, n = 5 + difficulty // 4, 3\n    room = 3\n    more = (n, room)\n",
    "selection": "    count = n = 5 + difficulty // 3\n    weights = random.sample(range(2, 12 + 2 * difficulty), count)\n    more = (n, weights)\n",
}
UNIQUE = "    count = n = 4 + difficulty // 3\n    more = (n,)\n"
"""Of questions on an order that is the only one."""
OWN = {
    "row": ("", ""), "ring": ("", ""), "groups": (', "groups": n, "room": room', ", str(n), str(room)"),
    "selection": (', "weights": weights', ', ", ".join(map(str, weights))'),
}
"""Entries of the inputs and slot texts of what the structure has beside names and constraints."""
READ_OWN = {
    "row": "", "ring": "", "groups": ', "groups": int(match["slot3"]), "room": int(match["slot4"])',
    "selection": ', "weights": [int(one) for one in match["slot3"].split(", ")]',
}
ASKED = {
    "thing": 'names.index(match["slot{slot}"])', "other": 'names.index(match["slot{slot}"])', "place": 'int(match["slot{slot}"])',
    "rank": 'int(match["slot{slot}"])',
    "statements": '[sentence(line.split(") ", 1)[1], names) for line in match["slot{slot}"].split("\\n")]',
}
"""How the reader takes a key of `ask` from its slot."""
NAMED = r"\w+(?:, \w+)* and \w+"
FORM = {"thing": r"\w+", "other": r"\w+", "place": r"\d+", "rank": r"\d+"}
"""Expressions of a list of names, and of the slots of what is asked."""
FORMS: dict[str, dict[int, str]] = {
    "row": {1: NAMED, 2: ".+?"}, "ring": {1: NAMED, 2: ".+?"}, "groups": {1: NAMED, 2: ".+?", 3: r"\d+", 4: r"\d+"},
    "selection": {1: NAMED, 2: ".+?", 3: r"\d+(?:, \d+)*"},
}


def template(theme: Theme, structure: str, question: Question) -> str:
    """The statement with its slots and rule."""
    base = SLOTS[structure]
    slots = {f"s{number}": f"[Input Slot {base + number}]" for number in range(1, len(question.keys) + 1)}
    law = f"Of the {theme.words['folk']}, [Input Slot {base}] {theme.words['wear']}. [Rule law]"
    return f"{theme.opening} {law}\n\nThis is known:\n\n[Input Slot 2]\n\n<!-- question -->\n{question.text.format(**theme.words, **slots)}\n"


def generator_source(theme: Theme, structure: str, kinds: Sequence[Kind], laws: Sequence[Law], question: Question) -> str:
    """The generator. Raises KeyError for a theme that lacks a word of the question."""
    rows = []
    for kind in kinds:
        spans = ", ".join(f"lambda {MORE[structure]}: {span}" for span in kind.spans)
        apart = len(kind.spans) == 2 and kind.spans[0] == kind.spans[1]
        rows.append(f"    {kind.name!r}: ({kind.name}, {kind.things}, [{spans}], {apart}, {kind.sentences(theme.words)!r}),\n")
    own, texts = OWN[structure]
    return fill_template(
        "evolake.families.worlds.templates.constraint_generator", names=list(theme.names), constants=law_constant(laws),
        constraints=view_functions(structure, kinds, laws), kinds="{\n" + "".join(rows) + "}",
        sizes=UNIQUE if question.most == 1 else SIZES[structure], views=f"{VIEW[structure]} for {VIEW[structure]} in {ALL_VIEWS[structure]}",
        wanted="1" if question.most == 1 else "3 + difficulty // 2", least=question.least, most=question.most, make=question.make,
        clues_and_own=f"clues{own}", lines_and_own=f'"\\n".join(lines){texts}',
    )


def reader_source(theme: Theme, structure: str, kinds: Sequence[Kind], question: Question, points: Sequence[MutationPoint]) -> str:
    """The reader: the whole statement must be this family's, and each sentence that of exactly one pattern. It declares its sentences."""
    rows = []
    for kind in kinds:
        for pattern in kind.sentences(theme.words):
            result, letters = expression(pattern, ["<name>"])
            rows.append(f"    ({kind.name!r}, {kind.args!r}, {letters!r}, {result!r}),\n")
    base = SLOTS[structure]
    forms = FORMS[structure] | {base: NAMED} | {base + number: FORM.get(key, ".+?") for number, key in enumerate(question.keys, start=1)}
    ask = ", ".join(f'"{key}": ' + ASKED[key].replace("{slot}", str(base + number)) for number, key in enumerate(question.keys, start=1))
    text = template(theme, structure, question)
    listed = [(sentence, kind.name) for kind in kinds for sentence in kind.sentences(theme.words)]
    return fill_template(
        "evolake.families.worlds.templates.constraint_reader", whole=repr(whole(text, points, forms)), patterns="[\n" + "".join(rows) + "]",
        declared=declared_source(text, points, _holder, listed), ask=ask, clues_and_own=f"clues{READ_OWN[structure]}", base=base,
    )


def _holder(point: MutationPoint, item: Alternative) -> str:
    return f"law_{item.name}" if point.name == "law" else ""
