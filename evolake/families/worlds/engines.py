"""The sources of a constraint world's family: generator, reader and three engines that share no code.

    search    values are struck out as things are decided, the thing with the fewest values left next
    sat       clauses over "thing e has value v", for a SAT solver that lists models or is asked under assumptions
    listing   every order, distribution or choice, each looked at as a whole
"""

from __future__ import annotations

from collections.abc import Sequence

from evolake.families.worlds.kinds import Kind
from evolake.families.worlds.laws import Law
from evolake.families.worlds.questions import Question
from evolake.program_templates import fill_template

VIEW = {"row": "order", "ring": "order", "groups": "rooms", "selection": "team"}
MORE = {"row": "n", "ring": "n", "groups": "n, room", "selection": "n, weights"}
"""What every constraint is told beside the arrangement."""
EXTRA = {"row": ("marked",), "ring": ("marked",), "groups": ("marked", "groups", "room"), "selection": ("marked", "weights")}
"""Keys of the inputs beside names, clues and ask."""
BIND = {
    "row": "n = count", "ring": "n = count", "groups": 'n, room = inputs["groups"], inputs["room"]',
    "selection": 'n, weights = count, inputs["weights"]',
}
REST = {
    "row": "some - {v}", "ring": "some - {v}", "groups": "some - {v} if list(x.values()).count(v) == room else set(some)", "selection": "set(some)",
}
VALUES = {"row": "range(1, n + 1)", "ring": "range(1, n + 1)", "groups": "range(1, n + 1)", "selection": "(0, 1)"}
EXCLUSIVE = "    clauses += [[-X(d, v), -X(e, v)] for v in V for d, e in combinations(S, 2)]\n"
ROOM = '    clauses += [[-X(e, v) for e in some] for v in V for some in combinations(S, inputs["room"] + 1)]\n'
EXCLUDES = {"row": EXCLUSIVE, "ring": EXCLUSIVE, "groups": ROOM, "selection": ""}
ALL_VIEWS = {
    "row": "permutations(range(count))", "ring": "permutations(range(count))",
    "groups": "(tuple(frozenset(e for e in range(count) if dealt[e] == g) for g in range(n)) for dealt in product(range(n), repeat=count)"
    " if max(map(dealt.count, dealt)) <= room)",
    "selection": "(frozenset(team) for size in range(count + 1) for team in combinations(range(count), size))",
}
VALUE_OF = {
    "row": "order.index(e) + 1", "ring": "order.index(e) + 1", "groups": "next(g for g, some in enumerate(rooms, start=1) if e in some)",
    "selection": "int(e in team)",
}
ORDER_OF = '''

def order_of(order, one, two):
    return sorted((one, two), key=order.index)
'''


def search_source(structure: str, kinds: Sequence[Kind], laws: Sequence[Law], question: Question) -> str:
    """The primary."""
    known = "".join(f'    "{kind.name}": ({kind.name}, {0 if kind.whole else kind.things}),\n' for kind in kinds)
    constraints = _functions(kinds, laws, f"x, {MORE[structure]}", "check") + f'\n\nKINDS = {{\n{known}    "law": (law, 0),\n}}\n'
    return _filled(
        "search", structure, laws, question, constraints=constraints, more="more, room" if structure == "groups" else "more", rest=REST[structure],
        values=VALUES[structure], answer=f"{question.search}\n",
    )


def sat_source(structure: str, kinds: Sequence[Kind], laws: Sequence[Law], question: Question) -> str:
    """An independent validator."""
    given = "weights," if structure == "selection" else ""
    constraints = _functions(kinds, laws, "X, V, S" + (", weights" if given else ""), "clauses") + _table(kinds)
    return _filled(
        "sat", structure, laws, question, constraints=constraints, values=VALUES[structure], given=given, exclusive=EXCLUDES[structure],
        answer=f"{question.sat}\n",
    )


def listing_source(structure: str, kinds: Sequence[Kind], laws: Sequence[Law], question: Question) -> str:
    """An independent validator."""
    order = ORDER_OF if "order_of" in question.listing else ""
    return _filled(
        "listing", structure, laws, question, constraints=view_functions(structure, kinds, laws) + _table(kinds) + order, view=VIEW[structure],
        views=ALL_VIEWS[structure], answer=f"{question.listing}\n",
    )


def view_functions(structure: str, kinds: Sequence[Kind], laws: Sequence[Law]) -> str:
    """The constraints and laws on whole arrangements, and `value` of a thing in one."""
    functions = _functions(kinds, laws, f"{VIEW[structure]}, {MORE[structure]}", "view")
    return f"{functions}\n\ndef value({VIEW[structure]}, e):\n    return {VALUE_OF[structure]}\n"


def law_constant(laws: Sequence[Law]) -> str:
    """The assignment that the mutation point `law` changes."""
    return f'LAW = "{laws[0].name}"\n'


def _functions(kinds: Sequence[Kind], laws: Sequence[Law], head: str, meaning: str) -> str:
    single = "".join(f"\n\ndef {kind.name}({head}{kind.signature}):\n    return {getattr(kind, meaning)}\n" for kind in kinds)
    several = "".join(f"\n\ndef law_{law.name}({head}, some):\n    return {getattr(law, meaning)}\n" for law in laws)
    table = "\n\nLAWS = {" + ", ".join(f'"{law.name}": law_{law.name}' for law in laws) + "}\n"
    return single + several + table + f"\n\ndef law({head}, *some):\n    return LAWS[LAW]({head}, some)\n"


def _table(kinds: Sequence[Kind]) -> str:
    return "\n\nKINDS = {" + ", ".join(f'"{name}": {name}' for name in [*(kind.name for kind in kinds), "law"]) + "}\n"


def _filled(name: str, structure: str, laws: Sequence[Law], question: Question, **values: object) -> str:
    """The source of an engine: what each of them begins with, and what is its own."""
    keys = ["names", "clues", "ask", *EXTRA[structure]]
    point = {"extreme": 'EXTREME = "smallest"\n', "force": 'FORCE = "must"\n', None: ""}[question.point]
    return fill_template(
        f"evolake.families.worlds.templates.{name}", constants=law_constant(laws) + point, keys="{" + ", ".join(f'"{key}"' for key in keys) + "}",
        detail=repr(", ".join(keys)), bind=f"    {BIND[structure]}\n", numbers=MORE[structure], **values,
    )
