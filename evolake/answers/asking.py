"""How a question says where its answer goes and what form it has: the same words in exports, in training and in evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

AnswerFormat = Literal["boxed", "last"]

ASKING = {
    "en": "Give your final answer{form} inside \\boxed{{...}}.",
    "zh": "请把最终答案{form}写在 \\boxed{{...}} 中。",
}
FORMS = {
    "en": {
        int: ", a whole number,", float: ", a decimal number,", bool: ", True or False,", list: ", a list in square brackets,",
        dict: ", a mapping as {key: value, ...},",
    },
    "zh": {int: "（整数）", float: "（小数）", bool: "（True 或 False）", list: "（方括号中的列表）", dict: "（形如 {key: value, ...} 的映射）"},
}
"""Language -> type of a family's answers -> what the request says of it."""
SHORT = {
    "en": {int: "one whole number", float: "one decimal number", bool: "True or False", list: "a list in square brackets"},
    "zh": {int: "一个整数", float: "一个小数", bool: "True 或 False", list: "方括号中的列表"},
}
SHORT_ASKING = {"en": "Reply with {form} and nothing else.", "zh": "只回答{form}，不要写别的。"}
SHORT_OTHER = {"en": "the answer", "zh": "答案"}


def request(language: str, form: type | None, answer_format: AnswerFormat = "boxed") -> str:
    """Return the sentence after a question. form: the type of the answers of its family, None where they are
    of several.

    boxed: wants the answer in a box. last: wants the answer alone, for a model too small to do more.
    """
    spoken = language if language in ASKING else "en"
    if answer_format == "last":
        return SHORT_ASKING[spoken].format(form=SHORT[spoken].get(form, SHORT_OTHER[spoken]) if form else SHORT_OTHER[spoken])
    return ASKING[spoken].format(form=FORMS[spoken].get(form, "") if form else "")


def answer_forms(rows: Iterable[Mapping[str, Any]]) -> dict[str, type]:
    """Family -> the type of its answers, for families whose labels here are all of one: an answer's type tells nothing about the single question.

    rows: with `family_id` and `answer`, JSON text.
    """
    result: dict[str, set[type]] = {}
    for row in rows:
        result.setdefault(row["family_id"], set()).add(type(json.loads(row["answer"])))
    return {family_id: types.pop() for family_id, types in result.items() if len(types) == 1}
