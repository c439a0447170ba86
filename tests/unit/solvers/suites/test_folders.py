"""A user's folder as a suite: every way of packing, its lock, what is told of a folder that changed, and
duels on copies of it."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner

from evolake.errors import InputError
from evolake.lake.blobs import BlobStore
from evolake.project import BROUGHT
from evolake.reading.formula import read_cnf_file
from evolake.solvers.commands_bring import lock
from evolake.solvers.suites.folders import (
    LOCK,
    competition_suite,
    lock_formulas,
    named_suite,
    read_lock,
    unseen_suite,
)
from evolake.solvers.suites.fresh import FreshKey

SEEDS = BROUGHT / "data_lake" / "seeds"
TEXTS = {
    "a.cnf": b"p cnf 2 2\n1 2 0\n-1 2 0\n",
    "deep/b.cnf.xz": b"p cnf 1 2\n1 0\n-1 0\n",
    "c.cnf.gz": b"p cnf 3 1\n1 -3 0\n",
    "d.cnf.bz2": b"p cnf 4 1\n4 0\n",
    "e.cnf.zst": b"p cnf 5 1\n-5 0\n",
}
PACK = {
    ".xz": lzma.compress,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor().compress,
    ".cnf": bytes,
}


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder of one formula of each packing, with statuses of two."""
    place = tmp_path / "mine"
    for name, text in TEXTS.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(PACK[Path(name).suffix](text))
    (place / "status.csv").write_text("a.cnf,sat\nb,UNSAT\n")
    return place


def opened(folder: Path, lake: Path, **more: bool):
    return competition_suite(folder, BlobStore(lake), lake / "cache", **more)


def test_formulas_of_every_packing_are_read(folder, tmp_path):
    suite = opened(folder, tmp_path / "lake")
    assert {item.name: item.path.read_bytes() for item in suite.instances if item.path} == {
        name.split(".cnf")[0]: text for name, text in TEXTS.items()
    }


def test_the_lock_says_what_a_folder_holds(folder, tmp_path):
    lock = lock_formulas(folder, source="written for this test")
    pins = lock.pins
    assert lock == read_lock(folder)
    assert {name: (pin.variables, pin.clauses, pin.status) for name, pin in pins.items()} == {
        "a.cnf": (2, 2, "SAT"),
        "deep/b.cnf.xz": (1, 2, "UNSAT"),
        "c.cnf.gz": (3, 1, "unknown"),
        "d.cnf.bz2": (4, 1, "unknown"),
        "e.cnf.zst": (5, 1, "unknown"),
    }
    assert {pin.source for pin in pins.values()} == {"written for this test"}
    (folder / "status.csv").unlink()
    assert lock_formulas(folder).pins == pins, "what it knows of a file that is the same stays"
    suite = opened(folder, tmp_path / "lake", locked=True)
    assert {item.name: item.status for item in suite.instances} == {
        "a": "SAT",
        "deep/b": "UNSAT",
        "c": "unknown",
        "d": "unknown",
        "e": "unknown",
    }


def test_a_line_takes_no_folder_without_a_lock(folder, tmp_path):
    with pytest.raises(InputError, match="has no lock"):
        named_suite(str(folder), BlobStore(tmp_path / "lake"), tmp_path / "cache", seeds=SEEDS, locked=True)
    assert len(
        named_suite(str(folder), BlobStore(tmp_path / "lake"), tmp_path / "cache", seeds=SEEDS).instances
    ) == len(TEXTS)


@pytest.mark.parametrize(
    "harm, complaint",
    [
        (lambda place: (place / "a.cnf").write_bytes(b"p cnf 1 1\n1 0\n"), r"1 changed \(a\.cnf\)"),
        (lambda place: (place / "e.cnf.zst").unlink(), r"1 missing \(e\.cnf\.zst\)"),
        (lambda place: (place / "new.cnf").write_bytes(b"p cnf 1 1\n1 0\n"), r"1 new \(new\.cnf\)"),
        (
            lambda place: (place / "c.cnf.gz").write_bytes(gzip.compress(TEXTS["c.cnf.gz"], mtime=7)),
            r"1 changed \(c\.cnf\.gz\)",
        ),
    ],
)
def test_a_file_that_changed_is_told(folder, tmp_path, harm, complaint):
    lock_formulas(folder)
    opened(folder, tmp_path / "lake")
    harm(folder)
    with pytest.raises(InputError, match=complaint):
        opened(folder, tmp_path / "lake")
    lock_formulas(folder)
    opened(folder, tmp_path / "lake")


@pytest.mark.parametrize("text", ["{", "[]", '{"formulas": {"a.cnf": {"sha": 1}}}', '{"formulas": 3}'])
def test_a_lock_that_cannot_be_used_is_told(folder, text, tmp_path):
    (folder / LOCK).write_text(text)
    with pytest.raises(InputError, match="cannot be used"):
        opened(folder, tmp_path / "lake")


def test_duels_on_a_folder_are_fought_on_copies_of_it(folder, tmp_path):
    lock_formulas(folder)
    blobs, cache = BlobStore(tmp_path / "lake"), tmp_path / "cache"

    def drawn(cycle: str, secret: bytes = b"s" * 32):
        return unseen_suite(str(folder), blobs, cache, FreshKey(secret, 0, cycle), seeds=SEEDS)

    first, same, later = drawn("0001"), drawn("0001"), drawn("0002")
    assert first.sha == same.sha != later.sha
    assert [item.status for item in first.instances] == ["SAT", "unknown", "unknown", "UNSAT", "unknown"]
    for item, own in zip(first.instances, opened(folder, tmp_path / "lake").instances, strict=True):
        assert item.path is not None and own.path is not None and item.name == f"{own.name}@0001"
        made, known = read_cnf_file(item.path), read_cnf_file(own.path)
        assert (
            made.variables > known.variables
            and made.clauses > known.clauses
            and len(made.literals) > len(known.literals)
        )


def test_the_command_locks_and_says_what_changed(folder):
    run = CliRunner().invoke(lock, [str(folder), "--json", "--source", "here"], standalone_mode=False)
    assert json.loads(run.output) == {
        "verdict": "locked",
        "lock": str(folder / LOCK),
        "formulas": 5,
        "statuses": {"SAT": 1, "UNSAT": 1, "unknown": 3},
        "changed": [],
        "repaired": {},
        "left_out": {},
    }
    (folder / "a.cnf").write_bytes(b"p cnf 7 1\n7 0\n")
    assert "changed: a.cnf" in CliRunner().invoke(lock, [str(folder)], standalone_mode=False).output
