"""Rewriting: a word that is changed by rules of replacement, step by step."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

PUZZLE = Puzzle(
    name="rewriting",
    category="symbolic",
    validators=("slices", "splitting"),
    text=(
        "<opening> At first it is [Input Slot 1]. These numbered rules say by what a piece of it may be "
        "replaced:\n\n[Input Slot 2]\n\n"
        "In each of [Input Slot 3] steps, one rule is used once. Only a rule whose piece is in the <word> "
        "can be used; of several, [Rule which] is used. If its piece is in the <word> several times, also "
        "with overlaps, [Rule where] of them is replaced. A step in which no rule can be used changes "
        "nothing."
    ),
    listed=("Rule {number}: {old} becomes {new}.",),
    forms={
        1: r"[a-e]+",
        2: r"- Rule \d+: [a-e]+ becomes [a-e]+\.(?:\n- Rule \d+: [a-e]+ becomes [a-e]+\.)*",
        3: r"\d+",
    },
    read=(
        '{"word": match["slot1"], "rules": [list(pair) for pair in re.findall(r": ([a-e]+) becomes '
        '([a-e]+)\\.", match["slot2"])], "steps": int(match["slot3"])}'
    ),
    rules={
        "which": (
            PuzzleRule("lowest", "the first rule that fits", "the one with the lowest number"),
            PuzzleRule("highest", "the last rule that fits", "the one with the highest number"),
        ),
        "where": (
            PuzzleRule("left", "from the left", "the one that begins furthest to the left"),
            PuzzleRule("right", "from the right", "the one that begins furthest to the right"),
        ),
    },
    questions=(
        PuzzleQuestion(
            "final",
            "what it becomes",
            "What is the <word> after the last step?",
            "string",
            "    return word",
            '    return "".join(letters)',
            "    return text",
        ),
        PuzzleQuestion(
            "used",
            "which rules are used",
            "Which rule is used in each step? Give a list of their numbers in the order of the steps, "
            "with 0 for a step in which none is used.",
            "list",
            "    return used",
            "    return numbers",
            "    return [number + 1 for number in history]",
        ),
    ),
    themes=(
        {
            "title": "A message that is rewritten",
            "word": "message",
            "opening": "A message of letters is rewritten.",
        },
        {
            "title": "A chain of molecules",
            "word": "chain",
            "opening": "A chain of molecules, each called by a letter, reacts.",
        },
        {
            "title": "A row of machines",
            "word": "sequence",
            "opening": "A sequence of machines, each called by a letter, is rebuilt.",
        },
    ),
)
