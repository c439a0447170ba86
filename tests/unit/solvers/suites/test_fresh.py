"""Formulas that nobody has seen: the same for one secret, root seed and cycle, others for any other; as hard,
and of a status that is certain."""

from pathlib import Path

import numpy as np

from evolake.lake.blobs import BlobStore
from evolake.project import BROUGHT
from evolake.reading.formula import MOST_PADDING, falsified_clauses, read_cnf_file, read_dimacs
from evolake.solvers.suites import materialize_suite
from evolake.solvers.suites.confirm import ask
from evolake.solvers.suites.fresh import FreshKey, carried_suite, fresh_suite
from evolake.solvers.suites.spec import Suite

SEEDS = BROUGHT / "data_lake" / "seeds"
SECRET, OTHER = b"s" * 32, b"t" * 32
COUNT = 12


def fresh(folder: Path, secret: bytes = SECRET, root_seed: int = 0, cycle: str = "0001") -> Suite:
    blobs = BlobStore(folder)
    return fresh_suite(
        "train", blobs, folder / "cache", FreshKey(secret, root_seed, cycle), seeds=SEEDS, count=COUNT
    )


def test_one_key_gives_one_suite_and_any_other_key_another(tmp_path):
    suites = [
        fresh(tmp_path),
        fresh(tmp_path, OTHER),
        fresh(tmp_path, root_seed=1),
        fresh(tmp_path, cycle="0002"),
    ]
    assert fresh(tmp_path / "elsewhere").sha == suites[0].sha
    known = materialize_suite("train", BlobStore(tmp_path), tmp_path / "cache", seeds=SEEDS, count=COUNT)
    shas = [item.sha for suite in (*suites, known) for item in suite.instances]
    assert len(set(shas)) == len(shas) == 5 * COUNT


SPEC = """
[suite]
name = "mixed"
description = "what draws and what does not"
[[instances]]
name = "drawn"
family = "random-3"
generator = "rksat"
parameters = { n = 20, m = 80, k = 3, seed = 1 }
status = "unknown"
shuffles = 1
duel_shuffles = 3
[[instances]]
name = "fixed"
family = "van-der-waerden"
generator = "cnfgen"
parameters = { args = "vdw 8 3 3" }
status = "SAT"
shuffles = 2
[[instances]]
name = "principle"
family = "pigeonhole"
generator = "cnfgen"
parameters = { args = "php 5 4" }
status = "UNSAT"
shuffles = 1
"""


def test_an_instance_of_a_duel_names_the_formula_that_it_comes_from(tmp_path):
    """Copies share their formula's name whatever they are called; a copy whose generator draws anew is a
    formula of its own."""
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "mixed.toml").write_text(SPEC)
    suite = fresh_suite(
        "mixed", BlobStore(tmp_path), tmp_path / "cache", FreshKey(SECRET, 0, "0002"), seeds=tmp_path
    )
    assert {item.name: (item.base, item.shuffle) for item in suite.instances} == {
        "drawn@0002": ("drawn@0002", 0),
        "drawn@0002~1": ("drawn@0002", 1),
        "drawn@0002~2": ("drawn@0002", 2),
        "drawn~1@0002": ("drawn~1@0002", 0),
        "drawn~1@0002~1": ("drawn~1@0002", 1),
        "drawn~1@0002~2": ("drawn~1@0002", 2),
        "fixed@0002": ("fixed@0002", 0),
        "fixed~1@0002": ("fixed@0002", 1),
        "fixed~2@0002": ("fixed@0002", 2),
        "principle@0002": ("principle@0002", 0),
        "principle~1@0002": ("principle~1@0002", 0),
    }
    sizes = {item.name: read_cnf_file(item.path) for item in suite.instances if item.path is not None}
    assert len({item.sha for item in suite.instances}) == len(suite.instances)
    copies = [sizes[f"drawn@0002{end}"] for end in ("", "~1", "~2")]
    assert all(83 < item.clauses <= 80 + 1 + 2 * MOST_PADDING for item in copies)
    assert len({(item.variables, item.clauses) for item in copies}) == 3, (
        "exact sizes differ even between copies of one formula"
    )


def test_fresh_formulas_have_about_the_sizes_of_the_suite(tmp_path):
    known = materialize_suite("train", BlobStore(tmp_path), tmp_path / "cache", seeds=SEEDS, count=COUNT)
    for old, new in zip(known.instances, fresh(tmp_path).instances, strict=True):
        assert old.path is not None and new.path is not None
        before, after = read_cnf_file(old.path), read_cnf_file(new.path)
        assert old.family == new.family and 3 <= after.variables - before.variables <= MOST_PADDING
        assert abs(after.clauses - before.clauses) <= 0.02 * before.clauses + 1 + 2 * MOST_PADDING
        assert new.path.stat().st_mode & 0o222 == 0 and new.name not in new.path.name


def test_a_status_that_is_told_is_true(tmp_path):
    parts = [item for item in fresh(tmp_path).instances if item.status != "unknown"]
    assert {item.status for item in parts} == {"SAT", "UNSAT"} and len(parts) >= 5
    for item in parts:
        assert item.path is not None
        if item.family in ("planted-3", "factoring", "tseitin", "ordering", "clique-coloring"):
            data = item.path.read_bytes()
            result = ask("glucose4", data, 60)
            assert result is not None and result[0] == item.status, item.name
            if item.status == "SAT":
                assert not len(falsified_clauses(read_dimacs(data), np.array(result[2])))


def test_copies_are_equivalent_and_drawn_under_the_secret(tmp_path):
    blobs, cache = BlobStore(tmp_path), tmp_path / "cache"
    train = materialize_suite("train", blobs, cache, seeds=SEEDS, count=6)
    made = [
        carried_suite(train, blobs, cache, secret=secret, root_seed=0, count=3, copies=2)
        for secret in (SECRET, SECRET, OTHER)
    ]
    assert made[0] == made[1] and [item.shuffle for item in made[0].instances] == [0, 1, 2, 3, 4] * 3
    originals = {item.name: item for item in train.instances}
    copies = [[item.sha for item in suite.instances if item.shuffle] for suite in made]
    assert len({*copies[0], *copies[2], *(item.sha for item in train.instances)}) == 24 + 6
    for item in made[0].instances:
        assert item.path is not None and item.status == originals[item.base].status
        assert (item.shuffle == 0) == (item.sha == originals[item.base].sha)
        variables = [
            read_cnf_file(path).variables
            for path in (item.path, originals[item.base].path)
            if path is not None
        ]
        assert (variables[0] > variables[1]) == (item.shuffle > 2)
    assert (
        len(carried_suite(train, blobs, cache, secret=SECRET, root_seed=0, count=50, copies=1).instances)
        == 24
    )
