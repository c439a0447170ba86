"""A chain: stones with a number at either end are laid in a row. A puzzle with many correct answers."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

ANY = "There may be several such rows; give any one of them."
PUZZLE = Puzzle(
    name="chain",
    category="symbolic",
    validators=("layers", "sat"),
    text=(
        "Each <stone> has a letter and two numbers, one at either end:\n\n[Input Slot 1]\n\n"
        "All of them are laid in one row from left to right. These rules hold:\n\n- [Rule meet]\n- [Rule "
        "turn]"
    ),
    listed=("<Stone> {letter} has {one} and {other}.",),
    forms={1: r"- <Stone> \w has \d+ and \d+\.(?:\n- <Stone> \w has \d+ and \d+\.)*"},
    read=(
        '{"stones": [[letter, int(one), int(other)] for letter, one, other in '
        're.findall(r"(\\w) has (\\d+) and (\\d+)\\.", match["slot1"])]}'
    ),
    rules={
        "meet": (
            PuzzleRule("same", "equal ends", "The two numbers at which neighbours touch are equal."),
            PuzzleRule(
                "step",
                "ends that differ by one",
                "The two numbers at which neighbours touch differ by exactly 1.",
            ),
            PuzzleRule(
                "sum", "ends that make up 7", "The two numbers at which neighbours touch have the sum 7."
            ),
        ),
        "turn": (
            PuzzleRule("free", "<stones> that may be turned", "A <stone> may lie either way round."),
            PuzzleRule(
                "ahead",
                "the first number on the left",
                "A <stone> lies with the number that is named first on its left.",
            ),
            PuzzleRule(
                "back",
                "the first number on the right",
                "A <stone> lies with the number that is named first on its right.",
            ),
        ),
    },
    questions=(
        PuzzleQuestion(
            "letters",
            "a row by letters",
            f"In which order can they lie? Give a word of their letters from left to right. {ANY}",
            "string",
            '    return "".join(letter for letter, _, _ in row)',
            '    return "".join(stones[place][0] for place, _ in path)',
            '    return "".join(item[0] for item in found)',
            """    if not isinstance(answer, str) or Counter(answer) != Counter(list(by_letter)):
        return False
    rows = product(*(by_letter[letter] for letter in answer))""",
            """    letters = {stone[0]: stone for stone in left}
    steps = [lying(*letters.pop(letter)[1:]) for letter in answer if letter in letters] if isinstance(answer, str) else []
    if letters or len(steps) < len(answer):
        return False""",
        ),
        PuzzleQuestion(
            "numbers",
            "a row by numbers",
            "Which numbers can be read along the row? Give a list of all numbers from left to right, two "
            f"for each <stone>. {ANY}",
            "list",
            "    return [number for _, left, right in row for number in (left, right)]",
            "    return [number for _, ends in path for number in ends]",
            "    return [number for _, *ends in found for number in ends]",
            """    if not isinstance(answer, list) or len(answer) != 2 * len(stones):
        return False
    if any(isinstance(item, bool) or not isinstance(item, int) for item in answer):
        return False
    rows = [list(zip(answer[::2], answer[1::2]))]
    if Counter(map(plain, rows[0])) != Counter(plain(ways[0]) for ways in by_letter.values()):
        return False""",
            """    if not isinstance(answer, list) or any(item is True or item is False or not isinstance(item, int) for item in answer):
        return False
    steps = []
    while len(answer) > 1:
        seen, answer = (answer[0], answer[1]), answer[2:]
        taken = next((stone for stone in left if seen in lying(*stone[1:])), None)
        if taken is None:
            return False
        left.remove(taken)
        steps.append([seen])
    if left or answer:
        return False""",
        ),
    ),
    themes=(
        {"title": "A row of dominoes", "stone": "stone", "stones": "stones", "Stone": "Stone"},
        {"title": "A train of wagons", "stone": "wagon", "stones": "wagons", "Stone": "Wagon"},
        {"title": "A strip of tiles", "stone": "tile", "stones": "tiles", "Stone": "Tile"},
    ),
    checkers=("rows", "ends"),
)
