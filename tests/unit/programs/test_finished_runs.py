"""Finished runs of other tools are read by their layouts, and nothing in them is executed."""

from __future__ import annotations

import contextlib
import json
import pickle
import sqlite3

import pytest
from audit_fixtures import codeevolve_run, gepa_run, llm4ad_run, openevolve_run, shinka_run

from evolake.errors import InputError
from evolake.programs.audit.gains import record_of
from evolake.programs.audit.runs import read_run

TEXTS = [
    "def f():\n    return 1\n",
    "def f():\n    return 2\n",
    "def f():\n    return 2  # again\n",
    "def f():\n    x = 3\n    return 1\n",
]
SCORES = [1.0, 2.0, None, 3.0]
WRITERS = {
    "OpenEvolve": (openevolve_run, 4, True, True),
    "ShinkaEvolve": (shinka_run, 4, True, True),
    "GEPA": (gepa_run, 4, True, True),
    "LLM4AD": (llm4ad_run, 4, True, False),
    "CodeEvolve": (codeevolve_run, 4, False, False),
}


@pytest.mark.parametrize("tool", WRITERS)
def test_a_run_is_read_by_its_layout(tool, tmp_path):
    write, count, scored, related = WRITERS[tool]
    run = read_run(write(tmp_path / "run", TEXTS, SCORES))
    assert run is not None and (run.tool, len(run.candidates)) == (tool, count)
    assert [item.text for item in run.candidates] == TEXTS
    if scored:
        assert [item.score for item in run.candidates] == SCORES
        assert run.best is not None and run.best.text == TEXTS[3]
    else:
        assert run.best is None
    assert [len(item.parents) for item in run.candidates] == ([0, 1, 1, 1] if related else [0] * 4)


def test_the_record_counts_duplicates_lines_that_came_back_and_who_brought_what(tmp_path):
    run = read_run(openevolve_run(tmp_path / "run", TEXTS, SCORES))
    assert run is not None
    figures = record_of(run, None).figures
    assert (figures["candidates"], figures["duplicates"], figures["candidates without a score"]) == (
        "4",
        "1",
        "1",
    )
    assert figures["lines that came back"] == "25.0% of 4 added lines had been deleted before"
    assert figures["lines of the best program by the candidate that brought them"] == "p3: 2, p0: 1"


def test_the_newest_checkpoint_counts_and_a_single_one_is_read_too(tmp_path):
    folder = openevolve_run(tmp_path / "run", TEXTS[:1], SCORES[:1])
    openevolve_run(folder, TEXTS, SCORES)
    newest, oldest = read_run(folder), read_run(folder / "checkpoints" / "checkpoint_1")
    assert newest is not None and oldest is not None
    assert (len(newest.candidates), len(oldest.candidates)) == (4, 1)


class Hostile:
    def __reduce__(self):
        return print, ("executed",)


def test_a_state_that_would_execute_something_is_not_read(tmp_path, capsys):
    (tmp_path / "gepa_state.bin").write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(InputError, match="the GEPA run at .* cannot be read"):
        read_run(tmp_path)
    (tmp_path / "candidates.json").write_text(json.dumps([{"code": TEXTS[0]}]))
    run = read_run(tmp_path)
    assert run is not None and "an object of builtins.print" in run.notes[0]
    assert "executed" not in capsys.readouterr().out


def test_a_state_that_asks_for_more_memory_than_it_fills_is_not_read(tmp_path):
    asks_for_gigabytes = b"\x80\x04K\x01r\xff\xff\xff\x1f."  # LONG_BINPUT at place 2^29 - 1
    (tmp_path / "gepa_state.bin").write_bytes(asks_for_gigabytes)
    with pytest.raises(InputError, match="asks for more memory than it can fill"):
        read_run(tmp_path)


def test_a_view_in_place_of_the_table_is_refused(tmp_path):
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    connection.execute("CREATE VIEW programs AS SELECT 1 AS id, 'x' AS code, 1 AS combined_score")
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match="the ShinkaEvolve run at .* cannot be read"):
        read_run(tmp_path)


DAMAGED = {"no JSON": b"{", "another form": b"[]", "deep": b"[" * 9000, "no id": b'{"code": "x"}'}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_run_is_an_error_that_names_it(name, tmp_path):
    folder = openevolve_run(tmp_path / "run", TEXTS, SCORES) / "checkpoints" / "checkpoint_4"
    (folder / "programs" / "p1.json").write_bytes(DAMAGED[name])
    with pytest.raises(InputError, match="the OpenEvolve run at .* cannot be read"):
        read_run(folder)


def test_an_empty_run_and_what_is_none_are_told_apart(tmp_path):
    assert read_run(tmp_path) is None
    with pytest.raises(InputError, match="holds no program"):
        read_run(openevolve_run(tmp_path / "run", [""], [None]))


def test_one_row_with_broken_metadata_does_not_lose_the_run(tmp_path):
    folder = shinka_run(tmp_path / "run", TEXTS, SCORES)
    with contextlib.closing(sqlite3.connect(folder / "programs.sqlite")) as connection:
        connection.execute("UPDATE programs SET metadata = '{\"torn' WHERE id = 'p2'")
        connection.commit()
    run = read_run(folder)
    assert run is not None and [item.text for item in run.candidates] == TEXTS
