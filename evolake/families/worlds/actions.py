"""What may happen in a turn of a process world, with its meaning three times over.

    run       statements on `w`, the values by variable               (simulation)
    table     new columns of `z`, the values by variable of all states (a table of every state and its
              successor)
    relation  whether `v` may come after `u`                           (clauses, turn by turn)

Variables: `a` and `b` are stores of 0..cap units, `r` a mark of a dial of `m` marks counted from 0, `q` one
of two modes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

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


ACTIONS = (
    Action(
        "put",
        "putting in",
        "put {k} {units} into {s}, or as many as still fit",
        "s",
        "s",
        'w["S"] = min(cap, w["S"] + K)',
        '"S": np.minimum(z["S"] + K, cap)',
        'v["S"] - u["S"] == K or (v["S"] == cap < u["S"] + K)',
        (1, 2, 3, 4),
    ),
    Action(
        "take",
        "taking out",
        "take {k} {units} out of {s}, or all of them if there are fewer",
        "s",
        "s",
        'w["S"] = max(0, w["S"] - K)',
        '"S": np.maximum(z["S"] - K, 0)',
        'u["S"] - v["S"] == K or (v["S"] == 0 and u["S"] < K)',
        (1, 2, 3, 4),
    ),
    Action(
        "move",
        "moving over",
        "move {k} {units} from {s} to {t}, or as many as {s} holds and {t} has room for",
        "st",
        "st",
        'd = min(K, w["S"], cap - w["T"])\n    w["S"] -= d\n    w["T"] += d',
        '"S": z["S"] - np.minimum(K, np.minimum(z["S"], cap - z["T"])), "T": z["T"] + np.minimum(K, '
        'np.minimum(z["S"], cap - z["T"]))',
        'u["S"] + u["T"] == v["S"] + v["T"] and 0 <= u["S"] - v["S"] <= K and (u["S"] - v["S"] == K or '
        'v["S"] == 0 or v["T"] == cap)',
        (1, 2, 3),
    ),
    Action(
        "swap",
        "exchanging",
        "exchange the whole contents of {s} and {t}",
        "st",
        "st",
        'w["S"], w["T"] = w["T"], w["S"]',
        '"S": z["T"], "T": z["S"]',
        'v["S"] == u["T"] and u["S"] == v["T"]',
    ),
    Action(
        "clear", "clearing", "clear {s} completely", "s", "s", 'w["S"] = 0', '"S": 0 * z["S"]', 'not v["S"]'
    ),
    Action(
        "fill",
        "filling up",
        "fill {s} up to its limit",
        "s",
        "s",
        'w["S"] = cap',
        '"S": 0 * z["S"] + cap',
        'v["S"] == cap',
    ),
    Action(
        "double",
        "doubling",
        "double what is in {s}, as far as it fits",
        "s",
        "s",
        'w["S"] = min(cap, 2 * w["S"])',
        '"S": np.minimum(z["S"] + z["S"], cap)',
        'v["S"] == u["S"] + u["S"] or (v["S"] == cap < 2 * u["S"])',
    ),
    Action(
        "halve",
        "halving",
        "throw away half of the {units} in {s} (of an odd number, one more is kept than thrown away)",
        "s",
        "s",
        'w["S"] -= w["S"] // 2',
        '"S": (z["S"] + 1) // 2',
        '2 * v["S"] - u["S"] in (0, 1)',
    ),
    Action(
        "shift",
        "evening out",
        "shift one of the {units} from {s} to {t}, provided that {s} holds more than {t}",
        "st",
        "st",
        'if w["S"] > w["T"]:\n        w["S"] -= 1\n        w["T"] += 1',
        '"S": z["S"] - (z["S"] > z["T"]), "T": z["T"] + (z["S"] > z["T"])',
        '(v["S"], v["T"]) == ((u["S"] - 1, u["T"] + 1) if u["T"] < u["S"] else (u["S"], u["T"]))',
    ),
    Action(
        "advance",
        "going forward",
        "advance {the_pointer} by {k} {marks}",
        "r",
        "r",
        'w["r"] = (w["r"] + K) % m',
        '"r": np.remainder(z["r"] + K, m)',
        'v["r"] - u["r"] in (K, K - m)',
        (1, 2, 3),
    ),
    Action(
        "back",
        "going back",
        "turn {the_pointer} back by {k} {marks}",
        "r",
        "r",
        'w["r"] = (w["r"] - K) % m',
        '"r": np.remainder(z["r"] + (m - K), m)',
        'u["r"] - v["r"] in (K, K - m)',
        (1, 2, 3),
    ),
    Action(
        "follow",
        "going as far as a store says",
        "send {the_pointer} forward by as many {marks} as there are {units} in {s}",
        "sr",
        "r",
        'w["r"] = (w["r"] + w["S"]) % m',
        '"r": np.remainder(z["r"] + z["S"], m)',
        '(v["r"] - u["r"] - u["S"]) % m == 0',
    ),
    Action(
        "flip",
        "switching",
        "{change} in any case",
        "q",
        "q",
        'w["q"] = 1 - w["q"]',
        '"q": z["q"] ^ 1',
        'v["q"] != u["q"]',
    ),
    Action(
        "flip_empty",
        "switching when empty",
        "{change} if {s} is empty",
        "sq",
        "q",
        'if w["S"] == 0:\n        w["q"] = 1 - w["q"]',
        '"q": z["q"] ^ (z["S"] == 0)',
        '(v["q"] != u["q"]) == (not u["S"])',
    ),
    Action(
        "flip_more",
        "switching by what is more",
        "{change} if {s} holds more than {t}",
        "stq",
        "q",
        'if w["S"] > w["T"]:\n        w["q"] = 1 - w["q"]',
        '"q": z["q"] ^ (z["T"] < z["S"])',
        '(v["q"] == u["q"]) == (u["T"] >= u["S"])',
    ),
    Action(
        "flip_even",
        "switching at even numbers",
        "{change} if {the_pointer} is at {an_even} {mark}",
        "rq",
        "q",
        'if w["r"] % 2 == 1:\n        w["q"] = 1 - w["q"]',
        '"q": np.where(z["r"] & 1, 1 - z["q"], z["q"])',
        '(v["q"] - u["q"]) % 2 == u["r"] % 2',
    ),
    Action(
        "add_if",
        "adding in one mode",
        "add {k} {units} to {s} (no more than fit) provided that {mode_is_on}",
        "sq",
        "s",
        'if w["q"]:\n        w["S"] = min(cap, w["S"] + K)',
        '"S": np.minimum(z["S"] + K * z["q"], cap)',
        'v["S"] == (min(u["S"] + K, cap) if u["q"] == 1 else u["S"])',
        (1, 2, 3),
    ),
    Action(
        "lose_if",
        "losing at even numbers",
        "remove {k} {units} from {s} (no more than there are) provided that {the_pointer} is at {an_even} "
        "{mark}",
        "sr",
        "s",
        'if w["r"] % 2 == 1:\n        w["S"] = max(0, w["S"] - K)',
        '"S": np.maximum(z["S"] - K * (z["r"] & 1), 0)',
        'v["S"] == (u["S"] if u["r"] % 2 == 0 else max(u["S"], K) - K)',
        (1, 2),
    ),
)


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
