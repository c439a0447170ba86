"""Cells of a study: static partitions that are named, not numbered."""

import polars as pl
import pytest

from evolake.errors import InputError
from evolake.lake import Catalogue, Lake

CELLS = ("cd_vgs_core_rank-3", "one_shot-0001", "one_shot-1-scale")


def test_cells_are_published_read_and_queried_by_name(tmp_path):
    lake = Lake(tmp_path)
    for place, cell in enumerate(CELLS):
        lake.publish("repair", "results", pl.DataFrame({"place": [place]}), cycle=cell, run_id="r")
    assert lake.cycles("repair", "results") == sorted(CELLS)
    assert lake.read("repair", "results", "one_shot-0001")["place"].to_list() == [1]
    with Catalogue(lake) as catalogue:
        assert catalogue.query("SELECT cycle, place FROM repair.results ORDER BY place").rows == [
            (c, n) for n, c in enumerate(CELLS)
        ]


@pytest.mark.parametrize(
    "cell",
    [
        "one_shot|1",
        "../up-1",
        "One-1",
        "-1",
        "a-",
        "a" * 90 + "-1",
        "a-1-2-3-4",
        "one_shot",
        "a-1/b",
        "a.b-1",
    ],
)
def test_what_is_no_name_of_a_folder_is_refused(tmp_path, cell):
    with pytest.raises(InputError, match="is not a cycle"):
        Lake(tmp_path).publish("repair", "results", pl.DataFrame({"place": [1]}), cycle=cell, run_id="r")
