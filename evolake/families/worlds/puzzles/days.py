"""Days: a plan in which the two events of a pair keep apart. A puzzle with many correct answers."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

ANY = "There may be several such plans; give any one of them."
PUZZLE = Puzzle(
    name="days",
    category="temporal",
    validators=("narrowing", "sat"),
    text=(
        "A plan puts each of these <events> on one day: [Input Slot 2]. The days are numbered from 1 to "
        "[Input Slot 1]. These pairs share <people>:\n\n[Input Slot 3]\n\nThe plan keeps two rules:\n\n- "
        "[Rule apart]\n- [Rule load]"
    ),
    listed=("{one} and {other}.",),
    forms={1: r"\d+", 2: r"\w+(?:, \w+)*", 3: r"- \w+ and \w+\.(?:\n- \w+ and \w+\.)*"},
    read=(
        '{"days": int(match["slot1"]), "names": match["slot2"].split(", "), '
        '"pairs": [list(pair) for pair in re.findall(r"- (\\w+) and (\\w+)\\.", match["slot3"])]}'
    ),
    rules={
        "apart": (
            PuzzleRule(
                "different", "pairs on different days", "The two <events> of a pair are not on the same day."
            ),
            PuzzleRule(
                "spaced",
                "a day between pairs",
                "Between the two <events> of a pair lies at least one whole day.",
            ),
            PuzzleRule(
                "earlier",
                "pairs in order",
                "The <event> that is named first in a pair is on an earlier day than the other.",
            ),
        ),
        "load": (
            PuzzleRule("most", "few on a day", "On no day there are more than three <events>."),
            PuzzleRule("used", "no empty day", "On every day there is at least one <event>."),
            PuzzleRule(
                "ends", "equal ends", "The first day and the last day have the same number of <events>."
            ),
        ),
    },
    questions=(
        PuzzleQuestion(
            "list",
            "a plan as a list",
            "Give a list of the numbers of the days, one for each <event>, in the order in which the "
            f"<events> are named above. {ANY}",
            "list",
            "    return [plan[name] for name in names]",
            '    return list(map(found.get, inputs["names"]))',
            "    return [chosen[place] for place in range(size)]",
            """    if not isinstance(answer, list) or len(answer) != len(inputs["names"]):
        return False
    plan = dict(zip(inputs["names"], answer))""",
            """    if not isinstance(answer, list) or len(answer) - len(inputs["names"]):
        return False
    told = list(answer)""",
        ),
        PuzzleQuestion(
            "mapping",
            "a plan by names",
            f"Give a mapping from the name of each <event> to the number of its day. {ANY}",
            "mapping",
            "    return plan",
            '    return {name: found[name] for name in inputs["names"]}',
            "    return {names[place]: chosen[place] for place in chosen}",
            """    if not isinstance(answer, dict) or set(answer) != set(inputs["names"]):
        return False
    plan = answer""",
            """    if not isinstance(answer, dict) or sorted(answer) != sorted(inputs["names"]):
        return False
    told = [answer[name] for name in inputs["names"]]""",
        ),
    ),
    themes=(
        {
            "title": "A plan of examinations",
            "events": "examinations",
            "event": "examination",
            "people": "candidates",
            "names": "Algebra Botany Civics Dutch Ethics French Greek History Italian Law",
        },
        {
            "title": "Rehearsals of an orchestra",
            "events": "rehearsals",
            "event": "rehearsal",
            "people": "players",
            "names": "Brass Chorus Duet Encore Finale Gigue Hymn March Overture Waltz",
        },
        {
            "title": "Inspections of a plant",
            "events": "inspections",
            "event": "inspection",
            "people": "engineers",
            "names": "Boiler Crane Dynamo Engine Furnace Gate Hoist Motor Pump Valve",
        },
    ),
    checkers=("pairwise", "calendar"),
)
