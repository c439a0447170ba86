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

VIEW = {"row": "order", "ring": "order", "groups": "rooms", "selection": "team"}
MORE = {"row": "n", "ring": "n", "groups": "n, room", "selection": "n, weights"}
"""What every constraint is told beside the arrangement."""
EXTRA = {"row": ("marked",), "ring": ("marked",), "groups": ("marked", "groups", "room"), "selection": ("marked", "weights")}
"""Keys of the inputs beside names, clues and ask."""
BIND = {
    "row": "n = count", "ring": "n = count", "groups": 'n, room = inputs["groups"], inputs["room"]',
    "selection": 'n, weights = count, inputs["weights"]',
}
CHECKED = '''

def solution(inputs):
    if not isinstance(inputs, dict) or {keys} - set(inputs):
        return {{"status": "schema_error", "detail": {detail!r}}}
    names, ask = inputs["names"], inputs["ask"]
    count = len(names)
    {bind}
    more = ({more},)
    clues = [*inputs["clues"], ["law", *inputs["marked"]]]
'''
DISPATCH = '''

def law({head}, *some):
    return LAWS[LAW]({head}, some)
'''
SEARCH = '''

def search(clues, count, values, more{room}):
    found, x = [], {{}}
    told = []
    for kind, *args in clues:
        fits, things = KINDS[kind]
        told.append((fits, args, args[:things] if things else range(count)))

    def strike(left):
        for fits, args, scope in told:
            undecided = [e for e in scope if e not in x]
            if not undecided and not fits(x, *more, *args):
                return False
            if len(undecided) == 1:
                [e] = undecided
                left[e] = {{v for v in left[e] if fits({{**x, e: v}}, *more, *args)}}
        return all(left.values())

    def extend(left):
        if not left:
            found.append({{e: x[e] for e in range(count)}})
            return
        e = min(left, key=lambda one: (len(left[one]), one))
        for v in sorted(left[e]):
            x[e] = v
            rest = {{other: {rest} for other, some in left.items() if other != e}}
            if strike(rest):
                extend(rest)
            del x[e]

    start = {{e: set(values) for e in range(count)}}
    if strike(start):
        extend(start)
    return found
'''
REST = {
    "row": "some - {v}", "ring": "some - {v}", "groups": "some - {v} if list(x.values()).count(v) == room else set(some)", "selection": "set(some)",
}
VALUES = {"row": "range(1, n + 1)", "ring": "range(1, n + 1)", "groups": "range(1, n + 1)", "selection": "(0, 1)"}
SAT = '''

def models(clauses):
    with Minisat22(bootstrap_with=clauses) as solver:
        return list(solver.enum_models())


def possible(clauses, literals):
    with Minisat22(bootstrap_with=clauses) as solver:
        return solver.solve(assumptions=literals)
'''
SAT_BODY = '''    S, V = list(range(count)), list({values})
    given = ({given})

    def X(e, v):
        return 1 + e * len(V) + V.index(v)

    clauses = [[X(e, v) for v in V] for e in S] + [[-X(e, v), -X(e, w)] for e in S for v, w in combinations(V, 2)]
{exclusive}    for kind, *args in clues:
        clauses += KINDS[kind](X, V, S, *given, *args)
'''
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
    room = ", room" if structure == "groups" else ""
    known = "".join(f'    "{kind.name}": ({kind.name}, {0 if kind.whole else kind.things}),\n' for kind in kinds)
    return (
        '"""Search: the thing with the fewest values left is decided next, and clues strike values of the last undecided thing they speak of."""\n\n'
        "from itertools import combinations\n" + _constants(laws, question) + _functions(kinds, laws, f"x, {MORE[structure]}", "check")
        + f'\n\nKINDS = {{\n{known}    "law": (law, 0),\n}}\n' + SEARCH.format(room=room, rest=REST[structure]) + _head(structure)
        + f"    found = search(clues, count, {VALUES[structure]}, more{room})\n{question.search}\n"
    )


def sat_source(structure: str, kinds: Sequence[Kind], laws: Sequence[Law], question: Question) -> str:
    """An independent validator."""
    given = "weights," if structure == "selection" else ""
    return (
        '"""SAT: a variable for each thing and value; a solver lists the models, or is asked whether one exists."""\n\n'
        "from itertools import combinations, permutations\n\nfrom pysat.solvers import Minisat22\n" + _constants(laws, question)
        + _functions(kinds, laws, "X, V, S" + (", weights" if given else ""), "clauses") + _table(kinds) + SAT + _head(structure)
        + SAT_BODY.format(values=VALUES[structure], given=given, exclusive=EXCLUDES[structure]) + question.sat + "\n"
    )


def listing_source(structure: str, kinds: Sequence[Kind], laws: Sequence[Law], question: Question) -> str:
    """An independent validator."""
    view = VIEW[structure]
    return (
        '"""Everything there is, looked at one by one."""\n\nfrom itertools import combinations, permutations, product\n' + _constants(laws, question)
        + view_functions(structure, kinds, laws) + _table(kinds) + (ORDER_OF if "order_of" in question.listing else "") + _head(structure)
        + f"    views = [{view} for {view} in {ALL_VIEWS[structure]} if all(KINDS[kind]({view}, *more, *args) for kind, *args in clues)]\n"
        + question.listing + "\n"
    )


def view_functions(structure: str, kinds: Sequence[Kind], laws: Sequence[Law]) -> str:
    """The constraints and laws on whole arrangements, and `value` of a thing in one."""
    functions = _functions(kinds, laws, f"{VIEW[structure]}, {MORE[structure]}", "view")
    return f"{functions}\n\ndef value({VIEW[structure]}, e):\n    return {VALUE_OF[structure]}\n"


def law_constant(laws: Sequence[Law]) -> str:
    """The assignment that the mutation point `law` changes."""
    return f'\nLAW = "{laws[0].name}"\n'


def _functions(kinds: Sequence[Kind], laws: Sequence[Law], head: str, meaning: str) -> str:
    single = "".join(f"\n\ndef {kind.name}({head}{kind.signature}):\n    return {getattr(kind, meaning)}\n" for kind in kinds)
    several = "".join(f"\n\ndef law_{law.name}({head}, some):\n    return {getattr(law, meaning)}\n" for law in laws)
    table = "\n\nLAWS = {" + ", ".join(f'"{law.name}": law_{law.name}' for law in laws) + "}\n"
    return single + several + table + DISPATCH.format(head=head)


def _table(kinds: Sequence[Kind]) -> str:
    return "\n\nKINDS = {" + ", ".join(f'"{name}": {name}' for name in [*(kind.name for kind in kinds), "law"]) + "}\n"


def _head(structure: str) -> str:
    keys = ["names", "clues", "ask", *EXTRA[structure]]
    written = "{" + ", ".join(f'"{key}"' for key in keys) + "}"
    return CHECKED.format(keys=written, detail=", ".join(keys), bind=BIND[structure], more=MORE[structure])


def _constants(laws: Sequence[Law], question: Question) -> str:
    return law_constant(laws) + {"extreme": 'EXTREME = "smallest"\n', "force": 'FORCE = "must"\n', None: ""}[question.point]
