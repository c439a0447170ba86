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
AT_WALL, AT_EDGE, AT_THING = (
    "If {a_wall} is in the cell ahead, ",
    "If the board ends ahead, ",
    "If {a_thing} is in the cell ahead, ",
)
LAST = "Last in a move, if the {mover} is on {a_mark} and was in another cell when the move began, "
IF_FREE = " if that cell is free, and stays otherwise."
LOST = "{next_moves} lost: what is lost counts as a move, but nothing happens in it."
TURNED = "in the direction that comes {way} that of the move in the circle {n}, {e}, {s}, {w}, {n},"
BESIDE = '{"at": hop(z, b, z["at"] + s[%s])}'
RULES = (
    Rule(
        "wall",
        "wall_stay",
        "standing still at walls",
        AT_WALL + "the {mover} stays where it is.",
        "pass",
        '{"at": z["at"]}',
        "stay(x)",
    ),
    Rule(
        "wall",
        "wall_back",
        "being thrown back by walls",
        AT_WALL + "the {mover} goes one cell against the direction of the move" + IF_FREE,
        'go(w, towards(w["at"], j, -1))',
        BESIDE % 2,
        "either(g, on(x, v, -1), stay(on(x, v, -1)), stay(x))",
    ),
    Rule(
        "wall",
        "wall_right",
        "turning right at walls",
        AT_WALL + "the {mover} goes one cell " + TURNED.replace("{way}", "after") + IF_FREE,
        'go(w, towards(w["at"], j + 1))',
        BESIDE % 1,
        "either(g, on(x, right(v)), stay(on(x, right(v))), stay(x))",
    ),
    Rule(
        "wall",
        "wall_left",
        "turning left at walls",
        AT_WALL + "the {mover} goes one cell " + TURNED.replace("{way}", "before") + IF_FREE,
        'go(w, towards(w["at"], j + 3))',
        BESIDE % 3,
        "either(g, on(x, right(v), -1), stay(on(x, right(v), -1)), stay(x))",
    ),
    Rule(
        "wall",
        "wall_skip",
        "losing moves at walls",
        AT_WALL + "the {mover} stays in its own cell, and " + LOST,
        'w["pause"] = K',
        '{"pause": 0 * z["pause"] + K}',
        "stay(x, K)",
        (1, 2),
    ),
    Rule(
        "wall",
        "wall_over",
        "leaping over walls",
        AT_WALL + "the {mover} leaps over it into the cell right beyond," + IF_FREE,
        'go(w, towards(w["at"], j, 2))',
        '{"at": hop(z, b, z["at"] + 2 * s[0])}',
        "either(g, on(x, v, 2), stay(on(x, v, 2)), stay(x))",
    ),
    Rule(
        "edge",
        "edge_stay",
        "a closed edge",
        AT_EDGE + "the {mover} stays where it is.",
        "pass",
        '{"at": z["at"]}',
        "stay(x)",
    ),
    Rule(
        "edge",
        "edge_across",
        "coming in at the other side",
        AT_EDGE
        + "the {mover} comes in again at the opposite edge, in the row or column in which it moves, if "
        "the cell there is free, and stays otherwise.",
        'row, column = w["at"]\ngo(w, ((w["rows"], column), (row, 1), (1, column), (row, w["columns"]))[j])',
        '{"at": hop(z, b, z["at"] - s[0] * (b["across"] if abs(s[0]) == 1 else b["down"]))}',
        "either(g, far(g, x, v), stay(far(g, x, v)), stay(x))",
    ),
    Rule(
        "edge",
        "edge_back",
        "being thrown back by the edge",
        AT_EDGE + "the {mover} goes one cell against the direction of the move" + IF_FREE,
        'go(w, towards(w["at"], j, -1))',
        BESIDE % 2,
        "either(g, on(x, v, -1), stay(on(x, v, -1)), stay(x))",
    ),
    Rule(
        "edge",
        "edge_home",
        "being sent home by the edge",
        AT_EDGE + "the {mover} is sent to the cell in which it was before the first move" + IF_FREE,
        'go(w, w["home"])',
        '{"at": hop(z, b, z["home"])}',
        'where("home", {h: either(g, h, stay(h), stay(x)) for h in g["homes"]})',
    ),
    Rule(
        "edge",
        "edge_opposite",
        "crossing over through the middle",
        AT_EDGE
        + "the {mover} goes to the cell that is as far from the last row as its own is from the first, "
        "and as far from the last column as its own is from the first column," + IF_FREE,
        'row, column = w["at"]\ngo(w, (w["rows"] + 1 - row, w["columns"] + 1 - column))',
        '{"at": hop(z, b, b["open"].size - 1 - z["at"])}',
        "either(g, turned(g, x), stay(turned(g, x)), stay(x))",
    ),
    Rule(
        "push",
        "push_never",
        "things that stay put",
        AT_THING + "the {mover} stays where it is.",
        "pass",
        '{"at": z["at"]}',
        "stay(x)",
    ),
    Rule(
        "push",
        "push_one",
        "pushing one thing",
        AT_THING
        + "the {mover} pushes it into the cell right beyond and takes its place if that cell is free; "
        "otherwise nothing moves.",
        'if free(w, towards(ahead, j)):\n    w["things"] ^= {ahead, towards(ahead, j)}\n    w["at"] = ahead',
        "pushed(z, s, reach(z, b, s, 2, 1))",
        "either(g, on(x, v, 2), [((), on(x, v), {on(x, v): False, on(x, v, 2): True}, 0)], stay(x))",
    ),
    Rule(
        "push",
        "push_row",
        "pushing rows of things",
        AT_THING
        + "the {mover} pushes it, and with it all {things} that follow it in the same direction without "
        "a gap, one cell further, and takes its place; if the cell beyond the last of them is not "
        "free, nothing moves.",
        'end = ahead\nwhile end in w["things"]:\n    end = towards(end, j)\nif free(w, end):\n    '
        'w["things"] ^= {ahead, end}\n    w["at"] = ahead',
        "pushed(z, s, lined(z, b, s))",
        "[(full(line(g, x, v)[:k], line(g, x, v)[k : k + 1]), on(x, v), {on(x, v): False, on(x, v, k + "
        "1): True}, 0) for k in range(1, len(line(g, x, v)))] + [(full(line(g, x, v), ()), x, {}, 0)]",
    ),
    Rule(
        "push",
        "push_slide",
        "things that slide",
        AT_THING
        + "it slides on in the direction of the move until the next cell is not free, and the {mover} "
        "goes into the cell that it has left; if it cannot slide at all, nothing moves.",
        "end = ahead\nwhile free(w, towards(end, j)):\n    end = towards(end, j)\n"
        'if end != ahead:\n    w["things"] ^= {ahead, end}\n    w["at"] = ahead',
        'pushed(z, s, reach(z, b, s, 2, b["far"]))',
        "[(needs, on(x, v), {on(x, v): False, on(x, v, k + 1): True}, 0) if k else (needs, x, {}, 0) for "
        "needs, k in slides(line(g, x, v)[1:])]",
    ),
    Rule(
        "push",
        "push_kick",
        "kicking things",
        AT_THING
        + "the {mover} kicks it and stays: it rolls {k} cells on in the direction of the move, or fewer "
        "if the next cell is not free.",
        "end, left = ahead, K\nwhile left and free(w, towards(end, j)):\n    end, left = towards(end, j), "
        "left - 1\nw['things'] ^= {ahead} ^ {end}",
        "pushed(z, s, reach(z, b, s, 2, K), False)",
        "[(needs, x, {on(x, v): False, on(x, v, k + 1): True} if k else {}, 0) for needs, k in "
        "slides(line(g, x, v)[1 : K + 1])]",
        (2, 3),
    ),
    Rule(
        "push",
        "push_swap",
        "changing places with things",
        AT_THING + "the {mover} and this {thing} change places.",
        'w["things"] ^= {ahead, w["at"]}\nw["at"] = ahead',
        'pushed(z, s, 0 * z["at"] - 1)',
        "[((), on(x, v), {on(x, v): False, x: True}, 0)]",
    ),
    Rule(
        "push",
        "push_jump",
        "jumping over things",
        AT_THING + "the {mover} jumps over it into the cell right beyond," + IF_FREE,
        "go(w, towards(ahead, j))",
        '{"at": hop(z, b, z["at"] + 2 * s[0])}',
        "either(g, on(x, v, 2), stay(on(x, v, 2)), stay(x))",
    ),
    Rule(
        "push",
        "push_take",
        "taking things away",
        AT_THING + "that {thing} is taken off the board for good, and the {mover} goes into its cell.",
        'w["things"].remove(ahead)\nw["at"] = ahead',
        '{"at": z["at"] + s[0], "box": z["box"] & (np.arange(b["open"].size) != (z["at"] + s[0])[:, None])}',
        "[((), on(x, v), {on(x, v): False}, 0)]",
    ),
    Rule(
        "mark",
        "mark_ice",
        "sliding on marked cells",
        LAST + "it slides on in the direction of the move, cell by cell, as long as it is on {a_mark} and "
        "the next cell is free.",
        'while came and w["ground"][w["at"]] == "x" and free(w, towards(w["at"], j)):\n    w["at"] = '
        'towards(w["at"], j)',
        '{"at": z["at"] + s[0] * np.where(came, reach(z, b, s, 1, b["far"], b["mark"]), 0)}',
        "[(needs, on(x, v, k), {}, 0) for needs, k in slides(slippery(g, x, v))] if came else stay(x)",
    ),
    Rule(
        "mark",
        "mark_spring",
        "springs",
        LAST + "it is carried on in the direction of the move by {k_cells}, stopping before any cell that is "
        "not free.",
        'left = K if came else 0\nwhile left and free(w, towards(w["at"], j)):\n    w["at"], left = '
        'towards(w["at"], j), left - 1',
        '{"at": z["at"] + s[0] * np.where(came, reach(z, b, s, 1, K), 0)}',
        "[(needs, on(x, v, k), {}, 0) for needs, k in slides(line(g, x, v)[:K])] if came else stay(x)",
        (1, 2),
    ),
    Rule(
        "mark",
        "mark_lift",
        "lifts between marked cells",
        LAST + "it is taken to the next {mark}, in the order of the rows and within a row in that of the "
        "columns, after the last one to the first, if that cell is free; if not, it stays.",
        'if came:\n    marks = [cell for cell, letter in w["ground"].items() if letter == "x"]\n'
        '    go(w, (marks + marks)[marks.index(w["at"]) + 1])',
        '{"at": np.where(came, hop(z, b, b["next"][z["at"]]), z["at"])}',
        "either(g, follower(g, x), stay(follower(g, x)), stay(x)) if came else stay(x)",
    ),
    Rule(
        "mark",
        "mark_mud",
        "losing moves on marked cells",
        LAST + LOST,
        'if came:\n    w["pause"] = K',
        '{"pause": np.where(came, K, z["pause"])}',
        "stay(x, K if came else 0)",
        (1, 2),
    ),
    Rule(
        "mark",
        "mark_right",
        "turning right on marked cells",
        LAST + "it goes one cell more, " + TURNED.replace("{way}", "after") + IF_FREE,
        'if came:\n    go(w, towards(w["at"], j + 1))',
        '{"at": np.where(came, hop(z, b, z["at"] + s[1]), z["at"])}',
        "either(g, on(x, right(v)), stay(on(x, right(v))), stay(x)) if came else stay(x)",
    ),
    Rule(
        "mark",
        "mark_home",
        "being sent home by marked cells",
        LAST + "it is sent to the cell in which it was before the first move" + IF_FREE,
        'if came:\n    go(w, w["home"])',
        '{"at": np.where(came, hop(z, b, z["home"]), z["at"])}',
        'where("home", {h: either(g, h, stay(h), stay(x)) for h in g["homes"]}) if came else stay(x)',
    ),
    Rule(
        "mark",
        "mark_undo",
        "being sent back by marked cells",
        LAST + "it returns to the cell in which it was when the move began" + IF_FREE,
        "if came:\n    go(w, began)",
        '{"at": np.where(came, hop(z, b, z["began"]), z["at"])}',
        'where("began", {y: either(g, y, stay(y), stay(x)) for y in g["before"].get((x, v), ()) if y != '
        "x}) if came else stay(x)",
    ),
    Rule(
        "mark",
        "mark_pit",
        "pits for things",
        "Last in a move, every {thing} that is on {a_mark} is taken off the board for good; for the "
        "{mover}, {marks} are like {plain}.",
        'w["things"] = {cell for cell in w["things"] if w["ground"][cell] != "x"}',
        '{"box": z["box"] & ~b["mark"]}',
        '[((), x, dict.fromkeys(g["marks"], False), 0)]',
    ),
)


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
