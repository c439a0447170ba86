"""Runs: two stores, a walker and a switch change as signals come; rules act in the text's order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from evolake.families.text_solver.language import Meaning, Reader, Unreadable, opened, table

Rule = tuple[str | None, Callable[..., None], int, int]


@dataclass
class State:
    """What stores (two numbers), walker and switch are; `room` and `spots` never change."""

    stores: list[int]
    room: int
    spot: int = 0
    spots: int = 0
    on: bool = False

    def put(self, x: int, number: int) -> None:
        """Set a store, within nothing and its room."""
        self.stores[x] = max(0, min(self.room, number))


def read(text: str) -> Meaning:
    """Return the meaning of a text about a run; raise Unreadable with what has none."""
    reader, values, setting = opened("runs", text)
    start = State([values["l"], values["m"]], values["k"])
    if max(start.stores) > start.room:
        raise Unreadable("more at the start than there is room for")
    _extras(reader, start)
    reader.take("These are the rules:")
    rules = []
    while reader.next.startswith("- "):
        rules.append(_rule(reader, setting))
    turns = reader.take(setting["order"])["words"]
    if len(turns) > 500 or set(turns) - set(setting["signals"]):
        raise Unreadable("signals that are not known, or too many")
    asked = Reader([" ".join(reversed(reader.rest))])
    name, x, found = _either_way(asked, table("runs")["questions"], setting)

    def find() -> Any:
        return QUESTIONS[name](lambda at: _run(at, rules, turns), start, x, **found)

    return Meaning(find, rules=reader.chosen)


def _extras(reader: Reader, start: State) -> None:
    """Read the sentences about a walker and a switch, if there are any."""
    walk = reader.maybe("{walk}")
    if walk is not None:
        start.spots = walk["n"]
        start.spot = reader.take("At the start it is at {spot} {k}.")["k"]
        if not 1 <= start.spot <= start.spots:
            raise Unreadable("the start is not on the circle")
    if reader.maybe("{switch}") is not None:
        start.on = reader.maybe("{on}") is not None
        if not start.on:
            reader.take("{off}")


def _rule(reader: Reader, setting: dict[str, Any]) -> Rule:
    """Return a rule: its signal (None for every turn), its action, its first store, its number."""
    sounds = setting.get("sounds", {})
    starts: list[tuple[str | None, str]] = [(None, setting["last"])]
    for signal in setting["signals"]:
        words = {"signal": signal, "sounds": sounds.get(signal, "")}
        starts.append((signal, setting["when"].format(**words)))
    for signal, start in starts:
        if reader.next.startswith(f"- {start}, "):
            action, x, values = _either_way(reader, table("runs")["actions"], setting, f"- {start}, ")
            return signal, ACTIONS[action], x, values.get("k", 0)
    raise Unreadable(reader.next)


def _either_way(
    reader: Reader, meanings: dict[str, list[str]], setting: dict[str, Any], start: str = ""
) -> tuple[str, int, dict[str, Any]]:
    """Read the next sentence with either store as X; return meaning, X's index and values."""
    one, other = setting["stores"]
    for x, (mine, yours) in enumerate(((one, other), (other, one))):
        reader.words = setting | {"X": mine, "Y": yours}
        found = reader.maybe_choose(meanings, start)
        if found is not None:
            reader.words = setting
            return found[0], x, found[1]
    raise Unreadable(reader.next)


def _run(start: State, rules: list[Rule], turns: list[str]) -> list[State]:
    """Return the states from the start to the end of each turn."""
    state = State(list(start.stores), start.room, start.spot, start.spots, start.on)
    states = [start]
    for turn in turns:
        for signal, act, x, number in rules:
            if signal in {None, turn}:
                act(state, x, number)
        states.append(State(list(state.stores), state.room, state.spot, state.spots, state.on))
    return states


def _move(state: State, x: int, number: int) -> None:
    moved = min(number, state.stores[x], state.room - state.stores[1 - x])
    state.stores[x] -= moved
    state.stores[1 - x] += moved


def _walk(state: State, steps: int) -> None:
    if not state.spots:
        raise Unreadable("nobody walks in this text")
    state.spot = (state.spot - 1 + steps) % state.spots + 1


def _flip(state: State, flipped: bool) -> None:
    state.on = state.on != flipped


def _more(state: State, x: int) -> bool:
    return state.stores[x] > state.stores[1 - x]


ACTIONS: dict[str, Callable[..., None]] = {
    "add": lambda s, x, k: s.put(x, s.stores[x] + k),
    "take": lambda s, x, k: s.put(x, s.stores[x] - k),
    "move": _move,
    "swap": lambda s, x, k: s.stores.reverse(),
    "fill": lambda s, x, k: s.put(x, s.room),
    "clear": lambda s, x, k: s.put(x, 0),
    "double": lambda s, x, k: s.put(x, 2 * s.stores[x]),
    "halve": lambda s, x, k: s.put(x, s.stores[x] - s.stores[x] // 2),
    "shift": lambda s, x, k: _move(s, x, int(_more(s, x))),
    "forward": lambda s, x, k: _walk(s, k),
    "back": lambda s, x, k: _walk(s, -k),
    "forward_by": lambda s, x, k: _walk(s, s.stores[x]),
    "add_if_on": lambda s, x, k: s.put(x, s.stores[x] + k * s.on),
    "take_if_even": lambda s, x, k: s.put(x, s.stores[x] - k * (s.spot % 2 == 0)),
    "flip_always": lambda s, x, k: _flip(s, True),
    "flip_if_more": lambda s, x, k: _flip(s, _more(s, x)),
    "flip_if_empty": lambda s, x, k: _flip(s, s.stores[x] == 0),
    "flip_if_even": lambda s, x, k: _flip(s, s.spot % 2 == 0),
}


def _turns(states: list[State], holds: Callable[[State, State], bool]) -> list[int]:
    """Return the numbers of the turns for whose beginning and end `holds`."""
    return [turn for turn, pair in enumerate(pairwise(states), 1) if holds(*pair)]


def _letter(before: int, after: int) -> str:
    return "EUD"[(after > before) - (after < before)]


def _starts(run: Callable[[State], list[State]], start: State, x: int, varied: int) -> list[int]:
    """Return what is in store `x` in the end, for each number that `varied` may hold at first."""
    ends = []
    for number in range(start.stores[varied], start.room + 1):
        stores = list(start.stores)
        stores[varied] = number
        ends.append(run(State(stores, start.room, start.spot, start.spots, start.on))[-1].stores[x])
    return ends


QUESTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda run, at, x: sum(s.stores[x] for s in run(at)[1:]),
    "tally": lambda run, at, x: dict(sorted(Counter(s.stores[x] for s in run(at)[1:]).items())),
    "turns_exact": lambda run, at, x, k: _turns(run(at), lambda _, end: end.stores[x] == k),
    "turns_more": lambda run, at, x: _turns(run(at), lambda _, end: _more(end, x)),
    "turns_same": lambda run, at, x: _turns(run(at), lambda s, end: s.stores[x] == end.stores[x]),
    "turns_flipped": lambda run, at, x: _turns(run(at), lambda s, end: s.on != end.on),
    "counted_if_on": lambda run, at, x: [s.stores[x] for s in run(at)[1:] if s.on],
    "last_spots": lambda run, at, x: [s.spot for s in run(at)[1:]][-3:],
    "both": lambda run, at, x: [run(at)[-1].stores[x], run(at)[-1].stores[1 - x]],
    "updown": lambda run, at, x: "".join(_letter(s.stores[x], end.stores[x]) for s, end in pairwise(run(at))),
    "from_each": lambda run, at, x: _starts(run, at, x, 1 - x),
    "from_each_own": lambda run, at, x: _starts(run, at, x, x),
}
