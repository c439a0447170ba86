"""The entries of a reward file that TRL and verl call."""

import json

matches = None
# --- program ---


def score(reply, answer, case_sensitive=True, units=()):
    """1.0 or 0.0. answer: the label as JSON text. units: those that the question asks for."""
    return 1.0 if matches(reply, json.loads(answer), case_sensitive=case_sensitive, units=units) else 0.0


def text_of(completion):
    """A completion as text: a string, or a list of messages, whose last content counts."""
    if isinstance(completion, list):
        completion = completion[-1].get("content", "") if completion else ""
    return completion if isinstance(completion, str) else ""


def reward(completions, answer, case_sensitive=None, units=None, **columns):
    """One reward a completion. answer, case_sensitive, units: columns of the data set, one entry a completion."""
    sensitive = case_sensitive if case_sensitive is not None else [True] * len(completions)
    asked = units if units is not None else [()] * len(completions)
    return [
        score(text_of(reply), label, case, () if names is None else names)
        for reply, label, case, names in zip(completions, answer, sensitive, asked, strict=True)
    ]


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """The reward of one reply."""
    extra = extra_info or {}
    units = extra.get("units")
    return score(solution_str, ground_truth, extra.get("case_sensitive", True), () if units is None else units)
