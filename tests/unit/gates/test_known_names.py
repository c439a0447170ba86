"""A rule names a gate, a checker and parameters that its line has, or the error says which there are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evolake.cli import cli
from evolake.errors import InputError
from evolake.gates.known import known_checkers, known_gates
from evolake.gates.rules import load_rules
from evolake.project import BROUGHT as PROJECT_ROOT

RULED = ("designs", "families", "programs", "prompts", "solvers")
FIT = {"gate": "static", "check": "families.length", "parameters": '{"shortest": 1, "longest": 9}'}


def load(folder: Path, **changes: str) -> None:
    fields = "\n".join(f"{name}: {value}" for name, value in (FIT | changes).items())
    (folder / "families").mkdir()
    (folder / "families" / "mine.md").write_text(f"---\nid: families-mine\nversion: 1\nkind: static\n{fields}\n---\nWhy.\n")
    load_rules(folder, "families")


def test_a_rule_that_names_what_there_is_loads(tmp_path: Path) -> None:
    load(tmp_path)


@pytest.mark.parametrize(("changes", "said"), [
    ({"gate": "statik"}, ("the line families has no gate 'statik'", "did you mean 'static'?", "execution, static")),
    ({"check": "families.lenght"}, ("no checker is called 'families.lenght'", "did you mean 'families.length'?")),
    ({"check": "designs.trace"}, ("no checker is called 'designs.trace'",)),
    ({"parameters": '{"shortest": 1, "longst": 9}'}, ("has no parameter 'longst'", "did you mean 'longest'?")),
    ({"parameters": '{"shortest": 1}'}, ("checker families.length needs longest",)),
], ids=["gate", "checker", "another line's", "parameter", "lacking"])
def test_a_name_that_there_is_not_is_an_error_with_those_that_there_are(tmp_path: Path, changes: dict[str, str], said: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, **changes)
    assert all(text in str(caught.value) for text in ("mine.md", *said)), str(caught.value)


@pytest.mark.parametrize("line", RULED)
def test_every_checker_of_a_line_says_what_it_asks_and_types_its_parameters(line: str) -> None:
    checkers = known_checkers(line)
    assert checkers and known_gates(line)
    assert all(one.meaning and all(given.type for given in one.parameters) for one in checkers.values())


@pytest.mark.parametrize("line", RULED)
def test_the_seed_rules_of_a_line_name_what_there_is(line: str) -> None:
    assert load_rules(PROJECT_ROOT / "data_lake" / "seeds" / "rules", line).rules


def test_checkers_are_listed_by_line() -> None:
    told = json.loads(CliRunner().invoke(cli, ["rules", "checkers", "--line", "families", "--json"], catch_exceptions=False).output)
    (name, found), = told["lines"].items()
    assert (name, found["gates"]) == ("families", ["execution", "static", "quality", "consensus", "blind", "sentences"])
    length, = (one for one in found["checkers"] if one["name"] == "families.length")
    assert length == {
        "name": "families.length", "meaning": "Statements of bearable length.", "parameters": [
            {"name": name, "type": "int", "default": None, "required": True} for name in ("shortest", "longest")
        ],
    }
