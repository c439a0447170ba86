"""Questions on the run of a process world, with the answer of each engine.

`run` and `table` fold `trace`, the states from the start on, by variable; a simulation has mappings, the table has columns. `clauses` asks
through `is_`, which tells by the model whether a variable has a value after a turn, or through `solver`.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.model.contract import Alternative, MutationPoint


@dataclass(frozen=True)
class RunQuestion:
    """uses: variables, `s` being a drawn store. text: with {s}, {s1} for its slot. make: sets `ask` and `texts` in the generator, from `trace`."""

    name: str
    title: str
    uses: str
    text: str
    run: str
    table: str
    clauses: str
    make: str = "    ask, texts = {}, []\n"
    keys: tuple[str, ...] = ()
    answer: str = "integer"
    point: bool = False
    open_start: bool = False


COUNTED = '''    seen = [state["S"] for state in trace[1:]]
    level = random.choice(seen)
    ask, texts = {"level": level}, [str(level)]
'''
REACHED = '''    seen = [state["S"] for state in trace]
    higher = [value for value in seen[2:] if value > seen[0]] or [random.randint(1, cap)]
    level = random.choice(higher)
    ask, texts = {"level": level}, [str(level)]
'''
RUNS = (
    RunQuestion(
        "end", "what is left in the end", "s", "How many {units} are in {s} in the end?", '    return trace[-1]["S"]',
        '    return int(trace["S"][-1])',
        '    return next(n for n in range(cap + 1) if is_(last, "S", n))',
    ),
    RunQuestion(
        "both", "what both hold in the end", "ab", "How many {units} are there in {first} and {second} together in the end?",
        '    return trace[-1]["a"] + trace[-1]["b"]',
        '    return int((trace["a"] + trace["b"])[-1])',
        '    return next(n + k for n in range(cap + 1) for k in range(cap + 1) if is_(last, "a", n) and is_(last, "b", k))',
    ),
    RunQuestion(
        "mark", "where the pointer ends", "r", "At which {mark} is {the_pointer} in the end?", '    return trace[-1]["r"] + 1',
        '    return 1 + int(trace["r"][-1])',
        '    return [is_(last, "r", n) for n in range(m)].index(True) + 1',
    ),
    RunQuestion(
        "changes", "how often the mode changes", "q", "In how many of the turns is {mode_differs} at the end not the same as at "
        "the beginning of the turn?",
        '    return sum(one["q"] != two["q"] for one, two in zip(trace, trace[1:]))', '    return int(np.abs(np.diff(trace["q"])).sum())',
        '    return sum(is_(t, "q", 0) == is_(t + 1, "q", 1) for t in range(last))',
    ),
    RunQuestion(
        "extreme", "the most or least that was held", "s", "What is the [Rule extreme] number of {units} that {s} holds at the end of a turn?",
        '    return (min if EXTREME == "smallest" else max)(state["S"] for state in trace[1:])',
        '    return int(np.sort(trace["S"][1:])[0 if EXTREME == "smallest" else -1])',
        '''    amounts = range(cap + 1) if EXTREME == "smallest" else range(cap, -1, -1)
    return next(n for n in amounts if any(is_(t, "S", n) for t in range(1, last + 1)))''', point=True,
    ),
    RunQuestion(
        "often", "how often a certain number is held", "s", "At the end of how many turns is the number of {units} in {s} exactly {s1}?",
        '    return sum(state["S"] == ask["level"] for state in trace[1:])', '    return int(np.count_nonzero(trace["S"][1:] == ask["level"]))',
        '    return len([t for t in range(1, last + 1) if is_(t, "S", ask["level"])])', COUNTED, ("level",),
    ),
    RunQuestion(
        "first", "when a number is first reached", "s",
        "Count the turns from 1. Which turn is the first at the end of which the number of {units} in {s} is at least {s1}? If there is no such "
        "turn, the answer is 0.",
        '    return next((number for number, state in enumerate(trace) if number and state["S"] >= ask["level"]), 0)',
        '''    reached = np.flatnonzero(trace["S"][1:] >= ask["level"])
    return int(reached[0]) + 1 if reached.size else 0''',
        '''    for t in range(1, last + 1):
        if not any(is_(t, "S", n) for n in range(ask["level"])):
            return t
    return 0''', REACHED, ("level",),
    ),
    RunQuestion(
        "idle", "how many turns change nothing", "s", "In how many of the turns is the number of {units} in {s} at the end the same as "
        "at the beginning of the turn?",
        '    return sum(one["S"] == two["S"] for one, two in zip(trace, trace[1:]))', '    return int((np.diff(trace["S"]) == 0).sum())',
        '    return sum(any(is_(t, "S", n) and is_(t + 1, "S", n) for n in range(cap + 1)) for t in range(last))',
    ),
    RunQuestion(
        "distinct", "how many different numbers occur", "s", "Write down at the end of every turn how many {units} are in {s}. How many different "
        "numbers are written down?",
        '    return len({state["S"] for state in trace[1:]})', '    return int(np.unique(trace["S"][1:]).size)',
        '    return sum(any(is_(t, "S", n) for t in range(1, last + 1)) for n in range(cap + 1))',
    ),
    RunQuestion(
        "ahead", "how often one holds more", "ab", "At the end of how many turns does {first} hold more {units} than {second}?",
        '    return sum(state["a"] > state["b"] for state in trace[1:])', '    return int((trace["b"] < trace["a"])[1:].sum())',
        '''    return sum(
        not any(is_(t, "a", n) and is_(t, "b", k) for n in range(cap + 1) for k in range(n, cap + 1)) for t in range(1, last + 1)
    )''',
    ),
    RunQuestion(
        "ledger", "the sum over all turns", "s", "Write down at the end of every turn how many {units} are in {s}. What is the sum of the "
        "numbers written down?",
        '    return sum(state["S"] for state in trace[1:])', '    return int(trace["S"][1:].sum())',
        '    return sum(n for t in range(1, last + 1) for n in range(cap + 1) if is_(t, "S", n))',
    ),
    RunQuestion(
        "seen", "what an observer counts in all", "sq",
        "At the end of every turn somebody looks whether {mode_is_on}, and only if so counts the {units} in {s}. What is the sum of the numbers "
        "counted? If nothing is ever counted, the answer is 0.",
        '    return sum(state["S"] for state in trace[1:] if state["q"])', '    return int((trace["S"][1:] * trace["q"][1:]).sum())',
        '    return sum(n for n in range(cap + 1) for t in range(1, last + 1) if is_(t, "S", n) and is_(t, "q", 1))',
    ),
    RunQuestion(
        "noticed", "how often an observer sees a change", "sq",
        "At the end of every turn somebody looks whether {mode_is_on}, and only if so counts the {units} in {s}. How often does a count give "
        "another number than the count before it?",
        '''    counted = [state["S"] for state in trace[1:] if state["q"]]
    return sum(one != two for one, two in zip(counted, counted[1:]))''',
        '    return int(np.count_nonzero(np.diff(np.compress(trace["q"][1:], trace["S"][1:]))))',
        '''    looks = [t for t in range(1, last + 1) if not is_(t, "q", 0)]
    return sum(not any(is_(t, "S", n) and is_(k, "S", n) for n in range(cap + 1)) for t, k in zip(looks, looks[1:]))''',
    ),
    RunQuestion(
        "starts", "which beginnings lead to an end", "ab",
        "Let the number of {units} in {first} at the start be the one that is given above, then one more, and so on up to the limit. For how many "
        "of these numbers is the number of {units} in {second} at least {s1} in the end?",
        '''    total = 0
    for amount in range(start["a"], cap + 1):
        total += played({**start, "a": amount}, inputs)[-1]["b"] >= ask["level"]
    return total''',
        '    return int((follow(every_start(start, cap, m), inputs)["b"] >= ask["level"]).sum())',
        '''    total = 0
    for amount in range(start["a"], cap + 1):
        reached = [L(last, "b", n) for n in range(ask["level"], cap + 1)]
        total += any(solver.solve(assumptions=[L(0, "a", amount), one]) for one in reached)
    return total''',
        '''    ends = [played({**start, "a": amount}, plan)[-1]["b"] for amount in range(start["a"], cap + 1)]
    level = random.choice([value for value in ends if value] or [1])
    ask, texts = {"level": level}, [str(level)]
''', ("level",), open_start=True,
    ),
)


def extreme_point() -> MutationPoint:
    """Which end is asked for."""
    return MutationPoint("extreme", tuple(Alternative(name, name, f'"{name}"') for name in ("smallest", "largest")), "largest")
