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
from evolake.program_templates import fill_template

NEWLINE = "\n"
POINTS = ("one", "two", "three", "close")
"""The mutation points of the rules: what each signal does, and what ends every turn."""
TRACE = """    single = {name: np.array([value]) for name, value in start.items()}
    trace = columns(walked(numbered(single, inputs), inputs)[:, 0], inputs)
"""


def simulation_source(rules: Mapping[str, Sequence[Bound]], question: RunQuestion, store: str) -> str:
    """Return the primary."""
    trace = "" if question.open_start else "    trace = played(start, inputs)\n"
    answer = f"{trace}{_of(question.run, store)}\n"
    return _filled(
        "run_simulation", constants=constants_of(rules), played=run_functions(rules), answer=answer
    )


def table_source(rules: Mapping[str, Sequence[Bound]], question: RunQuestion, store: str) -> str:
    """Return an independent validator."""
    functions = "".join(
        f"\n\ndef {action.key}(z, cap, m):\n    return {{{action.code('table')}}}\n"
        for action in _actions(rules)
    )
    table = (
        "\n\nACTIONS = {" + ", ".join(f'"{action.key}": {action.key}' for action in _actions(rules)) + "}\n"
    )
    trace = "" if question.open_start else TRACE
    return _filled(
        "run_table",
        constants=constants_of(rules),
        actions=functions + table,
        close=_close(rules),
        answer=f"{trace}{_of(question.table, store)}\n",
    )


def clauses_source(rules: Mapping[str, Sequence[Bound]], question: RunQuestion, store: str) -> str:
    """Return an independent validator."""
    functions = "".join(
        f"\n\ndef {action.key}(u, v, cap, m):\n    return {action.code('relation')}\n"
        for action in _actions(rules)
    )
    table = (
        "\n\nACTIONS = {\n"
        + "".join(
            f'    "{item.key}": ({item.key}, {item.reads!r}, {item.writes!r}),\n' for item in _actions(rules)
        )
        + "}\n"
    )
    return _filled(
        "run_clauses",
        constants=constants_of(rules),
        actions=functions + table,
        close=_close(rules),
        fold=f"{_of(question.clauses, store)}\n",
        known_stores='start.items() if name != "a"' if question.open_start else "start.items()",
        per=2 if "close" in rules else 1,
    )


def generator_source(
    rules: Mapping[str, Sequence[Bound]],
    question: RunQuestion,
    store: str,
    *,
    uses: Sequence[str],
    events: Sequence[str],
    modes: Sequence[str],
) -> str:
    """Return the generator. uses: the variables that the statement speaks of. modes: the words for 0 and
    1."""
    texts = [
        "str(cap)",
        'str(start["a"])',
        'str(start["b"])',
        *(["str(m)", 'str(start["r"] + 1)'] if "r" in uses else []),
    ]
    texts += [f'{list(modes)!r}[start["q"]]'] if "q" in uses else []
    return _filled(
        "run_generator",
        events=list(events),
        constants=constants_of(rules),
        played=run_functions(rules),
        uses=list(uses),
        cap_and_marks='cap, "marks": m' if "r" in uses else "cap",
        make=_of(question.make, store),
        start_texts=", ".join(texts),
    )


def reader_source(
    whole: str,
    declared: str,
    question: RunQuestion,
    *,
    uses: Sequence[str],
    events: Sequence[str],
    modes: Sequence[str],
) -> str:
    """Return the reader. whole: the expression of the whole statement. declared: the assignment of its
    sentences."""
    start, slot, cap = ['"a": int(match["slot2"])', '"b": int(match["slot3"])'], 4, 'int(match["slot1"])'
    if "r" in uses:
        cap += f', "marks": int(match["slot{slot}"])'
        start.append(f'"r": int(match["slot{slot + 1}"]) - 1')
        slot += 2
    if "q" in uses:
        start.append(f'"q": {list(modes)!r}.index(match["slot{slot}"])')
        slot += 1
    ask = ", ".join(
        f'"{key}": int(match["slot{slot + number}"])' for number, key in enumerate(question.keys, start=1)
    )
    return _filled(
        "run_reader",
        events=slot,
        event_names=list(events),
        whole=repr(whole),
        declared=declared,
        start=", ".join(start),
        cap_and_marks=cap,
        ask=ask,
    )


def run_functions(rules: Mapping[str, Sequence[Bound]]) -> str:
    """Return the actions as statements of one function, of which each is a case, and `played`, which makes a
    run of them."""
    cases = "".join(
        f'    {"el" if number else ""}if rule == "{action.key}":\n        '
        f"{action.code('run').replace(NEWLINE, NEWLINE + '    ')}\n"
        for number, action in enumerate(_actions(rules))
    )
    return _filled("run_played", cases=cases, close=_close(rules))


def _filled(name: str, /, **values: object) -> str:
    return fill_template(f"evolake.families.worlds.templates.{name}", **values)


def _actions(rules: Mapping[str, Sequence[Bound]]) -> list[Bound]:
    return [alternative for alternatives in rules.values() for alternative in alternatives]


def _close(rules: Mapping[str, Sequence[Bound]]) -> str:
    return "(CLOSE,)" if "close" in rules else "()"


def _of(code: str, store: str) -> str:
    """Return a question's code, of the store that it asks about."""
    return code.replace('"S"', f'"{store}"')
