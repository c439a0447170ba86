"""cnfgen's principles on drawn graphs: on the complete one they are cnfgen's own, on a drawn one other
formulas of the same size and status."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from solver_referee import shape_print

from evolake.lake.blobs import BlobStore
from evolake.project import BROUGHT
from evolake.solvers.formula import Formula, read_dimacs, write_dimacs
from evolake.solvers.suites.confirm import ask
from evolake.solvers.suites.fresh import FreshKey, fresh_formula, fresh_suite
from evolake.solvers.suites.generators import from_cnfgen, pcg
from evolake.solvers.suites.principles import clique_coloring, counting, drawn_principle, ordering, pigeonhole
from evolake.solvers.suites.spec import load_spec, recipes_of

SEEDS = BROUGHT / "data_lake" / "seeds"
TRAIN = {
    recipe.name: recipe for recipe in recipes_of(load_spec("train", SEEDS)) if recipe.generator == "cnfgen"
}
DRAWS = 12


def pairs(n: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(n), 2))


def clauses(formula: Formula) -> list[tuple[int, ...]]:
    return sorted(
        tuple(sorted(clause.tolist())) for clause in np.split(formula.literals, formula.starts[1:-1])
    )


@pytest.mark.parametrize(
    ("args", "made"),
    [
        ("op 6", ordering(6, pairs(6))),
        ("op 6 --total", ordering(6, pairs(6), total=True)),
        ("count 7 3", counting(7, list(itertools.combinations(range(7), 3)))),
        ("parity 7", counting(7, pairs(7))),
        ("php 5 4", pigeonhole(5, 4, list(itertools.product(range(5), range(4))))),
        (
            "cliquecoloring 6 4 3",
            clique_coloring(6, 4, 3, pairs(6), [(place, *pair) for place in range(4) for pair in pairs(6)]),
        ),
    ],
)
def test_on_a_complete_graph_they_are_cnfgens_own(args: str, made: Formula) -> None:
    known = from_cnfgen(args)
    assert (made.variables, clauses(made)) == (known.variables, clauses(known))


@pytest.mark.parametrize(
    "args", ["op 9", "op 8 --total", "count 7 3", "parity 9", "php 7 6", "php 7 5", "cliquecoloring 7 3 2"]
)
def test_whatever_is_drawn_is_unsatisfiable(args: str) -> None:
    for seed in range(DRAWS):
        formula = drawn_principle(args, pcg(seed))
        assert formula is not None
        assert (ask("minisat22", write_dimacs(formula), 60) or ("late",))[0] == "UNSAT", seed


@pytest.mark.parametrize(
    "args",
    [
        "op 18 3",
        "op 9 --plant",
        "op 9 --smart",
        "count 12 3",
        "parity 12",
        "php 6 6",
        "php 7 6 --functional",
        "php 7 6 3",
        "cliquecoloring 6 3 3",
        "vdw 70 4 6",
        "op 3",
        "count 5 0",
    ],
)
def test_what_is_not_certain_or_leaves_no_room_is_not_drawn(args: str) -> None:
    assert drawn_principle(args, pcg(0)) is None


def test_every_such_formula_of_train_is_drawn_anew_at_its_size() -> None:
    assert {recipe.family for recipe in TRAIN.values()} == {
        "ordering",
        "counting",
        "matching",
        "pigeonhole",
        "clique-coloring",
    }
    for recipe in TRAIN.values():
        known, prints = from_cnfgen(recipe.parameters["args"]), set()
        for seed in range(DRAWS):
            formula, status = fresh_formula(recipe, "UNSAT", pcg(seed))
            assert status == "UNSAT" and formula.variables == known.variables
            assert abs(formula.clauses - known.clauses) <= 0.03 * known.clauses
            prints.add(shape_print(formula))
        assert shape_print(known) not in prints, f"{recipe.name}: known by what renaming leaves alone"
        assert len(prints) >= DRAWS - 2, f"{recipe.name}: one draw is like the other"


def test_two_cycles_of_one_lake_differ_in_more_than_names(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    made = []
    for cycle in ("0001", "0002"):
        suite = fresh_suite(
            "train", blobs, tmp_path / "cache", FreshKey(b"s" * 32, 0, cycle), seeds=SEEDS, count=12
        )
        made.append(
            [
                shape_print(read_dimacs(blobs.get(item.sha)))
                for item in suite.instances
                if item.family in ("ordering", "clique-coloring")
            ]
        )
    assert len(made[0]) == 2 and not set(made[0]) & set(made[1])
