"""The entries of a reward file that TRL and verl call."""

import json

matches = None
# --- program ---


def no_value(name):
    """Refuse NaN and Infinity, which Python's reader of JSON takes for numbers."""
    raise ValueError(f"{name} is no number that an answer could equal")


def label_of(answer, row="the row"):
    """The value of a label. row: what an error calls its row."""
    try:
        return json.loads(answer, parse_constant=no_value)
    except (TypeError, ValueError, RecursionError) as error:
        shown = repr(answer)[:80]
        raise ValueError(
            f'the label of {row} is no JSON text: {shown} ({error}). Wanted: JSON, such as 42, or "Paris" with its quotes, as '
            "json.dumps writes it. Fix or remove the row."
        ) from None


IDS = ("instance_id", "problem_id", "id", "index")
"""Columns that name a row, the first that there is."""


def row_of(place, values):
    """What an error calls a row: its place, and its id where there is one. values: column -> value."""
    return next((f"{place} ({name} {values[name]})" for name in IDS if values.get(name) is not None), place)


def score(reply, answer, case_sensitive=True, units=(), row="the row"):
    """1.0 or 0.0. answer: the label as JSON text. units: those that the question asks for. row: what an error calls the label's row."""
    return 1.0 if matches(reply, label_of(answer, row), case_sensitive=case_sensitive, units=units) else 0.0


def text_of(completion):
    """A completion as text: a string, or a list of messages, whose last content counts."""
    if isinstance(completion, list):
        completion = completion[-1].get("content", "") if completion else ""
    return completion if isinstance(completion, str) else ""


def reward(completions, answer, case_sensitive=None, units=None, **columns):
    """One reward a completion. answer, case_sensitive, units: columns of the data set, one entry a completion."""
    sensitive = case_sensitive if case_sensitive is not None else [True] * len(completions)
    asked = units if units is not None else [()] * len(completions)
    ids = {name: columns[name] for name in IDS if columns.get(name) is not None}
    rows = [row_of(f"row {number + 1} of the batch", {name: ids[name][number] for name in ids}) for number in range(len(completions))]
    return [
        score(text_of(reply), label, case, () if names is None else names, row)
        for reply, label, case, names, row in zip(completions, answer, sensitive, asked, rows, strict=True)
    ]


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """The reward of one reply."""
    extra = extra_info or {}
    units = extra.get("units")
    row = row_of(f"a row of {data_source}", extra)
    return score(solution_str, ground_truth, extra.get("case_sensitive", True), () if units is None else units, row)
