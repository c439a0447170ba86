"""Read problems from files of the user's own: JSON lines, parquet, the folder of a dataset, or tasks of
reasoning-gym with their configurations, whose own verifiers judge the answers.

Question and answer are read by the recipe that recognises a row (`row_recipes`), or from the columns that a
mapping names. Optional columns: problem_id or instance_id, family (or family_id), difficulty, category,
case_sensitive, scorer, and entry where that is reasoning-gym. What `evolake families export` writes is read
as it is. A question that does not say where its answer goes is asked for one in the format of the settings.
Labels are checked before anything is trained (`label_checks`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.answers.asking import AnswerFormat, request
from evolake.errors import InputError
from evolake.prompts.model.label_checks import (
    PlacedProblem,
    check_labels,
    unusable,
    with_own_ids,
    without_duplicates,
)
from evolake.prompts.model.protocol import ANSWER, ANY, SCORERS, Problem, Split
from evolake.prompts.model.row_recipes import (
    DIGITS,
    WORD_LEVELS,
    NoLabel,
    RowRecipe,
    asked_mark,
    mapped_recipe,
    read_row,
    recipe_for,
)
from evolake.reading import DATA_BYTES, parse_json, read_text, reason, require_regular, unique_keys
from evolake.verifiers.external import SCORER, check_entry, require_library
from evolake.verifiers.gym import ACCEPTS_ALL
from evolake.verifiers.own import is_own, read_verifier, verifier_of


def gym_problems(
    tasks: Sequence[str],
    count: int,
    seed: int,
    configuration: Mapping[str, Any] | None = None,
    answer_format: AnswerFormat = "boxed",
) -> list[Problem]:
    """Return `count` problems of each task of reasoning-gym, whose own verifier judges the answers.

    configuration: options of the tasks, by their names.

    Raises:
        InputError: the extra `reasoning-gym` is missing, there is no such task, its verifier judges nothing,
            or it has no such option.
    """
    require_library()
    import reasoning_gym

    result, options = [], dict(configuration or {})
    for task in tasks:
        if task in ACCEPTS_ALL:
            raise InputError(
                f"the task {task!r} of reasoning-gym cannot be used",
                got=ACCEPTS_ALL[task],
                do="choose another task",
            )
        try:
            entries = list(reasoning_gym.create_dataset(task, size=count, seed=seed % 2**31, **options))
        except ValueError as error:
            raise InputError(f"reasoning-gym has no task {task!r}", got=str(error)) from None
        except (TypeError, AssertionError) as error:
            raise InputError(
                f"the task {task!r} of reasoning-gym does not take this configuration",
                got=str(error) or repr(configuration),
            ) from None
        for index, entry in enumerate(entries):
            problem_id = hashlib.sha256(f"{task}\x1f{entry['question']}".encode()).hexdigest()
            text = f"{entry['question'].strip()}\n\n{request('en', None, answer_format)}"
            made_by = {
                "dataset": task,
                "seed": seed % 2**31,
                "size": count,
                "index": index,
                "configuration": options,
            }
            result.append(
                Problem(
                    problem_id,
                    text,
                    json.dumps(str(entry["answer"])),
                    False,
                    task,
                    1,
                    "train",
                    SCORER,
                    problem_id,
                    SCORER,
                    json.dumps(made_by),
                )
            )
    return result


GYM = "reasoning-gym:"
SUFFIXES = (".jsonl", ".parquet", ".arrow")
SIDES = {"train": ("train", "training"), "heldout": ("test", "validation", "valid", "val", "eval", "dev")}
"""Side -> the words in the names of a dataset's files and folders that belong to it."""
HELDOUT_SEED = 1_000_003
"""What the held-out side adds to the seed of reasoning-gym: item i of seed s is often item i - 1 of seed s +
1, so the sides are far apart."""
LEFT = "left out: "
MANY_ANSWERS = LEFT + "questions with many correct answers, which only their checkers can judge"


@dataclass(frozen=True)
class LeftOut:
    """A row that was left out. where: such as `row 3 of FILE`."""

    where: str
    why: str
    row: Mapping[str, Any]


@dataclass(frozen=True)
class ReadSide:
    """What was read of one side. recipes: sentence of each recipe -> rows that it read. repeated: rows left
    out, as they were there before. files: what was read. left_out: rows that hold no problem. rows: those of
    the problems."""

    problems: tuple[Problem, ...]
    recipes: Mapping[str, int]
    repeated: int
    files: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()


def read_side(
    place: str,
    side: Split,
    *,
    gym_problems: int,
    seed: int,
    answer_format: AnswerFormat = "boxed",
    columns: str | None = None,
    scorer: str | None = None,
) -> list[Problem]:
    """Return the problems of one side of the split, each text once, in the order of the file. Arguments and
    errors as for `read_placed`."""
    read = read_placed(
        place,
        side,
        gym_problems=gym_problems,
        seed=seed,
        answer_format=answer_format,
        columns=columns,
        scorer=scorer,
    )
    return list(read.problems)


def read_placed(
    place: str,
    side: Split,
    *,
    gym_problems: int,
    seed: int,
    answer_format: AnswerFormat = "boxed",
    columns: str | None = None,
    scorer: str | None = None,
    skip_bad: bool = False,
) -> ReadSide:
    """Return the problems of one side and how they were read.

    Args:
        place: a file, a folder, or "reasoning-gym:" with names divided by commas or {"name": {configuration},
            ...}.
        gym_problems: how many of each task of reasoning-gym; seed: of those. answer_format: that a question
            which says nothing is given.
        columns: a mapping such as `question=q, answer=a`, in place of recipes. scorer: a verifier of the
            user's own, for rows that name no scorer. skip_bad: leave out rows that would be errors.

    Raises:
        InputError: the place cannot be read, a row of it is no problem, its labels cannot be matched, or a
            question has two; says which rows.
    """
    if place.startswith(GYM):
        made = list(_of_gym(place.removeprefix(GYM), side, gym_problems, seed, answer_format))
        once = {_words(item.text): item for item in reversed(made)}
        return ReadSide(
            tuple(once.values())[::-1],
            {f"reasoning-gym {place.removeprefix(GYM)}": len(made)},
            len(made) - len(once),
            (place,),
        )
    mapping = mapped_recipe(columns) if columns else None
    verifier = read_verifier(scorer) if scorer else None
    placed: list[PlacedProblem] = []
    given: dict[str, Mapping[str, Any]] = {}
    left: list[LeftOut] = []
    counts: Counter[str] = Counter()
    paths = files(Path(place), side)
    for path in paths:
        for number, row in enumerate(rows(path), 1):
            where = f"row {number} of {path}"
            if row.get("checker") or (
                isinstance(extra := row.get("extra_info"), dict) and extra.get("checker")
            ):
                left.append(LeftOut(where, MANY_ANSWERS.removeprefix(LEFT), row))
                continue
            try:
                recipe = mapping or recipe_for(row, where)
                item = problem(
                    row, side, source=path.name, where=where, answer_format=answer_format, recipe=recipe
                )
            except InputError as error:
                if not (skip_bad or isinstance(error, NoLabel)):
                    raise
                why = error.what if isinstance(error, NoLabel) else f"{error.what}: {error.got}"
                left.append(LeftOut(where, why.removeprefix(f"{where} "), row))
                continue
            counts[recipe.sentence()] += 1
            if verifier is not None and not row.get("scorer"):
                if item.scorer == ANY:
                    raise InputError(
                        f"{where} has several accepted answers, and {scorer} takes one label",
                        wanted="one answer",
                        got=item.answer[:80],
                        do="unset EVOLAKE_PROMPTS__SCORER, or write the list as a JSON text",
                    )
                item = replace(item, scorer=verifier.scorer, entry=verifier.entry)
            placed.append(PlacedProblem(item, where))
            given[where] = row
    if skip_bad:
        bad = unusable(placed, answer_format)
        left += [LeftOut(where, why, given[where]) for where, why in bad.items()]
        placed = [item for item in placed if item.where not in bad]
    counts.update(f"{LEFT}{item.why}" for item in left)
    if not placed:
        raise InputError(
            f"there is no problem to read in {place}",
            wanted="a row with a question and an answer, at least one",
            got=", ".join(f"{count} rows {what}" for what, count in counts.items())
            or f"{len(paths)} files without a row",
            do="name a file that has rows",
        )
    check_labels(placed, answer_format)
    kept = with_own_ids(without_duplicates(placed))
    return ReadSide(
        tuple(item.problem for item in kept),
        dict(counts),
        len(placed) - len(kept),
        tuple(map(str, paths)),
        tuple(left),
        tuple(given[item.where] for item in kept),
    )


def files(place: Path, side: Split) -> list[Path]:
    """Return the files of a side: the file itself; of a folder those that are named for the side, or all if
    none is named for any.

    Raises:
        InputError: there is no such file or folder, or nothing in it that can be read for this side.
    """
    if place.is_file():
        return [place]
    wanted = f"a file or a folder of {', '.join(SUFFIXES)}"
    if not place.is_dir():
        raise InputError(f"there are no problems at {place}", wanted=wanted, got="no such file")
    result = sorted(path for path in place.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    named = {
        name: [path for path in result if _side_named(path.relative_to(place)) == name] for name in SIDES
    }
    chosen = named[side] if any(named.values()) else result
    if not chosen:
        raise InputError(
            f"nothing in {place} is named for this side",
            wanted=f"a file or folder whose name has the word {' or '.join(SIDES[side])}",
            got=", ".join(str(path.relative_to(place)) for path in result[:5]) or "no file of a dataset",
            do="name the file itself",
        )
    return chosen


def has_side(place: str, side: Split) -> bool:
    """Return whether a place has something for a side: all but a folder whose files are named for the other
    side alone do."""
    if place.startswith(GYM) or not Path(place).is_dir():
        return True
    try:
        return bool(files(Path(place), side))
    except InputError:
        return False


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of one file. Raises InputError: it cannot be read, or holds something else."""
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"{path} cannot be read as problems",
            wanted=f"a file that ends in {', '.join(SUFFIXES)}",
            got=path.suffix or "no ending",
        )
    try:
        require_regular(path)
        if path.suffix == ".jsonl":
            result = json_lines(path)
        else:
            result = _table_rows(path)
    except NoRow:
        raise
    except (OSError, ValueError) as error:  # json's and arrow's errors are ValueErrors
        form = path.suffix.removeprefix(".")
        raise InputError(
            f"the problems in {path} cannot be read",
            wanted=f"{form} with one problem a row",
            got=reason(error),
        ) from None
    for number, row in enumerate(result, 1):
        if not isinstance(row, dict):
            raise InputError(
                f"row {number} of {path} is no problem", wanted="an object", got=type(row).__name__
            )
    return result


class NoRow(InputError, ValueError):
    """A line of a file that is no JSON, or a column of a table that Python has no values for."""


def _table_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file or an Arrow stream.

    Raises:
        NoRow: a column cannot be read; names it. OSError, ValueError: the file cannot.
    """
    import numpy
    import pyarrow.ipc
    import pyarrow.parquet

    try:
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path)
        else:
            with path.open("rb") as stream:
                table = pyarrow.ipc.open_stream(stream).read_all()
    except pyarrow.ArrowException as error:
        raise ValueError(str(error)) from None
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            values = column.to_pylist()
            if pyarrow.types.is_floating(column.type) and column.type.bit_width < 64:
                # 0.1 is meant, and not 0.10000000149011612
                values = [None if value is None else float(str(numpy.float32(value))) for value in values]
            columns.append(values)
        # an unknown time zone, a day after the year 9999, nanoseconds: each has its own error
        except (pyarrow.ArrowException, ValueError, LookupError, OverflowError, ImportError) as error:
            raise NoRow(
                f"the column {name} of {path} cannot be read",
                wanted="values that Python has, too",
                got=f"{column.type}: {reason(error)}",
                do="cast the column to text or to a number, or leave it out",
            ) from None
    return [dict(zip(table.column_names, values, strict=True)) for values in zip(*columns, strict=True)]


def json_lines(path: Path) -> list[Any]:
    """Return the values of a file of JSON lines; only a line feed ends a line, as U+2028 and U+0085 may be
    part of a JSON text.

    Raises:
        NoRow: a line is no JSON; names its row. OSError, Unreadable: as `read_text`.
    """
    result = []
    for line in read_text(path, DATA_BYTES).split("\n"):
        if not line.strip():
            continue
        where = f"row {len(result) + 1} of {path}"
        try:
            result.append(
                parse_json(line.strip().removeprefix("\ufeff"), name=where, digits=DIGITS, pairs=unique_keys)
            )
        except ValueError as error:
            got = re.sub(r"(?: at)?: line 1 column (\d+) \(char \d+\)", r" at character \1", reason(error))
            raise NoRow(
                f"{where} cannot be read",
                wanted="one JSON object on each line",
                got=got,
                do="fix or remove the row",
            ) from None
    return result


def problem(
    row: Mapping[str, Any],
    side: Split,
    *,
    source: str,
    where: str,
    answer_format: AnswerFormat = "boxed",
    recipe: RowRecipe | None = None,
) -> Problem:
    """Return one row as a problem. recipe: None for the one that recognises it. Raises InputError: question
    or answer is of no use; names the row."""
    found = read_row(recipe or recipe_for(row, where), row, where)
    extra = row["extra_info"] if isinstance(row.get("extra_info"), dict) else {}
    values = {**row, **{name: value for name, value in found.values.items() if value is not None}}
    try:
        label = json.dumps(found.answer, allow_nan=False)
        found.question.encode()  # half of a surrogate pair is no text
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(
            f"{where} is no problem",
            wanted="a question that is text and an answer as JSON",
            got=reason(error),
            do="fix or remove the row",
        ) from None
    text = (
        found.question
        if "\\boxed" in found.question or asked_mark(found.question)
        else f"{found.question}\n\n{request('en', None, answer_format)}"
    )
    scorer, entry = _scorer(row, where)
    if found.several and scorer == ANSWER:
        scorer = ANY
    name = (
        row.get("problem_id")
        or row.get("instance_id")
        or extra.get("instance_id")
        or _sha(f"{text}\x1f{label}")
    )
    return Problem(
        str(name),
        text,
        label,
        bool(row.get("case_sensitive", extra.get("case_sensitive", False))),
        str(values.get("category") or row.get("ability") or "other"),
        _difficulty(values.get("difficulty", extra.get("difficulty"))),
        side,
        source,
        str(row.get("family") or row.get("family_id") or extra.get("family_id") or name),
        scorer,
        entry,
    )


def _difficulty(given: Any) -> int:
    """Return a row's difficulty: a whole number or a known word; 1 for anything else."""
    try:
        return WORD_LEVELS.get(str(given).casefold()) or int(given or 1)
    except (ValueError, TypeError, OverflowError):
        return 1


def _scorer(row: Mapping[str, Any], where: str) -> tuple[str, str | None]:
    """(scorer, entry as JSON text) of a row."""
    scorer = str(row.get("scorer") or ANSWER)
    if is_own(scorer):
        verifier = verifier_of(row.get("entry"), where)
        return verifier.scorer, verifier.entry
    made = row.get("metadata")
    if "scorer" not in row and isinstance(made, dict) and made.get("source_dataset") and row.get("question"):
        kept = {name: row.get(name) for name in ("question", "answer", "metadata")}
        entry = {"dataset": str(made["source_dataset"]), "entry": kept}
        return SCORER, json.dumps(check_entry(entry, where), sort_keys=True)
    if scorer not in SCORERS:
        raise InputError(
            f"{where} names a scorer that is not there",
            wanted=f"one of {', '.join(SCORERS)}",
            got=scorer,
            do="fix its column scorer",
        )
    if scorer != SCORER:
        return scorer, None
    given = row.get("entry")
    if isinstance(given, str):
        with suppress(ValueError):
            given = parse_json(given, name="the entry", digits=DIGITS)
    return scorer, json.dumps(check_entry(given, where), sort_keys=True)


def _of_gym(named: str, side: Split, count: int, seed: int, answer_format: AnswerFormat) -> Iterator[Problem]:
    try:
        tasks = (
            parse_json(named, name=GYM)
            if named.startswith("{")
            else {name.strip(): {} for name in named.split(",") if name.strip()}
        )
    except ValueError as error:
        raise InputError(
            f"the tasks of {GYM} cannot be read",
            wanted='names, or {"name": {configuration}}',
            got=reason(error),
        ) from None
    if not tasks or not all(isinstance(options, dict) for options in tasks.values()):
        raise InputError(
            f"{GYM} names no task", wanted='names, or {"name": {configuration}}', got=named or "nothing"
        )
    for name, options in tasks.items():
        for problem in gym_problems(
            [name], count, seed + HELDOUT_SEED * (side == "heldout"), options, answer_format
        ):
            yield Problem(**{**vars(problem), "split": side})


def _side_named(path: Path) -> str | None:
    """Return the side that the name of a file, else of the nearest folder above it, has a word of;
    `contest_math` has no word `test`."""
    for part in reversed((*path.parts[:-1], path.name.removesuffix(path.suffix))):
        words: Collection[str] = set(re.split(r"[^a-z]+", part.lower()))
        sides = [side for side, names in SIDES.items() if not words.isdisjoint(names)]
        if len(sides) == 1:
            return sides[0]
    return None


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
