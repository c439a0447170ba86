"""Seals form a chain: a failure, a change or a partial re-run stops what stands on it; equal content breaks
nothing."""

from datetime import UTC, datetime

import pytest

from evolake.errors import LakeError
from evolake.lake import Lake, Seal, explain_broken, following

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def seals(tmp_path):
    return Lake(tmp_path, clock=lambda: NOON).seals


def run_cycle(seals, cycle: str, version: str) -> None:
    """What a cycle does to the chain: reopen the next seal, then seal it on the one that entered."""
    entered = seals.read("designs", cycle)
    seals.reopen("designs", following(cycle), "run")
    seals.seal("designs", following(cycle), version, entered.version, "run")


def chain(seals, length: int) -> None:
    seals.seal("designs", "0001", "v1", None, "seeds")
    for number in range(1, length):
        run_cycle(seals, f"{number:04d}", f"v{number + 1}")


def test_a_seal_is_read_as_it_was_written(seals):
    wanted = Seal(
        "designs", "0002", "sealed", "v2", "v1", "run", "2026-01-01T12:00:00+00:00", {"incoming": "abc"}
    )
    assert seals.seal("designs", "0002", "v2", "v1", "run", tables={"incoming": "abc"}) == wanted
    assert seals.read("designs", "0002") == wanted
    assert seals.read("designs", "0001") is None
    assert (seals.lines(), seals.cycles("designs")) == (["designs"], ["0002"])


def test_a_chain_that_was_run_in_order_holds(seals):
    chain(seals, 7)
    assert [seals.broken_link("designs", f"{n:04d}") for n in range(1, 8)] == [None] * 7
    assert seals.broken_link("designs", "0009") == ("0008", "missing")


def test_a_cycle_that_fails_stops_all_that_stand_on_it(seals):
    chain(seals, 7)
    seals.reopen("designs", "0004", "failing run of cycle 0003")
    assert [seals.broken_link("designs", f"{n:04d}") for n in range(1, 8)] == [None] * 3 + [
        ("0004", "reopened")
    ] * 4


def test_a_cycle_that_changes_alone_stops_all_that_stand_on_it_until_they_run_again(seals):
    chain(seals, 7)
    run_cycle(seals, "0002", "changed")
    assert [seals.broken_link("designs", f"{n:04d}") for n in range(1, 8)] == [None] * 3 + [
        ("0004", "built on an older population")
    ] * 4
    for number in range(3, 7):
        run_cycle(seals, f"{number:04d}", f"v{number + 1}")
    assert seals.broken_link("designs", "0007") is None


def test_a_cycle_that_ends_in_the_same_content_breaks_nothing(seals):
    chain(seals, 7)
    run_cycle(seals, "0002", "v3")
    assert seals.broken_link("designs", "0007") is None


def test_the_sentence_names_the_backfill_that_mends(seals):
    assert explain_broken("designs", "0006", "0004", "reopened") == (
        "designs: cycle 0006 cannot start: the population that enters cycle 0004 is reopened. "
        "Materialize the whole group from cycle 0003 on, in one backfill."
    )
    assert explain_broken("designs", "0002", "0001", "missing") == (
        "designs: cycle 0002 cannot start: the population that enters cycle 0001 is missing. "
        "Materialize the whole group from the seeds on, in one backfill."
    )


def test_a_seal_that_cannot_be_read_says_what_to_do(seals, tmp_path):
    chain(seals, 3)
    (tmp_path / "seals/designs/0003.json").write_text('{"state": "sea')
    with pytest.raises(
        LakeError, match="0003.json cannot be believed[\\s\\S]*run `evolake lake verify --repair`"
    ):
        seals.broken_link("designs", "0003")
