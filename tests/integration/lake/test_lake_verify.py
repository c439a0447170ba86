"""`evolake lake verify`: damage of every kind in a small real lake is found, what can be mended is, and a
repair may be cut off anywhere."""

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from zlib import crc32

import polars as pl
import pytest
from click.testing import CliRunner
from lake_damage import flip, toy_lake

from evolake.cli import cli
from evolake.errors import InputError, LakeError
from evolake.lake import Catalogue, Lake, disk
from evolake.lake.audit import check_root
from evolake.lake.lake_format import MARKER
from evolake.lake.secret import SECRET_FILE, SECRET_FOLDER, lake_secret
from evolake.report.health import examine, mend, summary
from evolake.settings import PROFILE_FILE

FLIPS_PER_FILE = 2


@pytest.fixture(scope="session")
def grown(tmp_path_factory):
    """The small lake, mended and grown by one cycle, one of whose tables was published twice."""
    root = toy_lake(tmp_path_factory.mktemp("grown"))
    mend(root)
    lake = Lake(root)
    before = lake.seals.read("ordered", "0004")
    for member in ("x", "y"):
        for asset, cycle in (("opened", "0004"), ("candidates", "0004"), ("incoming_members", "0005")):
            frame = (
                {"cycle": [cycle], "incoming_version": [before.version]}
                if asset == "opened"
                else {"member": [member]}
            )
            last = lake.publish("ordered", asset, pl.DataFrame(frame), cycle=cycle, run_id=f"run {member}")
        lake.seals.reopen("ordered", "0005", "run")
        lake.seals.seal(
            "ordered",
            "0005",
            f"version {member}",
            before.version,
            "run",
            {"incoming_members": last.content_sha},
        )
    assert [finding.kind for finding in examine(root).findings if not finding.note] == []
    return root


@pytest.fixture
def root(grown, tmp_path) -> Path:
    shutil.copytree(grown, tmp_path / "lake")
    return tmp_path / "lake"


def kinds(root: Path) -> list[str]:
    return sorted({finding.kind for finding in examine(root).findings if not finding.note})


def contents(root: Path) -> dict[str, list]:
    """What readers see: every table's rows and records, every seal."""
    lake = Lake(root)
    with Catalogue(lake) as catalogue:
        superseded = catalogue.query("SELECT count(*) FROM parts WHERE state = 'superseded'").rows
        assert [warning for warning in catalogue.warnings if "superseded" not in warning] == []
    return {
        **{
            asset: [lake.read(line, asset).to_dicts(), records(lake, line, asset)]
            for line, asset in lake.assets()
        },
        "seals": [lake.seals.read("ordered", cycle) for cycle in lake.seals.cycles("ordered")],
        "superseded": superseded,
    }


def records(lake: Lake, line: str, asset: str) -> list:
    return [lake.record(line, asset, cycle) for cycle in lake.cycles(line, asset) or [None]]


def mended(root: Path) -> Counter:
    """Repairs until nothing is done any more; what is left is returned."""
    first = mend(root)
    again = mend(root)
    assert again.done == (), "a repair that was done is done again"
    assert first.findings == again.findings
    return Counter(finding.kind for finding in again.findings if not finding.note)


def lake_files(root: Path) -> list[Path]:
    return [
        path
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.stat().st_size and "quarantine" not in path.parts
    ]


def is_told(root: Path) -> bool:
    """Whether the lake says that it is damaged: by a finding, or by refusing to be opened at all."""
    try:
        return bool(kinds(root))
    except (LakeError, InputError):
        return True


def test_flips_of_bits_in_every_file_are_found_or_change_nothing_that_is_read(root):
    """A sample of bits of each file; `make attack` tries them all."""
    before = contents(root)
    counted: Counter[str] = Counter()
    for path in lake_files(root):
        data = path.read_bytes()
        for number in range(FLIPS_PER_FILE):
            path.write_bytes(flip(data, crc32(f"{path.relative_to(root)} {number}".encode())))
            if is_told(root):
                counted["found"] += 1
            else:
                assert contents(root) == before, f"{path} changed what is read, unseen"
                named = (
                    "locks" in path.parts or path.name == MARKER
                )  # who holds a lock, which version wrote the lake: nobody reads more from them
                counted["harmless name" if named else "harmless"] += 1
        path.write_bytes(data)
    assert counted["found"] > 40 * FLIPS_PER_FILE
    assert counted["harmless"] <= 0.03 * counted["found"]


SECRET = f"{SECRET_FOLDER}/{SECRET_FILE}"
SMALL_FILES = {MARKER: "format", PROFILE_FILE: "profile", SECRET: "secret"}


@pytest.mark.parametrize("name", SMALL_FILES)
def test_every_flipped_bit_of_the_small_files_at_the_root_is_a_finding_and_no_error(root, name):
    Lake(root).note_profile("demo")
    lake_secret(root)
    assert Lake(root).id
    path, data = root / name, (root / name).read_bytes()
    kind = SMALL_FILES[name]
    for bit in range(8 * len(data)):
        path.write_bytes(flip(data, bit))
        assert [finding.kind for finding in check_root(Lake(root, checked=False), False)] == [kind], bit
    assert kinds(root) == [kind]
    got = CliRunner().invoke(cli, ["lake", "verify", "--lake", str(root), "--json"], standalone_mode=False)
    assert (got.return_value, json.loads(got.stdout)["verdict"]) == (1, "findings")
    path.write_bytes(data)
    assert kinds(root) == []


def test_a_profile_that_was_removed_is_noted(root):
    Lake(root).note_profile("demo")
    (root / PROFILE_FILE).unlink()
    assert [(found.kind, found.note, found.got) for found in check_root(Lake(root), False)] == [
        ("profile", True, "no file")
    ]


@pytest.mark.parametrize("asset", ["candidates", "sizes", "candidates__artifacts"])
def test_a_lost_line_of_a_manifest_is_found_and_mended(root, asset):
    path = root / f"tables/ordered/{asset}/_manifest.jsonl"
    lines = [line + b"\n" for line in path.read_bytes().split(b"\n") if line]
    before = contents(root)
    kept = root.with_name("kept")
    shutil.copytree(root, kept)
    for lost in range(0, len(lines), 3):
        shutil.rmtree(root)
        shutil.copytree(kept, root)
        path.write_bytes(b"".join(lines[:lost] + lines[lost + 1 :]))
        if not kinds(root):
            assert contents(root) == before
            continue
        left = mended(root)
        assert not left, (lost, left)
        assert contents(root)[asset] == before[asset], lost


def test_all_lines_of_a_cycle_lost_are_found_told_in_sql_and_mended_from_the_record_beside_the_part(root):
    before = contents(root)
    path = root / "tables/ordered/candidates/_manifest.jsonl"
    lines = [line for line in path.read_bytes().split(b"\n") if line and json.loads(line)["cycle"] != "0004"]
    path.write_bytes(b"\n".join(lines) + b"\n")
    with Catalogue(Lake(root)) as catalogue, pytest.raises(LakeError, match="lake verify --repair"):
        catalogue.query("SELECT * FROM ordered.candidates")
    assert "manifest" in kinds(root)
    assert not mended(root)
    assert contents(root)["candidates"] == before["candidates"]


def test_a_manifest_that_is_gone_is_told_by_all_and_what_has_a_record_comes_back(root):
    before = contents(root)
    (root / "tables/ordered/candidates/_manifest.jsonl").unlink()
    assert kinds(root) == ["manifest"]
    mend(root)
    after = Lake(root)
    assert records(after, "ordered", "candidates") == before["candidates"][1]


def _damage(root: Path) -> dict[str, tuple[list[str], bool]]:
    """Damage by name -> (the kinds that are found, whether a repair leaves nothing)."""
    table = root / "tables/ordered"
    part = table / "candidates/cycle=0004/part.parquet"
    seal = root / "seals/ordered"
    blob = next(path for path in (root / "blobs").rglob("*") if path.is_file() and path.stat().st_size == 8)
    tape = sorted((root / "tape").glob("??/*.json"))
    history = next((table / "candidates/_history/cycle=0004").iterdir())
    dead = 2**22 + 1

    def write(path, data):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def swap(path, other):
        first, second = path.read_bytes(), other.read_bytes()
        path.write_bytes(second)
        other.write_bytes(first)

    return {
        "part cut short": (lambda: os.truncate(part, 100), ["part"], False),
        "part is a folder": (lambda: (part.unlink(), part.mkdir()), ["part"], False),
        "part gone": (part.unlink, ["part"], False),
        "parts swapped": (lambda: swap(part, table / "candidates/cycle=0003/part.parquet"), ["part"], True),
        "part renamed": (
            lambda: shutil.move(part.parent, part.parent.with_name("cycle=0009")),
            ["manifest"],
            True,
        ),
        "part without a line": (
            lambda: shutil.copytree(part.parent, part.parent.with_name("cycle=0008")),
            ["manifest"],
            True,
        ),
        "record gone": (part.with_name("_record.json").unlink, ["record"], True),
        "superseded part gone": (history.unlink, ["superseded"], True),
        "superseded part damaged": (lambda: history.write_bytes(b"junk"), ["superseded"], True),
        "superseded part nobody knows": (
            lambda: shutil.copy(history, history.with_name("000099-0000000000000000.parquet")),
            ["superseded"],
            True,
        ),
        "seal cut short": (lambda: os.truncate(seal / "0005.json", 50), ["seal"], True),
        "seal gone": ((seal / "0005.json").unlink, ["seal"], True),
        "seals swapped": (lambda: swap(seal / "0005.json", seal / "0004.json"), ["seal"], True),
        "seal renamed": (lambda: (seal / "0005.json").rename(seal / "0007.json"), ["seal"], False),
        "old seal put back": (lambda: shutil.copy(_old_seal(root), seal / "0005.json"), ["seal"], True),
        "journal gone": ((seal / "_journal.jsonl").unlink, ["journal"], True),
        "blob damaged": (lambda: blob.write_bytes(b"a wrong\n"), ["blob"], False),
        "blob gone": (blob.unlink, ["reference"], False),
        "blob in a wrong place": (
            lambda: blob.rename(blob.with_name("0" * 62)),
            ["blob", "reference"],
            False,
        ),
        "tape cut short": (lambda: os.truncate(tape[0], 300), ["tape"], False),
        "tape entries swapped": (lambda: swap(tape[0], tape[1]), ["tape"], False),
        "temporary part": (lambda: write(part.with_name(".tmp-run-9"), b"x"), ["leftover"], True),
        "temporary blob of a dead process": (
            lambda: write(root / f"blobs/ab/.tmp-{dead}-1-cd", b"x"),
            ["leftover"],
            True,
        ),
        "token damaged": (
            lambda: (root / "locks/ordered/candidates@0004.token").write_bytes(b"\x00"),
            ["token"],
            True,
        ),
        "lines repeated": (lambda: _append_again(table / "candidates/_manifest.jsonl"), ["manifest"], True),
    }


def _old_seal(root: Path) -> Path:
    """The seal of cycle 0005 before the last one, as its file was."""
    from evolake.lake.seals import encode

    path = root.with_name("old-seal.json")
    path.write_bytes(encode(Lake(root).seals.journal("ordered")[1]["0005"][0]))
    return path


def _append_again(path: Path) -> None:
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    path.write_bytes(path.read_bytes() + lines[-2] + b"\n" + lines[-1] + b"\n")


DAMAGE = [
    "part cut short",
    "part is a folder",
    "part gone",
    "parts swapped",
    "part renamed",
    "part without a line",
    "record gone",
    "superseded part gone",
    "superseded part damaged",
    "superseded part nobody knows",
    "seal cut short",
    "seal gone",
    "seals swapped",
    "seal renamed",
    "old seal put back",
    "journal gone",
    "blob damaged",
    "blob gone",
    "blob in a wrong place",
    "tape cut short",
    "tape entries swapped",
    "temporary part",
    "temporary blob of a dead process",
    "token damaged",
    "lines repeated",
]


def test_a_folder_in_place_of_any_file_is_found_and_no_error(grown, tmp_path):
    kinds_of_files = {
        (path.parent.parent.name, path.suffix, len(path.name)): path for path in lake_files(grown)
    }
    for place, path in enumerate(kinds_of_files.values()):
        root = tmp_path / str(place)
        shutil.copytree(grown, root)
        folder = root / path.relative_to(grown)
        folder.unlink()
        folder.mkdir()
        (folder / "x").write_bytes(b"x")
        assert is_told(root), folder
        mend(root)
        shutil.rmtree(root)


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_of_every_kind_is_found_and_mended_where_it_can_be(root, name):
    act, wanted, whole_again = _damage(root)[name]
    before = contents(root)
    act()
    assert kinds(root) == wanted
    report = summary(examine(root))
    assert report and "run: evolake lake verify" in report
    left = mended(root)
    assert bool(left) != whole_again, left
    if whole_again and not name.startswith("superseded part"):
        assert contents(root) == before


def test_a_repair_that_is_cut_off_anywhere_can_be_done_again(root):
    class Died(BaseException):
        pass

    for name in ("seal gone", "temporary part", "record gone", "superseded part damaged", "lines repeated"):
        _damage(root)[name][0]()
    path = root / "tables/ordered/incoming_members/_manifest.jsonl"
    path.write_bytes(
        b"\n".join(
            line for line in path.read_bytes().split(b"\n") if line and json.loads(line)["cycle"] != "0005"
        )
        + b"\n"
    )
    damaged = root.with_name("damaged")
    shutil.copytree(root, damaged)
    mend(root)
    wanted = contents(root)
    for number in range(3, 500, 37):
        shutil.rmtree(root)
        shutil.copytree(damaged, root)

        def hook(operation, path, number=number, seen=[0]):  # noqa: B006
            seen[0] += operation not in ("read", "list")
            if seen[0] == number:
                raise Died

        disk.hook = hook
        hook.__defaults__[1][0] = 0
        try:
            mend(root)
            cut_off = False
        except Died:
            cut_off = True
        finally:
            disk.hook = None
        assert not mended(root)
        assert contents(root) == wanted
        if not cut_off:
            return
    raise AssertionError("no repair came through")


def test_what_a_live_writer_has_in_hand_is_left_alone(root):
    from evolake.lake.layout import Partition
    from evolake.lake.locks import hold

    partition = Partition(root, "ordered", "candidates", "0004")
    partition.part.write_bytes(b"half")
    with hold(partition.lock, what="p", run_id="writer", timeout_s=0):
        assert kinds(root) == []
        mend(root)
        assert partition.part.read_bytes() == b"half"
    assert kinds(root) == ["part"]


def test_the_command_says_what_was_found_and_its_exit_code_too(root):
    def ask(*arguments):
        got = CliRunner().invoke(
            cli, ["lake", "verify", "--lake", str(root), *arguments], standalone_mode=False
        )
        return got.return_value, got.stdout

    assert ask() == (0, ask()[1])
    assert ask()[1].endswith("clean: everything is as it was written\n")
    (root / "seals/ordered/0005.json").unlink()
    code, text = ask("--json")
    summary = json.loads(text)
    assert (
        code,
        summary["verdict"],
        [finding["kind"] for finding in summary["findings"] if not finding["note"]],
    ) == (1, "findings", ["seal"])
    assert {"what", "where", "wanted", "got", "mend", "repairable"} <= summary["findings"][0].keys()
    code, text = ask("--repair")
    assert (code, "put back as the journal has it" in text) == (0, True)
    from evolake.errors import InputError

    (root.parent / "file").write_text("")
    for path in (root.parent / "file", root.parent / "nothing"):
        got = CliRunner().invoke(cli, ["lake", "verify", "--lake", str(path)], standalone_mode=False)
        assert isinstance(got.exception, InputError)
    shutil.rmtree(root / "tables")
    (root / "tables").write_text("")
    assert ask()[0] == 3


def test_a_lake_that_0_2_0_wrote_is_clean_but_for_what_its_dead_writer_left(tmp_path):
    root = toy_lake(tmp_path)
    assert kinds(root) == ["unfinished"]
    assert not mended(root)
    assert Lake(root).read("ordered", "late", "0001")["x"].to_list() == [1]


def test_accounts_of_what_was_spent_are_part_of_the_tape(root):
    from evolake.agents.budget import Account
    from evolake.agents.calls import Usage

    key = next((root / "tape").glob("??/*.json"))
    account = Account(root / "tape/accounts/cycle-ordered-0001.jsonl")
    account.add(key.parent.name + key.stem, Usage(1, 15, 0.0))
    account.add("b" * 64, Usage(1, 7, 0.5))
    assert [finding.kind for finding in examine(root).findings if finding.kind == "tape"] == []
    whole = account.path.read_bytes()
    account.path.write_bytes(whole.replace(b'"tokens": 15', b'"tokens": 14'))
    assert [(finding.kind, finding.note) for finding in examine(root).findings if finding.kind == "tape"] == [
        ("tape", True)
    ]
    account.path.write_bytes(whole.replace(b"{", b"[", 1))
    assert kinds(root) == ["tape"]


def test_a_hash_that_names_no_blob_is_no_finding_and_a_blob_that_is_gone_is(tmp_path):
    from evolake.families.tables import VALIDATOR_AUTHORS
    from evolake.solvers.tables import SUBMISSIONS

    lake, nowhere = Lake(tmp_path / "lake"), "ab" * 32
    authors = VALIDATOR_AUTHORS.frame(
        [
            {
                "family_id": "f",
                "cycle": "0001",
                "voter": "primary",
                "author": "r",
                "saw": [],
                "source_sha": nowhere,
            }
        ]
    )
    lake.publish("families", "validator_authors", authors, cycle="0001", run_id="r", schema=VALIDATOR_AUTHORS)
    assert [finding.what for finding in examine(lake.root).findings if not finding.note] == []
    submitted = SUBMISSIONS.frame([{"submission_id": "s", "tree_sha": nowhere}])
    lake.publish("solvers", "submissions", submitted, cycle=None, run_id="r", schema=SUBMISSIONS)
    found = [finding for finding in examine(lake.root).findings if not finding.note]
    assert [(finding.kind, finding.what) for finding in found] == [
        ("reference", "solvers/submissions names a blob that is not there")
    ]


def test_a_lake_whose_profile_is_damaged_is_verified_though_settings_cannot_be_read(root, monkeypatch):
    (root / PROFILE_FILE).write_text("delo\n")
    monkeypatch.setenv("EVOLAKE_LAKE", str(root))
    done = CliRunner().invoke(cli, ["lake", "verify"])
    assert done.exception is None and "continues with is no profile" in done.output
