"""A user's formula is read in one way by every command; an error names the user's file and has its parts as fields."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evolake.cli import cli
from evolake.cli.ending import end
from evolake.errors import InputError
from evolake.lake.blobs import BlobStore
from evolake.reading import Bomb, Damaged
from evolake.solvers.commands.lock import lock
from evolake.solvers.formula.cnf import for_solvers, read_cnf_bytes, read_cnf_file, write_dimacs
from evolake.solvers.formula.packing import unpacked
from evolake.solvers.suites.competition import competition_suite, lock_formulas
from evolake.solvers.suites.folder_lock import LOCK

GOOD = b"p cnf 2 2\n1 2 0\n-1 2 0\n"
PACK = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress, ".zst": zstandard.ZstdCompressor().compress}
REFUSED = {
    "no-header": b"1 2 0\n-1 2 0\n", "empty": b"", "few-clauses": b"p cnf 2 1\n1 2 0\n-1 2 0\n", "many-clauses": b"p cnf 2 3\n1 2 0\n-1 2 0\n",
    "few-variables": b"p cnf 1 2\n1 2 0\n-1 2 0\n", "last-zero": b"p cnf 2 2\n1 2 0\n-1 2\n", "plus": b"p cnf 2 1\n+1 2 0\n",
    "xor": b"p cnf 2 1\nx1 2 0\n", "cut": gzip.compress(GOOD * 50)[:-30],
}
READ = {"bom": b"\xef\xbb\xbf" + GOOD, "percent": GOOD + b"%\n0\n", "gzip": gzip.compress(GOOD), "crlf": GOOD.replace(b"\n", b"\r\n")}


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


@pytest.mark.parametrize("kind", REFUSED)
def test_lock_bench_and_proof_check_refuse_the_same_formula_by_the_same_words(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = f"mine/{kind}.cnf" + (".gz" if kind == "cut" else "")
    Path("mine").mkdir()
    Path(name).write_bytes(REFUSED[kind])
    Path("a.drat").write_bytes(b"0\n")
    said = []
    for work in (lambda: lock_formulas(Path("mine")), lambda: competition_suite(Path("mine"), BlobStore(tmp_path / "lake"), tmp_path / "cache")):
        with pytest.raises(InputError) as raised:
            work()
        said.append(raised.value.to_json())
    assert end(cli, ["proof", "check", name, "a.drat", "--json"]) == 2
    assert said[0] == said[1]
    assert name in str(said[0]["what"]) and all(said[0].values())
    assert not (tmp_path / "mine" / LOCK).exists()


def printed(capsys, *arguments):
    code = end(cli, [*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("kind", REFUSED)
def test_the_parts_of_an_error_are_fields(kind, tmp_path, capsys):
    path = tmp_path / (f"{kind}.cnf.gz" if kind == "cut" else f"{kind}.cnf")
    path.write_bytes(REFUSED[kind])
    (tmp_path / "a.drat").write_bytes(b"0\n")
    code, result = printed(capsys, "proof", "check", path, tmp_path / "a.drat")
    assert (code, result["verdict"], result["exit_code"]) == (2, "error", 2)
    assert str(path) in result["what"] and all(result[name] for name in ("wanted", "got", "next"))
    again, same = printed(capsys, "solvers", "lock", tmp_path)
    assert again == 2 and [same[name] == result[name] for name in ("what", "wanted", "got", "next")] == [True] * 4


@pytest.mark.parametrize("kind", READ)
def test_what_is_read_is_read_by_all_and_solvers_get_a_text_that_they_can_read(kind, tmp_path):
    (tmp_path / "a.cnf").write_bytes(READ[kind])
    (tmp_path / "a.drat").write_bytes(b"2 0\n")
    assert CliRunner().invoke(lock, [str(tmp_path)], standalone_mode=False).exit_code == 0
    assert CliRunner().invoke(cli, ["proof", "check", str(tmp_path / "a.cnf"), str(tmp_path / "a.drat")]).exit_code == 1
    (item,) = competition_suite(tmp_path, BlobStore(tmp_path / "lake"), tmp_path / "cache", locked=True).instances
    assert item.path is not None
    data = item.path.read_bytes()
    assert data.startswith(b"p cnf 2 2") and b"%" not in data
    assert read_cnf_file(item.path) == read_cnf_file(tmp_path / "a.cnf")


def test_a_plain_formula_reaches_solvers_as_it_is():
    data = b"c mine\np  cnf 2 2\n1 2 0 -1\n2 0\n"
    assert for_solvers(data)[0] == data
    assert for_solvers(b"\xef\xbb\xbf" + data)[0] == write_dimacs(for_solvers(data)[1])


def test_all_bad_files_of_a_folder_are_named_at_once(tmp_path):
    for name, data in REFUSED.items():
        (tmp_path / f"{name}.cnf").write_bytes(data)
    (tmp_path / "good.cnf").write_bytes(GOOD)
    with pytest.raises(InputError, match=f"{len(REFUSED)} of {len(REFUSED) + 1} files") as raised:
        lock_formulas(tmp_path)
    assert str(raised.value.got).count(".cnf") == 5 and str(raised.value.got).endswith("; ...")


@pytest.mark.parametrize(("text", "complaint"), [
    ("a,SAT\nb,UNSAT\nnowhere,SAT\n", "has 1 formulas that are not in"), ("a,SAT\na.cnf,UNSAT\n", "another status"),
    ("\n".join(f"x{number},SAT" for number in range(9)), "has 9 formulas"),
])
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


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=80) | st.sampled_from([b"1 0\n", b"1 0", b"1 2 3 0", b"-4 0", b"1 0 %\n"]), header=st.booleans())
def test_a_lock_holds_what_the_checker_of_proofs_reads(data, header, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "a.cnf").write_bytes((b"p cnf 3 1\n" if header else b"") + data)
    try:
        read_cnf_file(folder / "a.cnf")
    except InputError:
        with pytest.raises(InputError):
            lock_formulas(folder)
    else:
        assert len(lock_formulas(folder)) == 1
