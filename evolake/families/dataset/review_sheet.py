"""Ten instances of a family for a person to solve from the text alone, as a CSV without answers, and what the
answers come to."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.answers.forms import asked_units
from evolake.answers.matching import matches
from evolake.answers.reading import extract_boxed
from evolake.answers.values import answer_value
from evolake.errors import InputError
from evolake.families.dataset.audit import LONGEST_CELL, guarded
from evolake.families.gates.blind import Review
from evolake.families.gates.checked_answers import right_answers
from evolake.families.gates.consensus import take_votes
from evolake.families.gates.execution import caps_of
from evolake.families.model.contract import Family
from evolake.families.sandbox.running import Instance, generate
from evolake.families.settings import FamiliesSettings
from evolake.reading import DATA_BYTES, Unreadable, read_text, reason
from evolake.seeds import child_seed

SIZE = 10
COLUMNS: tuple[str, ...] = ("family_id", "number", "difficulty", "seed", "text", "answer", "reader")


def sheet_instances(
    family: Family, *, pool: Any, settings: FamiliesSettings, root_seed: int
) -> list[Instance]:
    """Return the instances of the sheet: the difficulties of blind reviews in turn, on seeds that nothing
    else uses. Raises InputError, MachineryError."""
    difficulties = [
        settings.blind_difficulties[number % len(settings.blind_difficulties)] for number in range(SIZE)
    ]
    seeds = [
        child_seed(root_seed, "families", family.family_id, "review sheet", number) for number in range(SIZE)
    ]
    instances = generate(
        family, list(zip(difficulties, seeds, strict=True)), pool=pool, caps=caps_of(settings)
    )
    for instance in instances:
        if instance.status != "ok":
            raise InputError(
                f"{family.name} gives no instance at difficulty {instance.difficulty}",
                got=f"{instance.status}: {instance.reason}",
                do="run: evolake families check",
            )
    return instances


def sheet_text(family: Family, instances: Sequence[Instance]) -> str:
    """Return the CSV, with empty columns for the answers and the reader's name."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for number, instance in enumerate(instances):
        row = {
            "number": str(number),
            "difficulty": str(instance.difficulty),
            "seed": str(instance.seed),
            "text": guarded(instance.text),
        }
        writer.writerow({"family_id": family.family_id} | row)
    return text.getvalue()


def read_answers(path: Path, family: Family, instances: Sequence[Instance]) -> dict[int, tuple[str, str]]:
    """Return number -> (reader, answer) of the lines with an answer.

    Raises:
        InputError: naming the line: the sheet is of another content of the family, of other instances, or
            without any answer.
    """
    csv.field_size_limit(LONGEST_CELL)
    try:
        lines = list(csv.DictReader(io.StringIO(read_text(path, DATA_BYTES))))
    except (OSError, Unreadable, csv.Error) as error:
        raise InputError(
            f"{path} cannot be read",
            got=reason(error),
            wanted="the CSV of `evolake families review-sheet`, answered",
        ) from None
    result: dict[int, tuple[str, str]] = {}
    for row, line in enumerate(lines, start=2):
        where = f"{path}, row {row}"
        if missing := [name for name in COLUMNS if line.get(name) is None]:
            raise InputError(
                f"{where}: column {missing[0]!r} is missing",
                wanted=", ".join(COLUMNS),
                do="keep the sheet's columns",
            )
        if line["family_id"] != family.family_id:
            raise InputError(
                f"{where}: the sheet is not of this content of {family.name}",
                wanted=f"family_id {family.family_id}",
                got=line["family_id"][:100],
                do="write a new sheet: an answer counts for the content that was read",
            )
        number = next((place for place in range(len(instances)) if str(place) == line["number"]), -1)
        known = instances[number] if 0 <= number < len(instances) else None
        if known is None or (line["difficulty"], line["seed"]) != (str(known.difficulty), str(known.seed)):
            raise InputError(
                f"{where}: no such instance",
                wanted="number, difficulty and seed as the sheet had them",
                got=f"number {line['number'][:20]}",
                do="keep these columns, and pass the --seed of the sheet",
            )
        if number in result:
            raise InputError(
                f"{where}: number {number} is there twice",
                wanted="one line per instance",
                do="keep one of the two lines",
            )
        if answer := line["answer"].strip():
            result[number] = (line["reader"].strip() or "unnamed", answer)
    if not result:
        raise InputError(
            f"{path} holds no answer",
            wanted="answers in the column 'answer'",
            do="solve some instances first",
        )
    return result


def judged_answers(
    family: Family,
    instances: Sequence[Instance],
    answers: Mapping[int, tuple[str, str]],
    *,
    pool: Any,
    settings: FamiliesSettings,
) -> list[tuple[str, Review]]:
    """Return (reader, review) of each answer, judged as in blind reviews: compared with the label, or by the
    family's checkers if there are many correct answers. Raises MachineryError when the jail failed."""
    votes = take_votes(family, instances, pool=pool, settings=settings)
    boxes = {
        number: answer if "\\boxed" in answer else f"\\boxed{{{answer}}}"
        for number, (_, answer) in sorted(answers.items())
    }
    tasks = (
        [
            (instances[number].inputs, answer_value(extract_boxed(boxed) or "", votes[number].label))
            for number, boxed in boxes.items()
        ]
        if family.checkers
        else []
    )
    accepted = right_answers(family, tasks, pool=pool, settings=settings) if tasks else [False] * len(boxes)
    result = []
    for (number, boxed), by_checkers in zip(boxes.items(), accepted, strict=True):
        name, answer = answers[number]
        instance, vote = instances[number], votes[number]
        sensitive, units = family.answer.case_sensitive, asked_units(instance.text)
        by_label = (
            vote.decided
            and not family.checkers
            and matches(boxed, vote.label, case_sensitive=sensitive, units=units)
        )
        right = by_label or (vote.label is not None and by_checkers)
        result.append(
            (
                name,
                Review(
                    number,
                    instance.difficulty,
                    instance.seed,
                    "person",
                    "answered",
                    answer,
                    vote.label,
                    right,
                    (),
                    "",
                ),
            )
        )
    return result
