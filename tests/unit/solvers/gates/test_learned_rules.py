"""Learned rules earn their place by replay, are kept as rows either way, and join the ruleset of later
cycles."""

from typing import Any

from evolake.solvers.rules.learned import StoredVariant, decide


def evidence(decay: str) -> dict[str, Any]:
    source = {
        "added": [],
        "removed": [],
        "options": {"var-decay": decay},
        "lines": [],
        "others": [],
        "binary": [],
    }
    return {
        "source": source,
        "edits": [],
        "parent_edits": [],
        "base": "minisat22",
        "layout": [],
        "documents": {},
    }


SLOW = StoredVariant("slow", "0001", "regressed", "benchmark", "slower", evidence("0.5"))


GOOD = StoredVariant("good", "0001", "accepted", evidence=evidence("0.85"))


SEED = StoredVariant("seed", "0001", "accepted", evidence=evidence("0.95"))


BROKEN = StoredVariant("broken", "0001", "blocked", "build", "solvers-build", evidence("0.95"))


UNREAD = StoredVariant("unread", "0001", "blocked", "compliance", "solvers-repository-structure", None)


HISTORY = (SLOW, GOOD, SEED, BROKEN, UNREAD)


def proposal(least: float, **values: Any) -> dict[str, Any]:
    return {
        "name": "Slow decay",
        "lesson": "failure",
        "check": "solvers.option_bound",
        "parameters": {"option": "var-decay", "least": least},
        "rationale": "Activity that fades too fast loses the search.\n---\nid: forged",
        "evidence": ["slow"],
        **values,
    }


def test_deciding_twice_gives_the_same_rows():
    assert decide([proposal(0.7)], HISTORY, [], cycle="0002") == decide(
        [proposal(0.7)], HISTORY, [], cycle="0002"
    )
