"""Cards: some of a row are picked so that their sum is right. A puzzle with many correct answers."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

ANY = "There may be several such choices; give any one of them."
PUZZLE = Puzzle(
    name="cards",
    category="symbolic",
    validators=("memo", "halves"),
    text=(
        "In a row lie <cards> with these <amounts>, from left to right: [Input Slot 1]. Some of them are "
        "picked, so that the sum of the <amounts> of the picked <cards> is [Input Slot 2]. Two rules "
        "hold:\n\n- [Rule near]\n- [Rule count]"
    ),
    listed=(),
    forms={1: r"\d+(?:, \d+)*", 2: r"\d+"},
    read='{"row": [int(one) for one in match["slot1"].split(", ")], "total": int(match["slot2"])}',
    rules={
        "near": (
            PuzzleRule("apart", "no neighbours", "No two picked <cards> lie side by side."),
            PuzzleRule(
                "linked", "nobody alone", "Each picked <card> lies beside at least one other picked <card>."
            ),
            PuzzleRule(
                "ends", "one end", "Of the first and the last <card> of the row, exactly one is picked."
            ),
        ),
        "count": (
            PuzzleRule("even", "an even number", "The number of picked <cards> is even."),
            PuzzleRule("odd", "an odd number", "The number of picked <cards> is odd."),
            PuzzleRule("few", "five at most", "There are at most five picked <cards>."),
        ),
    },
    questions=(
        PuzzleQuestion(
            "places",
            "their places",
            "Which <cards> can be picked? Give a list of their places, counted from 1 at the left, in "
            f"ascending order. {ANY}",
            "list",
            "    return [place + 1 for place in picked]",
            "    return [number for number in range(1, len(row) + 1) if number in taken]",
            '    return [number for number, mark in enumerate(marks, start=1) if mark == "1"]',
            """    if not isinstance(answer, list) or any(isinstance(item, bool) or not isinstance(item, int) for item in answer):
        return False
    if any(not 1 <= item <= len(row) for item in answer) or answer != sorted(set(answer)):
        return False
    places = answer""",
            """    if not isinstance(answer, list) or any(item is True or item is False or not isinstance(item, int) for item in answer):
        return False
    marks = "".join("x" if place in answer else "." for place in range(1, len(row) + 1))
    if [place for place, mark in enumerate(marks, start=1) if mark == "x"] != answer:
        return False""",
        ),
        PuzzleQuestion(
            "amounts",
            "what is picked",
            f"Which <cards> can be picked? Give a list of their <amounts>, in the order of the row. {ANY}",
            "list",
            "    return [row[place] for place in picked]",
            "    return [row[number - 1] for number in sorted(taken)]",
            '    return [amount for amount, mark in zip(row, marks) if mark == "1"]',
            """    if not isinstance(answer, list) or any(isinstance(item, bool) or not isinstance(item, int) for item in answer):
        return False
    if any(item not in row for item in answer):
        return False
    places = [row.index(item) + 1 for item in answer]
    if places != sorted(set(places)):
        return False""",
            """    if not isinstance(answer, list) or any(item is True or item is False or not isinstance(item, int) for item in answer):
        return False
    marks = "".join("x" if amount in answer else "." for amount in row)
    if [amount for amount, mark in zip(row, marks) if mark == "x"] != answer:
        return False""",
        ),
    ),
    themes=(
        {"title": "Cards in a row", "cards": "cards", "card": "card", "amounts": "numbers"},
        {"title": "Parcels on a belt", "cards": "parcels", "card": "parcel", "amounts": "weights"},
        {"title": "Plots along a road", "cards": "plots", "card": "plot", "amounts": "prices"},
    ),
    checkers=("places", "marks"),
)
