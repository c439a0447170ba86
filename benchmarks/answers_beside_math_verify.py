"""Our comparison of answers and math-verify's, side by side on the same replies, those of the tests.

    python benchmarks/answers_beside_math_verify.py

Takes the pairs of tests/unit/families/test_answer_forms.py and the rows of docs/answers.md, each with what
counts. Prints right replies that are missed and wrong ones that are rewarded, for each of the two.
math-verify is an extra: if it is not installed, the benchmark says so and prints our figures alone. Our
reader was written with these pairs in view, so the figures favour it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench import SHORT, skip

from evolake.answers.forms import asked_units
from evolake.answers.matching import matches

ROOT = Path(__file__).parents[1]
ROW = re.compile(
    r"\| [^|]+ \| `(?P<reply>[^|]+)` \| `(?P<label>[^|]+)` \| (?P<question>[^|]*)\| (?P<counts>yes|no) \| "
    r"(?:yes|no) \|$"
)
Judge = Callable[[str, Any, str, bool], bool]


def cases() -> list[tuple[str, Any, str, bool, bool]]:
    """(content of the box, label, question, whether case counts, whether it is right)."""
    from unit.families.test_answer_forms import RIGHT, WRONG  # pyright: ignore[reportMissingImports]

    rows = [
        match
        for line in (ROOT / "docs" / "answers.md").read_text(encoding="utf-8").splitlines()
        if (match := ROW.match(line))
    ]
    return [
        *((reply, label, "", False, True) for reply, label in RIGHT),
        *((reply, label, "", False, False) for reply, label in WRONG),
        *(
            (row["reply"], json.loads(row["label"]), row["question"], True, row["counts"] == "yes")
            for row in rows
        ),
    ]


def ours(content: str, label: Any, question: str, case: bool) -> bool:
    """Return whether the reward counts the reply as right."""
    return matches(f"\\boxed{{{content}}}", label, case_sensitive=case, units=asked_units(question))


def math_verify_judge() -> Judge | None:
    """Return what math-verify says, None if it is not installed."""
    if find_spec("math_verify") is None:
        return None
    from math_verify import parse, verify  # pyright: ignore[reportMissingImports]

    def judge(content: str, label: Any, question: str, case: bool) -> bool:
        gold = label if isinstance(label, str) else json.dumps(label)
        try:
            return bool(verify(parse(f"${gold}$"), parse(f"\\boxed{{{content}}}")))
        except Exception:
            return False

    return judge


def show(name: str, judge: Judge) -> None:
    """Print one row."""
    known = cases()[:: 5 if SHORT else 1]
    missed = [case for case in known if case[4] and not judge(*case[:4])]
    rewarded = [case for case in known if not case[4] and judge(*case[:4])]
    right, wrong = sum(case[4] for case in known), sum(not case[4] for case in known)
    print(
        f"{name:12} right replies missed: {len(missed)} of {right}   wrong replies rewarded: "
        f"{len(rewarded)} of {wrong}"
    )
    for content, label, question, *_ in [*missed, *rewarded][:20]:
        print(f"             {content!r} for the label {label!r} {question}")


if __name__ == "__main__":
    show("evolake", ours)
    other = math_verify_judge()
    if other is None:
        skip("math-verify is not installed (pip install math-verify), so nothing is compared with it")
    show("math-verify", other)
