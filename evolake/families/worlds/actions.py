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

from evolake.families.worlds.entries import entries

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
