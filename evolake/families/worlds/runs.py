"""Draw process worlds with signals: actions, questions and themes (two stores, a pointer on marks, a mode,
and three signals, in the words of one place); and the sources of their families, which share no code.

An action may happen in a turn, and has its meaning in the terms of each engine:

    run       statements on `w`, the values by variable               (simulation: one state, turn by turn)
    table     new columns of `z`, the values by variable of all states (each state and its successor; a run is a
              walk through the table)
    relation  whether `v` may come after `u`                           (clauses: a variable for each turn, store
              and number; a SAT solver finds the run)

Variables: `a` and `b` are stores of 0..cap units, `r` a mark of a dial of `m` marks counted from 0, `q` one
of two modes.

Questions: `run` and `table` fold `trace`, the states from the start on, by variable; a simulation has
mappings, the table has columns. `clauses` asks through `is_`, which looks up in the model whether a variable
has a value after a turn, or through `solver`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from evolake.families.model.contract import AnswerType
from evolake.families.worlds.entries import entries, tables_in
from evolake.families.worlds.parts import constants_of
from evolake.program_templates import fill_template

STORES = ("a", "b")


@dataclass(frozen=True)
class Action:
    """Describe a kind of action. label: for titles. reads, writes: letters of variables; `s` and `t` are two
    different stores. amounts: what {k} may be, for the text.

    Texts of two actions never contain each other: each kind has its own verb.
    """

    name: str
    label: str
    text: str
    reads: str
    writes: str
    run: str
    table: str
    relation: str
    amounts: tuple[int, ...] = (0,)


ACTIONS = entries("actions", Action, "actions")["actions"]


@dataclass(frozen=True)
class Bound:
    """An action of certain stores and amount. key: its name in the sources. reads, writes: variables."""

    action: Action
    first: str
    second: str
    amount: int

    @property
    def key(self) -> str:
        """Return the name of the action with its stores and amount."""
        stores = (self.first if "s" in self.action.reads else "") + (
            self.second if "t" in self.action.reads else ""
        )
        amount = str(self.amount) if len(self.action.amounts) > 1 else ""
        return "_".join(part for part in (self.action.name, stores, amount) if part)

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the variables that the action reads."""
        return self._variables(self.action.reads)

    @property
    def writes(self) -> tuple[str, ...]:
        """Return the variables that the action writes."""
        return self._variables(self.action.writes)

    def code(self, meaning: str) -> str:
        """Return the action's `run`, `table` or `relation`, of these stores."""
        text: str = getattr(self.action, meaning)
        text = text.replace('"S"', f'"{self.first}"').replace('"T"', f'"{self.second}"')
        return text.replace("K", str(self.amount))

    def _variables(self, letters: str) -> tuple[str, ...]:
        return tuple({"s": self.first, "t": self.second}.get(letter, letter) for letter in letters)


def bound_actions() -> list[Bound]:
    """Return every action with every choice of stores and amount, once each."""
    result = {}
    for action in ACTIONS:
        for first, second in permutations(STORES):
            for amount in action.amounts:
                item = Bound(action, first, second, amount)
                result.setdefault(item.key, item)
    return list(result.values())


def labels(keys: Iterable[str]) -> list[str]:
    """Return what titles call the actions of these keys. Raises KeyError for a key of no action."""
    known = {action.key: action.action.label for action in bound_actions()}
    return [known[key] for key in keys]


@dataclass(frozen=True)
class RunQuestion:
    """uses: variables, `s` being a drawn store. text: with {s}, {s1} for its slot. make: sets `ask` and
    `texts` in the generator, from `trace`."""

    name: str
    title: str
    uses: str
    text: str
    run: str
    table: str
    clauses: str
    make: str = "    ask, texts = {}, []\n"
    keys: tuple[str, ...] = ()
    answer: AnswerType = "integer"
    open_start: bool = False


RUNS = entries("runs", RunQuestion, "runs", indented=("run", "table", "clauses", "make"))["runs"]


@dataclass(frozen=True)
class RunTheme:
    """opening: with slots 1 to 3, limit and starts. dial, mode: sentences with {size}, {start} for their
    slots. events: words of the list of signals; when: how each rule begins; close: how the rule that ends
    every turn begins. modes: words of the mode 0 and 1.
    """

    key: str
    title: str
    category: str
    opening: str
    dial: str
    mode: str
    modes: tuple[str, str]
    events: tuple[str, str, str]
    when: tuple[str, str, str]
    close: str
    listing: str
    words: Mapping[str, str]


def _theme(key: str, given: Mapping[str, Any]) -> RunTheme:
    parts: dict[str, Any] = {
        part: tuple(said) if isinstance(said, list) else said for part, said in given.items()
    }
    return RunTheme(key, **parts)


RUN_THEMES = tuple(_theme(key, given) for key, given in tables_in("run_themes").items())


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
