"""Read rows of public data sets: which columns hold question and answer, and what the label is.

A recipe is recognised by the columns of a row and their types, never by a file's name. What no recipe
recognises, and a row with choices that none reads, wants a mapping (`question=..., answer=..., choices=...`):
columns are not guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from evolake.answers.matching import NOT_A_NUMBER
from evolake.answers.reading import extract_boxed
from evolake.errors import InputError
from evolake.reading import parse_json
from evolake.verifiers.gym import LEFT_OUT

QUESTIONS = ("text", "question", "problem", "prompt")
ANSWERS = ("answer", "final_answer", "reward_model")
MAPPED = ("question", "answer", "choices")
DIGITS = 4300
"""Digits of a number in an answer."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAPPING_EXAMPLE = (
    "EVOLAKE_PROMPTS__COLUMNS='question=COLUMN, answer=COLUMN' (and choices=COLUMN if answers are "
    "chosen), or --columns of `data check`"
)
_CHOICE_COLUMNS = ("choices", "options", "candidates", "distractor1", "A", "B", "endings")
WORD_LEVELS = {"easy": 1, "medium": 2, "hard": 3}
_RUNS_PROGRAMS = ("code", "apps", "taco", "leetcode", "humaneval", "mbpp")
_WORDS_OF_ANSWER = 5
_OF_ONE_ANSWER = ("columns", "AIME", "messages", "verl", "the mapping")
"""Recipes by which a list of texts may be several answers or one."""
_TESTS = re.compile(
    r"^\s*(?:assert |def check\(|import unittest)|^\s*\[?\s*\{\s*\"inputs?\"\s*:", re.MULTILINE
)
_OTHER_REQUESTS = re.compile(
    r"(?:let's think step by step and )?(?:please )?(?:output|give|put|write|provide)\b[^.?!\n]*"
    r"(?:after|following|behind)\s+[\"'“`]?####[\"'”`]?\.?\s*\Z"
    r"|the last line of your response should be of the form answer: [^\n]*\n+"
    r"|remember to put your answer on its own line after [\"“]?answer:[\"”]?\.?\s*\Z",
    re.IGNORECASE,
)
"""Sentences of data sets that ask for the answer in another place than ours."""


def asked_mark(question: str) -> str | None:
    """Return the mark after which a question asks for its answer, `####` or `Answer:`; None if it asks for
    none."""
    found = _OTHER_REQUESTS.search(question)
    if found is None:
        return None
    return "####" if "####" in found[0] else "Answer:"


def without_requests(question: str) -> str:
    """Return a question without the sentences by which data sets ask for the place of an answer."""
    return _OTHER_REQUESTS.sub("", question)


_UNBRACED_BOX = re.compile(r"\\boxed\s+([^\s{}$\\]*[^\s{}$\\.,;:])|\\fbox\s*\{")
"""MATH has both in place of `\\boxed{...}`."""
_GSM8K = re.compile(r"\n?####\s*(\S[^\n]*)\s*\Z")


@dataclass(frozen=True)
class ReadRow:
    """What a recipe read. answer: the label as a JSON value. several: it is a list of answers, each of which
    is right."""

    question: str
    answer: Any
    values: Mapping[str, Any] = field(default_factory=dict)
    several: bool = False


@dataclass(frozen=True)
class RowRecipe:
    """name: of the data set. label: what of a row is the label, in a few words. recognises: whether a row has
    its shape. read: the row."""

    name: str
    label: str
    recognises: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], ReadRow]

    def sentence(self) -> str:
        """Return one line for a person, such as `GSM8K: the number after ####`."""
        return f"{self.name}: {self.label}"


def recipe_for(row: Mapping[str, Any], where: str) -> RowRecipe:
    """Return the recipe that recognises a row.

    Raises:
        InputError: none does; says which columns there are and how a mapping is given.
    """
    result = next((recipe for recipe in ROW_RECIPES if recipe.recognises(row)), None)
    if result is not None:
        return result
    lacks = (
        "question"
        if not any(row.get(name) for name in (*QUESTIONS, "question_stem", "Problem", "messages"))
        else "answer"
    )
    chosen = [name for name in _CHOICE_COLUMNS if row.get(name)]
    causes = [
        f"{name} is {'null' if row[name] is None else 'an object with ' + ', '.join(map(str, row[name]))}"
        for name in (*ANSWERS, "solution", "answerKey")
        if name in row and isinstance(row[name], Mapping | None)
    ]
    what = (
        f"{where} has choices in {chosen[0]}, and no known recipe reads them"
        if chosen
        else f"{where} has no {lacks} in a known column"
    )
    raise InputError(
        what,
        wanted=(
            f"a question in {', '.join(QUESTIONS)} and an answer in {', '.join(ANSWERS)}, or a shape of "
            "docs/tutorials/train-on-your-data.md"
        ),
        got="; ".join(["the columns " + ", ".join(map(str, row)) if row else "nothing", *causes]),
        do=f"name the columns (a dot goes into an object): {MAPPING_EXAMPLE}",
    )


def mapped_recipe(columns: str) -> RowRecipe:
    """Return the recipe of a mapping such as `question=q, answer=a, choices=options`; a dot goes into an
    object (`answer=meta.label`).

    Raises:
        InputError: it is no such mapping.
    """
    pairs = [part.partition("=") for part in columns.split(",") if part.strip()]
    mapping = {name.strip(): column.strip() for name, _, column in pairs}
    if not {"question", "answer"} <= mapping.keys() <= set(MAPPED) or not all(mapping.values()):
        raise InputError(
            "the mapping of columns cannot be read",
            wanted="question=COLUMN, answer=COLUMN, and choices=COLUMN if there are any",
            got=columns,
        )

    def read(row: Mapping[str, Any]) -> ReadRow:
        found = {name: _at(row, column) for name, column in mapping.items()}
        for name, column in mapping.items():
            if found[name] is None:
                raise _Unusable(f"no {name} in the column {column} that the mapping names")
        if "choices" not in found:
            return ReadRow(_as_text(found["question"]), found["answer"], row)
        return ReadRow(*_lettered(_as_text(found["question"]), found["choices"], found["answer"]), row)

    return RowRecipe(
        "the mapping",
        ", ".join(f"{name} in {column}" for name, column in mapping.items()),
        lambda row: True,
        read,
    )


class NoLabel(InputError):
    """A row that its data set marks as one without a label that can be judged."""


class _Unusable(Exception):
    """A row of a recognised shape that holds no problem; says why."""


def read_row(recipe: RowRecipe, row: Mapping[str, Any], where: str) -> ReadRow:
    """Return what a recipe reads of a row.

    Raises:
        InputError: the row has no question or no answer; names the row. NoLabel: as its data set says,
            nothing can be judged by its answer.
    """
    try:
        result = recipe.read(row)
        if why := _marked(result.answer, result.question, row):
            raise NoLabel(why, got=where)
        if not result.question:
            raise _Unusable("an empty question")
        answer = _json_value(result.answer, row)
        if answer is None or answer != answer or (isinstance(answer, str) and answer in NOT_A_NUMBER):
            raise _Unusable(f"no answer that anything could equal ({answer})")
        if why := _no_answer(answer, result.question, row, recipe.name):
            raise _Unusable(why)
        texts = isinstance(answer, list) and len(answer) > 1 and all(isinstance(item, str) for item in answer)
        if not (texts and recipe.name in _OF_ONE_ANSWER):
            return replace(result, question=result.question.strip(), answer=answer)
        answer = list(dict.fromkeys(answer))
        return replace(result, question=result.question.strip(), answer=answer, several=True)
    except _Unusable as error:
        raise InputError(
            f"{where} has no problem that can be used",
            wanted=recipe.sentence(),
            got=str(error),
            do=f"fix or remove the row, or name the columns: {MAPPING_EXAMPLE}",
        ) from None


def _no_answer(answer: Any, question: str, row: Mapping[str, Any], recipe: str) -> str:
    """Return why a label is not the one answer of its question; "" if it may be."""
    parts = answer if isinstance(answer, list) else [answer]
    if any(
        {"inputs", "outputs"} <= part.keys() or {"input", "output"} <= part.keys()
        if isinstance(part, Mapping)
        else isinstance(part, str) and _TESTS.search(part)
        for part in parts
    ):
        return (
            "tests of a program; no answer equals them: run them by a verifier of your own, in the jail "
            "(EVOLAKE_PROMPTS__SCORER=FILE.py:FUNCTION)"
        )
    made = row.get("metadata")
    if recipe == "columns" and isinstance(made, Mapping) and (name := made.get("source_dataset")) in LEFT_OUT:
        return f"an entry of reasoning-gym's {name}, which cannot be judged: {LEFT_OUT[str(name)]}"
    return ""


def _marked(answer: Any, question: str, row: Mapping[str, Any]) -> str:
    """Return how a data set marks the row as one without a label that can be judged; "" if it does not."""
    proof = row.get("question_type") == "proof" or re.search(
        r"\b(?:prove|show that)\b", question, re.IGNORECASE
    )
    said = str(answer).strip().casefold()
    if proof and said == "proof":
        return "a question that asks for a proof, which no label can judge"
    if said == "notfound":
        return "an answer that is not found in its solution"
    for name in ("problem_is_valid", "solution_is_valid"):
        if str(row.get(name) or "yes").casefold() not in ("yes", "true", "1"):
            return f"{name} is {row[name]!r}"
    return ""


def _json_value(value: Any, row: Mapping[str, Any]) -> Any:
    """Return a label of a table's column as JSON has it: a decimal is a number, a day and a time of day are
    texts; a moment, a duration and bytes are refused with their column."""
    if isinstance(value, Mapping):
        return {key: _json_value(item, row) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item, row) for item in value]
    if isinstance(value, Decimal) and value.is_finite():
        number = int(value) if value == value.to_integral_value() else float(value)
        return number if Decimal(repr(number)) == value else format(value.normalize(), "f")
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, time) and value.tzinfo is None and not value.microsecond:
        return value.isoformat("auto" if value.second else "minutes")
    if value is None or isinstance(value, str | int | float):
        return value
    column = next((name for name, held in row.items() if value is held), "of the answer")
    raise _Unusable(
        f"the column {column} has a {type(value).__name__}, {str(value)[:60]}; cast it to the text or the "
        "number that a reply shall give"
    )


def _at(row: Mapping[str, Any], column: str) -> Any:
    """Return a column's value; a dot goes into an object."""
    if column in row:
        return row[column]
    head, _, rest = column.partition(".")
    return _at(row[head], rest) if rest and isinstance(row.get(head), Mapping) else None


def _as_text(value: Any) -> str:
    """Return a question: a text, or messages written out."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Sequence) and all(isinstance(item, Mapping) for item in value):
        return conversation(value)
    raise _Unusable(f"a question that is {type(value).__name__}")


def conversation(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return messages as one text: the user's message alone if it is the only one, else all turns with their
    roles, instructions first."""
    turns = [(str(item.get("role")), item.get("content")) for item in messages]
    if not turns or turns[-1][0] != "user" or not all(isinstance(content, str) for _, content in turns):
        raise _Unusable("messages of which the last is no text of the user")
    if len(turns) == 1:
        return str(turns[0][1]).strip()
    head = [str(content).strip() for role, content in turns if role in ("system", "developer")]
    rest = [(role, str(content).strip()) for role, content in turns if role not in ("system", "developer")]
    body = [rest[0][1]] if len(rest) == 1 else [f"{role.capitalize()}: {content}" for role, content in rest]
    return "\n\n".join([*head, *body])


def _lettered(question: str, choices: Any, answer: Any) -> tuple[str, str]:
    """Return (the question with its choices lettered, the letter of the answer: an index from 0, a letter, or
    the text of one choice)."""
    names = list(LETTERS)
    if isinstance(choices, Mapping) and isinstance(choices.get("text"), Sequence):
        names, choices = [str(name) for name in choices.get("label") or LETTERS], choices["text"]
    elif isinstance(choices, Mapping):
        names, choices = [str(name) for name in choices], list(choices.values())
    if isinstance(choices, str) or not isinstance(choices, Sequence) or not 2 <= len(choices) <= len(names):
        raise _Unusable(f"choices that are no list of 2 to {len(LETTERS)}")
    if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(choices):
        label = names[answer]
    elif str(answer).strip() in names[: len(choices)]:
        label = str(answer).strip()
    elif [str(item) for item in choices].count(str(answer)) == 1:
        label = names[[str(item) for item in choices].index(str(answer))]
    else:
        raise _Unusable(
            f"the answer {answer!r}, which is no index, letter or text of one of its {len(choices)} choices"
        )
    shown = "\n".join(f"{name}. {str(item).strip()}" for name, item in zip(names, choices, strict=False))
    return (
        f"{question}\n\n{shown}\n\nAnswer with the letter of the right choice ({names[0]} to "
        f"{names[len(choices) - 1]}).",
        label,
    )


def _question(row: Mapping[str, Any]) -> str:
    value = next((row[name] for name in QUESTIONS if row.get(name)), None)
    return "" if value is None else _as_text(value)


def _has_question(row: Mapping[str, Any]) -> bool:
    return any(row.get(name) for name in QUESTIONS)


def _is_own(row: Mapping[str, Any]) -> bool:
    extra = row.get("extra_info")
    exported = "family_id" in row or (isinstance(extra, Mapping) and bool(extra.get("family_id")))
    chosen = any(row.get(name) for name in _CHOICE_COLUMNS)
    return (
        _has_question(row)
        and not chosen
        and (exported or "problem_id" in row)
        and any(row.get(name) is not None for name in ANSWERS)
    )


def _own(row: Mapping[str, Any]) -> ReadRow:
    """Rows of `evolake families export` have answers as JSON text; a text that is no JSON is meant as it
    is."""
    answer = next((row[name] for name in ANSWERS if row.get(name) is not None), None)
    if isinstance(answer, Mapping) and "ground_truth" in answer:
        answer = answer["ground_truth"]
    if isinstance(answer, str):
        with suppress(ValueError):
            answer = parse_json(answer, name="the answer", digits=DIGITS)
    return ReadRow(_question(row), answer, row)


def _gsm8k(row: Mapping[str, Any]) -> ReadRow:
    match = _GSM8K.search(row["answer"])
    if match is None:
        raise _Unusable("an answer without #### on its last line")
    return ReadRow(
        _question(row),
        number_or_text(match[1].strip()),
        {name: value for name, value in row.items() if name != "solution"},
    )


def number_or_text(text: str) -> int | str:
    """Return the whole number that a text is, with or without commas between thousands, else the text."""
    plain = text.replace(",", "") if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+", text) else text
    return int(plain) if re.fullmatch(r"[+-]?(0|[1-9]\d{0,300})", plain) else text


def _math(row: Mapping[str, Any]) -> ReadRow:
    braced = _UNBRACED_BOX.sub(lambda box: f"\\boxed{{{box[1]}}}" if box[1] else "\\boxed{", row["solution"])
    label = extract_boxed(braced)
    short = "\n" not in row["solution"] and len(row["solution"].split()) <= _WORDS_OF_ANSWER
    if label is None and short and not isinstance(row.get("prompt"), str | None):
        label = row["solution"]  # a chat's, as trainers write it
    if label is None:
        raise _Unusable("a solution without \\boxed{...}")
    level = re.search(r"\d+", str(row.get("level", "")))
    return ReadRow(
        _question(row),
        label.strip(),
        {"difficulty": int(level[0]) if level else 1, "category": row.get("type") or row.get("subject")},
    )


def _aime(row: Mapping[str, Any]) -> ReadRow:
    question, answer = row.get("Problem", row.get("problem")), row.get("Answer", row.get("answer"))
    label = int(answer) if isinstance(answer, str) and re.fullmatch(r"\s*\d{1,3}\s*", answer) else answer
    return ReadRow(_as_text(question), label, {"category": "math"})


def _hotpot(row: Mapping[str, Any]) -> ReadRow:
    context = row["context"]
    if isinstance(context, Mapping):
        paragraphs = list(zip(context.get("title") or [], context.get("sentences") or [], strict=False))
    else:
        paragraphs = [(item[0], item[1]) for item in context or [] if len(item) == 2]
    shown = "\n\n".join(f"{title}: {''.join(sentences).strip()}" for title, sentences in paragraphs)
    level = WORD_LEVELS.get(str(row.get("level")), 1)
    return ReadRow(
        f"{shown}\n\n{_question(row)}".strip(),
        row["answer"],
        {"difficulty": level, "category": row.get("type")},
    )


def _verl(row: Mapping[str, Any]) -> ReadRow:
    """Read a row of verl, whose scorers compare with `ground_truth`, a text; search-R1's is an object with
    accepted answers; those that run programs are refused."""
    truth, source = row["reward_model"].get("ground_truth"), str(row.get("data_source", ""))
    if any(name in source.casefold() for name in _RUNS_PROGRAMS):
        raise _Unusable(f"a label of {source}, whose scorer runs programs on tests")
    if isinstance(truth, Mapping) and "target" in truth:
        truth = truth["target"]
        if isinstance(truth, Sequence) and not isinstance(truth, str):
            truth = list(truth)
            if not truth:
                raise _Unusable("no accepted answer in ground_truth.target")
    if isinstance(truth, Sequence) and not isinstance(truth, str) and len(truth) == 1:
        truth = truth[0]
    extra = row["extra_info"] if isinstance(row.get("extra_info"), Mapping) else {}
    return ReadRow(
        _question(row),
        truth,
        {"category": row.get("ability"), "difficulty": extra.get("difficulty"), "id": extra.get("id")},
    )


def _synlogic(row: Mapping[str, Any]) -> ReadRow:
    given = row["extra_info"]["game_data_str"]
    try:
        game = parse_json(given, name="game_data_str", digits=DIGITS) if isinstance(given, str) else given
    except ValueError:
        raise _Unusable("a game_data_str that is no JSON") from None
    answer = game.get("answer") if isinstance(game, Mapping) else None
    if answer in (None, ""):
        raise _Unusable("a puzzle without an answer, which only its own verifier could judge")
    return ReadRow(
        _as_text(row["prompt"]),
        answer,
        {"category": row.get("data_source"), "difficulty": game.get("difficulty")},
    )


def _enigmata(row: Mapping[str, Any]) -> ReadRow:
    if row["answer"] in (None, "", []):
        raise _Unusable("a puzzle without an answer, which only its own verifier could judge")
    level = row.get("difficulty")
    return ReadRow(
        _question(row),
        row["answer"],
        {"category": row["task_name"], "difficulty": WORD_LEVELS.get(str(level).casefold(), level)},
    )


def _messages(row: Mapping[str, Any]) -> ReadRow:
    turns = list(row["messages"])
    if row.get("answer") is not None:
        while turns and turns[-1].get("role") == "assistant":
            turns.pop()
        return ReadRow(conversation(turns), row["answer"], row)
    if len(turns) < 2 or turns[-1].get("role") != "assistant":
        raise _Unusable("messages that do not end with a reply, and no column answer")
    label = extract_boxed(str(turns[-1].get("content")))
    if label is None:
        raise _Unusable("a last reply without \\boxed{...}, and no column answer")
    return ReadRow(conversation(turns[:-1]), label.strip(), row)


def _plain(row: Mapping[str, Any]) -> ReadRow:
    return ReadRow(_question(row), next(row[name] for name in ANSWERS if row.get(name) is not None), row)


def _is_text(row: Mapping[str, Any], *names: str) -> bool:
    return all(isinstance(row.get(name), str) and row[name] for name in names)


ROW_RECIPES = (
    RowRecipe(
        "SynLogic",
        "the answer in extra_info.game_data_str; compared as text, so a puzzle with several solutions is "
        "judged by one of them",
        lambda row: (
            isinstance(row.get("extra_info"), Mapping)
            and bool(row["extra_info"].get("game_data_str"))
            and bool(row.get("prompt"))
        ),
        _synlogic,
    ),
    RowRecipe(
        "GSM8K",
        "the number after ####",
        lambda row: _is_text(row, "question", "answer") and "\n####" in f"\n{row['answer']}",
        _gsm8k,
    ),
    RowRecipe(
        "MATH",
        "the last \\boxed{...} of the solution",
        lambda row: (
            _has_question(row)
            and _is_text(row, "solution")
            and row.get("answer") is None
            and "Answer" not in row
        ),
        _math,
    ),
    RowRecipe(
        "MMLU",
        "the letter of the right choice; choices are lettered in the question",
        lambda row: (
            _is_text(row, "question")
            and isinstance(row.get("choices"), Sequence)
            and not isinstance(row["choices"], str)
            and type(row.get("answer")) in (int, str)
            and len(row["choices"]) > 1
        ),
        lambda row: ReadRow(
            *_lettered(row["question"].strip(), row["choices"], row["answer"]),
            {"category": row.get("subject")},
        ),
    ),
    RowRecipe(
        "ARC",
        "answerKey, the name of the right choice; choices are written below the question",
        lambda row: (
            isinstance(row.get("choices"), Mapping)
            and _is_text(row, "answerKey")
            and bool(row.get("question") or row.get("question_stem"))
        ),
        lambda row: ReadRow(
            *_lettered(
                str(row.get("question") or row["question_stem"]).strip(), row["choices"], row["answerKey"]
            ),
            {"category": row.get("category")},
        ),
    ),
    RowRecipe(
        "HotpotQA",
        "the short answer; its paragraphs are before the question",
        lambda row: _is_text(row, "question", "answer") and "context" in row and "supporting_facts" in row,
        _hotpot,
    ),
    RowRecipe("evolake", "the answer, as JSON if it is JSON", _is_own, _own),
    RowRecipe(
        "verl",
        "reward_model.ground_truth",
        lambda row: (
            isinstance(row.get("reward_model"), Mapping)
            and "ground_truth" in row["reward_model"]
            and _has_question(row)
        ),
        _verl,
    ),
    RowRecipe(
        "Enigmata",
        "the answer; compared as text, so a puzzle with several solutions is judged by one of them",
        lambda row: "task_name" in row and "answer" in row and _has_question(row),
        _enigmata,
    ),
    RowRecipe(
        "AIME",
        "the answer as a whole number",
        lambda row: (
            ("Problem" in row and row.get("Answer") is not None)
            or (
                "problem" in row
                and row.get("answer") is not None
                and bool({"year", "url", "problem_idx"} & row.keys())
            )
        ),
        _aime,
    ),
    RowRecipe(
        "messages",
        "the answer, or the last \\boxed{...} of the last reply",
        lambda row: (
            isinstance(row.get("messages"), Sequence)
            and not isinstance(row["messages"], str)
            and bool(row["messages"])
        ),
        _messages,
    ),
    RowRecipe(
        "columns",
        "the answer as it is",
        lambda row: (
            _has_question(row)
            and not any(row.get(name) for name in _CHOICE_COLUMNS)
            and any(row.get(name) is not None and not isinstance(row[name], Mapping) for name in ANSWERS[:2])
        ),
        _plain,
    ),
)
"""In the order in which they are tried: the more columns one wants, the earlier."""


def label_text(label: Any) -> str:
    """Return a label as a correct reply would write it."""
    return label if isinstance(label, str) else json.dumps(label, ensure_ascii=False)
