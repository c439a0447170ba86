"""A user's formulas: what is repaired and said, what is left out, and that an error names the user's file and
has its parts as fields."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.cli import cli
from evolake.cli.ending import end
from evolake.errors import InputError
from evolake.lake.blobs import BlobStore
from evolake.reading import Bomb, Damaged
from evolake.reading.formula import read_cnf_bytes, read_dimacs, unpacked
from evolake.solvers.suites.folder_reading import Repaired, repaired
from evolake.solvers.suites.folders import LOCK, competition_suite, lock_formulas

GOOD = b"p cnf 2 2\n1 2 0\n-1 2 0\n"
PACK = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
REPAIRED = {
    "no-header": (b"1 2 0\n-1 2 0\n", "line 1: there is no header; written from the clauses"),
    "few-clauses": (
        b"p cnf 2 1\n1 2 0\n-1 2 0\n",
        "line 1: the header says 1 clauses, there are 2; 2 written",
    ),
    "many-clauses": (
        b"p cnf 2 3\n1 2 0\n-1 2 0\n",
        "line 1: the header says 3 clauses, there are 2; 2 written; the file may have been cut",
    ),
    "few-variables": (
        b"c a\np cnf 1 2\n1 2 0\n-1 2 0\n",
        "line 2: the header says 1 variables, the largest is 2; 2 written",
    ),
    "last-zero": (
        b"p cnf 2 2\n1 2 0\n-1 2\n",
        "line 3: the last clause has no 0; ended there; the file may have been cut",
    ),
    "plus": (b"p cnf 2 2\n1 +2 0\n-1 2 0\n", "line 2: 1 literals with a `+`; written without it"),
    "bom": (b"\xef\xbb\xbf" + GOOD, "line 1: a byte order mark; left out"),
    "percent": (GOOD + b"%\n0\n", "line 4: a `%` line ends the file; left out from there"),
    "crlf": (GOOD.replace(b"\n", b"\r\n"), "line 1: line ends of CR; written as line feeds"),
    "capitals": (GOOD.upper(), "line 1: the header is in capitals; written in small letters"),
    "short-header": (
        b"p cnf 2\n1 2 0\n-1 2 0\n",
        "line 1: the header is 'p cnf 2'; written from the clauses",
    ),
    "late-header": (
        b"1 2 0\np cnf 2 2\n-1 2 0\n",
        "line 2: the header is behind clauses; moved to the start",
    ),
    "ctrl-z": (GOOD + b"\x1a\n", "line 3: zero bytes or Ctrl-Z at the end; left out"),
}
"""Name -> (a file that means GOOD, what is said of it)."""
UNSURE = {"few-clauses", "many-clauses", "last-zero"}
REFUSED = {
    "empty": (b"", "is empty"),
    "comments": (b"c nothing\n", "is empty"),
    "word": (b"p cnf 2 1\n1 two 0\n", "not a literal"),
    "two": (GOOD + GOOD, "2 headers"),
    "xor": (b"p cnf 2 1\nx1 2 0\n", "CNF with XOR clauses"),
    "weighted": (b"p wcnf 2 1 9\n9 1 0\n", "MaxSAT"),
    "weights": (b"h 1 2 0\n3 1 0\n", "MaxSAT"),
    "incremental": (b"p inccnf\n1 0\na 1 0\n", "incremental CNF"),
    "qbf": (b"p cnf 2 1\ne 1 2 0\n1 0\n", "QBF"),
    "pseudo": (b"* #variable= 2 #constraint= 1\n+1 x1 >= 1;\n", "OPB"),
    "cut": (gzip.compress(GOOD * 50)[:-30], "cannot be read"),
}
"""Name -> (a file that is no formula, what is said of it)."""


@pytest.mark.parametrize("pack", [*PACK.values(), bytes])
@pytest.mark.parametrize("name", ["a.cnf", "a.txt", "a"])
def test_packing_is_told_from_the_bytes(name, pack, tmp_path):
    (tmp_path / name).write_bytes(pack(GOOD))
    assert read_cnf_bytes(tmp_path / name) == GOOD


@pytest.mark.parametrize("ending", PACK)
def test_a_small_file_that_unpacks_to_more_than_the_limit_ends_at_it(ending):
    data = PACK[ending](bytes(50 << 20))
    assert len(data) < 100_000
    with pytest.raises(Bomb, match=r"mine\.cnf is too large"):
        unpacked(data, "", 1 << 20, "mine.cnf")


@settings(max_examples=60)
@given(st.binary(max_size=400), st.sampled_from(sorted(PACK)), st.data())
def test_unpacking_gives_the_bytes_back_and_never_a_part_of_them(data, ending, draw):
    packed = PACK[ending](data)
    assert unpacked(packed, "", 1 << 20, "x") == data
    assert unpacked(packed + packed, "", 1 << 20, "x") == data + data
    cut = draw.draw(st.integers(1, len(packed) - 1))
    with pytest.raises(Damaged):
        unpacked(packed[:cut], ending, 1 << 20, "x")


def named(kind):
    return f"{kind}.cnf" + (".gz" if kind == "cut" else "")


@pytest.mark.parametrize("kind", REFUSED)
def test_lock_and_bench_refuse_the_same_formula_by_the_same_words(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data, complaint = REFUSED[kind]
    Path("mine").mkdir()
    (Path("mine") / named(kind)).write_bytes(data)
    said = []
    for work in (
        lambda: lock_formulas(Path("mine")),
        lambda: competition_suite(Path("mine"), BlobStore(tmp_path / "lake"), tmp_path / "cache"),
    ):
        with pytest.raises(InputError) as raised:
            work()
        said.append(raised.value.to_json())
    assert said[0] == said[1]
    assert (
        complaint in str(said[0]["what"]) and f"mine/{kind}" in str(said[0]["what"]) and all(said[0].values())
    )
    assert not (tmp_path / "mine" / LOCK).exists()


def printed(capsys, *arguments):
    code = end(cli, [*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("kind", REPAIRED)
def test_what_can_be_understood_is_repaired_and_said(kind, tmp_path, capsys):
    (data, words), folder = REPAIRED[kind], tmp_path / "mine"
    folder.mkdir()
    (folder / "a.cnf").write_bytes(data)
    (folder / "status.csv").write_text("a,SAT\n")
    code, result = printed(capsys, "solvers", "lock", folder)
    assert (code, result["repaired"]) == (0, {"a.cnf": words})
    assert result["statuses"]["SAT"] == (kind not in UNSURE), (
        "a formula that may have lost clauses keeps no status that was given"
    )
    for locked in (True, False):
        suite = competition_suite(folder, BlobStore(tmp_path / "lake"), tmp_path / "cache", locked=locked)
        [item] = suite.instances
        assert item.path is not None and item.path.read_bytes() == GOOD
        assert item.status == ("unknown" if kind in UNSURE else "SAT")
        (folder / LOCK).unlink(missing_ok=True)
    assert suite.remarks == (f"repaired a.cnf: {words}",)


def test_a_formula_without_faults_reaches_solvers_as_it_is():
    data = b"c mine\np  cnf 2 2\n1 2 0 -1\n2 0\n"
    assert repaired(data) == Repaired(data, read_dimacs(data))


def test_a_file_that_says_how_it_is_packed_is_read_under_any_name(tmp_path, capsys):
    for name, data in {
        "a.cnf": gzip.compress(GOOD),
        "b.CNF": b"p cnf 1 1\n1 0\n",
        "c.dimacs": b"p cnf 1 1\n-1 0\n",
        "d.cnf.GZ": gzip.compress(b"p cnf 2 1\n1 2 0\n"),
        "e.cnf.gz": lzma.compress(b"p cnf 3 1\n1 2 0\n"),
        "f.DIMACS.xz": lzma.compress(b"p cnf 4 1\n1 2 0\n"),
        "notes.txt": b"no formula",
    }.items():
        (tmp_path / name).write_bytes(data)
    code, result = printed(capsys, "solvers", "lock", tmp_path)
    assert (code, result["formulas"], result["left_out"]) == (0, 6, {})


def test_all_faults_of_a_folder_are_said_at_once_and_the_rest_is_locked(tmp_path, capsys):
    for name, (data, _) in (REFUSED | REPAIRED).items():
        (tmp_path / named(name)).write_bytes(data)
    (tmp_path / "max.wcnf").write_bytes(GOOD)
    code, result = printed(capsys, "solvers", "lock", tmp_path)
    assert code == 0 and list(result["repaired"].values()) == [REPAIRED["bom"][1]]
    reasons = result["left_out"]
    assert reasons.keys() == {*(named(name) for name in (REFUSED | REPAIRED).keys() - {"bom"}), "max.wcnf"}
    assert all(REFUSED[name][1] in reasons[named(name)] for name in REFUSED)
    for name in REPAIRED.keys() - {"bom"}:
        assert reasons[named(name)] == f"the same formula as bom.cnf ({REPAIRED[name][1]})"
    assert "MaxSAT" in reasons["max.wcnf"]
    (tmp_path / "xor.cnf").write_bytes(GOOD)
    with pytest.raises(InputError, match="not those of its lock") as raised:
        competition_suite(tmp_path, BlobStore(tmp_path / "lake"), tmp_path / "cache")
    assert "1 changed (xor.cnf)" in str(raised.value.got)


def test_equal_formulas_are_kept_once_with_the_status_that_one_of_them_has(tmp_path):
    (tmp_path / "a.cnf").write_bytes(GOOD)
    (tmp_path / "b.cnf").write_bytes(b"c other words\n" + GOOD.replace(b" ", b"  "))
    (tmp_path / "status.csv").write_text("b,SAT\n")
    lock = lock_formulas(tmp_path)
    assert {name: pin.status for name, pin in lock.pins.items()} == {"a.cnf": "SAT"}
    assert lock.left_out["b.cnf"].reason == "the same formula as a.cnf"
    (tmp_path / "status.csv").write_text("b,SAT\na,UNSAT\n")
    with pytest.raises(InputError, match="the same formula as a.cnf, with another status"):
        lock_formulas(tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,SAT\nb,UNSAT\nnowhere,SAT\n", "has 1 formulas that are not in"),
        ("a,SAT\na.cnf,UNSAT\n", "another status"),
        ("\n".join(f"x{number},SAT" for number in range(9)), "has 9 formulas"),
    ],
)
def test_a_row_of_a_formula_that_is_not_there_is_an_error(text, complaint, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.cnf").write_bytes(GOOD)
    (tmp_path / "given.csv").write_text(text)
    with pytest.raises(InputError, match=complaint):
        lock_formulas(folder, statuses=tmp_path / "given.csv")
    (folder / "status.csv").write_text(text)
    with pytest.raises(InputError, match=complaint) as raised:
        competition_suite(folder, BlobStore(tmp_path / "lake"), tmp_path / "cache")
    assert all(raised.value.to_json().values())


@settings(max_examples=60)
@given(
    data=st.binary(max_size=80)
    | st.sampled_from([b"1 0\n", b"1 0", b"1 2 3 0", b"-4 0", b"1 0 %\n", b"+1 0\r\n"]),
    header=st.booleans(),
)
def test_what_comes_out_of_the_repair_is_what_the_strict_reader_reads(data, header):
    whole = (b"p cnf 3 1\n" if header else b"") + data
    try:
        result = repaired(whole)
    except InputError as error:
        assert error.what and error.wanted and error.got and error.do
        with pytest.raises(InputError):
            read_dimacs(whole)
    else:
        assert read_dimacs(result.text) == result.formula
        assert (result.text == whole) == (not result.repairs)
