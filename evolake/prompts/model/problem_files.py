"""Problems from files of the user's own: JSON lines, parquet, the folder of a dataset, or tasks of reasoning-gym with their configurations.

Known columns, the first that is there: the question is `text`, `question`, `problem` or `prompt` (a text or messages), the answer `answer`,
`final_answer` or `reward_model.ground_truth`. Optional: problem_id or instance_id, family (or family_id), difficulty, category, case_sensitive,
scorer, and entry where that is reasoning-gym. What `evolake families export` writes is read as it is. A question that does not say where its answer
goes is asked for a boxed one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from evolake.answers.asking import AnswerFormat, request
from evolake.errors import InputError
from evolake.prompts.model.gym_problems import gym_problems
from evolake.prompts.model.protocol import ANSWER, SCORERS, Problem, Split
from evolake.reading import DATA_BYTES, parse_json, read_text, reason, require_regular
from evolake.verifiers.external import SCORER, check_entry

GYM = "reasoning-gym:"
QUESTIONS = ("text", "question", "problem", "prompt")
ANSWERS = ("answer", "final_answer", "reward_model")
SUFFIXES = (".jsonl", ".parquet", ".arrow")
SIDES = {"train": ("train",), "heldout": ("test", "validation", "valid", "eval")}
"""Side -> how the files of a dataset's folder are named that belong to it."""
DIGITS = 4300
"""Digits of a number in an answer."""


def read_side(place: str, side: Split, *, gym_problems: int, seed: int, answer_format: AnswerFormat = "boxed") -> list[Problem]:
    """The problems of one side of the split, each text once, in the order of the file.

    Args:
        place: a file, a folder, or "reasoning-gym:" with names divided by commas or {"name": {configuration}, ...}.
        gym_problems: how many of each task of reasoning-gym; seed: of those. answer_format: that a question which says nothing is given.

    Raises:
        InputError: the place cannot be read, or a row of it is no problem; says which.
    """
    if place.startswith(GYM):
        result = list(_of_gym(place.removeprefix(GYM), side, gym_problems, seed))
    else:
        result = [
            problem(row, side, source=path.name, where=f"row {number} of {path}", answer_format=answer_format)
            for path in files(Path(place), side) for number, row in enumerate(rows(path), 1)
        ]
    return list({_words(item.text): item for item in reversed(result)}.values())[::-1]


def files(place: Path, side: Split) -> list[Path]:
    """The files of a side: the file itself; of a folder those that are named for the side, or all where none is named for any.

    Raises:
        InputError: there is no such file or folder, or nothing in it that can be read for this side.
    """
    if place.is_file():
        return [place]
    wanted = f"a file or a folder of {', '.join(SUFFIXES)}"
    if not place.is_dir():
        raise InputError(f"there are no problems at {place}", wanted=wanted, got="no such file")
    result = sorted(path for path in place.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    named = {name: [path for path in result if _named_for(path.relative_to(place), words)] for name, words in SIDES.items()}
    chosen = named[side] if any(named.values()) else result
    if not chosen:
        raise InputError(
            f"nothing in {place} is named for this side", wanted=f"a file whose name holds {' or '.join(SIDES[side])}",
            got=", ".join(str(path.relative_to(place)) for path in result[:5]) or "no file of a dataset", do="name the file itself",
        )
    return chosen


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of one file. Raises InputError: it cannot be read, or holds something else."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path} cannot be read as problems", wanted=f"a file that ends in {', '.join(SUFFIXES)}", got=path.suffix or "no ending")
    try:
        require_regular(path)
        if path.suffix == ".jsonl":
            result = [parse_json(line, name="a row", digits=DIGITS) for line in read_text(path, DATA_BYTES).splitlines() if line.strip()]
        elif path.suffix == ".parquet":
            import pyarrow.parquet

            result = pyarrow.parquet.read_table(path).to_pylist()
        else:
            import pyarrow.ipc

            with path.open("rb") as stream:
                result = pyarrow.ipc.open_stream(stream).read_all().to_pylist()
    except (OSError, ValueError) as error:  # json's and arrow's errors are ValueErrors
        form = path.suffix.removeprefix(".")
        raise InputError(f"the problems in {path} cannot be read", wanted=f"{form} with one problem a row", got=reason(error)) from None
    if wrong := next((row for row in result if not isinstance(row, dict)), None):
        raise InputError(f"a row of {path} is no problem", wanted="an object", got=type(wrong).__name__)
    return result


def problem(row: Mapping[str, Any], side: Split, *, source: str, where: str, answer_format: AnswerFormat = "boxed") -> Problem:
    """One row as a problem. Raises InputError where question or answer is missing or of no use; names the row."""
    question, answer = _question(row), _answer(row)
    extra = row["extra_info"] if isinstance(row.get("extra_info"), dict) else {}
    if not question or answer is None:
        lacks = "question" if not question else "answer"
        raise InputError(
            f"{where} has no {lacks}", wanted=f"a question in {', '.join(QUESTIONS)} and an answer in {', '.join(ANSWERS)}",
            got=", ".join(row) or "nothing",
        )
    written = any(name in row for name in ("problem_id", "instance_id", "reward_model")) and isinstance(answer, str)
    try:
        label = json.dumps(parse_json(answer, name="the answer", digits=DIGITS)) if written else json.dumps(answer)
        difficulty = int(row.get("difficulty", extra.get("difficulty")) or 1)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{where} is no problem", wanted="an answer as JSON and a difficulty as a number", got=reason(error)) from None
    text = question if "\\boxed" in question else f"{question}\n\n{request('en', None, answer_format)}"
    scorer, entry = _scorer(row, where)
    name = row.get("problem_id") or row.get("instance_id") or extra.get("instance_id") or _sha(f"{text}\x1f{label}")
    return Problem(
        str(name), text, label, bool(row.get("case_sensitive", extra.get("case_sensitive", False))),
        str(row.get("category") or row.get("ability") or "other"), difficulty, side, source,
        str(row.get("family") or row.get("family_id") or extra.get("family_id") or name), scorer, entry,
    )


def _scorer(row: Mapping[str, Any], where: str) -> tuple[str, str | None]:
    """(scorer, entry as JSON text) of a row."""
    scorer = str(row.get("scorer") or ANSWER)
    if scorer not in SCORERS:
        raise InputError(f"{where} names a scorer that is not there", wanted=f"one of {', '.join(SCORERS)}", got=scorer, do="mend its column scorer")
    if scorer != SCORER:
        return scorer, None
    given = row.get("entry")
    if isinstance(given, str):
        with suppress(ValueError):
            given = parse_json(given, name="the entry", digits=DIGITS)
    return scorer, json.dumps(check_entry(given, where), sort_keys=True)


def _question(row: Mapping[str, Any]) -> str:
    result = next((row[name] for name in QUESTIONS if row.get(name)), "")
    if isinstance(result, Sequence) and not isinstance(result, str):
        asked = [item.get("content") for item in result if isinstance(item, dict) and item.get("role") == "user"]
        result = asked[-1] if asked else ""
    return result.strip() if isinstance(result, str) else ""


def _answer(row: Mapping[str, Any]) -> Any:
    result = next((row[name] for name in ANSWERS if row.get(name) is not None), None)
    return result.get("ground_truth") if isinstance(result, dict) and "ground_truth" in result else result


def _of_gym(named: str, side: Split, count: int, seed: int) -> Iterator[Problem]:
    try:
        tasks = parse_json(named, name=GYM) if named.startswith("{") else {name.strip(): {} for name in named.split(",") if name.strip()}
    except ValueError as error:
        raise InputError(f"the tasks of {GYM} cannot be read", wanted='names, or {"name": {configuration}}', got=reason(error)) from None
    if not tasks or not all(isinstance(options, dict) for options in tasks.values()):
        raise InputError(f"{GYM} names no task", wanted='names, or {"name": {configuration}}', got=named or "nothing")
    for name, options in tasks.items():
        for problem in gym_problems([name], count, seed + (side == "heldout"), options):
            yield Problem(**{**vars(problem), "split": side})


def _named_for(path: Path, words: Sequence[str]) -> bool:
    return any(word in part.lower() for part in path.parts for word in words)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
