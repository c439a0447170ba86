"""Gate 1, checker K: what can be seen on a sample of instances and on the sources, without a second opinion.

The sample is drawn on seeds that all families share, each seed at every difficulty: so answers can be
compared between families, and a generator that ignores the difficulty shows immediately. Source: SSLogic,
section 3.3, "Gate 1".

Of families whose primary has the course of a run or of a board (see `evolake.families.worlds`), their own
programs show in the jail whether something happens in the steps and the late ones decide: a switched rule can
leave a world dead.

A joined family that can be solved without its first part is the second family in a longer text. Inputs of
such a child are {"a": of the first family, "b": of the second, ...} (see contract). Each instance is solved
again with the `a` of another instance of the same difficulty; how often the answer changes is how often the
first part decides it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolake.answers.matching import equivalent
from evolake.families.gates.bites import rule_bites
from evolake.families.gates.execution import caps_of, pairs_of, unfilled
from evolake.families.gates.leaks import leaking_place
from evolake.families.model.contract import Family
from evolake.families.model.guessing import candidate_shares, guesses_by_level
from evolake.families.model.similarity import Fingerprint, answer_key, fingerprint, similarity
from evolake.families.model.wording import LONGEST_LINE, without_tables
from evolake.families.sandbox.running import (
    Caps,
    Instance,
    Solved,
    accepted,
    by_majority,
    check_parts,
    generate_parts,
    solve,
    solve_parts,
)
from evolake.families.settings import FamiliesSettings

COURSES = {
    "events": ("played", 'played(inputs["start"], inputs)'),
    "moves": ("travelled", 'travelled(inputs["board"], inputs["moves"])'),
}
"""Key of the steps in the inputs -> the function that gives the states of a course, and its call."""
LATE = 3
"""The last of so many parts of the steps are the late ones."""


def step_evidence(
    family: Family, instances: Sequence[Instance], answers: Sequence[Solved], *, pool: Any, caps: Caps
) -> list[list[float]] | None:
    """Return [level, share of the steps that change the state, share of the instances whose answer is another
    without the late steps] of each level; None for a family without a course. Raises MachineryError when the
    jail failed.
    """
    key = next(
        (
            key
            for key, (name, _) in COURSES.items()
            if re.search(rf"^def {name}\(", family.validator, re.MULTILINE)
        ),
        None,
    )
    good = [
        (item, solved)
        for item, solved in zip(instances, answers, strict=True)
        if item.status == solved.status == "ok"
    ]
    if (
        key is None
        or not good
        or not all(
            isinstance(item.inputs, dict) and isinstance(item.inputs.get(key), list) for item, _ in good
        )
    ):
        return None
    counting = (
        f"{family.validator}\n\ndef solution(inputs):\n    trace = {COURSES[key][1]}\n"
        "    return sum(one != two for one, two in zip(trace, trace[1:]))\n"
    )
    changes = solve(counting, [item.inputs for item, _ in good], pool=pool, caps=caps)
    if any(item.status != "ok" or not isinstance(item.answer, int) for item in changes):
        return None
    shorter = [
        {**item.inputs, key: item.inputs[key][: -max(1, len(item.inputs[key]) // LATE)]} for item, _ in good
    ]
    again = solve(family.validator, shorter, pool=pool, caps=caps)
    rows = []
    for level in sorted({item.difficulty for item, _ in good}):
        own = [number for number, (item, _) in enumerate(good) if item.difficulty == level]
        steps = sum(len(good[number][0].inputs[key]) for number in own)
        decided = sum(
            again[number].status != "ok"
            or not equivalent(
                good[number][1].answer, again[number].answer, case_sensitive=family.answer.case_sensitive
            )
            for number in own
        )
        rows.append(
            [level, sum(changes[number].answer for number in own) / max(steps, 1), decided / len(own)]
        )
    return rows


def deciding_share(
    family: Family, instances: Sequence[Instance], answers: Sequence[Solved], *, pool: Any, caps: Caps
) -> float | None:
    """Return the share of instances whose answer changes, None for a family that joins no two. Raises
    MachineryError when the jail failed."""
    good = [
        (instance, solved)
        for instance, solved in zip(instances, answers, strict=True)
        if instance.status == solved.status == "ok"
    ]
    if not good or not all(joined(instance.inputs) for instance, _ in good):
        return None
    others = [_next(good, number) for number in range(len(good))]
    swapped = [
        {**instance.inputs, "a": other.inputs["a"]} for (instance, _), other in zip(good, others, strict=True)
    ]
    again = solve(family.validator, swapped, pool=pool, caps=caps)
    sensitive = family.answer.case_sensitive
    changed = [
        item.status != "ok" or not equivalent(solved.answer, item.answer, case_sensitive=sensitive)
        for (_, solved), item in zip(good, again, strict=True)
    ]
    return sum(changed) / len(changed)


def joined(inputs: Any) -> bool:
    """Return whether these are the inputs of two families under one."""
    return isinstance(inputs, dict) and all(isinstance(inputs.get(key), dict) for key in ("a", "b"))


def _next(good: Sequence[tuple[Instance, Solved]], number: int) -> Instance:
    """Return the next instance of the same difficulty, the first one after the last."""
    same = [item for item, _ in good if item.difficulty == good[number][0].difficulty]
    return same[(same.index(good[number][0]) + 1) % len(same)]


TRIVIAL = {answer_key(value) for value in (0, 1, "", [], {}, None, "none", "None", "0", "1")}
NEAREST = 5
CONSTANTS = 6
"""Answers that are tried at a level as constant guesses at a question with many correct answers: the
commonest labels."""
LARGEST = 10**12
"""A number counts at most so much as magnitude."""
LONGEST_TEXT = 20_000
"""Characters of a statement that are searched; the length rule blocks what is longer."""


@dataclass(frozen=True)
class Sample:
    """Instances on the shared seeds with the primary's answers, and the work of all voters on some of them
    (source lines by difficulty; the voters' own word, for people to read).

    deciding: of a family that joins two, how often the first part's instance decides the answer
    (evolake.families.gates.static); None of another. guessed: (difficulty, key of the answer) of further
    instances, which show with those of the sample what a guesser gets at each level. guesses: of a family
    with checkers, what a guesser gets, in the form of `guesses_by_level`: a guess is right if the checkers
    accept it. None of another. steps: what happens in the steps of a course (evolake.families.gates.static);
    None of a family without one. bites: how many answers are others without each rule (`bites.rule_bites`).
    """

    instances: tuple[Instance, ...]
    answers: tuple[Solved, ...]
    work: dict[int, float]
    deciding: float | None = None
    guessed: tuple[tuple[int, str], ...] = ()
    guesses: list[tuple[int, int, float, float]] | None = None
    steps: list[list[float]] | None = None
    bites: list[list[Any]] = field(default_factory=list[list[Any]])


def draw_sample(family: Family, *, pool: Any, settings: FamiliesSettings) -> Sample:
    """Take the sample. Raises MachineryError when the jail failed."""
    caps = caps_of(settings)
    draws = (settings.sample_seeds, "sample"), (settings.guess_seeds, "guess")
    pairs = [pairs_of(settings.gate_difficulties, seeds, purpose) for seeds, purpose in draws]
    instances, further = generate_parts(family, pairs, pool=pool, caps=caps)
    inputs = [instance.inputs for instance in instances]
    answers, solved = solve_parts(
        family.validator, [inputs, [instance.inputs for instance in further]], pool=pool, caps=caps
    )
    counted = [
        number for number in range(len(instances)) if number % settings.sample_seeds < settings.counted_seeds
    ]
    work: dict[int, list[int]] = {}
    for source in family.solvers().values():
        done = solve(source, [inputs[number] for number in counted], pool=pool, caps=caps, count=True)
        for number, count in zip(counted, done, strict=True):
            steps = caps.steps if count.status in ("steps", "cpu", "timeout") else count.steps or 0
            work.setdefault(instances[number].difficulty, []).append(steps)
    mean = {difficulty: sum(steps) / settings.counted_seeds for difficulty, steps in sorted(work.items())}
    guessed = tuple(
        (item.difficulty, short_key(answer.answer))
        for item, answer in zip(further, solved, strict=True)
        if answer.status == "ok"
    )
    return Sample(
        tuple(instances),
        tuple(answers),
        mean,
        deciding_share(family, instances, answers, pool=pool, caps=caps),
        guessed,
        accepted_guesses(family, [*instances, *further], [*answers, *solved], pool=pool, caps=caps)
        if family.checkers
        else None,
        step_evidence(family, instances, answers, pool=pool, caps=caps),
        rule_bites(
            family,
            list(zip(instances, answers, strict=True)),
            list(zip(further, solved, strict=True)),
            pool=pool,
            caps=caps,
        ),
    )


def accepted_guesses(
    family: Family, instances: Sequence[Instance], answers: Sequence[Solved], *, pool: Any, caps: Caps
) -> list[tuple[int, int, float, float]]:
    """Return (level, instances, share of the best constant, share of the best two), where a guess is right if
    most checkers accept it.

    Tried are the commonest labels of the level. Raises MachineryError when the jail failed.
    """
    levels: dict[int, list[tuple[Any, Any]]] = {}
    for instance, solved in zip(instances, answers, strict=True):
        if instance.status == solved.status == "ok":
            levels.setdefault(instance.difficulty, []).append((instance.inputs, solved.answer))
    tasks, result = [], []
    for _, own in sorted(levels.items()):
        labels = {short_key(answer): answer for _, answer in own}
        common = [key for key, _ in Counter(short_key(answer) for _, answer in own).most_common(CONSTANTS)]
        tasks.append([(inputs, [labels[key] for key in common]) for inputs, _ in own])
    said = {
        name: check_parts(source, tasks, pool=pool, caps=caps) for name, source in family.checkers.items()
    }
    for number, level in enumerate(sorted(levels)):
        columns = {name: parts[number] for name, parts in said.items()}
        hits = [
            [
                by_majority(accepted(columns, row, place), len(family.checkers)) is True
                for place in range(len(candidates))
            ]
            for row, (_, candidates) in enumerate(tasks[number])
        ]
        result.append((level, len(hits), *candidate_shares(hits)))
    return result


def static_evidence(family: Family, sample: Sample, known: Sequence[Fingerprint]) -> dict[str, Any]:
    """Return what the rules of gate 1 judge, as plain JSON."""
    good = [
        (instance, solved)
        for instance, solved in zip(sample.instances, sample.answers, strict=True)
        if instance.status == solved.status == "ok"
    ]
    whole, answers = [instance.text for instance, _ in good], [solved.answer for _, solved in good]
    texts = [text[:LONGEST_TEXT] for text in whole]
    place, share = leaking_place(texts, answers)
    guesses = sample.guesses
    if guesses is None:
        guesses = guesses_by_level(
            [*((instance.difficulty, short_key(solved.answer)) for instance, solved in good), *sample.guessed]
        )
    return {
        "failed": [
            [item.status, item.reason] for item in (*sample.instances, *sample.answers) if item.status != "ok"
        ],
        "unfilled": sorted({result for text in texts for result in unfilled(text)}),
        "drawing": next((results for text in texts if (results := drawing(text))), ""),
        "shortest": min(map(len, whole), default=0),
        "longest": max(map(len, whole), default=0),
        "leak_place": place,
        "leak_share": share,
        "instances": len(texts),
        "distinct": len({(instance.difficulty, instance.text) for instance, _ in good}),
        "answers": [
            [instance.difficulty, short_key(solved.answer), answer_key(solved.answer) in TRIVIAL]
            for instance, solved in good
        ],
        "made_by": family.operator,
        "steps": sample.steps,
        "bites": sample.bites,
        "guesses": [list(row) for row in guesses],
        "boolean": bool(answers) and all(isinstance(answer, bool) for answer in answers),
        "blind_to_difficulty": _blind_to_difficulty([instance for instance, _ in good]),
        "work": [[difficulty, value] for difficulty, value in sample.work.items()],
        "deciding": sample.deciding,
        "size": by_difficulty([instance for instance, _ in good], characters),
        "magnitude": by_difficulty([instance for instance, _ in good], magnitude),
        "nearest": nearest(fingerprint(family, [solved.answer for solved in sample.answers]), known),
    }


def short_key(answer: Any) -> str:
    """Return 12 hex digits that are the same for answers that are the same."""
    return hashlib.sha256(answer_key(answer).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def commonest_share(answers: Sequence[Sequence[Any]], from_difficulty: int) -> float:
    """Return share of the answer that most instances have, of [[difficulty, key of the answer, ...], ...]
    from a difficulty on; 1 if there is none."""
    keys = [key for difficulty, key, *_ in answers if difficulty >= from_difficulty]
    return Counter(keys).most_common(1)[0][1] / len(keys) if keys else 1.0


def nearest(ours: Fingerprint, known: Sequence[Fingerprint]) -> list[dict[str, Any]]:
    """Return the families most like ours by code and answers together, most alike first, then those most like
    it by answers alone. Code and answers from 0 to 1, and whether code or text are the same.
    """
    result = [similarity(ours, other) for other in known if other.family_id != ours.family_id]
    result.sort(key=lambda item: (-(item.same_code + item.answers + item.code), item.family_id))
    by_answers = sorted(result, key=lambda item: (-item.answers, item.family_id))
    return [
        {
            "family_id": item.family_id,
            "name": item.name,
            "code": item.code,
            "answers": item.answers,
            "same_code": item.same_code,
            "same_text": item.same_text,
            "answer_values": len(set(ours.answers)),
        }
        for item in dict.fromkeys([*result[:NEAREST], *by_answers[:NEAREST]])
    ]


_CELL = re.compile(r"(?:[^\W_]{1,3}|[^\w\s])(?:\s+(?:[^\W_]{1,3}|[^\w\s]))+\Z")
SOLID = frozenset("#.*+|=_/\\@~oOxX■●□○ -")
_FRAME = re.compile(r"[│├└┌┐┘┬┴┼─║═╔╗╚╝]|\|--|\+--|`--|--\+")
DRAWN_LINES = 3


_LISTED = re.compile(
    r"\b(?:each|every|a|one|per) (?:line|row|entry)\b[^.]*:\Z|\blines?\b[^.]*:\Z", re.IGNORECASE
)
_RECORD = re.compile(r"[^\W_]+(?:\s+[^\W_]+){1,2}\Z")


def drawing(text: str) -> str:
    """Return the first lines of a grid or tree drawn in characters, "" if there is none. Arrays in brackets,
    lists of sentences, Markdown tables and lists whose lines are announced ("each line names two towns and a
    distance:") are none.
    """
    run: list[str] = []
    announced, lines = "", without_tables(text)
    for line in [*lines, ""]:
        bare = line[:LONGEST_LINE].strip().removeprefix("- ").strip()
        if _FRAME.search(bare):
            return bare[:200]
        solid = len(bare) >= DRAWN_LINES and SOLID.issuperset(bare) and not bare.startswith("---")
        row = bool(_CELL.match(bare)) and (not run or len(bare.split()) == len(run[-1].split()))
        gridlike = (
            bool(bare)
            and bare[0] not in "[({"
            and (solid or row)
            and not (_LISTED.search(announced) and _RECORD.match(bare))
        )
        run = [*run, bare] if gridlike else []
        if len(run) >= DRAWN_LINES:
            return " / ".join(run)[:200]
        announced = announced if not bare or _RECORD.match(bare) else bare
    return ""


def _blind_to_difficulty(instances: Sequence[Instance]) -> bool:
    """Return whether every seed gives the same instance at every difficulty."""
    by_seed: dict[int, set[str]] = {}
    for instance in instances:
        by_seed.setdefault(instance.seed, set()).add(json.dumps(instance.inputs, sort_keys=True))
    return bool(by_seed) and all(len(result) == 1 for result in by_seed.values())


def by_difficulty(instances: Sequence[Instance], measure: Callable[[Any], float]) -> list[list[float]]:
    """Return [[difficulty, mean of a measure of the hidden inputs], ...], the easiest first."""
    result: dict[int, list[float]] = {}
    for instance in instances:
        result.setdefault(instance.difficulty, []).append(measure(instance.inputs))
    return [[difficulty, sum(values) / len(values)] for difficulty, values in sorted(result.items())]


def characters(inputs: Any) -> float:
    """Of the inputs as JSON."""
    return len(json.dumps(inputs))


def magnitude(inputs: Any) -> float:
    """Return how much the inputs hold: a list or mapping counts its elements, a text its characters, a number
    its absolute value and one.

    It rises where a program is given more rounds to run or more steps to count, of which the number of
    characters shows nothing.
    """
    total, waiting = 0.0, [inputs]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list | dict):
            total += len(item)
            waiting.extend(item.values() if isinstance(item, dict) else item)
        elif isinstance(item, str):
            total += len(item)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            total += min(abs(item), LARGEST) + 1
        else:
            total += 1
    return total


def rises(values: Sequence[Sequence[float]], ratio: float) -> bool:
    """Return whether [[difficulty, value], ...] rises on average: the last is `ratio` times the first, and at
    most a fifth of the pairs go down."""
    ordered = [value for _, value in sorted(map(tuple, values))]
    pairs = [(item, other) for number, item in enumerate(ordered) for other in ordered[number + 1 :]]
    return (
        len(ordered) > 1
        and ordered[-1] >= ratio * max(ordered[0], 1e-9)
        and sum(other < first for first, other in pairs) * 5 <= len(pairs)
    )
