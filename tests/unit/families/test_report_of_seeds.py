"""Families that were added to a used lake are counted wherever the report counts families, from the cycle on
in which they entered."""

from types import SimpleNamespace
from typing import Any

import pytest

from evolake.families.report import material as data
from evolake.families.report.figures import draw_growth
from evolake.families.tables_faults import TABLES
from evolake.lake import VERDICTS, Catalogue, Lake, side_table
from evolake.lake.schemas import ADDED_SEEDS
from evolake.report.story import story_of

KNOWN = TABLES


def publish(lake: Lake, asset: str, rows: list[dict[str, Any]], cycle: str | None) -> None:
    lake.publish("families", asset, KNOWN[asset].frame(rows), cycle=cycle, run_id="r", schema=KNOWN[asset])


@pytest.fixture
def lake(tmp_path) -> Lake:
    """Two seed families and one that is blocked; cycle 0001 accepts one more; into cycle 0002 come four
    folders, two of the same family."""
    result = Lake(tmp_path)
    seeds = {"s1": "accepted", "s2": "accepted", "s3": "blocked"}
    publish(
        result,
        "seeds",
        [{"family_id": name, "state": state, "cycle": "0000"} for name, state in seeds.items()],
        None,
    )
    for cycle, names in (("0001", ["c1"]), ("0002", [])):
        publish(
            result,
            "candidates",
            [{"family_id": f"{cycle}-c1", "cycle": cycle, "attempt": 0, "round": 0}],
            cycle,
        )
        publish(
            result,
            "accepted",
            [{"family_id": name, "state": "accepted", "cycle": cycle} for name in names],
            cycle,
        )
    came = [
        ("mine", "m1", "accepted", None),
        ("mine-copy", "m1", "accepted", None),
        ("wrong", "w1", "blocked", "the votes differ"),
        ("half", None, "blocked", "no file template.md in half\n  next: add the file"),
        ("again", "s1", "present", None),
    ]
    publish(
        result,
        ADDED_SEEDS.name,
        [
            {
                "cycle": "0002",
                "name": name,
                "seed_sha": name,
                "artifact_id": family,
                "state": state,
                "reason": reason,
            }
            for name, family, state, reason in came
        ],
        "0002",
    )
    verdicts = [
        {
            "artifact_id": family,
            "cycle": "0002",
            "gate_no": number,
            "gate": gate,
            "rule_id": f"families-{gate}",
            "rule_version": "1",
            "outcome": outcome,
            "reason": "r",
        }
        for family, number, gate, outcome in (
            ("m1", 1, "static", "pass"),
            ("w1", 1, "static", "pass"),
            ("w1", 2, "consensus", "block"),
        )
    ]
    result.publish(
        "families",
        side_table(ADDED_SEEDS.name, VERDICTS),
        VERDICTS.frame(verdicts),
        cycle="0002",
        run_id="r",
        schema=VERDICTS,
    )
    publish(
        result,
        "complexity",
        [{"family_id": name, "cycle": "0002", "parsed": True} for name in ("s1", "m1", "w1")],
        "0002",
    )
    return result


def test_the_story_counts_a_family_that_was_added_from_its_cycle_on(lake):
    first, second = (story_of(lake, "families", cycle) for cycle in ("0001", "0002"))
    assert [summary.leads for summary in (first, second)] == [
        f"no single champion: {n} families that passed every gate" for n in (3, 4)
    ]
    assert list(second.trend.points) == [("0000", 2), ("0001", 3), ("0002", 4)]
    assert (first.beside, second.beside) == ("", "2 new seeds")
    assert second.changed == "0 families and 0 instances more; of 2 new seeds 1 is accepted"


def test_the_section_s_tables_and_its_figure_of_growth_count_it_too(lake, monkeypatch):
    with Catalogue(lake, {("families", asset): schema for asset, schema in KNOWN.items()}) as catalogue:
        measured, made = (
            catalogue.frame(data.QUESTIONS[asked], {"cycle": "0002"}) for asked in ("measured", "made")
        )
    assert measured["family_id"].to_list() == ["m1", "s1"]
    assert made.select("cycle", "accepted", "entered").rows() == [("0001", 1, 0), ("0002", 0, 1)]
    drawn: list[Any] = []
    monkeypatch.setattr("evolake.families.plots.growth", lambda *given: drawn.append(given) or b"")
    draw_growth(SimpleNamespace(accepted=[*"abcd"], evolved=["d"], tables={"made": made}))  # pyright: ignore[reportArgumentType]
    assert drawn[0][1] == [3, 4]
