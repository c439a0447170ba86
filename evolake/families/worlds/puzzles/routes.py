"""Routes: cheapest journeys on a map of places and roads."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

OTHERS = "Look at the cheapest journey from [Input Slot 3] to each of the other <places>."
PUZZLE = Puzzle(
    name="routes",
    category="relational",
    validators=("relaxing", "paths"),
    text=(
        "The <places> [Input Slot 1] are joined by these <roads>, each of which may be used in both "
        "directions:\n\n[Input Slot 2]\n\n"
        "A journey begins in a <place>, follows <roads> and ends in another <place>. [Rule cost]"
    ),
    listed=("{one} and {other}: {amount} <units>.",),
    forms={
        1: r"\w+(?:, \w+)*",
        2: r"- \w+ and \w+: \d+ <units>\.(?:\n- \w+ and \w+: \d+ <units>\.)*",
        3: r"\w+",
    },
    read=(
        '{"places": match["slot1"].split(", "), "roads": [[one, other, int(amount)] for one, other, '
        'amount in re.findall(r"- (\\w+) and (\\w+): (\\d+)", match["slot2"])], "start": match["slot3"]}'
    ),
    rules={
        "cost": (
            PuzzleRule("plain", "the roads", "Its cost is the sum of the <units> of its <roads>."),
            PuzzleRule(
                "stops",
                "the roads and the stops",
                "Its cost is the sum of the <units> of its <roads>, and 3 <units> more for each <place> "
                "that it passes between its first <place> and its last.",
            ),
            PuzzleRule(
                "twice",
                "the roads, the first one doubled",
                "Its cost is the sum of the <units> of its <roads>, those of its first <road> counted twice.",
            ),
        )
    },
    questions=(
        PuzzleQuestion(
            "costs",
            "the cheapest journeys",
            f"{OTHERS} What do these journeys cost? Give a mapping from the names of these <places> to "
            "the costs.",
            "mapping",
            "    return {place: cost for place, cost in best.items() if place != start}",
            "    return {place: least[place] for place in places if place != start}",
            "    return {goal: min(costs) for goal, costs in found.items()}",
        ),
        PuzzleQuestion(
            "order",
            "the order of the cheapest journeys",
            f"{OTHERS} Give a list of the names of these <places>, in ascending order of what the "
            "journeys cost; of several with the same "
            "cost, the one whose name comes first in the alphabet stands first.",
            "list",
            "    return [place for _, place in sorted((cost, place) for place, cost in best.items() if "
            "place != start)]",
            "    return sorted(sorted(set(places) - {start}), key=least.get)",
            """    left, order = sorted(found), []
    while left:
        order.append(next(goal for goal in left if all(min(found[goal]) <= min(found[other]) for other in left)))
        left.remove(order[-1])
    return order""",
        ),
        PuzzleQuestion(
            "total",
            "what the cheapest journeys cost together",
            f"{OTHERS} What do these journeys cost together?",
            "integer",
            "    return sum(best.values())",
            "    return sum(least[place] for place in places if place != start)",
            "    return sum(min(costs) for costs in found.values())",
        ),
    ),
    themes=(
        {
            "title": "Villages and their paths",
            "place": "village",
            "places": "villages",
            "road": "path",
            "roads": "paths",
            "units": "hours",
            "names": "Arl Bim Cott Dorn Esk Fell Gorm Holt Ivel Jarn",
        },
        {
            "title": "Stations of a freight line",
            "place": "station",
            "places": "stations",
            "road": "track",
            "roads": "tracks",
            "units": "tokens",
            "names": "Kell Lund Marn Nock Orb Penn Quay Rusk Send Tarn",
        },
        {
            "title": "Servers and their cables",
            "place": "server",
            "places": "servers",
            "road": "cable",
            "roads": "cables",
            "units": "credits",
            "names": "Ultra Vega Wolf Xeno Yak Zeta Bolt Crux Dune Echo",
        },
    ),
)
