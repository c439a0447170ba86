"""The text solver as a reviewer: what texts give, next to the labels of a family's programs.

Runs in the jail, where the time of a text that is hard to read or to search has a limit.
"""

from __future__ import annotations

from typing import Any

from evolake.families.text_solver.answers import Answer, Right, Unread, Void, check, solve

MOST_LEFT_OUT = 30
"""Sentences of a text that are left out, one at a time, to find what a disagreement is about."""


def review(source: str, payload: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what each text gives. payload: {"questions": [{"text", "label"}]}.

    status: "unread", with the `sentence` that has no meaning or why nothing is known; else "answered"
    with `answer`, or "no answer" with `why` the text has none. With these: `right` (whether the label
    fits the text), `rules` (the sentences that decide the answer) and, of a label that does not fit,
    `sentence`: the one without which it would, "" if there is none.
    """
    return [_one(item["text"], item["label"]) for item in payload["questions"]]


def _one(text: str, label: Any) -> dict[str, Any]:
    found = solve(text)
    if isinstance(found, Unread):
        return {"status": "unread", "sentence": found.sentence[:300]}
    right = check(text, label) == Right()
    return {
        "status": "answered" if isinstance(found, Answer) else "no answer",
        "answer": found.value if isinstance(found, Answer) else None,
        "why": "" if isinstance(found, Answer) else found.why,
        "right": right,
        "rules": list(found.rules),
        "sentence": "" if right else _at_fault(text, label, found),
    }


def _at_fault(text: str, label: Any, found: Answer | Void) -> str:
    for sentence in found.rules[:MOST_LEFT_OUT]:
        for line in (f"{sentence}\n", f" {sentence}", sentence):
            if line in text:
                if check(text.replace(line, "", 1), label) == Right():
                    return sentence
                break
    return ""
