"""The record of a study: the one row of the table `study` of a line that has cells instead of cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.errors import InputError
from evolake.lake.store import Lake


def record_before(lake: Lake, line: str) -> dict[str, Any]:
    """Return the row, empty if no study was run."""
    return lake.read(line, "study").row(0, named=True) if lake.record(line, "study") else {}


def current_record(lake: Lake, line: str, command: str) -> dict[str, Any]:
    """Return the row. command: what runs a study.

    Raises:
        InputError: none was run in this lake.
    """
    if not (record := record_before(lake, line)):
        raise InputError(f"this lake holds no {line} study", got=str(lake.root), do=f"run one: {command}")
    return record


def with_earlier(
    record: Mapping[str, Any], study_sha: str, arms: Sequence[str], seeds: Sequence[int], known: Sequence[str]
) -> tuple[Sequence[str], Sequence[int]]:
    """Return (arms, seeds) with those that an earlier run of the same study had. known: every arm there is,
    in order."""
    if record.get("study_sha") != study_sha:
        return arms, seeds
    return [arm for arm in known if arm in {*arms, *record["arms"]}], sorted({*seeds, *record["seeds"]})
