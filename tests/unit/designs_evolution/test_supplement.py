"""What the report tells of a search as the paper's supplement tells of its own: each table from the rows that
it stands on."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from figures import assert_drawn

from evolake.designs.evolution.population import Population, empty_population
from evolake.designs.report import page as objectives
from evolake.designs.report import supplement_champion as champion
from evolake.designs.report.figures import speedup as speedup_figure
from evolake.designs.report.material import Material, baseline_of
from evolake.designs.report.page import PACKAGE, coverage
from evolake.designs.tables import EXPERIMENTS, EXTRAPOLATIONS
from evolake.lake import Catalogue, Lake
from evolake.objectives.long_consensus import LongConsensus, rank_long
from evolake.report.questions import questions

BASE, FIRST, LED, OTHER = "a" * 64, "b" * 64, "c" * 64, "d" * 64


def design(name: str, state: str, values: dict[str, float], **more: object) -> dict:
    return {
        "design_id": name,
        "state": state,
        "cycle": "0001",
        "title": f"title {name[0]}",
        "origin": "operators",
        "operator": "graft",
        "tuned": False,
        "hyper_values": json.dumps(values),
    } | more


def result(name: str, n: int, steps: int, solved: bool = True) -> dict:
    return {
        "design_id": name,
        "cycle": "0001",
        "fidelity": "low",
        "level": 0,
        "batch": 10,
        "N": n,
        "ratio": 4.3,
        "run_till_median": True,
        "max_steps": 100,
        "unsolved_fraction": 0.4 if solved else 0.9,
        "median_step": steps,
        "steps_run": steps,
        "seed": 1,
        "wall_s": 0.1,
        "cpu_s": 0.1,
        "profile": "test",
        "engine": "torch",
        "timed_out": False,
        "diverged": 0,
    }


def edge(child: str, parent: str, weight: float) -> dict:
    return {"child_id": child, "parent_id": parent, "operator": "graft", "weight": weight, "cycle": "0001"}


def archive() -> Population:
    results = empty_population().admit(
        [
            design(
                BASE,
                "accepted",
                {"alpha": 5.0, "lr": 1.0},
                origin="seed",
                operator="seed",
                title="baseline",
                cycle="0000",
            ),
            design(FIRST, "accepted", {"alpha": 5.0, "lr": 1.0}),
            design(OTHER, "accepted", {}),
            design(LED, "champion", {"alpha": 10.0, "kappa": 0.25}, cycle="0002"),
        ],
        [edge(FIRST, BASE, 1.0), edge(LED, FIRST, 0.7), edge(LED, OTHER, 0.3), edge(OTHER, BASE, 1.0)],
    )
    rows = [
        *(result(BASE, n, n * n) for n in (10, 20, 40)),
        result(BASE, 80, 9000, solved=False),
        *(result(LED, n, 2 * n) for n in (10, 20, 40, 80)),
    ]
    ranking = [
        {"design_id": name, "cycle": "0002", "rank": place, "consensus": place / 10}
        for place, name in enumerate((LED, BASE, FIRST), start=1)
    ]
    objectives = [
        {
            "objective_id": name,
            "state": "accepted",
            "cycle": f"{created:04d}",
            "created_round": created,
            "family": kind,
            "multiplier": 1.0,
            "origin": "seed",
            "description": f"looks at {name}",
        }
        for name, created, kind in (("x", 1, "reach"), ("y", 1, "tail"), ("z", 2, "reach"))
    ]
    return results.add(experiments=rows, objectives=objectives).with_ranking(ranking)


def ranked() -> LongConsensus:
    scores = {"x": (1.0, 2.0, 3.0), "y": (3.0, 2.0, 1.0), "z": (1.0, 2.0, 3.0)}
    rows = [
        {"objective_id": name, "design_id": item, "score": score}
        for name, given in scores.items()
        for item, score in zip("pqr", given, strict=True)
    ]
    return rank_long(pl.DataFrame(rows), {"x": 1, "y": 1, "z": 2}, 2)


def test_parameters_stand_side_by_side_and_lack_where_one_has_none() -> None:
    assert champion.parameters(archive(), LED).rows() == [
        ("alpha", "5", "10", 2.0),
        ("lr", "1", None, None),
        ("kappa", None, "0.25", None),
    ]


def test_the_primary_lineage_goes_by_the_weightiest_parent() -> None:
    result = champion.lineage(archive(), LED)
    assert result["design"].to_list() == [BASE, FIRST, LED]
    assert result.select("cycle", "share_of_parent", "largest_n", "steps_there", "consensus").rows() == [
        ("0000", None, 40, 1600, 0.2),
        ("0001", 1.0, 0, None, 0.3),
        ("0002", 0.7, 80, 160, 0.1),
    ]


def test_fits_give_the_exponents_of_exact_powers_and_nothing_where_too_little_was_solved() -> None:
    result = {row["design"]: row for row in champion.fits(archive(), LED).to_dicts()}
    assert [row["role"] for row in result.values()] == ["champion", "baseline", "ranked"]
    assert (result[LED]["exponent"], result[BASE]["exponent"]) == (pytest.approx(1.0), pytest.approx(2.0))
    assert (result[BASE]["at_n"], result[BASE]["work"]) == (80, pytest.approx(6400.0))
    assert (result[FIRST]["exponent"], result[FIRST]["work"], result[FIRST]["sizes"]) == (None, None, 0)


def test_champion_and_baseline_meet_at_the_sizes_that_both_were_run_at() -> None:
    assert champion.by_size(archive(), LED).rows() == [
        (n, work, solved, own, True, times, work, own, None, None)
        for n, work, solved, own, times in (
            (10, 100, True, 20, 5.0),
            (20, 400, True, 40, 10.0),
            (40, 1600, True, 80, 20.0),
            (80, 9000, False, 160, 56.25),
        )
    ]
    assert champion.by_size(archive(), BASE).is_empty()
    assert (baseline_of(archive()), baseline_of(empty_population())) == (BASE, None)


def test_weights_of_a_cycle_sum_by_kind() -> None:
    rows = [
        ("0001", "x", "reach", 0.25),
        ("0001", "y", "tail", 0.75),
        ("0002", "x", "reach", 0.5),
        ("0002", "z", "reach", 0.5),
    ]
    weights = pl.DataFrame(rows, schema=["cycle", "objective_id", "family", "weight"], orient="row")
    result = objectives.weights_by_cycle(weights)
    assert (result.columns, result.rows()) == (
        ["cycle", "reach", "tail"],
        [("0001", 0.25, 0.75), ("0002", 1.0, None)],
    )
    listed = objectives.complete(archive(), "0002", weights)
    assert listed.select("weight", "since", "objective").rows() == [
        (0.5, "0001", "x"),
        (0.5, "0002", "z"),
        (None, "0001", "y"),
    ]


def test_agreement_is_told_as_objectives_came_and_against_the_consensus() -> None:
    material = Material(archive(), ranked)
    assert objectives.agreement(material).rows() == [
        ("0001", 2, pytest.approx(-1.0), pytest.approx(-1.0), "100%"),
        ("0002", 3, pytest.approx(-1 / 3), pytest.approx(-1.0), "67%"),
    ]
    result = {row["family"]: row for row in objectives.with_consensus(material).to_dicts()}
    assert (result["reach"]["objectives"], result["tail"]["objectives"]) == (2, 1)
    assert result["reach"]["mean_tau"] == pytest.approx(-result["tail"]["mean_tau"]) == pytest.approx(1.0)
    assert (result["reach"]["has_the_same_first"], result["tail"]["consensus_place_of_its_first"]) == (2, 3.0)


def test_what_was_expected_is_held_against_what_was_measured_afterwards(tmp_path: Path) -> None:
    lake = Lake(tmp_path)

    def expected(name: str, cycle: str, low: float | None, high: float | None) -> dict:
        return {
            "cycle": cycle,
            "fidelity": "medium",
            "design_id": name,
            "N": 80,
            "expected_work": low,
            "low_work": low,
            "high_work": high,
            "levels": 3,
            "place": 0,
            "goes_on": True,
        }

    def measured(name: str, cycle: str, steps: int, solved: bool = True, **more: object) -> dict:
        work = {"max_steps": 1000, "max_work": 1000.0, "median_work": float(steps)}
        return result(name, 80, steps, solved) | {"cycle": cycle, "fidelity": "medium"} | work | more

    made = {
        "0001": (
            [
                expected(BASE, "0001", 1.0, 2.0),
                expected(FIRST, "0001", 50.0, 500.0),
                expected(OTHER, "0001", None, None),
            ],
            [measured(FIRST, "0001", 200), measured(OTHER, "0001", 9)],
        ),
        "0002": (
            [
                expected(BASE, "0002", 100.0, 300.0),
                expected(LED, "0002", 10.0, 5000.0),
                expected(FIRST, "0002", 1.0, 2.0),
            ],
            [
                measured(BASE, "0002", 900),
                measured(LED, "0002", 2000, solved=False),
                measured(LED, "0002", 70, N=40),
            ],
        ),
        "0003": ([expected(LED, "0003", 10.0, 500.0)], [measured(LED, "0003", 2000, solved=False)]),
    }
    for cycle, (foretold, ran) in made.items():
        lake.publish(
            "designs",
            "extrapolations",
            EXTRAPOLATIONS.frame(foretold),
            cycle=cycle,
            run_id="test",
            schema=EXTRAPOLATIONS,
        )
        lake.publish(
            "designs",
            "promoted_experiments",
            EXPERIMENTS.frame(ran),
            cycle=cycle,
            run_id="test",
            schema=EXPERIMENTS,
        )
    sql = questions(PACKAGE, "page.sql")["expected"]
    with Catalogue(lake) as catalogue:
        results, earlier = (catalogue.frame(sql, {"cycle": cycle}) for cycle in ("0003", "0001"))
    assert results.sort("cycle", "design").select("design", "cycle", "low", "measured", "inside").rows() == [
        (FIRST, "0001", 50.0, 200, True),
        (BASE, "0002", 100.0, 900, False),
        (LED, "0002", 10.0, None, None),
        (LED, "0003", 10.0, None, False),
    ]
    assert coverage(results) == "1 of 3 inside the 95% interval, 1 not decided"
    assert (coverage(earlier), coverage(results.clear())) == ("1 of 1 inside the 95% interval", "none yet")


def test_the_figure_of_sizes_is_drawn_also_where_the_baseline_reigns() -> None:
    assert_drawn(speedup_figure.draw_speedup(Material(archive())))
    crowned = archive().with_states({BASE: "champion", LED: "accepted"})
    assert_drawn(speedup_figure.draw_speedup(Material(crowned)))
