"""Objectives of other lakes and searches: what judging one of them raises is its own block."""

from __future__ import annotations

from typing import Any

import pytest

from evolake.designs.evolution.objective_writing import Objective, initial_objectives, judged_rows, with_genome
from evolake.designs.settings import DesignsSettings
from evolake.gates import GateResults

ROWS = initial_objectives(DesignsSettings(initial_objectives=3), cycle="0001", root_seed=1)


def test_what_judging_one_raises_is_its_block_and_the_others_go_on() -> None:
    def judge(objective: Objective, starting: bool = False) -> GateResults:
        if objective.objective_id == ROWS[1]["objective_id"]:
            raise OverflowError("int too large to convert to float")
        return GateResults(objective.objective_id, (), True)

    found = judged_rows(ROWS, judge).rows
    assert [row["state"] for row in found] == ["accepted", "blocked", "accepted"]
    assert found[1]["reason"].startswith("judging it raised OverflowError at ")


def test_a_file_whose_program_cannot_be_read_is_blocked_and_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(source: str) -> Any:
        raise OverflowError("too large")

    monkeypatch.setattr("evolake.designs.evolution.objective_writing.read", reading)
    row = with_genome(ROWS[0])
    assert (row["state"], row["genome"], row["reason"][:30]) == ("blocked", None, "judging it raised OverflowErro")
    assert judged_rows([row], lambda objective, starting=False: pytest.fail("it was judged")).rows == [row]
