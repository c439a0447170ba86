"""Suites: the same bytes everywhere, pinned; statuses that hold."""

import hashlib
import itertools
import json
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest
from solver_referee import shape_print

import evolake.solvers
from evolake.contest import LEAST_FORMULAS
from evolake.errors import InputError, MachineryError
from evolake.lake.blobs import BlobStore
from evolake.project import BROUGHT
from evolake.reading.formula import Formula, read_dimacs, write_dimacs
from evolake.solvers.measurement.hardness import lock_measured, read_table, table_path
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import competition_suite, load_spec, materialize_suite, suite_names
from evolake.solvers.suites.combinatorial import (
    clique_coloring,
    counting,
    drawn_principle,
    ordering,
    pigeonhole,
)
from evolake.solvers.suites.confirm import ask, confirm
from evolake.solvers.suites.fresh import FreshKey, fresh_formula, fresh_suite, status_by_construction
from evolake.solvers.suites.generators import CASES, corner_case, from_cnfgen, generate, pcg
from evolake.solvers.suites.spec import build, recipes_of

SEEDS = BROUGHT / "data_lake" / "seeds"
TINY = """
[suite]
name = "tiny"
description = "three formulas"

[[instances]]
name = "a"
family = "random-3"
generator = "rksat"
parameters = { n = 20, m = 60, k = 3, seed = 1 }
status = "SAT"
shuffles = 1

[[instances]]
name = "b"
family = "corner"
generator = "corner"
parameters = { name = "no-newline-at-end-unsat" }
status = "UNSAT"
"""


@pytest.fixture
def tiny(tmp_path) -> Path:
    """A seeds folder with the suite `tiny`, locked."""
    folder = tmp_path / "seeds" / "suites"
    folder.mkdir(parents=True)
    (folder / "tiny.toml").write_text(TINY)
    spec = load_spec("tiny", tmp_path / "seeds")
    pins = {
        recipe.name: {"sha256": hashlib.sha256(build(recipe)).hexdigest(), "status": recipe.status}
        for recipe in recipes_of(spec)
    }
    (folder / "tiny.lock.json").write_text(json.dumps({"formulas": pins}))
    return tmp_path / "seeds"


@pytest.mark.parametrize(
    "name",
    [
        "train",
        "holdout",
        "smoke",
        "quick",
        "quick-duel",
        "quick-holdout",
        "multipliers",
        "strong",
        "strong-duel",
        "strong-holdout",
    ],
)
def test_every_generated_formula_has_the_bytes_of_its_lock(name):
    spec = load_spec(name, SEEDS)
    recipes = [recipe for recipe in recipes_of(spec) if recipe.generator is not None]
    assert {recipe.name: hashlib.sha256(build(recipe)).hexdigest() for recipe in recipes} == {
        recipe.name: spec.locked[recipe.name]["sha256"] for recipe in recipes
    }


def test_the_suites_have_the_sizes_and_the_mix_that_they_promise():
    specs = {name: load_spec(name, SEEDS) for name in suite_names(SEEDS)}
    recipes = {name: recipes_of(spec) for name, spec in specs.items()}
    assert set(specs) == {
        "train",
        "holdout",
        "smoke",
        "quick",
        "quick-duel",
        "quick-holdout",
        "strong",
        "strong-duel",
        "strong-holdout",
        "hard-train",
        "hard-holdout",
        "multipliers",
    }
    assert {pin["status"] for pin in specs.pop("multipliers").locked.values()} == {"UNSAT"}
    specs = {
        name: spec for name, spec in specs.items() if not name.startswith("hard-")
    }  # of the hard ones, see test_hard
    assert len(recipes["smoke"]) >= 115
    assert len([recipe for recipe in recipes["train"] if not recipe.shuffle]) >= 40
    for name, spec in specs.items():
        assert set(spec.locked) == {recipe.name for recipe in recipes[name]}
        assert all(
            len(pin["confirmed_by"]) >= 2 or pin["confirmed_by"] == ["empty clause"]
            for pin in spec.locked.values()
        )
        assert {pin["status"] for pin in spec.locked.values()} == {"SAT", "UNSAT"}
    for bred, judged, new in (
        ("train", "holdout", {"van-der-waerden", "add-rotate-xor"}),
        ("quick", "quick-holdout", {"tseitin", "counts"}),
        ("quick-duel", "quick-holdout", {"tseitin", "counts", "coloring"}),
        ("strong", "strong-holdout", {"filter", "miter"}),
    ):
        unseen = {recipe.family for recipe in recipes[judged]} - {recipe.family for recipe in recipes[bred]}
        assert unseen == new
        shas = [
            {specs[name].locked[recipe.name]["sha256"] for recipe in recipes[name]} for name in (bred, judged)
        ]
        assert not shas[0] & shas[1]
    for prefix in ("quick", "strong"):
        duel = recipes[f"{prefix}-duel"]
        assert len({recipe.base for recipe in duel}) > LEAST_FORMULAS, (
            "one more than a contest needs, so that one may be left out"
        )
        assert len({recipe.base for recipe in recipes[f"{prefix}-holdout"]}) >= LEAST_FORMULAS
        assert not {recipe.family for recipe in duel} & {"planted-3", "ordering"}, (
            "costs of these have heavy tails"
        )
        assert all(
            status_by_construction(recipe.generator or "", recipe.parameters) != "SAT"
            or recipe.duel_shuffles > 1
            for recipe in duel
        ), "one run of a satisfiable formula is chance"
    answers = [recipe.status for recipe in recipes["quick"]]
    assert min(answers.count("SAT"), answers.count("UNSAT")) >= 4, (
        "what the gate on answers that do not carry over needs"
    )
    for spec_recipes, count in ((recipes["train"], 12), (recipes["holdout"], 6)):
        assert {recipe.status for recipe in spec_recipes[:count]} == {"SAT", "UNSAT"}
        assert len({recipe.family for recipe in spec_recipes[:count]}) >= 5


@pytest.mark.parametrize("profile", ["demo", "laptop"])
def test_a_profile_has_formulas_enough_that_a_duel_and_a_holdout_can_decide(profile):
    path = Path(evolake.solvers.__file__).parent / "profiles" / f"{profile}.toml"
    sizes = SolversSettings(**tomllib.loads(path.read_text()))
    duel = recipes_of(load_spec(sizes.duel_suite or sizes.train_suite, SEEDS))[
        : max(sizes.train_instances, sizes.duel_instances) or None
    ]
    holdout = recipes_of(load_spec(sizes.holdout_suite, SEEDS))[: sizes.holdout_instances or None]
    for recipes in (duel, holdout):
        assert len({recipe.base for recipe in recipes}) >= LEAST_FORMULAS
    train = recipes_of(load_spec(sizes.train_suite, SEEDS))[: sizes.train_instances or None]
    answers = [recipe.status for recipe in train]
    assert min(answers.count("SAT"), answers.count("UNSAT")) >= 4


@pytest.mark.parametrize(
    ("seed_names", "suites"),
    [
        (["cadical195"], ("strong", "strong-duel", "strong-holdout")),
        (["cadical195", "kissat404"], ("strong", "strong-duel", "strong-holdout")),
        (["minisat22", "cadical195"], ("train", "", "holdout")),
    ],
)
def test_seeds_of_cadicals_class_alone_have_suites_of_their_own(seed_names, suites):
    laptop = SolversSettings(seeds=seed_names, timeout_s=3)
    assert (laptop.train_suite, laptop.duel_suite, laptop.holdout_suite) == suites
    assert SolversSettings(seeds=seed_names, timeout_s=10).train_suite == "train"
    assert SolversSettings(seeds=seed_names, timeout_s=3, train_suite="quick").train_suite == "quick"


@pytest.mark.parametrize("name", ["strong", "strong-duel", "strong-holdout"])
def test_strong_formulas_take_cadical_a_fair_share_of_the_laptops_limit(name):
    spec, rows = load_spec(name, SEEDS), read_table(table_path(name, SEEDS))
    limit = SolversSettings(
        **tomllib.loads((Path(evolake.solvers.__file__).parent / "profiles" / "laptop.toml").read_text())
    ).timeout_s
    assert (
        list(rows) == [recipe.name for recipe in recipes_of(spec)]
        and lock_measured(spec, rows) == spec.locked
    )
    assert all(0.05 * limit <= float(row["cpu_s"]) <= 0.6 * limit for row in rows.values())
    assert {row["known_by"] for row in rows.values()} <= {"model", "proof", "construction"}


def test_a_materialized_suite_lies_in_files_that_say_nothing_of_the_formula(tiny, tmp_path):
    blobs = BlobStore(tmp_path / "lake")
    suite = materialize_suite("tiny", blobs, tmp_path / "cache", seeds=tiny)
    for item in suite.instances:
        assert item.path == tmp_path / "cache" / f"{item.sha}.cnf"
        assert item.path.read_bytes() == blobs.get(item.sha)
        assert item.path.stat().st_mode & 0o222 == 0
    assert materialize_suite("tiny", blobs, tmp_path / "cache", seeds=tiny) == suite
    assert suite.first(2).instances == suite.instances[:2]
    assert suite.first(0) == suite
    assert suite.first(2).sha != suite.sha


def test_bytes_other_than_the_locks_are_never_used(tiny, tmp_path):
    lock = tiny / "suites" / "tiny.lock.json"
    data = json.loads(lock.read_text())
    data["formulas"]["a"]["sha256"] = "0" * 64
    lock.write_text(json.dumps(data))
    with pytest.raises(MachineryError, match="other bytes than its lock says"):
        materialize_suite("tiny", BlobStore(tmp_path / "lake"), tmp_path / "cache", seeds=tiny)


def test_a_formula_that_nobody_confirmed_is_never_used(tiny, tmp_path):
    lock = tiny / "suites" / "tiny.lock.json"
    data = json.loads(lock.read_text())
    del data["formulas"]["b"]
    lock.write_text(json.dumps(data))
    with pytest.raises(InputError, match="does not know 'b'"):
        materialize_suite("tiny", BlobStore(tmp_path / "lake"), tmp_path / "cache", seeds=tiny)


def test_a_status_that_the_lock_contradicts_is_refused(tiny, tmp_path):
    spec = tiny / "suites" / "tiny.toml"
    spec.write_text(spec.read_text().replace('status = "UNSAT"', 'status = "SAT"'))
    with pytest.raises(InputError, match="UNSAT in its lock"):
        materialize_suite("tiny", BlobStore(tmp_path / "lake"), tmp_path / "cache", seeds=tiny)


def test_formulas_of_an_archive_come_from_its_tree_until_the_lake_has_them(tmp_path):
    tree = tmp_path / "tree"
    (tree / "cnfs").mkdir(parents=True)
    (tree / "cnfs" / "one.cnf").write_bytes(b"p cnf 1 1\n1 0\n")
    folder = tmp_path / "seeds" / "suites"
    folder.mkdir(parents=True)
    (folder / "old.toml").write_text(
        '[suite]\nname = "old"\ndescription = "x"\n[[archives]]\nseed = "s"\nfolder = "cnfs"\nfamily = "f"\n'
    )
    pin = {
        "sha256": hashlib.sha256(b"p cnf 1 1\n1 0\n").hexdigest(),
        "status": "SAT",
        "confirmed_by": ["x", "y"],
    }
    (folder / "old.lock.json").write_text(json.dumps({"formulas": {"f/one": pin}}))
    blobs = BlobStore(tmp_path / "lake")
    with pytest.raises(InputError, match="comes with the sources of s"):
        materialize_suite("old", blobs, tmp_path / "cache", seeds=tmp_path / "seeds")
    result = materialize_suite(
        "old", blobs, tmp_path / "cache", seeds=tmp_path / "seeds", trees={"s": tree}.__getitem__
    )
    shutil.rmtree(tree)
    again = materialize_suite("old", blobs, tmp_path / "cache", seeds=tmp_path / "seeds")
    assert result == again
    assert [(item.name, item.family, item.status) for item in result.instances] == [("f/one", "f", "SAT")]


def test_unknown_suites_and_generators_are_named(tmp_path):
    with pytest.raises(InputError, match="there is no suite 'nothing'"):
        load_spec("nothing", SEEDS)
    with pytest.raises(InputError, match="no generator 'dice'"):
        generate("dice", {})
    with pytest.raises(InputError, match="cannot use"):
        generate("rksat", {"sides": 6})


@pytest.mark.parametrize("name", sorted(CASES))
def test_corner_cases_can_be_read_and_have_the_status_they_state(name):
    formula = read_dimacs(corner_case(name))
    assert (
        confirm(name, corner_case(name), 60.0, solvers=("minisat22", "cadical195"))["status"]
        == CASES[name][0]
    )
    assert formula.clauses >= 0


@pytest.mark.parametrize(
    ("generator", "parameters", "status"),
    [
        ("rksat", {"n": 50, "m": 150, "k": 3, "seed": 3}, "SAT"),
        ("planted", {"n": 60, "m": 300, "k": 3, "seed": 3}, "SAT"),
        ("tseitin", {"n": 8, "d": 3, "seed": 3}, "UNSAT"),
        ("tseitin", {"n": 12, "d": 4, "seed": 4}, "UNSAT"),
        ("coloring", {"n": 20, "m": 30, "k": 3, "seed": 3}, "SAT"),
        ("coloring", {"n": 6, "m": 15, "k": 5, "seed": 3}, "UNSAT"),
        ("qgh", {"n": 8, "holes": 30, "seed": 3}, "SAT"),
        ("mult", {"bits_a": 5, "bits_b": 5, "product": 23 * 29}, "SAT"),
        ("mult", {"bits_a": 5, "bits_b": 5, "product": 677}, "UNSAT"),
        ("arx", {"width": 4, "rounds": 2, "known": 3, "seed": 3}, "SAT"),
        ("cnfgen", {"args": "php 5 4"}, "UNSAT"),
        ("cnfgen", {"args": "vdw 8 3 3"}, "SAT"),
        ("cnfgen", {"args": "vdw 9 3 3"}, "UNSAT"),
    ],
)
def test_generators_keep_what_they_promise(generator, parameters, status):
    first, second = generate(generator, parameters), generate(generator, parameters)
    assert isinstance(first, Formula)
    assert first == second
    assert (np.abs(first.literals) <= first.variables).all()
    reply = ask("cadical195", _bytes(first), 60.0)
    assert reply is not None
    assert reply[0] == status


def test_confirming_needs_two_solvers_and_true_models(monkeypatch):
    from evolake.solvers.suites import confirm as module

    data = b"p cnf 2 2\n1 2 0\n-1 0\n"
    result = confirm("x", data, 60.0, solvers=("minisat22", "cadical195"))
    assert (result["status"], result["confirmed_by"]) == ("SAT", ["cadical195", "minisat22"])
    with pytest.raises(InputError, match="not confirmed"):
        confirm("x", data, 60.0, solvers=("minisat22",))
    monkeypatch.setattr(module, "ask", lambda solver, data, limit: ("SAT", 0.0, [1, 2]))
    with pytest.raises(InputError, match="falsifies clause 1"):
        confirm("x", data, 60.0)
    answers = {"a": ("UNSAT", 0.0, []), "b": ("SAT", 0.0, [-1, 2])}
    monkeypatch.setattr(module, "ask", lambda solver, data, limit: answers[solver])
    with pytest.raises(InputError, match="disagree"):
        confirm("x", data, 60.0, solvers=("a", "b"))


def _bytes(formula: Formula) -> bytes:
    from evolake.reading.formula import write_dimacs

    return write_dimacs(formula)


# cnfgen's principles on drawn graphs: on the complete one they are cnfgen's own, on a drawn one other
# formulas of the same size and status.


TRAIN = {
    recipe.name: recipe for recipe in recipes_of(load_spec("train", SEEDS)) if recipe.generator == "cnfgen"
}
DRAWS = 6


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
def test_on_a_complete_graph_they_are_cnfgens_own(args, made):
    known = from_cnfgen(args)
    assert (made.variables, clauses(made)) == (known.variables, clauses(known))


@pytest.mark.parametrize(
    "args", ["op 9", "op 8 --total", "count 7 3", "parity 9", "php 7 6", "php 7 5", "cliquecoloring 7 3 2"]
)
def test_whatever_is_drawn_is_unsatisfiable(args):
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
def test_what_is_not_certain_or_leaves_no_room_is_not_drawn(args):
    assert drawn_principle(args, pcg(0)) is None


def test_every_such_formula_of_train_is_drawn_anew_at_its_size():
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


def test_two_cycles_of_one_lake_differ_in_more_than_names(tmp_path):
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


def test_a_users_folder_is_a_suite(tmp_path):
    import gzip
    import lzma

    folder = tmp_path / "mine"
    (folder / "hard").mkdir(parents=True)
    (folder / "b.cnf").write_bytes(b"p cnf 1 2\n1 0\n-1 0\n")
    (folder / "hard" / "a.cnf.xz").write_bytes(lzma.compress(b"p cnf 2 1\n1 2 0\n"))
    (folder / "c.cnf.gz").write_bytes(gzip.compress(b"p cnf 3 1\n-3 0\n"))
    (folder / "status.csv").write_text("file,verdict\nb.cnf,UNSATISFIABLE\na,sat\n")
    blobs = BlobStore(tmp_path / "lake")
    suite = competition_suite(folder, blobs, tmp_path / "cache")
    assert [(item.name, item.family, item.status) for item in suite.instances] == [
        ("b", "mine", "UNSAT"),
        ("c", "mine", "unknown"),
        ("hard/a", "hard", "SAT"),
    ]
    assert suite.instances[2].path is not None
    assert suite.instances[2].path.read_bytes() == b"p cnf 2 1\n1 2 0\n"
    assert competition_suite(folder, blobs, tmp_path / "cache", count=1).instances == suite.instances[:1]
