"""A field: which posts, and how many points with whole-numbered coordinates, are inside of a triangle."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

POINT = r"\(\d+, \d+\)"
POINTS = "Look at all points with whole-numbered coordinates, whether there is a <post> or not."
PUZZLE = Puzzle(
    name="field",
    category="spatial",
    validators=("areas", "rows"),
    text=(
        "On a map, a point is given by two numbers: how far east it is, and how far north. The corners of "
        "a triangular <field> are at [Input Slot 1]. There are these <posts>:\n\n[Input Slot 2]\n\n[Rule "
        "border]"
    ),
    listed=("<Post> {name} is at {point}.",),
    forms={
        1: rf"{POINT}, {POINT} and {POINT}",
        2: rf"- <Post> \w is at {POINT}\.(?:\n- <Post> \w is at {POINT}\.)*",
    },
    read=(
        '{"corners": [[int(x), int(y)] for x, y in re.findall(r"\\((\\d+), (\\d+)\\)", match["slot1"])], '
        '"posts": [[name, int(x), int(y)] for name, x, y in re.findall(r"(\\w) is at \\((\\d+), '
        '(\\d+)\\)", match["slot2"])]}'
    ),
    rules={
        "border": (
            PuzzleRule(
                "inside",
                "edges that count",
                "What is on an edge or at a corner of the <field> counts as being in it.",
            ),
            PuzzleRule(
                "outside",
                "edges that do not count",
                "What is on an edge or at a corner of the <field> does not count as being in it.",
            ),
            PuzzleRule(
                "corners",
                "edges that count without corners",
                "What is on an edge of the <field> counts as being in it, but what is at a corner does not.",
            ),
        )
    },
    questions=(
        PuzzleQuestion(
            "posts",
            "which posts are in it",
            "Which <posts> are in the <field>? Give a list of their letters in alphabetical order; it may be "
            "empty.",
            "list",
            '    return sorted(name for name, x, y in inputs["posts"] if holds(corners, x, y))',
            '    return [name for name, x, y in sorted(inputs["posts"]) if within((x, y))]',
            '    return sorted(name for name, x, y in inputs["posts"] if x in spans.get(y, ()))',
        ),
        PuzzleQuestion(
            "rows",
            "how many points are in it, by rows",
            f"{POINTS} How many of them are in the <field>, for each number of how far north they are? "
            "Give a mapping from each of these numbers for "
            "which there is at least one to how many there are.",
            "mapping",
            """    rows = {y: sum(holds(corners, x, y) for x in range(wide + 1)) for y in range(high + 1)}
    return {str(y): count for y, count in rows.items() if count}""",
            """    found = [y for y in range(limit + 1) for x in range(limit + 1) if within((x, y))]
    return {f"{y}": found.count(y) for y in found}""",
            "    return {str(y): len(xs) for y, xs in spans.items() if xs}",
        ),
    ),
    themes=(
        {"title": "A fenced meadow", "field": "meadow", "Post": "Post", "post": "post", "posts": "posts"},
        {"title": "A reef on a chart", "field": "reef", "Post": "Buoy", "post": "buoy", "posts": "buoys"},
        {
            "title": "A forest from above",
            "field": "forest",
            "Post": "Tower",
            "post": "tower",
            "posts": "towers",
        },
    ),
)
