"""The secret of a lake, and the seeds of contests: no earlier than the candidates, the same for the same."""

import stat
import threading

import pytest
from lake_damage import flip

from evolake.errors import MachineryError
from evolake.lake.blobs import BlobStore
from evolake.lake.secret import contest_seeds, lake_secret, secret_of
from evolake.seeds import CycleSeeds

SECRET, OTHER = b"s" * 32, b"t" * 32
CYCLE = CycleSeeds(0, "designs", "0003")


def test_the_secret_is_drawn_once_and_only_its_owner_reads_it(tmp_path):
    result: list[bytes] = []
    threads = [threading.Thread(target=lambda: result.append(lake_secret(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(result)) == 1 and len(result[0]) == 32 and secret_of(BlobStore(tmp_path)) == result[0]
    path = tmp_path / "private" / "formulas.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and [item.name for item in path.parent.iterdir()] == [
        "formulas.key"
    ]
    assert lake_secret(tmp_path / "another") != result[0]
    written = path.read_bytes()
    for damaged in (
        b"short",
        written[:-1],
        written + b"x",
        *(flip(written, bit) for bit in range(0, 512, 7)),
    ):
        path.write_bytes(damaged)
        with pytest.raises(MachineryError, match="is damaged"):
            lake_secret(tmp_path)
    path.write_bytes(result[0])  # as lakes of before have it
    assert lake_secret(tmp_path) == result[0]


def test_seeds_of_a_contest_follow_from_secret_cycle_and_all_candidates_in_any_order():
    drawn = contest_seeds(SECRET, CYCLE, ["a", "b"])
    assert contest_seeds(SECRET, CYCLE, ["b", "a", "b"]) == drawn
    assert (drawn.line, drawn.cycle) == ("designs", "0003")
    others = [
        contest_seeds(OTHER, CYCLE, ["a", "b"]),
        contest_seeds(SECRET, CYCLE, ["a", "c"]),
        contest_seeds(SECRET, CYCLE, ["a"]),
        contest_seeds(SECRET, CycleSeeds(0, "designs", "0004"), ["a", "b"]),
        contest_seeds(SECRET, CycleSeeds(0, "programs", "0003"), ["a", "b"]),
        contest_seeds(SECRET, CycleSeeds(1, "designs", "0003"), ["a", "b"]),
        CYCLE,
    ]
    assert len({item.seed("champion") for item in (drawn, *others)}) == len(others) + 1
