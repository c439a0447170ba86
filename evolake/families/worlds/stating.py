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
    "row": ("", ""), "ring": ("", ""), "groups": ('"groups": n, "room": room, ', "str(n), str(room), "),
    "selection": ('"weights": weights, ', '", ".join(map(str, weights)), '),
}
"""Entries of the inputs and slot texts of what the structure has beside names and constraints."""
GENERATE = '''

def clue(view, count, n, more):
    """A constraint that the arrangement meets."""
    while True:
        kind = random.choice(list(KINDS))
        fits, things, spans, apart, _ = KINDS[kind]
        numbers = [random.choice(span(*more)) for span in spans]
        args = random.sample(range(count), things) + numbers
        if not (apart and len(set(numbers)) < len(numbers)) and fits(view, *more, *args):
            return [kind, *args]


def said(drawn, names):
    kind, *args = drawn
    _, things, _, _, patterns = KINDS[kind]
    words = dict(zip("abc", (names[e] for e in args[:things]))) | dict(zip("kl", args[things:]))
    return random.choice(patterns).format(**words)


def attempt(difficulty):
{sizes}    names = random.sample(NAMES, count)
    open_ = list({views})
    marked = sorted(random.sample(range(count), max(2, count // 2)))
    open_ = [view for view in open_ if law(view, *more, *marked)]
    if not open_:
        return None
    hidden, clues = random.choice(open_), []
    for _ in range(300):
        if len(clues) >= {wanted} and len(open_) <= {most}:
            break
        drawn = clue(hidden, count, n, more)
        left = [view for view in open_ if KINDS[drawn[0]][0](view, *more, *drawn[1:])]
        if max({least}, min(len(open_) // 5, {most})) <= len(left) < len(open_):
            clues.append(drawn)
            open_ = left
    if len(clues) < 2 or not {least} <= len(open_) <= {most}:
        return None
    ask, texts = None, []
{make}    if ask is None:
        return None
    random.shuffle(clues)
    lines = ["- " + said(drawn, names) for drawn in clues]
    given = {{"names": names, "clues": clues, {own}"marked": marked, "ask": ask}}
    return given, [listed(names), "\\n".join(lines), {texts}listed([names[e] for e in marked]), *texts]


def listed(names):
    return ", ".join(names[:-1]) + " and " + names[-1]


def input(difficulty):
    for _ in range(200):
        made = attempt(difficulty)
        if made is not None:
            return made
    raise ValueError("no instance was found")
'''
READ = '''

def sentence(text, names):
    """What one sentence says. Raises ValueError unless exactly one pattern is that of the whole sentence."""
    found = []
    for kind, things, letters, expression in PATTERNS:
        match = re.fullmatch(expression.replace("<name>", "|".join(map(re.escape, names))), text)
        if match is not None:
            said = dict(zip(letters, match.groups()))
            found.append([kind, *(names.index(said[one]) if one in "abc" else int(said[one]) for one in things)])
    if len(found) != 1:
        raise ValueError(f"{{len(found)}} patterns fit: {{text}}")
    return found[0]


def read(text):
    match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    names = re.split(", | and ", match["slot1"])
    clues = [sentence(line.removeprefix("- "), names) for line in match["slot2"].split("\\n")]
    marked = [names.index(name) for name in re.split(", | and ", match["slot{base}"])]
    ask = {{{ask}}}
    return {{"names": names, "clues": clues, {own}"marked": marked, "ask": ask}}
'''
READ_OWN = {
    "row": "", "ring": "", "groups": '"groups": int(match["slot3"]), "room": int(match["slot4"]), ',
    "selection": '"weights": [int(one) for one in match["slot3"].split(", ")], ',
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
    wanted = "1" if question.most == 1 else "3 + difficulty // 2"
    return (
        "import random\nfrom itertools import combinations, permutations, product\n\n" + f"NAMES = {list(theme.names)!r}\n"
        + law_constant(laws).lstrip() + view_functions(structure, kinds, laws) + "\n\nKINDS = {\n" + "".join(rows) + "}\n"
        + GENERATE.format(
            sizes=UNIQUE if question.most == 1 else SIZES[structure], views=f"{VIEW[structure]} for {VIEW[structure]} in {ALL_VIEWS[structure]}",
            wanted=wanted, least=question.least,
            most=question.most, make=question.make, own=own, texts=texts,
        )
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
    return (
        "import re\n\n" + f"WHOLE = {whole(text, points, forms)!r}\n" + "PATTERNS = [\n" + "".join(rows) + "]\n"
        + declared_source(text, points, _holder, listed)
        + READ.format(ask=ask, own=READ_OWN[structure], base=base)
    )


def _holder(point: MutationPoint, item: Alternative) -> str:
    return f"law_{item.name}" if point.name == "law" else ""
