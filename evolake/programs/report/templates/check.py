"""Score the construction in this folder again: python check.py. It needs Python and, for some evaluators, numpy."""

import importlib
import json
import random
import sys
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent


def numbers(value):
    """Return the object of numbers that its texts stand for."""
    if isinstance(value, dict):
        return {key: numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers(item) for item in value]
    if not isinstance(value, str):
        return value
    if "/" not in value:
        return int(value)
    nearest = float(Fraction(value))
    if Fraction(nearest) != Fraction(value):
        raise SystemExit(f"{value} is no float: the evaluator would be given another number")
    return nearest


def main():
    """Print the score, and end with 1 if the certificate claims another."""
    sys.path.insert(0, str(HERE))
    claim = json.loads((HERE / "construction.json").read_text(encoding="utf-8"))
    evaluator = importlib.import_module(claim["evaluator"].removesuffix(".py").replace("/", "."))
    random.seed(claim["seed"])
    cases = evaluator.cases(claim["seed"])
    ran = {"status": "ok", "output": numbers(claim["object"]), "cpu_s": 0.0, "peak_mb": 0.0, "reason": ""}
    found = evaluator.score(cases, [dict(ran) for _ in cases])[claim["metric"]]
    print(f"{claim['metric']} {found!r}. {claim['compared']}")
    if found != claim["score"]:
        print(f"this is not the score that is claimed: {claim['score']!r}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
