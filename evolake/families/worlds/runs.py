"""Questions on the run of a process world, with the answer of each engine.

`run` and `table` fold `trace`, the states from the start on, by variable; a simulation has mappings, the
table has columns. `clauses` asks through `is_`, which looks up in the model whether a variable has a value
after a turn, or through `solver`.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.model.contract import AnswerType


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


COUNTED = """    seen = [state["S"] for state in trace[1:]]
    level = random.choice(seen)
    ask, texts = {"level": level}, [str(level)]
"""
ASCENDING = "Give a list of their numbers in ascending order, counting the turns from 1; it may be empty."
RUNS = (
    RunQuestion(
        "end",
        "what both hold in the end",
        "ab",
        "How many {units} are in {first} and in {second} in the end? Give a list of these two numbers, "
        "that of {first} before the other.",
        '    return [trace[-1]["a"], trace[-1]["b"]]',
        '    return [int(trace[store][-1]) for store in ("a", "b")]',
        '    return [next(n for n in range(cap + 1) if is_(last, store, n)) for store in "ab"]',
        answer="list",
    ),
    RunQuestion(
        "marks",
        "where the pointer is in the last turns",
        "r",
        "At which {mark} is {the_pointer} at the end of each of the last three turns? Give a list of the "
        "three numbers, in the order of the turns.",
        '    return [state["r"] + 1 for state in trace[-3:]]',
        '    return [1 + int(mark) for mark in trace["r"][-3:]]',
        '    return [n + 1 for t in range(last - 2, last + 1) for n in range(m) if is_(t, "r", n)]',
        answer="list",
    ),
    RunQuestion(
        "changes",
        "when the mode changes",
        "q",
        "In which of the turns is {mode_differs} at the end not the same as at the beginning of the "
        f"turn? {ASCENDING}",
        '    return [turn for turn in range(1, len(trace)) if trace[turn]["q"] != trace[turn - 1]["q"]]',
        '    return [int(turn) + 1 for turn in np.flatnonzero(np.diff(trace["q"]))]',
        '    return [t + 1 for t in range(last) if is_(t, "q", 0) == is_(t + 1, "q", 1)]',
        answer="list",
    ),
    RunQuestion(
        "when",
        "when a certain number is held",
        "s",
        f"At the end of which turns is the number of {{units}} in {{s}} exactly {{s1}}? {ASCENDING}",
        '    return [turn for turn, state in enumerate(trace) if turn and state["S"] == ask["level"]]',
        '    return [int(turn) + 1 for turn in np.flatnonzero(trace["S"][1:] == ask["level"])]',
        '    return [t for t in range(1, last + 1) if is_(t, "S", ask["level"])]',
        COUNTED,
        ("level",),
        answer="list",
    ),
    RunQuestion(
        "idle",
        "which turns change nothing",
        "s",
        "In which of the turns is the number of {units} in {s} at the end the same as at the "
        f"beginning of the turn? {ASCENDING}",
        '    return [turn for turn in range(1, len(trace)) if trace[turn]["S"] == trace[turn - 1]["S"]]',
        '    return (np.flatnonzero(np.diff(trace["S"]) == 0) + 1).tolist()',
        '    return [t + 1 for t in range(last) if any(is_(t, "S", n) and is_(t + 1, "S", n) for n in '
        "range(cap + 1))]",
        answer="list",
    ),
    RunQuestion(
        "distinct",
        "which numbers occur how often",
        "s",
        "Write down at the end of every turn how many {units} are in {s}. How many times is each of the "
        "numbers written down? Give a mapping from each number that is written down at least once to this "
        "number of times.",
        '    return {str(amount): [state["S"] for state in trace[1:]].count(amount) for amount in '
        '{state["S"] for state in trace[1:]}}',
        """    found, often = np.unique(trace["S"][1:], return_counts=True)
    return dict(zip(map(str, found.tolist()), often.tolist(), strict=True))""",
        """    counted = {n: sum(is_(t, "S", n) for t in range(1, last + 1)) for n in range(cap + 1)}
    return {f"{n}": times for n, times in counted.items() if times}""",
        answer="mapping",
    ),
    RunQuestion(
        "ahead",
        "when one holds more",
        "ab",
        f"At the end of which turns does {{first}} hold more {{units}} than {{second}}? {ASCENDING}",
        '    return [turn for turn, state in enumerate(trace) if turn and state["a"] > state["b"]]',
        '    return (1 + np.flatnonzero((trace["b"] < trace["a"])[1:])).tolist()',
        """    return [
        t for t in range(1, last + 1) if not any(is_(t, "a", n) and is_(t, "b", k) for n in range(cap + 1) for k in range(n, cap + 1))
    ]""",
        answer="list",
    ),
    RunQuestion(
        "course",
        "a word for the course",
        "s",
        "For each turn write one letter: U if {s} holds more {units} at the end of the turn than at its "
        "beginning, D if it holds fewer, and E if it holds as many. Which word do the letters make, in "
        "the order of the turns?",
        '    return "".join("U" if one["S"] < two["S"] else "D" if one["S"] > two["S"] else "E" for one, '
        "two in zip(trace, trace[1:]))",
        '    return "".join("EUD"[step] for step in np.sign(np.diff(trace["S"])))',
        """    held = [next(n for n in range(cap + 1) if is_(t, "S", n)) for t in range(last + 1)]
    return "".join("DEU"[(held[t + 1] >= held[t]) + (held[t + 1] > held[t])] for t in range(last))""",
        answer="string",
    ),
    RunQuestion(
        "ledger",
        "the sum over all turns",
        "s",
        "Write down at the end of every turn how many {units} are in {s}. What is the sum of the "
        "numbers written down?",
        '    return sum(state["S"] for state in trace[1:])',
        '    return int(trace["S"][1:].sum())',
        '    return sum(n for t in range(1, last + 1) for n in range(cap + 1) if is_(t, "S", n))',
    ),
    RunQuestion(
        "seen",
        "what an observer counts",
        "sq",
        "At the end of every turn somebody looks whether {mode_is_on}, and only if so counts the {units} "
        "in {s}. Which numbers does this give? Give a list of them in the order of the turns; it may be "
        "empty.",
        '    return [state["S"] for state in trace[1:] if state["q"]]',
        '    return np.compress(trace["q"][1:], trace["S"][1:]).tolist()',
        '    return [n for t in range(1, last + 1) for n in range(cap + 1) if is_(t, "S", n) and is_(t, '
        '"q", 1)]',
        answer="list",
    ),
    RunQuestion(
        "starts",
        "to which ends the beginnings lead",
        "ab",
        "Let the number of {units} in {first} at the start be the one that is given above, then one more, "
        "and so on up to the limit. How many {units} are in {second} in the end, for each of these "
        "numbers in turn? Give a list.",
        """    return [played({**start, "a": amount}, inputs)[-1]["b"] for amount in range(start["a"], cap + 1)]""",
        '    return follow(every_start(start, cap, m), inputs)["b"].tolist()',
        """    ends = []
    for amount in range(start["a"], cap + 1):
        ends += [n for n in range(cap + 1) if solver.solve(assumptions=[L(0, "a", amount), L(last, "b", n)])]
    return ends""",
        answer="list",
        open_start=True,
    ),
)
