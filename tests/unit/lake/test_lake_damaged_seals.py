"""No seal is believed that is not, byte for byte, the last one written: flips, truncations, swaps, renames,
old seals put back, lost journals."""

import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from lake_damage import flips, toy_lake

from evolake.errors import LakeError
from evolake.lake import Lake, disk, following
from evolake.lake.chained import parse
from evolake.lake.seals import decode, history

LINE = "designs"


@pytest.fixture
def lake(tmp_path):
    times = (datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(minutes=n) for n in range(1000))
    lake = Lake(tmp_path, clock=lambda: next(times))
    lake.seals.seal(LINE, "0001", "v1", None, "seeds", {"incoming_members": "a" * 64})
    for number in range(1, 5):
        run_cycle(lake, f"{number:04d}", f"v{number + 1}")
    return lake


def run_cycle(lake, cycle: str, version: str) -> None:
    lake.seals.reopen(LINE, following(cycle), "run")
    lake.seals.seal(
        LINE,
        following(cycle),
        version,
        lake.seals.read(LINE, cycle).version,
        "run",
        {"incoming_members": "b" * 64},
    )


def seal_path(lake, cycle: str):
    return lake.root / "seals" / LINE / f"{cycle}.json"


def journal_path(lake):
    return lake.root / "seals" / LINE / "_journal.jsonl"


def read_seal(lake, cycle: str, path, data: bytes):
    """What a new process makes of the seal while `path` holds `data`: its content, or `damaged`."""
    whole = path.read_bytes()
    path.write_bytes(data)
    try:
        return Lake(lake.root).seals.read(LINE, cycle)
    except LakeError as error:
        assert "evolake lake verify --repair" in str(error)
        return "damaged"
    finally:
        path.write_bytes(whole)


def test_every_flip_of_a_bit_of_a_seal_is_seen(lake):
    data = seal_path(lake, "0003").read_bytes()
    assert decode(data, LINE, "0003") == lake.seals.read(LINE, "0003")
    tried = 0
    for _, changed in flips(data):
        with pytest.raises(ValueError):
            decode(changed, LINE, "0003")
        tried += 1
    assert tried > 2500
    assert {
        read_seal(lake, "0003", seal_path(lake, "0003"), changed) for _, changed in flips(data, every=37)
    } == {"damaged"}


def test_flips_of_bits_of_the_journal_are_seen_or_leave_every_seal_as_it_was(lake):
    """Only the newlines between two lines can change without harm: the last line's, and one of two that stand
    side by side."""
    path, data = journal_path(lake), journal_path(lake).read_bytes()
    wanted = lake.seals.read(LINE, "0005")
    harmless = []
    for bit, changed in flips(data):
        log = parse(changed)
        if not log.faults and history(log.bodies).get("0005", [])[-1:] == [wanted]:
            harmless.append(bit)
    assert (len(harmless) <= 8 * 3, len(data) * 8 > 10_000) == (True, True)
    assert {
        read_seal(lake, "0005", path, changed)
        for bit, changed in flips(data, every=101)
        if bit not in harmless
    } == {"damaged"}
    assert [read_seal(lake, "0005", path, changed) for bit, changed in flips(data) if bit in harmless] == [
        wanted
    ] * len(harmless)


def test_a_seal_cut_short_anywhere_is_seen(lake):
    data = seal_path(lake, "0002").read_bytes()
    assert {
        read_seal(lake, "0002", seal_path(lake, "0002"), data[:length]) for length in range(0, len(data), 7)
    } == {"damaged"}


def test_a_seal_in_the_place_of_another_is_seen(lake):
    other = seal_path(lake, "0002").read_bytes()
    assert read_seal(lake, "0003", seal_path(lake, "0003"), other) == "damaged"
    renamed = seal_path(lake, "0009")
    renamed.write_bytes(other)
    with pytest.raises(LakeError, match="it is the seal of designs, cycle 0002"):
        Lake(lake.root).seals.read(LINE, "0009")


def test_an_old_seal_that_is_put_back_is_not_believed(lake):
    old = seal_path(lake, "0003").read_bytes()
    lake.seals.reopen(LINE, "0003", "a run that fails")
    wanted = lake.seals.read(LINE, "0003")
    assert (
        read_seal(lake, "0003", seal_path(lake, "0003"), old) == wanted
    )  # as if the writer had died before it replaced the file
    lake.seals.seal(LINE, "0003", "other", "v2", "run", {})
    assert read_seal(lake, "0003", seal_path(lake, "0003"), old) == "damaged"


def test_a_seal_without_its_check_sum_is_no_way_round_it(lake):
    body = json.loads(seal_path(lake, "0003").read_bytes())
    body = {name: value for name, value in body.items() if name not in ("format", "check")} | {
        "version": "forged",
        "tables": {},
    }
    forged = (json.dumps(body, sort_keys=True, indent=1) + "\n").encode()
    with pytest.raises(ValueError, match="format None: this evolake reads format 2"):
        decode(forged, LINE, "0003")
    assert read_seal(lake, "0003", seal_path(lake, "0003"), forged) == "damaged"


def test_lines_lost_repeated_or_moved_in_the_journal_are_seen(lake):
    path = journal_path(lake)
    lines = [line + b"\n" for line in path.read_bytes().split(b"\n") if line]
    broken = {
        "first": lines[1:],
        "middle": lines[:3] + lines[4:],
        "two": lines[:2] + lines[4:],
        "last": lines[:-1],
        "repeated": [*lines, lines[-1]],
        "repeated inside": lines[:2] + lines[1:],
        "swapped": [*lines[:3], lines[4], lines[3], *lines[5:]],
        "older one again": [*lines, lines[2]],
    }
    assert {
        name: read_seal(lake, "0005", path, b"".join(kept)) for name, kept in broken.items()
    } == dict.fromkeys(broken, "damaged")


def test_a_journal_that_is_gone_is_seen(lake):
    journal_path(lake).unlink()
    with pytest.raises(LakeError, match="without its journal"):
        Lake(lake.root).seals.read(LINE, "0001")


def test_a_writer_that_dies_anywhere_leaves_the_old_seal_or_the_new(lake):
    class Died(Exception):
        pass

    def die_at(number):
        def hook(operation, path):
            hook.count += 1
            if hook.count == number:
                raise Died

        hook.count = 0
        return hook

    seen = []
    for number in range(1, 60):
        before = lake.seals.read(LINE, "0005")
        disk.hook = hook = die_at(number)
        try:
            lake.seals.seal(LINE, "0005", f"attempt {number}", "v4", "dying")
        except Died:
            pass
        finally:
            disk.hook = None
        after = Lake(lake.root).seals.read(LINE, "0005")
        if after == before:
            outcome = "old"
        elif after.version == f"attempt {number}":
            outcome = "new"
        else:
            outcome = "neither"
        seen.append(outcome)
        Lake(lake.root).seals.seal(LINE, "0005", f"between {number}", "v4", "run")
        if hook.count < number:
            break
    assert seen == sorted(seen, reverse=True)
    assert set(seen) == {"old", "new"}


def test_the_seals_of_a_lake_that_0_2_0_wrote_are_read_and_go_on(tmp_path):
    root = toy_lake(tmp_path)
    seals = Lake(root).seals
    assert [seals.broken_link("ordered", f"000{n}") for n in range(1, 6)] == [None] * 4 + [
        ("0005", "missing")
    ]
    wanted = [seals.read("ordered", f"000{n}") for n in range(1, 5)]
    seals.seal("ordered", "0005", "v5", wanted[-1].version, "run")
    again = Lake(root).seals
    assert [again.read("ordered", f"000{n}") for n in range(1, 5)] == wanted
    assert list(again.journal("ordered")[1]) == ["0001", "0002", "0003", "0004", "0005"]


def test_a_folder_in_the_place_of_a_seal_is_an_error_that_says_so(lake):
    seal_path(lake, "0003").unlink()
    seal_path(lake, "0003").mkdir()
    for act in (lambda: lake.seals.read(LINE, "0003"), lambda: lake.seals.seal(LINE, "0003", "v", None, "r")):
        with pytest.raises(
            LakeError, match=r"0003.json cannot be (read|written)[\s\S]*Is a directory[\s\S]*nothing is lost"
        ) as raised:
            act()
        assert raised.value.exit_code == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become another user")
def test_seals_that_may_not_be_read_or_written_are_an_error_and_never_an_empty_lake(nobody):
    root = Path(tempfile.mkdtemp(prefix="evolake-test-"))
    try:
        lake = Lake(root)
        lake.seals.seal(LINE, "0001", "v1", None, "seeds")
        root.chmod(0o755)
        (root / "seals").chmod(0o700)
        with nobody():
            for ask in (
                lambda: Lake(root).seals.lines(),
                lambda: Lake(root).seals.cycles(LINE),
                lambda: Lake(root).seals.read(LINE, "0001"),
            ):
                with pytest.raises(LakeError, match=r"Permission denied"):
                    ask()
        (root / "seals").chmod(0o755)
        with nobody(), pytest.raises(LakeError, match=r"cannot be written[\s\S]*Permission denied"):
            Lake(root).seals.seal(LINE, "0002", "v2", "v1", "run")
        assert Lake(root).seals.read(LINE, "0002") is None
    finally:
        shutil.rmtree(root)


@pytest.fixture
def nobody():
    """Makes this process, for a block, a user that owns nothing."""

    @contextmanager
    def become():
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return become
