"""`evolake families difficulty`: who is asked, what is kept, and that nothing is asked twice."""

import json
from typing import Any

import pytest
from click.testing import CliRunner
from families_fixtures import seed_family
from utility_lake import SETTINGS, families_lake

from evolake.families.commands.group import families
from evolake.families.dataset.solver_rates import SOLVERS, rate_rows, rates_of
from evolake.families.gates.instances import sample_families
from evolake.families.independence import keep_rows
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import INSTANCES, SOLVER_RATES
from evolake.jail import open_pool
from evolake.lake import Lake

NAMES = ("divisor-votes", "seating-row")


@pytest.fixture
def lake(tmp_path, monkeypatch) -> Lake:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    return families_lake(tmp_path / "lake", [seed_family(name) for name in NAMES])


def typed(*words: str) -> dict[str, Any]:
    result = CliRunner().invoke(
        families, ["difficulty", "--level", "1", "--json", *words], standalone_mode=False
    )
    assert result.exception is None and result.return_value == 0, result.output
    return json.loads(result.stdout)


def test_naive_programs_are_asked_once_and_more_questions_are_asked_anew(lake):
    first = typed("--questions", "6")
    assert {name: first[name] for name in ("verdict", "asked", "known", "left")} == {
        "verdict": "measured",
        "asked": 2,
        "known": 0,
        "left": 0,
    }
    assert set(first["shares"]) == set(SOLVERS) and 0 < first["shares"]["slips"]["1"] <= 1
    rows = rates_of(lake, "pool")
    assert [(row["difficulty"], row["questions"]) for row in rows] == [(1, 6)] * 2
    again = typed("--questions", "5")
    assert (again["asked"], again["known"], again["shares"]) == (0, 2, first["shares"])
    assert typed("--questions", "8")["asked"] == 2
    assert {row["questions"] for row in rates_of(lake, "pool")} == {8}


def test_what_a_solver_answers_half_of_is_exported_with_its_share(lake, tmp_path):
    held = [seed_family(name) for name in NAMES]
    sizes = FamiliesSettings(instances_per_family=6)
    with open_pool(workers=1, preload=PRELOAD) as pool:
        made, _ = sample_families(held, pool=pool, settings=sizes, root_seed=0, cycle="0001", workers=1)
    lake.publish("families", "instances", INSTANCES.frame(made), cycle="0001", run_id="run", schema=INSTANCES)
    levels = {(row["family_id"], row["difficulty"]): 0.5 for row in made}
    gone = made[0]["family_id"], made[0]["difficulty"]
    found = {level: rate_rows(level[0], {"pool": {level[1]: [0.5] * 40}}) for level in levels}
    found[gone] = rate_rows(gone[0], {"pool": {gone[1]: [1.0] * 40}})
    keep_rows(lake, SOLVER_RATES, [row for rows in found.values() for row in rows])
    words = ["export", "--format", "jsonl", "--out", str(tmp_path / "out"), "--unreviewed"]
    words += ["--difficulty", "0.3:0.7", "--solver", "pool"]
    result = CliRunner().invoke(families, words, standalone_mode=False)
    assert result.return_value == 0, result.exception
    rows = [json.loads(line) for line in (tmp_path / "out" / "instances.jsonl").read_text().splitlines()]
    assert {(row["solver"], row["solver_rate"]) for row in rows} == {("pool", 0.5)}
    assert gone not in {(row["family_id"], row["difficulty"]) for row in rows}
    said = f"{len(levels) - 1} of {len(levels)} families and levels are in it, 1 are outside"
    assert said in result.stdout and said in (tmp_path / "out" / "README.md").read_text()


def test_a_policy_is_asked_by_its_name_until_the_time_is_over(lake):
    ended = typed("--solver", "policy", "--questions", "2", "--minutes", "1e-9")
    assert (ended["verdict"], ended["asked"], ended["left"]) == ("unfinished", 0, 2)
    done = typed("--solver", "policy", "--questions", "2")
    [name] = done["shares"]
    assert done["verdict"] == "measured"
    assert {row["family_id"] for row in rates_of(lake, name)} <= {
        seed_family(family).family_id for family in NAMES
    }
    assert all(row["questions"] <= 2 and 0 <= row["rate"] <= 1 for row in rates_of(lake, name))
