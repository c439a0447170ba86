"""A rule names a gate, a checker and parameters that its line has, or the error says which there are."""

import ast
import inspect
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from evolake.bundles.model import bundle_of
from evolake.cli import cli
from evolake.errors import InputError
from evolake.families.gates import specs
from evolake.families.gates.specs import GATES
from evolake.gate_spec import GateSpec
from evolake.gates.checkers import CHECKERS, known_checkers, known_gates
from evolake.gates.rules import load_rules
from evolake.lazy import Lazy
from evolake.project import BROUGHT as PROJECT_ROOT

RULED = ("designs", "families", "programs", "prompts", "solvers")
NOT_OF_A_BUNDLE = {"designs": {"objective"}, "solvers": {"benchmark", "duel", "holdout"}}
"""Gates of other artifacts than those that are bundled, and of what comes to light later."""
FIT = {"gate": "static", "check": "families.length", "parameters": '{"shortest": 1, "longest": 9}'}


def load(folder: Path, **changes: str) -> None:
    fields = "\n".join(f"{name}: {value}" for name, value in (FIT | changes).items())
    (folder / "families").mkdir()
    (folder / "families" / "mine.md").write_text(
        f"---\nid: families-mine\nversion: 1\nkind: static\n{fields}\n---\nWhy.\n"
    )
    load_rules(folder, "families")


def test_a_rule_that_names_what_there_is_loads(tmp_path):
    load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"gate": "statik"},
            ("the line families has no gate 'statik'", "did you mean 'static'?", "execution, static"),
        ),
        (
            {"check": "families.lenght"},
            ("no checker is called 'families.lenght'", "did you mean 'families.length'?"),
        ),
        ({"check": "designs.trace"}, ("no checker is called 'designs.trace'",)),
        (
            {"parameters": '{"shortest": 1, "longst": 9}'},
            ("has no parameter 'longst'", "did you mean 'longest'?"),
        ),
        ({"parameters": '{"shortest": 1}'}, ("checker families.length needs longest",)),
    ],
    ids=["gate", "checker", "another line's", "parameter", "lacking"],
)
def test_a_name_that_there_is_not_is_an_error_with_those_that_there_are(tmp_path, changes, said):
    with pytest.raises(InputError) as caught:
        load(tmp_path, **changes)
    assert all(text in str(caught.value) for text in ("mine.md", *said)), str(caught.value)


@pytest.mark.parametrize("line", RULED)
def test_every_checker_of_a_line_says_what_it_asks_and_types_its_parameters(line):
    checkers = known_checkers(line)
    assert checkers and known_gates(line)
    assert all(
        checker.meaning and all(given.type for given in checker.parameters) for checker in checkers.values()
    )


def test_no_checker_has_a_threshold_of_its_own():
    """A checker compares evidence with its parameters, and with no number larger than 2 in its code or its
    module."""
    for line in RULED:
        known_checkers(line)
    found: list[str] = []
    for function in [each for each in CHECKERS.values() if each.__module__.startswith("evolake.")]:
        module = vars(sys.modules[function.__module__])
        for compared in (
            node for node in ast.walk(ast.parse(inspect.getsource(function))) if isinstance(node, ast.Compare)
        ):
            for side in (compared.left, *compared.comparators):
                if isinstance(side, ast.Constant):
                    value = side.value
                elif isinstance(side, ast.Name):
                    value = module.get(side.id)
                else:
                    value = None
                if isinstance(value, int | float) and abs(value) > 2:
                    found.append(f"{function.__module__}: {ast.unparse(compared)}")
    assert not found and len(CHECKERS) > 60


@pytest.mark.parametrize("line", RULED)
def test_a_bundle_meets_every_gate_of_its_line(line):
    assert list(bundle_of(line).gates) == [
        gate.name for gate in known_gates(line) if gate.name not in NOT_OF_A_BUNDLE.get(line, set())
    ]


@pytest.mark.parametrize("line", RULED)
def test_the_seed_rules_of_a_line_name_what_there_is(line):
    assert load_rules(PROJECT_ROOT / "data_lake" / "seeds" / "rules", line).rules


def test_checkers_are_listed_by_line():
    summary = json.loads(
        CliRunner()
        .invoke(cli, ["rules", "checkers", "--line", "families", "--json"], catch_exceptions=False)
        .output
    )
    ((name, result),) = summary["lines"].items()
    assert (name, result["gates"]) == ("families", [gate.name for gate in GATES])
    (length,) = (item for item in result["checkers"] if item["name"] == "families.length")
    assert length == {
        "name": "families.length",
        "meaning": "Statements of bearable length.",
        "parameters": [
            {"name": name, "type": "int", "default": None, "required": True}
            for name in ("shortest", "longest")
        ],
        "rules": {"families-length": {"shortest": 40, "longest": 8000}},
    }


def test_thresholds_of_the_rules_are_listed_with_their_checker():
    output = (
        CliRunner().invoke(cli, ["rules", "checkers", "--line", "families"], catch_exceptions=False).output
    )
    assert (
        "families.voters(least: int, copy: float = 0.98)" in output
        and "rule families-voters: least = 2, copy = 0.98" in output
    )


def test_a_gate_of_families_may_have_a_module_of_its_own_with_its_checker(tmp_path, monkeypatch):
    (tmp_path / "weighed.py").write_text("""from evolake.gates import checker


def weigh(course):
    return {"weight": 3}


@checker("families.weight")
def weight(evidence, *, most: int):
    return None
""")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(specs, "GATES", (*GATES, GateSpec(4, "weigh", Lazy("weighed:weigh"), ("weight",))))
    try:
        load(tmp_path, gate="weigh", check="families.weight", parameters='{"most": 5}')
    finally:
        CHECKERS.pop("families.weight")
