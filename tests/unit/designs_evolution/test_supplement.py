"""What the report tells of a search as the paper's supplement tells of its own: each table from the rows that
it stands on."""

import json

from evolake.designs.evolution.population import Population, empty_population
from evolake.designs.report import supplement_champion as champion
from evolake.designs.report.material import baseline_of
from evolake.designs.report.page import PACKAGE, coverage
from evolake.designs.tables import EXPERIMENTS, EXTRAPOLATIONS
from evolake.lake import Catalogue, Lake
from evolake.report.finished_cycle import questions

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


def test_the_primary_lineage_goes_by_the_weightiest_parent():
    result = champion.lineage(archive(), LED)
    assert result["design"].to_list() == [BASE, FIRST, LED]
    assert result.select("cycle", "share_of_parent", "largest_n", "steps_there", "consensus").rows() == [
        ("0000", None, 40, 1600, 0.2),
        ("0001", 1.0, 0, None, 0.3),
        ("0002", 0.7, 80, 160, 0.1),
    ]


def test_champion_and_baseline_meet_at_the_sizes_that_both_were_run_at():
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


def test_what_was_expected_is_held_against_what_was_measured_afterwards(tmp_path):
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
