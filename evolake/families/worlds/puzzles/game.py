"""A game: two players take from a heap, and both play perfectly."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

BOTH = "Both players play as well as possible."
PUZZLE = Puzzle(
    name="game",
    category="logical",
    validators=("bottom_up", "layers"),
    text=(
        "Two players take <units> from one <heap>, in turn. Whoever is to move takes one of these numbers "
        "of <units>: [Input Slot 1], and never more than there are. These rules hold:\n\n- [Rule again]\n"
        "- [Rule end]"
    ),
    listed=(),
    forms={1: r"\d+(?:, \d+)*", 2: r"\d+"},
    read='{"takes": [int(one) for one in match["slot1"].split(", ")], "most": int(match["slot2"])}',
    rules={
        "again": (
            PuzzleRule("free", "free moves", "The same number may be taken again and again."),
            PuzzleRule(
                "other",
                "no repeated moves",
                "The number that the other player has just taken may not be taken in the next move.",
            ),
        ),
        "end": (
            PuzzleRule("loses", "who cannot move loses", "Whoever is to move and cannot loses the game."),
            PuzzleRule("wins", "who cannot move wins", "Whoever is to move and cannot wins the game."),
        ),
    },
    questions=(
        PuzzleQuestion(
            "lost",
            "which beginnings are lost",
            f"{BOTH} With which numbers of <units>, from 1 to [Input Slot 2], does the player lose who "
            "makes the first move or would have to "
            "make it? Give a list of these numbers in ascending order.",
            "list",
            "    return [size for size in range(1, most + 1) if not wins(size, 0)]",
            "    return [size for size in range(1, most + 1) if not won[size][0]]",
            "    return sorted(size for size, last in losing if size and not last)",
        ),
        PuzzleQuestion(
            "word",
            "a word for the beginnings",
            f"{BOTH} For each number of <units> at the beginning, from 1 to [Input Slot 2], write W if "
            "the player who makes the first move or "
            "would have to make it wins, and L otherwise. Which word do the letters make, in ascending "
            "order of these numbers?",
            "string",
            '    return "".join("W" if wins(size, 0) else "L" for size in range(1, most + 1))',
            '    return "".join("LW"[won[size][0]] for size in range(1, most + 1))',
            '    return "".join("L" if (size, 0) in losing else "W" for size in range(1, most + 1))',
        ),
        PuzzleQuestion(
            "moves",
            "the winning first moves",
            f"{BOTH} The <heap> has [Input Slot 2] <units>, or one fewer, or two fewer, or three fewer. "
            "Give a list of four lists, in this "
            "order of the beginnings: the numbers, in ascending order, that the player who begins can "
            "take first and then win; a list may be empty.",
            "list",
            "    return [[one for one in sorted(takes) if one <= size and not wins(size - one, one)] for "
            "size in range(most, most - 4, -1)]",
            "    return [[one for one in sorted(takes) if one <= size and not won[size - one][one]] for "
            "size in (most, most - 1, most - 2, most - 3)]",
            "    return [sorted(one for one in takes if (size - one, one) in losing) for size in "
            "reversed(range(most - 3, most + 1))]",
        ),
    ),
    themes=(
        {"title": "Two players and a heap", "units": "pebbles", "heap": "heap"},
        {"title": "Matches on a table", "units": "matches", "heap": "pile"},
        {"title": "Coins in a bowl", "units": "coins", "heap": "bowl"},
    ),
)
