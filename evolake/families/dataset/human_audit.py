"""What people are asked of families, as CSV, and what their answers come to: grades A to D in four dimensions
for a random sample (paper, appendix L), and ten instances to solve from the text alone. Usable is a family
whose four grades are A or B; fully correct one with four A."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.answers.forms import asked_units
from evolake.answers.matching import matches
from evolake.answers.reading import extract_boxed
from evolake.answers.values import answer_value
from evolake.errors import InputError
from evolake.families.gates.blind import Review
from evolake.families.gates.consensus import right_answers, take_votes
from evolake.families.gates.execution import caps_of
from evolake.families.model.contract import Family
from evolake.families.sandbox.running import Instance, generate
from evolake.families.settings import FamiliesSettings
from evolake.reading import DATA_BYTES, Unreadable, read_text, reason
from evolake.seeds import child_seed, generator
from evolake.stats.proportions import wilson_interval

DIMENSIONS = ("validator_consistency", "answer_correctness", "question_clarity", "generator_quality")
GRADES = ("A", "B", "C", "D")
GRADE_COLUMNS: tuple[str, ...] = (
    "family_id",
    "name",
    "title",
    "category",
    "operator",
    "difficulty",
    "question",
    "answer",
    "votes",
    "generator",
    "template",
    "validator",
    "validators",
    "auditor",
    *DIMENSIONS,
    "notes",
)
LONGEST_CELL = 2_000_000


def choose(ids: Sequence[str], size: int, root_seed: int) -> list[str]:
    """Return `size` families drawn without replacement, all if there are fewer. The order of `ids` does not
    matter."""
    ordered = sorted(set(ids))
    drawn = generator(root_seed, "families", "*", "audit").permutation(len(ordered)).tolist()[:size]
    return [ordered[number] for number in drawn]


def audit_row(family: Family, instance: Mapping[str, Any], operator: str) -> dict[str, str]:
    """Return one line of the sheet, its grades empty. instance: a row of INSTANCES."""
    answer = f"one correct answer: {instance['answer']}" if family.checkers else instance["answer"]
    judges = {**family.validators, **family.checkers}
    return {
        "family_id": family.family_id,
        "name": family.name,
        "title": family.title,
        "category": family.category,
        "operator": operator,
        "difficulty": str(instance["difficulty"]),
        "question": instance["text"],
        "answer": answer,
        "votes": f"{instance['votes']} of {instance['voters']}",
        "generator": family.generator,
        "template": family.template,
        "validator": family.validator,
        "validators": "\n\n".join(f"# {name}\n{source}" for name, source in judges.items()),
    }


def sheet(rows: Sequence[Mapping[str, str]]) -> str:
    """Return the CSV. A cell that a spreadsheet would take for a formula is distinguished by a quote in
    front."""
    text = io.StringIO()
    writer = csv.DictWriter(text, GRADE_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: guarded(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def guarded(value: str) -> str:
    """Return the cell's text; numbers stay as they are."""
    if not value.startswith(("=", "+", "-", "@", "\t")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def _rows_of(
    path: Path, sheet: str, columns: Sequence[str], needed: Sequence[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (place in the file, line) of a sheet. Raises InputError: it cannot be read, or a column is
    missing."""
    csv.field_size_limit(LONGEST_CELL)
    try:
        lines = list(csv.DictReader(io.StringIO(read_text(path, DATA_BYTES))))
    except (OSError, Unreadable, csv.Error) as error:
        raise InputError(f"{path} cannot be read", got=reason(error), wanted=f"the CSV of {sheet}") from None
    for number, line in enumerate(lines, start=2):
        where = f"{path}, row {number}"
        if missing := [name for name in needed if line.get(name) is None]:
            raise InputError(
                f"{where}: column {missing[0]!r} is missing",
                wanted=", ".join(columns),
                do="keep the sheet's columns",
            )
        yield where, line


def read_grades(path: Path, known: Sequence[str]) -> list[dict[str, str]]:
    """Return rows of GRADES from a graded sheet; lines without any grade are left out.

    Raises:
        InputError: naming the line: a column is missing, a family is not known, a grade is none of A, B, C, D
            or is the only one of its line, a line is there twice.
    """
    rows: dict[tuple[str, str], dict[str, str]] = {}
    needed = ("family_id", *DIMENSIONS)
    for where, line in _rows_of(path, "`evolake families audit export`, graded", GRADE_COLUMNS, needed):
        grades = {name: line[name].strip().upper() for name in DIMENSIONS}
        if not any(grades.values()):
            continue
        if line["family_id"] not in known:
            raise InputError(
                f"{where}: no family {line['family_id']!r} in this lake",
                do="grade a sheet that was exported from it",
            )
        if wrong := [f"{name}={grade or 'empty'}" for name, grade in grades.items() if grade not in GRADES]:
            raise InputError(
                f"{where}: grades",
                wanted="A, B, C or D in all four dimensions, or in none",
                got=", ".join(wrong),
            )
        auditor = (line.get("auditor") or "").strip() or "unnamed"
        key = (line["family_id"], auditor)
        if key in rows:
            raise InputError(
                f"{where}: {auditor} graded {line['family_id'][:12]} twice", do="keep one of the two rows"
            )
        rows[key] = {
            "family_id": key[0],
            "auditor": auditor,
            **grades,
            "notes": (line.get("notes") or "").strip(),
        }
    if not rows:
        raise InputError(
            f"{path} holds no grade",
            wanted=f"A, B, C or D in the columns {', '.join(DIMENSIONS)}",
            do="grade some families first",
        )
    return list(rows.values())


def audit_summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return counts per dimension and grade, the share of A and B, families that are usable, with a 95%
    Wilson interval. An auditor counts a family once."""
    table = {
        name: {grade: sum(row[name] == grade for row in rows) for grade in GRADES}
        | {"pass": share(rows, name)}
        for name in DIMENSIONS
    }
    usable = sum(all(row[name] in "AB" for name in DIMENSIONS) for row in rows)
    correct = sum(all(row[name] == "A" for name in DIMENSIONS) for row in rows)
    interval = wilson_interval(usable, len(rows)) if rows else None
    return {
        "graded": len(rows),
        "dimensions": table,
        "usable": usable,
        "fully_correct": correct,
        "usable_low": interval.low if interval else None,
        "usable_high": interval.high if interval else None,
    }


def share(rows: Sequence[Mapping[str, Any]], dimension: str) -> float | None:
    """Return a and B of all grades in one dimension."""
    return sum(row[dimension] in "AB" for row in rows) / len(rows) if rows else None


SIZE = 10
SHEET_COLUMNS: tuple[str, ...] = ("family_id", "number", "difficulty", "seed", "text", "answer", "reader")


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
    writer = csv.DictWriter(text, SHEET_COLUMNS, restval="", lineterminator="\n")
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
    result: dict[int, tuple[str, str]] = {}
    for where, line in _rows_of(
        path, "`evolake families review-sheet`, answered", SHEET_COLUMNS, SHEET_COLUMNS
    ):
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
            (
                instances[number].inputs,
                answer_value(
                    extract_boxed(boxed) or "", votes[number].label, asked_units(instances[number].text)
                ),
            )
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
