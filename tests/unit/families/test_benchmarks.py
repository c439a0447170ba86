"""A statement that stands in a benchmark is found, whatever its numbers and punctuation; a folder that cannot
be read is said."""

import json
from pathlib import Path

import polars as pl
import pytest
from families_fixtures import seed_family
from families_in_other_dress import DRESSED

from evolake.errors import InputError
from evolake.families.gates.checkers import contamination
from evolake.families.gates.leaks import LARGEST_MB, benchmark_evidence
from evolake.families.model.contract import Family

FAMILY = DRESSED["none-is-out"]
KNOWN = (
    "9 children numbered from 1 stand in a circle and count; NONE of them is out at first! They count "
    "from child 1 on, one number a child, always in the direction of rising numbers and after the last "
    "one with the first one again; whoever says 3 is out, and the next child that is still in begins with "
    "1. Which child is the last one that is still in?"
)


def share(folder: Path, family: Family = FAMILY, words: int = 8) -> float:
    result = benchmark_evidence(family, [], str(folder), words)
    assert result is not None
    return result["share"]


@pytest.mark.parametrize("form", ["txt", "json", "jsonl", "parquet", "md"])
def test_a_statement_is_known_again_with_other_numbers_in_every_form_of_file(form, tmp_path):
    path, record = tmp_path / "deep" / f"known.{form}", {"id": 1, "turns": [{"text": KNOWN}]}
    path.parent.mkdir()
    if form == "parquet":
        pl.DataFrame([record]).write_parquet(path)
    else:
        path.write_text({"json": json.dumps([record]), "jsonl": json.dumps(record) + "\n\n"}.get(form, KNOWN))
    assert share(tmp_path) > 0.7
    assert share(tmp_path, seed_family("clinic-queue")) == 0.0
    result = benchmark_evidence(FAMILY, [], str(tmp_path), 8)
    assert contamination({"benchmarks": result}, largest_share=0.5) is not None
    assert contamination({"benchmarks": result}, largest_share=1.0) is None


def test_a_file_that_changed_is_read_again(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("something else altogether")
    assert share(tmp_path) == 0.0
    path.write_text(KNOWN)
    assert share(tmp_path) > 0.7


def test_without_a_folder_nothing_is_compared():
    assert benchmark_evidence(FAMILY, [], "", 8) is None
    assert contamination({"benchmarks": None}, largest_share=0.5) is None


def test_what_cannot_be_read_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="is not there"):
        share(tmp_path / "gone")
    with pytest.raises(InputError, match="no benchmark in"):
        share(tmp_path)
    for name in ("bad.json", "bad.jsonl", "bad.parquet"):
        (tmp_path / name).write_text("{")
        with pytest.raises(InputError, match=f"{name} cannot be read"):
            share(tmp_path)
        (tmp_path / name).unlink()
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate((LARGEST_MB << 20) + 1)
    with pytest.raises(InputError, match="too large"):
        share(tmp_path)
