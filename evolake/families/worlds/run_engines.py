"""The sources of a process world's family: generator, reader and three engines that share no code.

    simulation  one state, changed turn by turn
    table       the successor of every state there is, for each rule; a run is a walk through the tables
    clauses     a variable for each turn, store and number; a SAT solver finds the run
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolake.families.worlds.actions import Bound
from evolake.families.worlds.parts import constants_of
from evolake.families.worlds.runs import RunQuestion

NEWLINE = "\n"
POINTS = ("one", "two", "three", "close")
"""The mutation points of the rules: what each signal does, and what ends every turn."""
PLAYED = '''

def played(start, inputs):
    w, cap, m = dict(start), inputs["cap"], inputs.get("marks", 1)
    trace = [dict(w)]
    for event in inputs["events"]:
        for rule in ((ONE, TWO, THREE)[event], *{close}):
            act(rule, w, cap, m)
        trace.append(dict(w))
    return trace
'''
CHECKED = '''

def solution(inputs):
    if not isinstance(inputs, dict) or {"cap", "start", "events", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "cap, start, events, ask"}
    cap, m, start, ask = inputs["cap"], inputs.get("marks", 1), inputs["start"], inputs["ask"]
'''
TABLE = '''

def successors(rule, names, sizes, cap, m):
    z = dict(zip(names, np.indices(sizes).reshape(len(sizes), -1)))
    z.update(ACTIONS[rule](z, cap, m))
    return np.ravel_multi_index([z[name] for name in names], sizes)


def shape(inputs):
    names = sorted(inputs["start"])
    of = {{"a": inputs["cap"] + 1, "b": inputs["cap"] + 1, "r": inputs.get("marks", 1), "q": 2}}
    return names, [of[name] for name in names]


def walked(numbers, inputs):
    """Numbers of states after each turn, one row per turn, from several starts at once."""
    names, sizes = shape(inputs)
    tables = {{rule: successors(rule, names, sizes, inputs["cap"], inputs.get("marks", 1)) for rule in {{ONE, TWO, THREE, *{close}}}}}
    rows = [numbers]
    for event in inputs["events"]:
        after = tables[(ONE, TWO, THREE)[event]][rows[-1]]
        for rule in {close}:
            after = tables[rule][after]
        rows.append(after)
    return np.array(rows)


def columns(numbers, inputs):
    names, sizes = shape(inputs)
    return dict(zip(names, np.unravel_index(numbers, sizes)))


def numbered(z, inputs):
    names, sizes = shape(inputs)
    return np.ravel_multi_index([z[name] for name in names], sizes)


def follow(z, inputs):
    return columns(walked(numbered(z, inputs), inputs)[-1], inputs)


def every_start(start, cap, m):
    amounts = np.arange(start["a"], cap + 1)
    return {{name: amounts if name == "a" else np.full(amounts.size, value) for name, value in start.items()}}
'''
TRACE = """    single = {name: np.array([value]) for name, value in start.items()}
    trace = columns(walked(numbered(single, inputs), inputs)[:, 0], inputs)
"""
CLAUSES = '''

def effects(rule, sizes, cap, m):
    """(values before, the only values that may come after) of the variables of a rule."""
    related, reads, writes = ACTIONS[rule]
    both = sorted({{*reads, *writes}})
    for before in product(*(range(sizes[name]) for name in both)):
        u = dict(zip(both, before))
        allowed = [dict(zip(writes, values)) for values in product(*(range(sizes[name]) for name in writes))]
        [after] = [v for v in allowed if related(u, v, cap, m)]
        yield u, after


def unrolled(inputs, sizes, L):
    cap, m, layer = inputs["cap"], inputs.get("marks", 1), 0
    known = {{rule: list(effects(rule, sizes, cap, m)) for rule in {{ONE, TWO, THREE, *{close}}}}}
    for event in inputs["events"]:
        for rule in ((ONE, TWO, THREE)[event], *{close}):
            for u, after in known[rule]:
                yield from ([*[-L(layer, name, n) for name, n in u.items()], L(layer + 1, name, n)] for name, n in after.items())
            still = [name for name in sizes if name not in ACTIONS[rule][2]]
            yield from ([-L(layer, name, n), L(layer + 1, name, n)] for name in still for n in range(sizes[name]))
            layer += 1


def told(solver, L, last, cap, m, start, ask):
    model = solver.get_model()

    def is_(t, name, n):
        return model[L(t, name, n) - 1] > 0

{fold}
'''
CLAUSES_BODY = '''    of = {{"a": cap + 1, "b": cap + 1, "r": m, "q": 2}}
    sizes = {{name: of[name] for name in sorted(start)}}
    offset, width = {{}}, 1
    for name, size in sizes.items():
        offset[name], width = width, width + size
    width -= 1

    def at_layer(layer, name, n):
        return layer * width + offset[name] + n

    def L(t, name, n):
        return at_layer(t * {per}, name, n)

    last = len(inputs["events"])
    clauses = list(unrolled(inputs, sizes, at_layer))
    for layer in range(last * {per} + 1):
        for name, size in sizes.items():
            clauses.append([at_layer(layer, name, n) for n in range(size)])
            clauses += [[-at_layer(layer, name, n), -at_layer(layer, name, k)] for n in range(size) for k in range(n)]
    clauses += [[L(0, name, value)] for name, value in start.items(){open_start}]
    with Minisat22(bootstrap_with=clauses) as solver:
        if not solver.solve():
            return {{"status": "schema_error", "detail": "no run"}}
        return told(solver, L, last, cap, m, start, ask)
'''
GENERATE = '''

def input(difficulty):
    cap, m = random.randint(5, 7) + difficulty // 4, random.randint(5, 8)
    drawn = {{"a": random.randint(0, cap), "b": random.randint(0, cap), "r": random.randrange(m), "q": random.randrange(2)}}
    start = {{name: drawn[name] for name in {uses!r}}}
    events = [random.randrange(3) for _ in range(4 + 2 * difficulty)]
    plan = {{"cap": cap, {marks}"start": start, "events": events}}
    trace = played(start, plan)
{make}    shown = [str(cap), str(start["a"]), str(start["b"]), {shown}", ".join(EVENTS[event] for event in events)]
    return {{**plan, "ask": ask}}, [*shown, *texts]
'''
READ = '''

def read(text):
    match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    start = {{{start}}}
    events = [EVENTS.index(event) for event in match["slot{events}"].split(", ")]
    return {{"cap": int(match["slot1"]), {marks}"start": start, "events": events, "ask": {{{ask}}}}}
'''


def simulation_source(rules: Mapping[str, Sequence[Bound]], question: RunQuestion, store: str) -> str:
    """The primary."""
    trace = "" if question.open_start else "    trace = played(start, inputs)\n"
    return (
        '"""One state, changed turn by turn."""\n' + _constants(rules, question) + run_functions(rules) + CHECKED + trace
        + _of(question.run, store) + "\n"
    )


def table_source(rules: Mapping[str, Sequence[Bound]], question: RunQuestion, store: str) -> str:
    """An independent validator."""
    trace = "" if question.open_start else TRACE
    functions = "".join(f"\n\ndef {action.key}(z, cap, m):\n    return {{{action.code('table')}}}\n" for action in _actions(rules))
    return (
        '"""Every state has a number; each rule is a table of successors, and a run a walk through the tables."""\n\nimport numpy as np\n'
        + _constants(rules, question) + functions + _table(rules) + TABLE.format(close=_close(rules)) + CHECKED + trace
        + _of(question.table, store) + "\n"
    )


def clauses_source(rules: Mapping[str, Sequence[Bound]], question: RunQuestion, store: str) -> str:
    """An independent validator."""
    functions = "".join(f"\n\ndef {action.key}(u, v, cap, m):\n    return {action.code('relation')}\n" for action in _actions(rules))
    table = "\n\nACTIONS = {\n" + "".join(f'    "{item.key}": ({item.key}, {item.reads!r}, {item.writes!r}),\n' for item in _actions(rules)) + "}\n"
    open_start = ' if name != "a"' if question.open_start else ""
    return (
        '"""A variable says that a store holds a number at a time; clauses say what may follow what, and a SAT solver finds the run."""\n\n'
        "from itertools import product\n\nfrom pysat.solvers import Minisat22\n" + _constants(rules, question) + functions + table
        + CLAUSES.format(close=_close(rules), fold=_of(question.clauses, store)) + CHECKED
        + CLAUSES_BODY.format(per=2 if "close" in rules else 1, open_start=open_start)
    )


def generator_source(
    rules: Mapping[str, Sequence[Bound]], question: RunQuestion, store: str, *, uses: Sequence[str], events: Sequence[str], modes: Sequence[str]
) -> str:
    """The generator. uses: the variables that the statement speaks of. modes: the words for 0 and 1."""
    shown = ('str(m), str(start["r"] + 1), ' if "r" in uses else "") + (f'{list(modes)!r}[start["q"]], ' if "q" in uses else "")
    return (
        "import random\n\n" + f"EVENTS = {list(events)!r}\n" + constants_of(rules) + run_functions(rules)
        + GENERATE.format(uses=list(uses), marks='"marks": m, ' if "r" in uses else "", make=_of(question.make, store), shown=shown)
    )


def reader_source(whole: str, declared: str, question: RunQuestion, *, uses: Sequence[str], events: Sequence[str], modes: Sequence[str]) -> str:
    """The reader. whole: the expression of the whole statement. declared: the assignment of its sentences."""
    start, slot, marks = ['"a": int(match["slot2"])', '"b": int(match["slot3"])'], 4, ""
    if "r" in uses:
        marks = f'"marks": int(match["slot{slot}"]), '
        start.append(f'"r": int(match["slot{slot + 1}"]) - 1')
        slot += 2
    if "q" in uses:
        start.append(f'"q": {list(modes)!r}.index(match["slot{slot}"])')
        slot += 1
    ask = ", ".join(f'"{key}": int(match["slot{slot + number}"])' for number, key in enumerate(question.keys, start=1))
    return (
        "import re\n\n" + f"EVENTS = {list(events)!r}\nWHOLE = {whole!r}\n{declared}"
        + READ.format(start=", ".join(start), events=slot, marks=marks, ask=ask)
    )


def run_functions(rules: Mapping[str, Sequence[Bound]]) -> str:
    """The actions as statements of one function, of which each is a case, and `played`, which makes a run of them."""
    cases = "".join(
        f'    {"el" if number else ""}if rule == "{action.key}":\n        {action.code("run").replace(NEWLINE, NEWLINE + "    ")}\n'
        for number, action in enumerate(_actions(rules))
    )
    return f"\n\ndef act(rule, w, cap, m):\n{cases}" + PLAYED.format(close=_close(rules))


def _actions(rules: Mapping[str, Sequence[Bound]]) -> list[Bound]:
    return [alternative for alternatives in rules.values() for alternative in alternatives]


def _table(rules: Mapping[str, Sequence[Bound]]) -> str:
    return "\n\nACTIONS = {" + ", ".join(f'"{action.key}": {action.key}' for action in _actions(rules)) + "}\n"


def _close(rules: Mapping[str, Sequence[Bound]]) -> str:
    return "(CLOSE,)" if "close" in rules else "()"


def _constants(rules: Mapping[str, Sequence[Bound]], question: RunQuestion) -> str:
    return "\n" + constants_of(rules) + ('EXTREME = "largest"\n' if question.point else "")


def _of(code: str, store: str) -> str:
    """A question's code, of the store that it asks about."""
    return code.replace('"S"', f'"{store}"')
