"""The hard suites: statuses that hold by how a formula is made, a table and a lock that say one thing, and
what a suite is promised to be."""

import hashlib

import numpy as np
import pytest

from evolake.errors import InputError
from evolake.project import BROUGHT
from evolake.reading.formula import falsified_clauses, read_dimacs, write_dimacs
from evolake.solvers.measurement.hardness import COLUMNS, lock_measured, locked_status, read_table, table_path
from evolake.solvers.suites.confirm import ask
from evolake.solvers.suites.fresh import fresh_formula, status_by_construction
from evolake.solvers.suites.generators import generate, pcg
from evolake.solvers.suites.spec import build, load_spec, recipes_of

SEEDS = BROUGHT / "data_lake" / "seeds"
HARD = ("hard-train", "hard-holdout")
SMALL = [
    ("xor", {"n": 12, "m": 14, "k": 4, "satisfiable": True}, "SAT"),
    ("xor", {"n": 12, "m": 14, "k": 4, "satisfiable": False}, "UNSAT"),
    ("even", {"n": 7, "d": 4}, "SAT"),
    ("even", {"n": 11, "d": 6}, "UNSAT"),
    ("counts", {"groups": 4}, "UNSAT"),
    ("miter", {"bits": 3, "known": 1}, "UNSAT"),
    ("filter", {"length": 14, "outputs": 20, "known": 3}, "SAT"),
]


@pytest.mark.parametrize(
    ("generator", "parameters", "status"), SMALL, ids=[f"{name}-{status}" for name, _, status in SMALL]
)
def test_a_status_by_construction_is_true_and_a_seed_names_the_bytes(generator, parameters, status):
    assert status_by_construction(generator, parameters) == status
    texts = [write_dimacs(generate(generator, {**parameters, "seed": seed})) for seed in (1, 1, 2, 3)]
    assert texts[0] == texts[1] and len(set(texts)) >= 2
    for data in set(texts):
        result = ask("glucose4", data, 60)
        assert result is not None and result[0] == status
        if status == "SAT":
            formula = read_dimacs(data)
            assert not len(
                falsified_clauses(
                    formula, np.array([*result[2], *range(abs(result[2][-1]) + 1, formula.variables + 1)])
                )
            )


@pytest.mark.parametrize("name", HARD)
def test_a_hard_suite_is_what_its_lock_and_its_table_say(name):
    spec, rows = load_spec(name, SEEDS), read_table(table_path(name, SEEDS))
    recipes = recipes_of(spec)
    assert list(rows) == [recipe.name for recipe in recipes] and len(recipes) >= 60
    assert lock_measured(spec, rows) == spec.locked
    assert {recipe.name: hashlib.sha256(build(recipe)).hexdigest() for recipe in recipes} == {
        row["name"]: row["sha256"] for row in rows.values()
    }
    assert all(
        1 <= float(row["cpu_s"]) <= 60 and row["known_by"] != "unsolved" and int(row["conflicts"]) > 1000
        for row in rows.values()
    )
    for recipe in recipes:
        assert recipe.status in ("unknown", rows[recipe.name]["status"])
        assert status_by_construction(recipe.generator or "", recipe.parameters) in (
            "unknown",
            rows[recipe.name]["status"],
        )
    answers = [row["status"] for row in rows.values()]
    assert min(answers.count("SAT"), answers.count("UNSAT")) >= len(answers) // 4
    assert len({recipe.family for recipe in recipes[:12]}) >= 6


def test_the_hard_suites_share_families_but_no_formula_and_two_are_only_held_out():
    train, holdout = (recipes_of(load_spec(name, SEEDS)) for name in HARD)
    families = [{recipe.family for recipe in recipes} for recipes in (train, holdout)]
    assert len(families[0]) >= 8 and families[1] - families[0] == {"filter", "miter"}
    shas = [{row["sha256"] for row in read_table(table_path(name, SEEDS)).values()} for name in HARD]
    assert not shas[0] & shas[1]


def test_fresh_formulas_of_a_hard_suite_keep_the_status_that_their_making_gives():
    for name in HARD:
        seen = {}
        for recipe in recipes_of(load_spec(name, SEEDS)):
            if recipe.family not in seen:
                formula, status = fresh_formula(recipe, recipe.status, pcg(5))
                seen[recipe.family] = status
                assert formula.clauses and status in ("unknown", recipe.status)
        assert {"SAT", "UNSAT"} <= set(seen.values())


def test_what_one_solver_says_alone_is_no_status(tmp_path):
    row = dict.fromkeys(COLUMNS, "") | {"status": "UNSAT"}
    assert [
        locked_status(row | {"known_by": word}) for word in ("proof", "construction", "unchecked", "unsolved")
    ] == ["UNSAT", "UNSAT", "unknown", "unknown"]
    (tmp_path / "x.csv").write_text("name,cpu\na,1\n")
    with pytest.raises(InputError, match="not a table of this kind"):
        read_table(tmp_path / "x.csv")
    with pytest.raises(InputError, match="is not measured"):
        lock_measured(load_spec("train", SEEDS), {})
