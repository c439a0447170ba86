"""Answers of drawn worlds by programs that share nothing with their engines: every arrangement or turn, one
after another."""

from collections.abc import Iterator, Mapping
from itertools import combinations, permutations, product
from typing import Any

from board_answers import of_board
from puzzle_answers import is_right, of_puzzle
from queue_answers import of_queue

from evolake.families.model.contract import Family

Places = dict[str, int]


def answer_of(family: Family, inputs: Mapping[str, Any], text: str) -> Any:
    """The answer to an instance of a drawn world, by its title's question, its rules in force and the words
    of its statement."""
    rules, asked = _asked(family, inputs)
    if family.operator == "puzzle_world":
        return of_puzzle(inputs, rules, asked, text)
    if "board" in inputs:
        return of_board(inputs, rules, asked)
    if "people" in inputs:
        return of_queue(inputs, rules, asked)
    return (
        of_arrangement(inputs, rules, asked, text)
        if "clues" in inputs
        else of_run(inputs, rules, asked, text)
    )


def is_right_for(family: Family, inputs: Mapping[str, Any], answer: Any) -> bool:
    """Whether an answer to a drawn puzzle with many correct answers is one of them."""
    return is_right(inputs, *_asked(family, inputs), answer)


def _asked(family: Family, inputs: Mapping[str, Any]) -> tuple[dict[str, str], str]:
    """The rules in force, and the question as the title has it."""
    asked = family.title.split(": ", 1)[1].rsplit(", from " if "clues" in inputs else ", by ", 1)[0]
    return {point.name: point.chosen for point in family.points}, asked


def of_arrangement(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Of a constraint world."""
    names, weights, ask = (
        inputs["names"],
        dict(zip(inputs["names"], inputs.get("weights", []), strict=False)),
        inputs["ask"],
    )
    if "room" in inputs:
        structure = "groups"
    elif weights:
        structure = "selection"
    elif "clockwise" in text:
        structure = "ring"
    else:
        structure = "row"
    clues = [(kind, named(kind, structure, args, names)) for kind, *args in inputs["clues"]]
    marked = [names[item] for item in inputs["marked"]]
    fitting = [
        x
        for x in every(structure, inputs)
        if lawful(rules["law"], structure, x, marked)
        and all(means(kind, structure, x, args, weights) for kind, args in clues)
    ]
    assert fitting
    least = rules.get("extreme") == "smallest"
    thing = names[ask["thing"]] if "thing" in ask else ""
    chosen = [[name for name in names if x[name]] for x in fitting]
    words = ["".join(name[0] for name in sorted(names, key=x.__getitem__)) for x in fitting]
    if asked == "what follows and what is possible":
        parts = [(kind, named(kind, structure, args, names)) for kind, *args in ask["statements"]]
        true = [[means(kind, structure, x, args, weights) for x in fitting] for kind, args in parts]
        return [
            place for place, row in enumerate(true, 1) if (all(row) if rules["force"] == "must" else any(row))
        ]
    if asked == "the number of each":
        [x] = fitting
        return x
    if asked == "the least or greatest total":
        return sorted(sum(weights[name] for name in some) for some in chosen)[0 if least else -1]
    if asked == "the one best choice":
        rated = sorted(
            (sum(weights[name] for name in some), "".join(sorted(name[0] for name in some)))
            for some in chosen
        )
        return rated[0 if least else -1][1]
    return {
        "in how many ways": lambda: len(fitting),
        "the least or greatest number of each": lambda: {
            name: sorted(x[name] for x in fitting)[0 if least else -1] for name in names
        },
        "which numbers are possible": lambda: sorted({x[thing] for x in fitting}),
        "which are settled": lambda: {
            name: fitting[-1][name] for name in names if len({x[name] for x in fitting}) == 1
        },
        "the one order that fits": lambda: words[0] if len(words) == 1 else None,
        "one order from the list of all": lambda: sorted(words)[ask["rank"] - 1],
    }[asked]()


def every(structure: str, inputs: Mapping[str, Any]) -> Iterator[Places]:
    """All that the opening sentences allow."""
    names = inputs["names"]
    if structure in ("row", "ring"):
        return (dict(zip(names, places, strict=True)) for places in permutations(range(1, len(names) + 1)))
    if structure == "selection":
        return (dict(zip(names, taken, strict=True)) for taken in product((0, 1), repeat=len(names)))
    dealt = product(range(1, inputs["groups"] + 1), repeat=len(names))
    return (
        dict(zip(names, places, strict=True))
        for places in dealt
        if all(places.count(place) <= inputs["room"] for place in places)
    )


NUMBERS_LAST = {
    "exactly_behind": 2,
    "far": 2,
    "at": 1,
    "not_at": 1,
    "one_of": 1,
    "between_them": 2,
    "total": 2,
    "among_first": 1,
    "one_among": 2,
    "if_at": 2,
    "steps": 2,
    "at_most_steps": 2,
    "placed": 1,
    "not_placed": 1,
    "if_in": 2,
    "exactly": 0,
    "empty": 0,
    "more_in": 0,
    "at_most": 0,
    "at_least": 0,
    "budget": 0,
    "floor": 0,
}
"""Of kinds with numbers among their arguments: how many things come before these."""


def named(kind: str, structure: str, args: list[int], names: list[str]) -> list[Any]:
    """The arguments with names for things."""
    count = (
        0
        if kind in ("at_least", "exactly", "empty", "more_in") and structure == "groups"
        else NUMBERS_LAST.get(kind, 9)
    )
    return [names[arg] if place < count else arg for place, arg in enumerate(args)]


def means(kind: str, structure: str, x: Places, args: list[Any], weights: Mapping[str, int]) -> bool:
    """Whether the sentence of the kind is true."""
    size, item = len(x), (args or [""])[0]
    at = [x.get(arg, 0) if isinstance(arg, str) else arg for arg in args]
    a, b, c = [*at, 0, 0, 0][:3]
    total = sum(weights[name] for name in weights if x[name])
    if structure == "ring":
        round_to = [((place - a) % size) for place in at]
        direct = {1, size - 1}
        result = {
            "clockwise": lambda: round_to[1] == 1,
            "beside": lambda: round_to[1] in direct,
            "not_beside": lambda: round_to[1] not in direct,
            "steps": lambda: round_to[1] == c,
            "at_most_steps": lambda: round_to[1] <= c,
            "flanked": lambda: {*round_to[1:3]} == direct,
            "turn": lambda: round_to[1] < round_to[2],
            "smaller_number": lambda: a < b,
        }
        if kind in result:
            return result[kind]()
    if kind in ("at_least", "exactly", "empty", "more_in") and structure == "groups":
        full = [list(x.values()).count(place) for place in args]
        return {
            "at_least": full[0] >= args[-1],
            "exactly": full[0] == args[-1],
            "empty": full[0] == 0,
            "more_in": full[0] > full[-1],
        }[kind]
    if structure == "selection":
        count = sum(x.values())
        return {
            "needs": lambda: not a or b == 1,
            "not_both": lambda: a + b <= 1,
            "one_at_least": lambda: a + b >= 1,
            "exactly_one": lambda: a != b,
            "both_or_none": lambda: a == b,
            "needs_one": lambda: not a or b + c >= 1,
            "needs_both": lambda: not a or b + c == 2,
            "both_bar": lambda: a + b + c <= 2,
            "two_of_three": lambda: a + b + c == 2,
            "one_of_three": lambda: a + b + c >= 1,
            "at_most": lambda: count <= item,
            "at_least": lambda: count >= item,
            "even_number": lambda: count % 2 == 0,
            "budget": lambda: total <= item,
            "floor": lambda: total >= item,
        }[kind]()
    beside = [name for name in x if name != item and x[name] == a]
    low, high = sorted((a, b))
    return {
        "before": lambda: a < b,
        "lower": lambda: a < b,
        "exactly_behind": lambda: b == a + c,
        "next_to": lambda: high == low + 1,
        "neighbours": lambda: high == low + 1,
        "not_next_to": lambda: high > low + 1,
        "far": lambda: high >= low + c,
        "inside": lambda: min(b, c) < a < max(b, c),
        "outside": lambda: a < min(b, c) or a > max(b, c),
        "at": lambda: a == b,
        "placed": lambda: a == b,
        "not_at": lambda: a != b,
        "not_placed": lambda: a != b,
        "one_of": lambda: a in (b, c),
        "end": lambda: a in (1, size),
        "inner": lambda: 1 < a < size,
        "first_of": lambda: a < b and a < c,
        "ahead_of_one": lambda: a < b or a < c,
        "even": lambda: a % 2 == 0,
        "odd": lambda: a % 2 == 1,
        "same_parity": lambda: a % 2 == b % 2,
        "between_them": lambda: high - low == c + 1,
        "total": lambda: a + b == c,
        "among_first": lambda: a <= b,
        "one_among": lambda: low <= c < high,
        "if_at": lambda: a != c or b == args[3],
        "if_in": lambda: a != c or b == args[3],
        "if_ahead": lambda: a > b or b < c,
        "together": lambda: a == b,
        "parted": lambda: a != b,
        "alone": lambda: not beside,
        "not_alone": lambda: len(beside) > 0,
        "not_all_three": lambda: not a == b == c,
        "with_one": lambda: args[1] in beside or args[2] in beside,
        "if_together": lambda: a != b or c == a,
    }[kind]()


def lawful(law: str, structure: str, x: Places, marked: list[str]) -> bool:
    """Whether the sentence on the marked is true."""
    at, size, pairs = sorted(x[name] for name in marked), len(x), list(combinations(marked, 2))

    def close(first: str, second: str) -> bool:
        gap = abs(x[first] - x[second])
        return gap == 1 or (structure == "ring" and gap == size - 1)

    return {
        "apart": lambda: not any(close(*pair) for pair in pairs),
        "block": lambda: at == list(range(at[0], at[0] + len(at))),
        "end": lambda: at[0] == 1 or at[-1] == size,
        "inside": lambda: at[0] > 1 and at[-1] < size,
        "lower": lambda: at[0] % 2 == 1,
        "mixed": lambda: len({place % 2 for place in at}) == 2,
        "not_low": lambda: 1 not in at,
        "first_seat": lambda: 1 in at,
        "linked": lambda: all(
            any(close(item, other) for other in marked if other != item) for item in marked
        ),
        "parted": lambda: len(set(at)) == len(at),
        "spread": lambda: len(set(at)) > 1,
        "company": lambda: all(at.count(place) > 1 for place in at),
        "never_last": lambda: 1 in at,
        "no_first": lambda: 1 not in at,
        "any": lambda: 1 in at,
        "most_one": lambda: sum(at) <= 1,
        "exactly_one": lambda: sum(at) == 1,
        "not_all": lambda: 0 in at,
        "all_or_none": lambda: len(set(at)) == 1,
        "outnumber": lambda: sum(at) < len(at) - sum(at),
    }[law]()


def of_run(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Of a process world."""
    cap, level = inputs["cap"], inputs["ask"].get("level")
    trace = run_of(inputs["start"], inputs, rules)
    question = text.split("\n\n")[-1]
    store = max(
        "ab", key=lambda item: max(question.rfind(name) for name in (STORES[item] & words_of(text)) or {"?"})
    )
    held = [item.get(store, 0) for item in trace]
    turns = range(1, len(trace))
    return {
        "what both hold in the end": lambda: [trace[-1]["a"], trace[-1]["b"]],
        "where the pointer is in the last turns": lambda: [item["r"] + 1 for item in trace][-3:],
        "when the mode changes": lambda: [turn for turn in turns if trace[turn]["q"] != trace[turn - 1]["q"]],
        "when a certain number is held": lambda: [turn for turn in turns if held[turn] == level],
        "which turns change nothing": lambda: [turn for turn in turns if held[turn] == held[turn - 1]],
        "which numbers occur how often": lambda: {str(amount): held[1:].count(amount) for amount in held[1:]},
        "when one holds more": lambda: [turn for turn in turns if trace[turn]["a"] > trace[turn]["b"]],
        "a word for the course": lambda: "".join(
            "DEU"[1 + (held[t] > held[t - 1]) - (held[t] < held[t - 1])] for t in turns
        ),
        "the sum over all turns": lambda: sum(held[1:]),
        "what an observer counts": lambda: [
            amount for amount, item in zip(held[1:], trace[1:], strict=True) if item.get("q") == 1
        ],
        "to which ends the beginnings lead": lambda: [
            run_of(inputs["start"] | {"a": amount}, inputs, rules)[-1]["b"]
            for amount in range(inputs["start"]["a"], cap + 1)
        ],
    }[asked]()


STORES = {
    "a": {"red jar", "north hall", "purse", "barn", "left dish"},
    "b": {"blue jar", "south hall", "chest", "shed", "right dish"},
}
"""The words of the stores, in the order in which statements name them."""


def words_of(text: str) -> set[str]:
    return {name for names in STORES.values() for name in names if name in text}


def run_of(start: Places, inputs: Mapping[str, Any], rules: Mapping[str, str]) -> list[Places]:
    """The state at the start and after each turn."""
    state, trace = dict(start), [dict(start)]
    for event in inputs["events"]:
        for rule in (("one", "two", "three")[event], "close"):
            if rule in rules:
                act(rules[rule], state, inputs["cap"], inputs.get("marks", 1))
        trace.append(dict(state))
    return trace


def act(key: str, state: Places, cap: int, marks: int) -> None:
    """One rule, done unit by unit and mark by mark."""
    parts = key.split("_")
    count = int(parts.pop()) if parts[-1].isdigit() else 0
    stores = parts.pop() if set(parts[-1]) <= {"a", "b"} else ""
    name, s, t = "_".join(parts), stores[:1], stores[1:]
    if name in ("advance", "follow", "back"):
        for _ in range(state[s] if name == "follow" else count):
            step = state["r"] - 1 if name == "back" else state["r"] + 1
            if step == marks:
                state["r"] = 0
            elif step < 0:
                state["r"] = marks - 1
            else:
                state["r"] = step
    elif name.startswith("flip"):
        if {
            "flip": lambda: True,
            "flip_empty": lambda: state[s] == 0,
            "flip_more": lambda: state[s] > state[t],
            "flip_even": lambda: (state["r"] + 1) % 2 == 0,
        }[name]():
            state["q"] = 1 - state["q"]
    elif name == "swap":
        state[s], state[t] = state[t], state[s]
    elif name in ("clear", "fill"):
        state[s] = 0 if name == "clear" else cap
    elif name in ("put", "double", "add_if"):
        if name == "double":
            times = state[s]
        elif name == "put" or state["q"] == 1:
            times = count
        else:
            times = 0
        for _ in range(times):
            state[s] += state[s] < cap
    elif name in ("take", "halve", "lose_if"):
        if name == "halve":
            times = state[s] // 2
        elif name == "take" or (state["r"] + 1) % 2 == 0:
            times = count
        else:
            times = 0
        for _ in range(times):
            state[s] -= state[s] > 0
    else:
        for _ in range(count if name == "move" else int(state[s] > state[t])):
            if state[s] > 0 and state[t] < cap:
                state[s], state[t] = state[s] - 1, state[t] + 1
