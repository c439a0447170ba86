"""Files of the paper's framework that come into a real lake: designs and objectives, through their gates."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from framework_files import write_files

from evolake.designs.commands import import_command
from evolake.designs.evolution.importing import (
    admit_imports,
    import_framework,
    imported_objectives,
    pending_bundles,
    rows_of,
    taken_in,
)
from evolake.designs.evolution.judging_objectives import objective_judge, trial_context
from evolake.designs.evolution.population import Population, empty_population
from evolake.designs.evolution.proposals import design_row, seed_candidate, store_candidate
from evolake.designs.genome.open_genome import baseline
from evolake.designs.tables import ARRIVALS, IMPORTS, OBJECTIVES_READ
from evolake.gates import load_rules
from evolake.lake import Lake
from evolake.objectives.score import Objective
from evolake.project import BROUGHT

TABLES = (IMPORTS, OBJECTIVES_READ)


@pytest.fixture
def lake(tmp_path) -> Lake:
    return Lake(tmp_path / "lake")


@pytest.fixture
def files(tmp_path) -> Path:
    return write_files(tmp_path / "search", "_22")


@pytest.fixture
def population(lake, judge_once, seed_files) -> Population:
    first = seed_candidate("baseline", seed_files["baseline"].read_text(), {}, judge_once, baseline())
    return empty_population().admit([design_row(first, "0000", *store_candidate(lake.blobs, first))], [])


def test_importing_twice_and_taking_in_twice_add_nothing(lake, files, population, judge_at, tmp_path):
    first = import_framework(lake, files)
    before = [lake.record("designs", schema.name) for schema in TABLES]
    elsewhere = import_framework(lake, write_files(tmp_path / "copy"))
    assert (first.new, elsewhere.new, elsewhere.bundle_id, elsewhere.since_cycle) == (
        True,
        False,
        first.bundle_id,
        first.since_cycle,
    )
    assert [lake.record("designs", schema.name) for schema in TABLES] == before
    once = admit_imports(lake, population, judge_at("0001"), "0001")
    after = once.population.with_values(imported_bundles=taken_in(population, once.bundles))
    assert pending_bundles(lake, after, "0002") == []
    twice = admit_imports(lake, after, judge_at("0002"), "0002")
    assert twice.population is after and (twice.designs, twice.verdicts, twice.notes) == ([], [], [])


def test_a_bundle_without_a_design_that_can_be_read_is_noted_so_that_it_does_not_stay_pending(lake, tmp_path):
    folder = write_files(tmp_path / "search")
    for path in (folder / "solvers").iterdir():
        path.write_text("")
    bundle = import_framework(lake, folder).bundle_id
    population = empty_population()
    arrived = admit_imports(lake, population, lambda *_: pytest.fail("there is nothing to judge"), "0001")
    assert [(row["bundle_id"], row["original_id"], row["state"]) for row in arrived.notes] == [
        (bundle, -1, "empty")
    ]
    noted = ARRIVALS.frame(arrived.notes)
    assert ARRIVALS.repeated_keys(noted).is_empty()
    after = population.with_values(imported_bundles=taken_in(population, noted["bundle_id"].to_list()))
    assert pending_bundles(lake, after, "0002") == []
    assert [imported_objectives(lake, population, bundles, "0001") != [] for bundles in ([bundle], [])] == [
        True,
        False,
    ]


def test_an_import_that_was_cut_off_is_made_whole(lake, files, monkeypatch):
    publish = Lake.publish

    def until(self: Lake, line: str, asset: str, *args: Any, **more: Any) -> Any:
        if asset == IMPORTS.name:
            raise KeyboardInterrupt
        return publish(self, line, asset, *args, **more)

    with monkeypatch.context() as then:
        then.setattr(Lake, "publish", until)
        with pytest.raises(KeyboardInterrupt):
            import_framework(lake, files)
    assert rows_of(lake, IMPORTS) == []
    assert import_framework(lake, files).new
    whole, other = lake, Lake(lake.root.parent / "other")
    import_framework(other, files)
    assert [rows_of(whole, schema) for schema in TABLES] == [rows_of(other, schema) for schema in TABLES]


def test_objectives_meet_their_gate(lake, files, population, pool):
    import_framework(lake, files)
    rows = imported_objectives(lake, population, pending_bundles(lake, population, "0001"), "0001")
    assert [
        (row["description"], row["imported_from"], row["origin"], row["created_round"], row["multiplier"])
        for row in rows
    ] == [
        ("Sum of steps", "search_22", "import", 1, 1.0),
        ("Reach", "search_22", "import", 1, 1.0),
        ("objective 2 of another search", "search_22", "import", 1, 1.0),
    ]
    steps = {"d": (20, 30, 0.8), "e": (40, 45, 0.4), "f": (50, 50, 0.9)}
    measured = {
        name: [
            {"N": n, "median_step": most, "unsolved_fraction": left, "max_steps": 50}
            for n, most, left in ((10, small, 0.4), (14, large, unsolved))
        ]
        for name, (small, large, unsolved) in steps.items()
    }
    rules = load_rules(BROUGHT / "data_lake" / "seeds" / "rules", "designs")
    judge = objective_judge(
        trial_context(measured, [], pool), pool, ruleset=rules, cycle="0001", run_id="test"
    )
    outcomes = [judge(Objective(row["objective_id"], row["source"])).verdicts[-1].outcome for row in rows]
    assert outcomes == ["pass", "pass", "block"]


def test_the_command_says_what_came_and_what_was_wrong(lake, files, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(lake.root))
    first, second = (
        json.loads(CliRunner().invoke(import_command, [str(path), "--json"]).output)
        for path in (files, files)
    )
    details = {
        "verdict": "imported",
        "bundle_id": first["bundle_id"],
        "source": "search_22",
        "enters_cycle": "0001",
    } | {
        name: {"read": read, "malformed": bad}
        for name, read, bad in (("designs", 6, 1), ("objectives", 3, 1))
    }
    malformed = ["malformed, with the reason in the row: 1 of the designs, 1 of the objectives"]
    assert first == details | {"new": True, "reasons": malformed}
    assert second == details | {
        "new": False,
        "reasons": ["these files were imported before; nothing changed"],
    }
