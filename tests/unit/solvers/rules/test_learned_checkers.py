"""The checkers that learned rules may name: parameters choose what they block, and what they cannot use is
refused."""

import pytest

import evolake.solvers.rules  # noqa: F401
from evolake.errors import InputError
from evolake.gates.checkers import apply

PLACE = {"file": "core/Solver.cc", "line": 9, "count": 1}
EVIDENCE = {
    "source": {
        "added": [
            {"kind": "call", "name": "reduceDB", "text": "reduceDB()", "function": "Solver::search", **PLACE}
        ],
        "removed": [{"kind": "name", "name": "proof", "text": "", "function": "Solver::solve", **PLACE}],
        "options": {"var-decay": "0.5", "luby": "true"},
    },
    "edits": [{"kind": "patch", "name": "restart-ema", "parameters": {"fast": 0.03, "mode": "glucose"}}],
    "parent_edits": [[{"kind": "tunable", "name": "rfirst", "parameters": {"value": 50}}]],
    "base": "minisat22",
}


@pytest.mark.parametrize(
    ("check", "parameters", "reason"),
    [
        (
            "forbidden_pattern",
            {"kind": "call", "name": "^reduceDB$", "function": "search"},
            "adds call 'reduceDB()' in Solver::search",
        ),
        ("forbidden_pattern", {"kind": "call", "name": "^reduceDB$", "function": "simplify"}, None),
        ("forbidden_pattern", {"kind": "call", "name": "reduceDB", "base": "glucose421"}, None),
        (
            "forbidden_pattern",
            {"kind": "name", "name": "proof", "removed": True},
            "takes away name 'proof' in Solver::solve",
        ),
        (
            "option_bound",
            {"option": "var-decay", "least": 0.7, "most": 0.999},
            "option var-decay defaults to 0.5; at least 0.7 and",
        ),
        ("option_bound", {"option": "var-decay", "most": 0.6}, None),
        ("option_bound", {"option": "luby", "least": 1}, None),
        ("option_bound", {"option": "absent", "least": 1}, None),
        ("forbidden_edit", {"edit": "restart-ema"}, "edit restart-ema with"),
        (
            "forbidden_edit",
            {"edit": "restart-ema", "parameters": {"fast": [None, 0.05], "mode": ["glucose", None]}},
            "edit restart-ema with",
        ),
        ("forbidden_edit", {"edit": "restart-ema", "parameters": {"fast": [0.05, None]}}, None),
        ("forbidden_edit", {"edit": "restart-ema", "parameters": {"mode": ["luby", None]}}, None),
        ("kept_edit", {"edit": "rfirst"}, "drops the edit rfirst of its parent"),
        ("kept_edit", {"edit": "restart-ema"}, None),
    ],
)
def test_parameters_choose_what_is_blocked(check, parameters, reason):
    finding = apply(f"solvers.{check}", EVIDENCE, parameters)
    assert (finding is None) == (reason is None)
    assert finding is None or finding.reason.startswith(str(reason))


@pytest.mark.parametrize(
    ("check", "parameters", "message"),
    [
        ("forbidden_pattern", {"kind": "call"}, "matches everything"),
        ("forbidden_pattern", {"kind": "call", "name": "("}, "no regular expression"),
        ("forbidden_pattern", {"kind": "call", "name": "(a+)+$"}, "repeats a group"),
        ("forbidden_pattern", {"kind": "call", "name": "a.*b.*c.*d.*e.*f"}, "too many repetitions"),
        ("forbidden_edit", {"edit": "restart-ema", "parameters": {"fast": [1]}}, "range of fast"),
        ("option_bound", {"bound": 3}, "does not take these parameters"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(check, parameters, message):
    with pytest.raises(InputError, match=message):
        apply(f"solvers.{check}", EVIDENCE, parameters)
