"""Objectives of other lakes and searches: what judging one of them raises is its own block."""

import json
from typing import Any

import pytest

from evolake.designs.evolution.merge import admitted_objectives, keep_bundle
from evolake.designs.evolution.objective_writing import initial_objectives, judged_rows, with_genome
from evolake.designs.evolution.population import empty_population
from evolake.designs.settings import DesignsSettings
from evolake.gates import GateResults
from evolake.lake import Lake
from evolake.objectives.programs.compose import compose, of_family
from evolake.objectives.programs.expression import to_json
from evolake.objectives.score import Objective
from evolake.objectives.source import objective_id

ROWS = initial_objectives(DesignsSettings(initial_objectives=3), cycle="0001", root_seed=1)


def test_what_judging_one_raises_is_its_block_and_the_others_go_on():
    def judge(objective: Objective, starting: bool = False) -> GateResults:
        if objective.objective_id == ROWS[1]["objective_id"]:
            raise OverflowError("int too large to convert to float")
        return GateResults(objective.objective_id, (), True)

    result = judged_rows(ROWS, judge).rows
    assert [row["state"] for row in result] == ["accepted", "blocked", "accepted"]
    assert result[1]["reason"].startswith("judging it raised OverflowError at ")


def test_a_file_whose_program_cannot_be_read_is_blocked_and_not_judged(monkeypatch):
    def reading(source: str) -> Any:
        raise OverflowError("too large")

    monkeypatch.setattr("evolake.designs.evolution.objective_writing.read", reading)
    row = with_genome(ROWS[0])
    assert (row["state"], row["genome"], row["reason"][:30]) == (
        "blocked",
        None,
        "judging it raised OverflowErro",
    )
    assert judged_rows([row], lambda objective, starting=False: pytest.fail("it was judged")).rows == [row]


def test_a_merged_objective_is_what_its_text_is_whatever_the_other_lake_says(tmp_path):
    first, second = compose(of_family("tail")), compose(of_family("reach"))
    shown = {
        "family": "program",
        "parameters": "{}",
        "description": "x",
        "operator": "point",
        "imported_from": "there",
        "source_cycle": "0003",
        "since_cycle": "0001",
        "bundle_id": "b",
        "reason": None,
    }
    lake = Lake(tmp_path / "lake")
    keep_bundle(
        lake,
        [
            shown
            | {
                "number": 0,
                "objective_id": "a" * 64,
                "voted": True,
                "source": first,
                "genome": '"top"',
                "parents": None,
            },
            shown
            | {
                "number": 1,
                "objective_id": "c" * 64,
                "voted": True,
                "source": second,
                "genome": None,
                "parents": json.dumps({"a" * 64: 1.0}),
            },
            shown
            | {
                "number": 2,
                "objective_id": "d" * 64,
                "voted": True,
                "source": f"{first}\n\n",
                "genome": None,
                "parents": None,
            },
            shown
            | {
                "number": 3,
                "objective_id": "e" * 64,
                "voted": True,
                "source": ROWS[0]["source"],
                "genome": None,
                "parents": None,
            },
        ],
        "test",
    )
    population = empty_population().add(objectives=ROWS)
    judged, blocked = admitted_objectives(lake, population, {"b"}, "0001")
    assert [(row["objective_id"], row["genome"], row["parents"]) for row in judged] == [
        (objective_id(first), to_json(of_family("tail")), None),
        (objective_id(second), to_json(of_family("reach")), json.dumps({objective_id(first): 1.0})),
    ]
    assert blocked == [], "the third is the first in other blanks, and the fourth is here already"
