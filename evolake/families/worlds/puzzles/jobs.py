"""Jobs: a schedule of jobs that need each other, done by a few workers under a rule of who goes first."""

from __future__ import annotations

from evolake.families.worlds.puzzles.model import Puzzle, PuzzleQuestion, PuzzleRule

PUZZLE = Puzzle(
    name="jobs",
    category="temporal",
    validators=("ticking", "serial"),
    text=(
        "The number of <workers> is [Input Slot 1], and these <jobs> are to be done:\n\n[Input Slot 2]\n\n"
        "Each <job> is done by one <worker> without a break, and a <worker> does one <job> at a time. The "
        "clock starts at 0 and counts <units>. A <job> can begin as soon as all <jobs> that it needs are "
        "finished. Whenever a <worker> is free and some <job> can begin, one begins at that moment. If "
        "several can, [Rule first] begins first, and of several with the same claim the one with the "
        "lowest number."
    ),
    listed=("<Job> {number} takes {time} <units> and needs {others}.",),
    forms={1: r"\d+", 2: r"(?:- <Job> \d+ takes \d+ <units> and needs [^\n]+\.\n?)+"},
    read=(
        '{"workers": int(match["slot1"]), "jobs": [[int(time), [int(one) for one in re.findall(r"\\d+", '
        'others)]] for time, others in re.findall(r"takes (\\d+) \\w+ and needs ([^\\n]+)\\.", '
        'match["slot2"])]}'
    ),
    rules={
        "first": (
            PuzzleRule("longest", "the longest first", "the one that takes longest"),
            PuzzleRule("shortest", "the shortest first", "the one that takes the least time"),
            PuzzleRule("latest", "the last number first", "the one with the highest number"),
            PuzzleRule(
                "wanted", "the most needed first", "the one that is needed by the most others in the list"
            ),
        )
    },
    questions=(
        PuzzleQuestion(
            "ends",
            "when each is finished",
            "When is each <job> finished? Give a mapping from the numbers of the <jobs> to these times.",
            "mapping",
            "    return {str(number): end for number, end in ends.items()}",
            '    return {f"{number}": done[number] for number in sorted(done)}',
            "    return {str(job + 1): begun[job] + jobs[job][0] for job in range(len(jobs))}",
        ),
        PuzzleQuestion(
            "order",
            "in which order they begin",
            "In which order do the <jobs> begin? Give a list of their numbers; of several that begin at "
            "the same time, the one with the lowest number stands first.",
            "list",
            "    return [number for _, number in sorted((ends[number] - jobs[number - 1][0], number) for "
            "number in ends)]",
            "    return [number for moment in range(t + 1) for number in sorted(started) if "
            "started[number] == moment]",
            "    return [job + 1 for at in sorted(set(begun.values())) for job in range(len(jobs)) if "
            "begun[job] == at]",
        ),
        PuzzleQuestion(
            "sum",
            "the sum of the times",
            "Write down for each <job> the time at which it is finished. What is the sum of these times?",
            "integer",
            "    return sum(ends.values())",
            "    return sum(done[number] for number in done)",
            "    return sum(at + jobs[job][0] for job, at in begun.items())",
        ),
    ),
    themes=(
        {
            "title": "Repairs in a workshop",
            "workers": "mechanics",
            "worker": "mechanic",
            "jobs": "repairs",
            "job": "repair",
            "Job": "Repair",
            "units": "hours",
        },
        {
            "title": "Programs on a cluster",
            "workers": "machines",
            "worker": "machine",
            "jobs": "programs",
            "job": "program",
            "Job": "Program",
            "units": "minutes",
        },
        {
            "title": "Dishes of a banquet",
            "workers": "cooks",
            "worker": "cook",
            "jobs": "dishes",
            "job": "dish",
            "Job": "Dish",
            "units": "minutes",
        },
    ),
)
