"""Numbers: which numbers of a range have certain digits and divisors."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

PUZZLE = Puzzle(
    name="numbers",
    category="symbolic",
    validators=("digits", "sieve"),
    text=(
        "<opening> Its number is a whole number from [Input Slot 1] to [Input Slot 2], both included, and "
        "leaves the remainder [Input Slot 4] when divided by [Input Slot 3]. This is known as well:\n\n- "
        "[Rule shape]\n- [Rule total]"
    ),
    listed=(),
    forms={1: r"\d+", 2: r"\d+", 3: r"\d+", 4: r"\d+"},
    read=(
        'dict(zip(("low", "high", "divisor", "remainder"), (int(match[f"slot{slot}"]) for slot in (1, 2, '
        "3, 4))))"
    ),
    rules={
        "shape": (
            PuzzleRule("different", "different digits", "No digit occurs in it more than once."),
            PuzzleRule(
                "rising",
                "rising digits",
                "Each of its digits but the first is greater than or equal to the digit before it.",
            ),
            PuzzleRule("repeated", "a repeated digit", "At least one digit occurs in it more than once."),
            PuzzleRule("falling", "an end below the beginning", "Its last digit is smaller than its first."),
        ),
        "total": (
            PuzzleRule("even", "an even sum of digits", "The sum of its digits is even."),
            PuzzleRule("odd", "an odd sum of digits", "The sum of its digits is odd."),
            PuzzleRule(
                "third",
                "a sum of digits divisible by 3",
                "The sum of its digits can be divided by 3 without a remainder.",
            ),
        ),
    },
    questions=(
        PuzzleQuestion(
            "all",
            "all that are possible",
            "Which numbers are possible? Give a list of them in ascending order.",
            "list",
            "    return found",
            "    return [int(word) for word in words]",
            "    return sorted(left)",
        ),
        PuzzleQuestion(
            "sum",
            "the sum of all that are possible",
            "What is the sum of all numbers that are possible?",
            "integer",
            "    return sum(found)",
            "    return sum(map(int, words))",
            "    return sum(left)",
        ),
    ),
    themes=(
        {
            "title": "The number of a locker",
            "opening": "Somebody has forgotten which locker is the right one.",
        },
        {"title": "The code of a safe", "opening": "The code of a safe has to be found."},
        {"title": "A page in an archive", "opening": "A page of an archive is missing."},
    ),
)
