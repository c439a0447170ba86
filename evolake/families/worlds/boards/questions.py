"""Questions on what came of the moves on a board, with the answer of each engine.

`run` folds `trace`: (cell of the mover, cells of things) before the first move and after each; cells are
(row, column) from 1 on, `ground` is cell -> letter. `table` folds `at` (numbers of cells, row * width +
column) and `box` (boards), with `b` what never changes. `clauses` asks through `is_(kind, t, cell)`, which
says by the model whether the mover is `at` a cell, or a `thing` is there, after move t, or through `solver`
and `L`.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.families.worlds.parts import Question


@dataclass(frozen=True)
class BoardQuestion(Question):
    """text: with {s1} and so on for the slots of `keys`. make: sets `ask`, in the generator, from what `run`
    folds. port: the key that is one. low, high: of the port, see Port. open_start: whether the mover's first
    cell is left open.
    """

    keys: tuple[str, ...] = ()
    make: str = "    ask = {}\n"
    port: str = ""
    low: int = 1
    high: int | tuple[str, ...] = 1
    open_start: bool = False


ASCENDING = "Count the moves from 1 and give a list of their numbers in ascending order; it may be empty."
QUESTIONS = (
    BoardQuestion(
        "columns",
        "in which columns it goes",
        "In which column is the {mover} after each of the moves? Give a list of the numbers of the columns.",
        "    return [at[1] for at, _ in trace[1:]]",
        '    return (at[1:] % b["width"]).tolist()',
        '    return [x[1] for t in range(1, last + 1) for x in g["open"] if is_("at", t, x)]',
        answer="list",
    ),
    BoardQuestion(
        "idle",
        "which moves change nothing",
        "Which of the moves leave the {mover} in the cell in which it was when the move began, and "
        f"every {{thing}} where it was? {ASCENDING}",
        "    return [number for number in range(1, len(trace)) if trace[number] == trace[number - 1]]",
        "    return (np.flatnonzero((np.diff(at) == 0) & (box[1:] == box[:-1]).all(axis=1)) + 1).tolist()",
        """    kinds = [(kind, x) for kind in ("at", "thing") for x in g["open"]]
    return [t + 1 for t in range(last) if not any(is_(kind, t, x) ^ is_(kind, t + 1, x) for kind, x in kinds)]""",
        answer="list",
    ),
    BoardQuestion(
        "moving",
        "which moves move things",
        "In which of the moves does at least one {thing} come to another cell or leave the board? "
        f"{ASCENDING}",
        "    return [number for number in range(1, len(trace)) if trace[number][1] != trace[number - 1][1]]",
        "    return (np.flatnonzero((box[1:] ^ box[:-1]).any(axis=1)) + 1).tolist()",
        '    return [t + 1 for t in range(last) if any(is_("thing", t, x) and not is_("thing", t + 1, x) '
        'for x in g["open"])]',
        answer="list",
    ),
    BoardQuestion(
        "on_marks",
        "how many things are on marked cells",
        "How many {things} are on {marks} after each of the moves? Give a list of these numbers.",
        '    return [sum(ground[cell] == "x" for cell in things) for _, things in trace[1:]]',
        '    return (box[1:] & b["mark"]).sum(axis=1).tolist()',
        '    return [len([x for x in g["marks"] if is_("thing", t, x)]) for t in range(1, last + 1)]',
        answer="list",
    ),
    BoardQuestion(
        "visits",
        "when it is in a certain column",
        f"After which of the moves is the {{mover}} in column {{s1}}? {ASCENDING}",
        '    return [number for number, (at, _) in enumerate(trace) if number and at[1] == ask["column"]]',
        '    return (np.flatnonzero(at[1:] % b["width"] == ask["column"]) + 1).tolist()',
        '    return [t for t in range(1, last + 1) if any(is_("at", t, x) for x in g["open"] if x[1] == '
        'ask["column"])]',
        ("column",),
        """    ask = {"column": random.choice([at[1] for at, _ in trace[1:]])}
""",
        "column",
        1,
        5,
        answer="list",
    ),
    BoardQuestion(
        "walls",
        "when it is beside walls",
        "After which of the moves is {a_wall} in at least one of the cells that lie next to the {mover} "
        "({n}, {e}, {s} or {w} of it)? " + ASCENDING,
        """    near = [any(ground.get(towards(at, j)) == "#" for j in range(4)) for at, _ in trace]
    return [number for number in range(1, len(trace)) if near[number]]""",
        '    return (np.flatnonzero(b["wall"][at[1:, None] + b["steps"]].any(axis=1)) + 1).tolist()',
        """    near = [x for x in g["open"] if any(on(x, v) in g["walls"] for v in DIRECTIONS)]
    return [t for t in range(1, last + 1) if any(is_("at", t, x) for x in near)]""",
        answer="list",
    ),
    BoardQuestion(
        "word",
        "a word for its course",
        "For each move write one letter: R if the {mover} comes to another row by it, C if it stays in "
        "the row and comes to another column, and E if it is in the same cell as before. Which word do "
        "the letters make, in the order of the moves?",
        """    pairs = [(one[0], two[0]) for one, two in zip(trace, trace[1:])]
    return "".join("E" if one == two else "C" if one[0] == two[0] else "R" for one, two in pairs)""",
        """    rows = np.diff(at // b["width"]) != 0
    return "".join(np.where(rows, "R", np.where(np.diff(at) != 0, "C", "E")))""",
        """    cells = [next(x for x in g["open"] if is_("at", t, x)) for t in range(last + 1)]
    return "".join("RCE"[(a[0] == b[0]) + (a == b)] for a, b in zip(cells, cells[1:]))""",
        answer="string",
    ),
    BoardQuestion(
        "rows",
        "in which rows things end",
        "In which rows are the {things} after the last move? Give a mapping from the number of each row "
        "with at least one {thing} to how many are in it.",
        """    rows = [cell[0] for cell in trace[-1][1]]
    return {str(row): rows.count(row) for row in set(rows)}""",
        """    found, often = np.unique(np.flatnonzero(box[-1]) // b["width"], return_counts=True)
    return dict(zip(map(str, found.tolist()), often.tolist()))""",
        """    held = [x[0] for x in g["open"] if is_("thing", last, x)]
    return {f"{row}": held.count(row) for row in sorted(held)}""",
        answer="mapping",
    ),
    BoardQuestion(
        "starts",
        "to which rows the beginnings lead",
        "Suppose that the {mover} could begin in any cell of row {s1} that holds {plain} or the {mover} "
        "in the list, everything else being the same. In which row would the moves bring it in the end, "
        "from each of these cells in turn, {along}? Give a list.",
        """    starts = [cell for cell in ground if cell[0] == ask["row"] and ground[cell] == "." and cell not in trace[0][1]]
    return [travelled(inputs["board"], inputs["moves"], cell)[-1][0][0] for cell in starts]""",
        """    starts = np.flatnonzero(b["open"] & ~b["mark"] & ~box[0])
    starts = starts[starts // b["width"] == ask["row"]]
    if not starts.size:
        return []
    ended = walked(begun(b, starts, np.tile(box[0], (starts.size, 1))), b, inputs["moves"])[0][-1]
    return (ended // b["width"]).tolist()""",
        """    ends = []
    for x in cells:
        if x in g["homes"] and x[0] == ask["row"] and solver.solve(assumptions=[L("at", 0, x)]):
            model = set(solver.get_model())
            ends += [y[0] for y in g["open"] if L("at", 2 * last, y) in model]
    return ends""",
        ("row",),
        """    free = [cell[0] for cell in ground if ground[cell] == "." and cell not in trace[0][1]]
    ask = {"row": max(set(free), key=lambda row: (free.count(row), row))}
""",
        "row",
        1,
        ("board",),
        open_start=True,
        answer="list",
    ),
)
