"""What is given and has no effect: values that the prose names, and columns of records."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

from evolake.families.readings.view import Examiner, FamilyView, ReadingPlace, Wanted, at, changed, texts_in


def named_values(view: FamilyView) -> Examiner:
    """Examine whether values of the data that the prose names matter: each of them becomes another value of
    the same place in the data."""
    prose = " ".join(re.sub(r"#\d+", " ", sentence) for sentence in view.sentences)
    words = dict.fromkeys(re.findall(r"[A-Za-z][A-Za-z-]+", prose))
    columns: dict[tuple[Any, ...], set[str]] = {}
    for item in view.instances:
        for where, value in texts_in(item.inputs):
            columns.setdefault(where, set()).add(value)
    stated = []
    for where, values in columns.items():
        if 2 <= len(values) <= 12 and len(view.instances) > len(values):
            forms = {
                value: (value.casefold(), value.casefold() + "s")
                for value in sorted(values)
                if len(value) > 1
            }
            said = [
                (value, word) for value, known in forms.items() for word in words if word.casefold() in known
            ]
            stated += [(where, value, word, values) for value, word in said if len(said) < len(values)]
    trials = []
    for where, value, _, values in stated:
        for other in [item for item in sorted(values) if item != value][:3]:
            for place in range(len(view.instances)):
                new = _replaced(view.instances[place].inputs, where, value, other)
                if new != view.instances[place].inputs:
                    trials.append((where, value, place, new))
    given = yield Wanted([inputs for *_, inputs in trials])
    result = []
    for where, value, word, _ in stated:
        answers = [
            solved.status != "ok" or not view.same(solved.answer, view.labels[place])
            for (path, old, place, _), solved in zip(trials, given.answers, strict=False)
            if path == where and old == value
        ]
        if len(answers) >= 8:
            sentence = next(
                (item for item in view.sentences if re.search(rf"\b{re.escape(word)}\b", item)), ""
            )
            verdict = "fixed" if any(answers) else "contradicted"
            does = f"{value} as any other" if not any(answers) else f"{value} apart"
            result.append(
                ReadingPlace(
                    "a value that the text names",
                    sentence,
                    f"{value} apart",
                    does,
                    verdict,
                    sum(answers),
                    len(answers),
                )
            )
    return result


def _replaced(value: Any, where: tuple[Any, ...], old: str, new: str) -> Any:
    if not where:
        return new if value == old else value
    if isinstance(value, dict):
        return {
            key: _replaced(item, where[1:], old, new) if key == where[0] else item
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _replaced(item, where[1:], old, new) if where[0] in ("*", number) else item
            for number, item in enumerate(value)
        ]
    return value


def idle_columns(view: FamilyView) -> Examiner:
    """Examine whether each number and each kind of thing in records of the data matters: exchanged between
    records, it must change some answer."""
    trials = []
    for path in view.lists():
        for place in range(len(view.instances)):
            items = at(view.instances[place].inputs, path)
            keys = _keys(items)
            for key in keys:
                values = [item[key] for item in items]
                kinds = {type(value) for value in values}
                if (
                    len(kinds) != 1
                    or not kinds <= {int, str, bool}
                    or (kinds == {str} and len(set(values)) > max(2, 2 * len(values) // 3))
                ):
                    continue
                same = (
                    [[value] * len(items) for value in dict.fromkeys((values[0], values[-1]))]
                    if len(set(values)) > 1
                    else []
                )
                if isinstance(items[0], list) and all(type(part) is int for part in items[0]):
                    same = (
                        [
                            [1000 + number for number in range(len(items))],
                            [2000 - 3 * number for number in range(len(items))],
                        ]
                        if same
                        else []
                    )
                for column in same:
                    new = copy.deepcopy(items)
                    for item, value in zip(new, column, strict=True):
                        item[key] = value
                    trials.append((path, key, place, changed(view.instances[place].inputs, path, new)))
    given = yield Wanted([inputs for *_, inputs in trials])
    result = []
    for path, key in dict.fromkeys((path, key) for path, key, *_ in trials):
        answers = [
            solved.status != "ok" or not view.same(solved.answer, view.labels[place])
            for (where, column, place, _), solved in zip(trials, given.answers, strict=True)
            if (where, column) == (path, key)
        ]
        plain = (
            {type(part) for part in at(view.instances[0].inputs, path)[0]} == {int}
            if isinstance(key, int)
            else False
        )
        if plain and not re.search(
            r"\b(?:rows?|columns?|x|y|squares?|positions?|coordinates?)\b", view.text, re.IGNORECASE
        ):
            continue
        if len(answers) >= 20 and not any(answers):
            name = f"part {key + 1 if isinstance(key, int) else key} of each record in {'.'.join(path)}"
            says, does = f"{name} is given", "it changes no answer"
            result.append(
                ReadingPlace(
                    "a column of the data", view.sentences[0], says, does, "contradicted", 0, len(answers)
                )
            )
    return result


def _keys(items: Sequence[Any]) -> list[Any]:
    """Return the columns of a list of records of one form, none if it is not that."""
    if (
        items
        and all(isinstance(item, list) and len(item) == len(items[0]) > 1 for item in items)
        and len({str(type(part)) for part in items[0]}) > 1
    ):
        return list(range(len(items[0])))
    if len(items) > 2 and all(
        isinstance(item, list) and 2 <= len(item) == len(items[0]) <= 4 and set(map(type, item)) == {int}
        for item in items
    ):
        return list(range(len(items[0])))
    if items and all(isinstance(item, dict) and item.keys() == items[0].keys() for item in items):
        return list(items[0])
    return []
