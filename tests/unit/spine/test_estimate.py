"""The time left is told by runs of one size: what overrides a profile makes another."""

from __future__ import annotations

from pathlib import Path

import pytest

from evolake.settings import load
from pipelines.estimate import in_words, seconds_left, size_tags


def test_what_overrides_a_size_of_the_line_is_another_size_and_what_belongs_to_others_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    before = {line: size_tags(load("demo"), line) for line in ("families", "designs", "no_such_section")}
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "other"))
    monkeypatch.setenv("EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE", "64")
    monkeypatch.setenv("EVOLAKE_SEED", "7")
    after = {line: size_tags(load("demo"), line) for line in before}
    assert [line for line in before if before[line] != after[line]] == ["families"]
    assert after["families"] != size_tags(load("laptop"), "families")
    monkeypatch.setenv("EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE", str(8))  # the profile's own
    assert size_tags(load("demo"), "families") == before["families"]


def test_steps_that_are_done_and_unknown_cycles_count_as_they_should():
    cycle = {"a": 10.0, "b": 20.0}
    assert seconds_left(cycle, ["a"], cycle, 2) == 80.0
    assert (
        seconds_left({}, [], cycle, 0) is None
        and seconds_left(cycle, [], {}, 1) is None
        and seconds_left(cycle, [], {}, 0) == 30.0
    )
    assert (in_words(None), in_words(80.0), in_words(600.0)) == (
        "estimating the time left",
        "about 80 s left",
        "about 10 min left",
    )
