"""The rules of a board: what happens at a wall, at the edge, at a thing in the way, and on marked cells; each
with its meaning three times over.

    run       statements on `w`, the one board that there is                      (move by move)
    table     new columns of `z`, of many boards at the same time                          (whole-board arrays)
    relation  the cases of a move from cell `x` in direction `v`                  (clauses over cells and moves)

run: `w` has `at`, `things`, `ground` (cell -> letter), `home`, `pause` (moves that are still lost), `rows`,
`columns`; j is the direction (0 to 3, clockwise, 0 is north), `towards(cell, j, n)` the n-th cell from there,
`go(w, cell)` goes there if it is free; `ahead` is the cell with the thing. table: cells are numbers of a
board with a rim, `s` the steps ahead, to the right, back and to the left; `hop(z, b, cells)` goes there if
free, `reach(z, b, s, first, most)` counts the free cells in a row from the `first` one ahead on, `pushed(z,
s, k)` moves the thing ahead by k cells. relation: a case is (needs, where the mover is after it, changed
things, lost moves); `either(g, y, one, other)` has the cases `one` where y is free. `came` (marks only):
whether the mover is on a mark and was in another cell when the move began. K is the amount.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import indent

from evolake.families.worlds.entries import entries
from evolake.families.worlds.parts import Rule, WithAmount, labels_of

POINTS = ("wall", "edge", "push", "mark")
"""The mutation points of a board, in the order of its text."""
HEADS = {
    **{
        (point, meaning): head
        for point in POINTS[:3]
        for meaning, head in (("run", "w, j"), ("table", "z, b, s"), ("relation", "g, x, v"))
    },
    ("mark", "run"): "w, j, came, began",
    ("mark", "table"): "z, b, s, came",
    ("mark", "relation"): "g, x, v, came",
}
"""Arguments of a rule's function, by point and engine."""
RULES = entries("board_rules", Rule, "rules")["rules"]


class Chosen(WithAmount[Rule]):
    """A rule with its amount."""

    def said(self, words: Mapping[str, str]) -> str:
        """Return its sentence. words: of the theme."""
        counted = {
            True: ("one more cell", "the next move is"),
            False: (f"{self.amount} more cells", f"the next {self.amount} moves are"),
        }
        cells, moves = counted[self.amount == 1]
        return self.rule.text.format(**words, k=self.amount, k_cells=cells, next_moves=moves)


def chosen_rules(point: str | None = None) -> list[Chosen]:
    """Return every rule of a point, or of all, with every amount."""
    return [Chosen(rule, amount) for rule in RULES if point in (None, rule.point) for amount in rule.amounts]


def functions(rules: Iterable[Chosen], meaning: str) -> str:
    """Return a function for each rule, in the terms of one engine, and KINDS, where it is looked up."""
    result, rules = "", list(rules)
    for rule in rules:
        ahead = '    ahead = towards(w["at"], j)\n' if (rule.rule.point, meaning) == ("push", "run") else ""
        body = (
            f"{ahead}{indent(rule.code('run'), '    ')}"
            if meaning == "run"
            else f"    return {rule.code(meaning)}"
        )
        result += f"\n\ndef {rule.key}({HEADS[rule.rule.point, meaning]}):\n{body}\n"
    names = ", ".join(f'"{item.key}": {item.key}' for item in rules)
    return f"{result}\n\nKINDS = {{{names}}}\n"


def labels(keys: Iterable[str]) -> list[str]:
    """Return what titles call the rules of these keys. Raises KeyError for a key of no rule."""
    return labels_of(keys, chosen_rules())
