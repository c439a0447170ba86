"""`evolake consensus rank` as a user types it: files, an exit code."""

import json
import subprocess
from pathlib import Path

import commands
import polars as pl
import pytest

SCORES = {
    "objective_id": [0, 0, 0, 1, 1, 1, 2, 2],
    "design_id": [5, 3, 4, 5, 3, 4, 5, 3],
    "score": [1.0, 2.0, 3.0, 1.5, 2.5, None, 1.0, 4.0],
}
ROUNDS = {"0": 0, "1": 1, "2": 2}


def evolake(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return commands.evolake("consensus", "rank", *arguments)


@pytest.fixture
def files(tmp_path):
    """Writes the score table and JSON files; gives their paths."""

    def write(scores=SCORES, rounds=ROUNDS, multipliers=None) -> list[str]:
        table, created, factors = (
            tmp_path / "scores.parquet",
            tmp_path / "rounds.json",
            tmp_path / "multipliers.json",
        )
        pl.DataFrame(scores).write_parquet(table)
        created.write_text(rounds if isinstance(rounds, str) else json.dumps(rounds))
        if multipliers is None:
            return [str(table), "--created", str(created), "--round", "2"]
        factors.write_text(multipliers if isinstance(multipliers, str) else json.dumps(multipliers))
        return [str(table), "--created", str(created), "--round", "2", "--multipliers", str(factors)]

    return write


def test_json_is_one_object_with_ids_as_given(files):
    done = evolake(*files(multipliers={"1": 0}), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert list(answer) == ["verdict", "weights", "median_tau", "consensus", "order"]
    assert answer["verdict"] == "ranked"
    assert answer["order"] == [5, 3, 4]
    assert answer["weights"] == pytest.approx({"0": 0.81 / 1.81, "1": 0, "2": 1 / 1.81})
    assert answer["median_tau"] == pytest.approx({"0": 1, "1": 1, "2": 1})
    assert answer["consensus"] == pytest.approx({"3": 0.5, "4": 1, "5": 0})


def test_without_json_a_table_is_printed(files):
    done = evolake(*files())
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "place  design  consensus",
        "    1  5       0.000000",
        "    2  3       0.500000",
        "    3  4       1.000000",
    ]
    assert lines[5] == "objective  weight    median tau"
    assert len(lines) == 9


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rounds": {"0": 0, "1": 1}}, "objective 2 has no creation round"),
        ({"rounds": {"0": 0, "1": 1, "2": 3}}, "created after the current round"),
        ({"rounds": "{not json"}, "creation rounds"),
        ({"rounds": "[0, 1, 2]"}, "are not an object"),
        ({"rounds": '{"0": 0, "0": 1, "1": 1, "2": 2}'}, "the key '0' twice"),
        ({"multipliers": {"7": 1}}, "unknown objective: 7"),
        ({"multipliers": '{"1": NaN}'}, "multiplier of objective 1"),
        ({"multipliers": {"1": -0.5}}, "multiplier of objective 1"),
        ({"scores": {"objective": [0], "design_id": [0], "score": [1.0]}}, "lacks objective_id"),
        ({"scores": {"objective_id": [], "design_id": [], "score": []}}, "no rows"),
        (
            {"scores": {"objective_id": [0, 0], "design_id": [1, 1], "score": [1.0, 1.0]}},
            "more than one score",
        ),
    ],
)
def test_bad_input_is_refused_with_the_reason(files, change, what):
    done = evolake(*files(**change), "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (2, "error")
    assert what in done.stderr and what in json.loads(done.stdout)["message"]
    assert "wanted:" in done.stderr
    assert "got:" in done.stderr


def test_files_that_are_not_there_or_not_parquet_are_named(files, tmp_path):
    arguments = files()
    missing = evolake(tmp_path / "none.parquet", *arguments[1:])
    assert (missing.returncode, "no score table" in missing.stderr) == (2, True)
    garbled = evolake(arguments[2], *arguments[1:])
    assert (garbled.returncode, "wanted: a Parquet file" in garbled.stderr) == (2, True)
    assert evolake(arguments[0]).returncode == 2
