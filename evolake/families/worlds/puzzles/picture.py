"""Pictures: a square of letters that is turned, mirrored and pushed."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

PUZZLE = Puzzle(
    name="picture",
    category="spatial",
    validators=("tracing", "arrays"),
    text=(
        "A square <thing> has as many rows as columns. The rows are listed from top to bottom and their "
        "letters from left to right:\n\n[Input Slot 1]\n\n"
        "It is changed by these commands, one after another: [Input Slot 2]. This is what they do:\n\n"
        "- [Rule turn]\n- [Rule flip]\n- [Rule push]"
    ),
    listed=("Row {number}: {letters}.",),
    forms={
        1: r"- Row \d+: \w(?:, \w)*\.(?:\n- Row \d+: \w(?:, \w)*\.)*",
        2: r"(?:turn|flip|push)(?:, (?:turn|flip|push))*",
    },
    read=(
        '{"rows": ["".join(row.split(", ")) for row in re.findall(r"- Row \\d+: ([\\w, ]+)\\.", '
        'match["slot1"])], "commands": match["slot2"].split(", ")}'
    ),
    rules={
        "turn": (
            PuzzleRule(
                "right",
                "turning right",
                "The command turn rotates the whole <thing> clockwise by a right angle.",
            ),
            PuzzleRule(
                "left",
                "turning left",
                "The command turn rotates the whole <thing> anticlockwise by a right angle.",
            ),
        ),
        "flip": (
            PuzzleRule(
                "sides",
                "mirroring left and right",
                "The command flip mirrors the <thing> so that left and right are exchanged.",
            ),
            PuzzleRule(
                "ends",
                "mirroring top and bottom",
                "The command flip mirrors the <thing> so that top and bottom are exchanged.",
            ),
            PuzzleRule(
                "diagonal",
                "exchanging rows and columns",
                "The command flip makes the rows, from top to bottom, the columns, from left to right.",
            ),
        ),
        "push": (
            PuzzleRule(
                "row",
                "pushing the top row",
                "The command push moves the letters of the top row by one place to the right, and the "
                "last of them to its left end.",
            ),
            PuzzleRule(
                "column",
                "pushing the left column",
                "The command push moves the letters of the left column down by one place, and the lowest "
                "of them to its top end.",
            ),
            PuzzleRule(
                "all",
                "pushing all rows",
                "The command push moves every row down by one place, and the lowest row to the top.",
            ),
        ),
    },
    questions=(
        PuzzleQuestion(
            "rows",
            "the rows in the end",
            "What does the <thing> look like in the end? Give a list of its rows from top to bottom, each "
            "as a word of its letters from left to right.",
            "list",
            '    return ["".join(row) for row in square]',
            '    return ["".join(found[r, c] for c in range(n)) for r in range(n)]',
            '    return ["".join(row) for row in square.tolist()]',
        ),
        PuzzleQuestion(
            "diagonal",
            "a word across the square",
            "Which word do the letters on the line from the top left corner to the bottom right corner "
            "make in the end, read in this direction?",
            "string",
            '    return "".join(square[place][place] for place in range(len(square)))',
            '    return "".join(found[place, place] for place in range(n))',
            '    return "".join(np.diag(square))',
        ),
        PuzzleQuestion(
            "edges",
            "the outer columns",
            "Which words do the left column and the right column make in the end, each read from top to "
            "bottom? Give a mapping from left and right to these words.",
            "mapping",
            '    return {"left": "".join(row[0] for row in square), "right": "".join(row[-1] for row in '
            "square)}",
            '    return {side: "".join(found[r, c] for r in range(n)) for side, c in (("left", 0), '
            '("right", n - 1))}',
            '    return {"left": "".join(square[:, 0]), "right": "".join(square[:, -1])}',
        ),
    ),
    themes=(
        {"title": "A mosaic of tiles", "thing": "mosaic"},
        {"title": "Lights on a panel", "thing": "panel"},
        {"title": "Seeds in a tray", "thing": "tray"},
    ),
)
