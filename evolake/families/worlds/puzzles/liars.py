"""Liars: find out whose statements are true, from what all of them say of each other."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

LINE = r"- \w+ says: [^\n]+\."
PUZZLE = Puzzle(
    name="liars",
    category="logical",
    validators=("clauses", "elimination"),
    text=(
        "Of the <folk> [Input Slot 1], each is either <honest> or <liar>. What <honest> says is true, and "
        "what <liar> says is false. [Rule known] This is what they say:\n\n[Input Slot 2]\n\nExactly one "
        "distribution fits all of this."
    ),
    listed=(
        "{who} says: {one} is <liar>.",
        "{who} says: {one} is <honest>.",
        "{who} says: {one} and {other} are of the same kind.",
        "{who} says: {one} and {other} are of different kinds.",
        "{who} says: at least one of {one} and {other} is <liar>.",
    ),
    forms={1: r"\w+(?:, \w+)*", 2: rf"{LINE}(?:\n{LINE})*"},
    read=(
        '{"names": match["slot1"].split(", "), "says": [sentence(line) for line in '
        'match["slot2"].split("\\n")]}'
    ),
    constants='WORD = ("<liar_word>", "<honest_word>")\n',
    reading="""FORMS = {
    "liar": r"(\\w+) is <liar>", "honest": r"(\\w+) is <honest>", "same": r"(\\w+) and (\\w+) are of the same kind",
    "different": r"(\\w+) and (\\w+) are of different kinds", "one": r"at least one of (\\w+) and (\\w+) is <liar>",
}


def sentence(line):
    who, said = line.removeprefix("- ").removesuffix(".").split(" says: ")
    [(kind, found)] = [(kind, found) for kind, form in FORMS.items() if (found := re.fullmatch(form, said))]
    return [who, kind, *found.groups()]
""",
    rules={
        "known": (
            PuzzleRule("odd", "an odd number of liars", "The number of <liars> among them is odd."),
            PuzzleRule("even", "an even number of liars", "The number of <liars> among them is even."),
            PuzzleRule(
                "fewer",
                "more liars than honest ones",
                "There are more <liars> than <honest_ones> among them.",
            ),
        )
    },
    questions=(
        PuzzleQuestion(
            "kinds",
            "what each of them is",
            "What is each of them? Give a mapping from the names to the words <honest_word> and <liar_word>.",
            "mapping",
            "    return {name: WORD[kind] for name, kind in zip(names, fitting)}",
            "    return {name: WORD[int(truth[name])] for name in names}",
            "    return {name: WORD[value] for name, value in result.items()}",
        ),
        PuzzleQuestion(
            "liars",
            "who lies",
            "Which of them are <liar>? Give a list of their names in alphabetical order; it may be empty.",
            "list",
            "    return sorted(name for name, kind in zip(names, fitting) if not kind)",
            "    return [name for name in sorted(names) if not truth[name]]",
            "    return sorted(name for name in names if result[name] == 0)",
        ),
        PuzzleQuestion(
            "word",
            "a word for all of them",
            "Take the <folk> in alphabetical order and write H for each that is <honest> and L for each "
            "that is <liar>. Which word do the letters make?",
            "string",
            '    return "".join("LH"[kind] for _, kind in sorted(zip(names, fitting)))',
            '    return "".join("H" if truth[name] else "L" for name in sorted(names))',
            '    return "".join("LH"[result[name]] for name in sorted(result))',
        ),
    ),
    themes=(
        {
            "title": "Knights and knaves",
            "folk": "islanders",
            "honest": "a knight",
            "liar": "a knave",
            "honest_word": "knight",
            "liar_word": "knave",
            "liars": "knaves",
            "honest_ones": "knights",
            "names": "Adam Bess Carl Dina Ewan Flora Glen Hetty Ivor Judy",
        },
        {
            "title": "Robots and their faults",
            "folk": "robots",
            "honest": "a sound robot",
            "liar": "a broken robot",
            "honest_word": "sound",
            "liar_word": "broken",
            "liars": "broken robots",
            "honest_ones": "sound robots",
            "names": "Ark Bit Cog Dot Elk Fax Gear Hub Ion Jet",
        },
        {
            "title": "Spies at a dinner",
            "folk": "guests",
            "honest": "a diplomat",
            "liar": "a spy",
            "honest_word": "diplomat",
            "liar_word": "spy",
            "liars": "spies",
            "honest_ones": "diplomats",
            "names": "Kim Leo Mia Noa Oda Pia Rex Sue Tim Una",
        },
    ),
)
