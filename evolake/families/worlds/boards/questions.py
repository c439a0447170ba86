"""Questions on what came of the moves on a board, with the answer of each engine.

`run` folds `trace`: (cell of the mover, cells of things) before the first move and after each; cells are (row, column) from 1 on, `ground` is cell ->
letter. `table` folds `at` (numbers of cells, row * width + column) and `box` (boards), with `b` what never changes. `clauses` asks through
`is_(kind, t, cell)`, which tells by the model whether the mover is `at` a cell, or a `thing` is there, after move t, or through `solver` and `L`.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.worlds.parts import Question


@dataclass(frozen=True)
class BoardQuestion(Question):
    """text: with {s1} and so on for the slots of `keys`. make: sets `ask`, in the generator, from what `run` folds. port: the key that is one.
    low, high: of the port, see Port. open_start: whether the mover's first cell is left open. further: whether moves are looked for.
    """

    keys: tuple[str, ...] = ()
    make: str = "    ask = {}\n"
    port: str = ""
    low: int = 1
    high: int | tuple[str, ...] = 1
    open_start: bool = False
    further: bool = False


QUESTIONS = (
    BoardQuestion(
        "row", "in which row it ends", "What is the number of the row in which the {mover} is after the last move?", "    return trace[-1][0][0]",
        '    return int(at[-1] // b["width"])', '    return sum(x[0] for x in g["open"] if is_("at", last, x))',
    ),
    BoardQuestion(
        "column", "in which column it ends", "What is the number of the column in which the {mover} is after the last move?",
        "    return trace[-1][0][1]", '    return int(at[-1] % b["width"])', '    return sum(x[1] for x in g["open"] if is_("at", last, x))',
    ),
    BoardQuestion(
        "cells", "in how many cells it is",
        "Look at where the {mover} is before the first move and after each of the moves: how many different cells are that?",
        "    return len({at for at, _ in trace})", "    return int(np.unique(at).size)",
        '    return sum(any(is_("at", t, x) for t in range(last + 1)) for x in g["open"])',
    ),
    BoardQuestion(
        "idle", "how many moves change nothing",
        "How many of the moves leave the {mover} in the cell in which it was when the move began, and every {thing} where it was?",
        "    return sum(one == two for one, two in zip(trace, trace[1:]))",
        "    return int(((np.diff(at) == 0) & (box[1:] == box[:-1]).all(axis=1)).sum())",
        '''    kinds = [(kind, x) for kind in ("at", "thing") for x in g["open"]]
    return [any(is_(kind, t, x) ^ is_(kind, t + 1, x) for kind, x in kinds) for t in range(last)].count(False)''',
    ),
    BoardQuestion(
        "moving", "how many moves move things",
        "In how many of the moves does at least one {thing} come to another cell or leave the board?",
        "    return sum(one[1] != two[1] for one, two in zip(trace, trace[1:]))",
        "    return int((box[1:] ^ box[:-1]).any(axis=1).sum())",
        '    return sum(any(is_("thing", t, x) and not is_("thing", t + 1, x) for x in g["open"]) for t in range(last))',
    ),
    BoardQuestion(
        "on_marks", "how often things are on marked cells",
        "Count how many {things} are on {marks} after each of the moves. What is the sum of these numbers over all moves?",
        '    return sum(ground[cell] == "x" for _, things in trace[1:] for cell in things)',
        '    return int((box[1:] & b["mark"]).sum())',
        '    return len([t for t in range(1, last + 1) for x in g["marks"] if is_("thing", t, x)])',
    ),
    BoardQuestion(
        "visits", "how often it is on marked cells", "After how many of the moves is the {mover} on {a_mark}?",
        '    return sum(ground[at] == "x" for at, _ in trace[1:])', '    return int(b["mark"][at[1:]].sum())',
        '    return len([t for t in range(1, last + 1) for x in g["marks"] if is_("at", t, x)])',
    ),
    BoardQuestion(
        "first", "when it first reaches a column",
        "Count the moves from 1. After which move is the {mover} for the first time in column {s1}? If it is there after none of them, the answer "
        "is 0.",
        '    return next((number for number, (at, _) in enumerate(trace) if number and at[1] == ask["column"]), 0)',
        '''    there = np.flatnonzero(at[1:] % b["width"] == ask["column"])
    return int(there[0]) + 1 if there.size else 0''',
        '''    there = [x for x in g["open"] if x[1] == ask["column"]]
    return min((t for t in range(1, last + 1) for x in there if is_("at", t, x)), default=0)''', ("column",),
        '''    columns = [at[1] for at, _ in trace]
    ask = {"column": random.choice([one for one in columns[3:] if one not in columns[:3]] or columns[1:])}
''', "column", 1, 5,
    ),
    BoardQuestion(
        "walls", "how often it is beside walls",
        "After how many of the moves is {a_wall} in at least one of the cells that lie next to the {mover} ({n}, {e}, {s} or {w} of it)?",
        '    return sum(any(ground.get(towards(at, j)) == "#" for j in range(4)) for at, _ in trace[1:])',
        '    return int(b["wall"][at[1:, None] + b["steps"]].any(axis=1).sum())',
        '''    near = [x for x in g["open"] if any(on(x, v) in g["walls"] for v in DIRECTIONS)]
    return sum(is_("at", t, x) for x in near for t in range(1, last + 1))''',
    ),
    BoardQuestion(
        "distance", "how far from its beginning it ends",
        "How many rows and how many columns is the cell of the {mover} after the last move away from its cell before the first move? Give the sum of "
        "these numbers.",
        "    (r, c), (row, column) = trace[0][0], trace[-1][0]\n    return abs(r - row) + abs(c - column)",
        '    return int(sum(np.abs(one[-1] - one[0]) for one in np.divmod(at, b["width"])))',
        '    r, c = g["homes"][0]\n    return sum(abs(x[0] - r) + abs(x[1] - c) for x in g["open"] if is_("at", last, x))',
    ),
    BoardQuestion(
        "rows", "in which rows things end",
        "Take the number of the row of every {thing} that is on the board after the last move. What is the sum of these numbers?",
        "    return sum(cell[0] for cell in trace[-1][1])", '    return int((np.flatnonzero(box[-1]) // b["width"]).sum())',
        '    return sum(x[0] for x in g["open"] if is_("thing", last, x))',
    ),
    BoardQuestion(
        "settled", "when the last thing moves",
        "Count the moves from 1. Which is the last move in which any {thing} comes to another cell or leaves the board? If there is none, the answer "
        "is 0.",
        "    return max((number for number in range(1, len(trace)) if trace[number][1] != trace[number - 1][1]), default=0)",
        "    return int((np.arange(1, at.size) * (box[1:] ^ box[:-1]).any(axis=1)).max())",
        """    t = last
    while t and all(is_("thing", t, x) == is_("thing", t - 1, x) for x in g["open"]):
        t -= 1
    return t""",
    ),
    BoardQuestion(
        "starts", "which beginnings lead to a row",
        "Suppose that the {mover} could begin in any cell that holds {plain} or the {mover} in the list, everything else being the same. From how "
        "many of these cells, that of the list included, would the moves bring it to row {s1} in the end?",
        '''    starts = [cell for cell in ground if ground[cell] == "." and cell not in trace[0][1]]
    return sum(travelled(inputs["board"], inputs["moves"], cell)[-1][0][0] == ask["row"] for cell in starts)''',
        '''    starts = np.flatnonzero(b["open"] & ~b["mark"] & ~box[0])
    ended = walked(begun(b, starts, np.tile(box[0], (starts.size, 1))), b, inputs["moves"])[0][-1]
    return int((ended // b["width"] == ask["row"]).sum())''',
        '''    found = 0
    for x in g["homes"]:
        if solver.solve(assumptions=[L("at", 0, x)]):
            model = set(solver.get_model())
            found += any(L("at", 2 * last, y) in model for y in g["open"] if y[0] == ask["row"])
    return found''', ("row",),
        '''    ends = [travelled(board, moves, cell)[-1][0][0] for cell in ground if ground[cell] == "." and cell not in trace[0][1]]
    ask = {"row": random.choice(ends)}
''', "row", 1, ("board",), open_start=True,
    ),
    BoardQuestion(
        "least", "the least number of further moves to a cell",
        "After these moves, {n}, {e}, {s} and {w} may be chosen freely, by the same rules, and lost moves are counted with the others. What is the "
        "least number of further moves after which the {mover} is in row {s1} and column {s2}? If it is there already, or more than {s3} would be "
        "needed, the answer is 0.",
        "    return shortest(w, (ask['row'], ask['column']), ask['limit'])",
        '''    goal, z = ask["row"] * b["width"] + ask["column"], end
    for number in range(ask["limit"] + 1):
        if (z["at"] == goal).any():
            return number
        z = spread(z, b)
    return 0''',
        '''    goal = (ask["row"], ask["column"])
    if goal not in g["open"]:
        return 0
    return next((n for n in range(ask["limit"] + 1) if solver.solve(assumptions=[L("at", 2 * (last + n), goal)])), 0)''', ("row", "column", "limit"),
        '''    reach = {cell: found for cell, letter in ground.items() if letter != "#" and (found := shortest(w, cell, 5))}
    goal = random.choice([cell for cell, number in reach.items() if number > 1] or [w["at"]])
    ask = {"row": goal[0], "column": goal[1], "limit": min(5, reach.get(goal, 1) + random.randrange(2))}
''', "limit", 1, 5, further=True,
    ),
)
