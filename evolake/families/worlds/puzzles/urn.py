"""An urn: exact probabilities of what a few draws bring."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

FORM = "Give it as a fraction in lowest terms."
PUZZLE = Puzzle(
    name="urn",
    category="logical",
    validators=("sequences", "counts"),
    text=(
        "In a <vessel> there are [Input Slot 1]. Without looking, somebody draws one <thing> after "
        "another, [Input Slot 2] in all; in each draw, every <thing> in the <vessel> is as probable as "
        "any other. [Rule back]"
    ),
    listed=(),
    forms={1: r"\d+ \w+, \d+ \w+ and \d+ \w+ <things>", 2: r"\d+", 3: r"\d+", 4: r"\w+"},
    read=(
        '{"colours": re.findall(r"\\d+ (\\w+)", match["slot1"]), "counts": [int(one) for one in '
        're.findall(r"\\d+", match["slot1"])], "draws": int(match["slot2"]), "wanted": '
        'int(match["slot3"]), "colour": match["slot4"]}'
    ),
    rules={
        "back": (
            PuzzleRule("kept", "drawn <things> are kept", "A <thing> that was drawn is not put back."),
            PuzzleRule(
                "back",
                "drawn <things> are put back",
                "A <thing> that was drawn is put back before the next draw.",
            ),
            PuzzleRule(
                "more",
                "drawn <things> bring more",
                "A <thing> that was drawn is put back before the next draw, together with one more of the "
                "same colour.",
            ),
        )
    },
    questions=(
        PuzzleQuestion(
            "exactly",
            "a certain number of one colour",
            "What is the probability that exactly [Input Slot 3] of the <things> that are drawn are "
            f"[Input Slot 4]? {FORM}",
            "number",
            "    return str(chance(lambda drawn: drawn.count(colour) == wanted))",
            "    return str(likely(lambda times: times[mine] == wanted))",
            "    return written(total(lambda counts: counts[own] == wanted))",
        ),
        PuzzleQuestion(
            "least",
            "at least so many of one colour",
            "What is the probability that at least [Input Slot 3] of the <things> that are drawn are "
            f"[Input Slot 4]? {FORM}",
            "number",
            "    return str(chance(lambda drawn: drawn.count(colour) >= wanted))",
            "    return str(1 - likely(lambda times: times[mine] < wanted))",
            "    return written(total(lambda counts: not counts[own] < wanted))",
        ),
        PuzzleQuestion(
            "given",
            "what is known of the other colours",
            "Suppose that at least [Input Slot 3] of the <things> that are drawn are [Input Slot 4]. What "
            "is then the probability that all <things> that are "
            f"drawn are [Input Slot 4]? {FORM}",
            "number",
            "    return str(chance(lambda drawn: set(drawn) == {colour}) / chance(lambda drawn: "
            "drawn.count(colour) >= wanted))",
            "    return str(likely(lambda times: times[mine] == draws) / likely(lambda times: times[mine] "
            "> wanted - 1))",
            "    return written((total(lambda counts: counts[own] == sum(counts))[0], total(lambda "
            "counts: counts[own] >= wanted)[0]))",
        ),
    ),
    themes=(
        {
            "title": "Draws from a bag",
            "vessel": "bag",
            "thing": "ball",
            "things": "balls",
            "names": "red blue green white black",
        },
        {
            "title": "Draws from a box of counters",
            "vessel": "box",
            "thing": "counter",
            "things": "counters",
            "names": "pink grey yellow brown purple",
        },
    ),
)
