"""`evolake solvers transfer`: its figures by hand, its laws on drawn runs, and the command on two small
solvers."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from solver_fixtures import ADAPTER, answering_tree, two_formulas
from solver_runs import run_row

from evolake.errors import InputError
from evolake.solvers.commands import solvers
from evolake.solvers.tables import RUNS
from evolake.solvers.transfer import Entrant, claim, page, transfer_rows

PAIR = (Entrant("new", "v", "champion"), Entrant("old", "w", "seed"))
PARTS = {"from": "train", "to": "other"}


def runs_of(costs: dict[str, list[float]], suite: str = "train", repeat: int = 0) -> list[dict]:
    """Runs of 10 s at most on formulas f0, f1, ...; a cost of 20 is a timeout."""
    return [
        run_row(
            variant,
            f"f{place}",
            "timeout" if cost == 20 else "sat",
            10.1 if cost == 20 else cost,
            suite=suite,
            repeat=repeat,
        )
        for variant, side in costs.items()
        for place, cost in enumerate(side)
    ]


def test_two_suites_by_hand():
    runs = RUNS.frame(
        runs_of({"v": [1, 2, 3, 20], "w": [2, 1, 3, 20]}) + runs_of({"v": [1] * 8, "w": [4] * 8}, "other")
    )
    rows = transfer_rows(runs, PAIR, PARTS).to_dicts()
    assert [
        (
            row["part"],
            row["suite"],
            row["solver"],
            row["role"],
            row["instances"],
            row["solved"],
            row["par2"],
            row["vbs_share"],
            row["gain"],
        )
        for row in rows
    ] == [
        ("from", "train", "new", "champion", 4, 3.0, 6.5, 0.5, None),
        ("from", "train", "old", "seed", 4, 3.0, 6.5, 0.5, 1.0),
        ("to", "other", "new", "champion", 8, 8.0, 1.0, 1.0, None),
        ("to", "other", "old", "seed", 8, 8.0, 4.0, 0.0, 4.0),
    ]
    assert (
        claim(rows[1]).startswith("no claim: fewer than 6 formulas")
        and claim(rows[3]).startswith("faster")
        and "one pass" in claim(rows[3])
    )
    text = page(transfer_rows(runs, PAIR, PARTS))
    assert "## Bred on train: 4 formulas, 10 s" in text and "## Carried over to other: 8 formulas" in text
    assert "cost of old over that of new: 4 (4 to 4): new is faster" in text


def test_solved_has_an_interval_by_kind_of_formula_and_the_checked_share_is_said():
    rows = [
        run_row(name, f"s{place}", "sat" if place % 2 or name == "v" else "timeout", 1.0, expected="SAT")
        for name in "vw"
        for place in range(8)
    ]
    unchecked = {"solved": False, "certificate": None, "answer_checked": False, "proof_status": "unchecked"}
    rows += [
        run_row(name, f"u{place}", "unsat", 1.0, **({} if place or name == "v" else unchecked))
        for name in "vw"
        for place in range(4)
    ]
    table = transfer_rows(RUNS.frame(rows), PAIR, {"from": "train"})
    whole, part = table.to_dicts()
    ends = [
        [whole[f"{name}{end}"] for end in ("", "_low", "_high")]
        for name in ("solved", "solved_sat", "solved_unsat")
    ]
    assert ends == [[12.0] * 3, [8.0] * 3, [4.0] * 3]
    assert (
        part["solved"],
        part["solved_sat"],
        part["solved_unsat"],
        whole["checked_share"],
        part["checked_share"],
    ) == (7.0, 4.0, 3.0, 1.0, 0.75)
    assert (part["solved_sat_low"], part["solved_sat_high"]) == (1.0, 7.0), (
        "of eight draws of a half, 2.5 % are below 2 and 2.5 % above 6"
    )
    assert (
        0 <= part["solved_unsat_low"] < 3 < part["solved_unsat_high"] <= 4
        and part["solved_low"] < 7 < part["solved_high"]
    )
    line = next(line for line in page(table).splitlines() if line.startswith("| old"))
    assert "| 4 (1 to 7) |" in line and line.endswith("| 75% | 75% |")


def test_two_passes_show_the_noise_and_hide_what_is_within_it():
    first, second = (
        runs_of({"v": [1.0] * 8, "w": [1.2] * 8}),
        runs_of({"v": [1.5] * 8, "w": [1.2] * 8}, repeat=1),
    )
    row = transfer_rows(RUNS.frame(first + second), PAIR, {"from": "train"}).row(1, named=True)
    assert row["noise_floor"] > 1.4 and claim(row) == "no difference beyond the noise"


COST = st.one_of(st.floats(0.01, 10), st.just(20.0))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(COST, COST, COST), min_size=2, max_size=12))
def test_shares_sum_to_one_and_intervals_hold_their_estimates(costs):
    sides = {name: [row[place] for row in costs] for place, name in enumerate("vwx")}
    entrants = (*PAIR, Entrant("third", "x", "seed"))
    rows = transfer_rows(RUNS.frame(runs_of(sides)), entrants, {"from": "train"})
    assert rows.equals(transfer_rows(RUNS.frame(runs_of(sides)), entrants, {"from": "train"}))
    if any(cost < 20 for row in costs for cost in row):
        assert sum(rows["vbs_share"].to_list()) == pytest.approx(1)
    else:
        assert rows["vbs_share"].to_list() == [None] * 3
    for row in rows.to_dicts():
        assert row["par2_low"] <= row["par2"] * (1 + 1e-9) and row["par2"] <= row["par2_high"] * (1 + 1e-9)
        if row["gain_low"] is not None:
            assert row["gain_low"] <= row["gain"] * (1 + 1e-9) and row["gain"] <= row["gain_high"] * (
                1 + 1e-9
            )


@pytest.fixture
def project(tmp_path, monkeypatch, requires) -> Path:
    """A lake, seeds with one slow solver, a quick repository `mine`, and two folders of formulas."""
    requires("c++")
    seeds = tmp_path / "seeds"
    (seeds / "solvers" / "adapters").mkdir(parents=True)
    (seeds / "solvers" / "adapters" / "toy.toml").write_text(ADAPTER)
    (seeds / "solvers.toml").write_text(
        '[[seeds]]\nname = "toy"\nversion = "1"\nadapter = "toy"\nlicence = "MIT"\npath = "upstream"\n'
    )
    for name, rounds in (("upstream", 400_000_000), ("quick", 1)):
        answering_tree(seeds / name, rounds)
    for name in ("old", "new"):
        two_formulas(tmp_path / name)
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("EVOLAKE_SEEDS", str(seeds))
    monkeypatch.setenv("EVOLAKE_PROFILE", "demo")
    monkeypatch.setenv("EVOLAKE_SOLVERS__SEEDS", '["toy"]')
    made = CliRunner().invoke(
        solvers, ["layout", str(seeds / "quick"), "--adapter", "toy", "--out", str(tmp_path / "mine")]
    )
    assert made.exit_code == 0, made.output
    return tmp_path


def between(project: Path) -> list[str]:
    """The command that measures from the old suite to the new one."""
    return [
        "transfer",
        "--from",
        str(project / "old"),
        "--to",
        str(project / "new"),
        "--out",
        str(project / "out"),
    ]


def test_the_command_measures_writes_and_goes_on_where_it_stopped(project):
    words = [*between(project), "--variant", str(project / "mine")]
    run = CliRunner().invoke(solvers, [*words, "--timeout", "30", "--json"])
    assert run.exit_code == 0, run.output
    summary = json.loads(run.stdout)
    assert [
        (row["solver"], row["role"], row["suite"], row["solved"], row["proof_share"])
        for row in summary["solvers"]
    ] == [
        (solver, role, suite, 2.0, 1.0)
        for suite in ("competition:old", "competition:new")
        for solver, role in (("mine", "variant"), ("toy", "seed"))
    ]
    assert all(
        row["gain"] > 1 and row["gain_low"] is None for row in summary["solvers"] if row["role"] == "seed"
    )
    assert pl.read_parquet(project / "out" / "runs.parquet").height == 8
    journal = project / "out" / "runs.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join(lines[:5]) + '\n{"key": "torn')
    seen: list[str] = CliRunner().invoke(solvers, [*words, "--timeout", "30"]).stderr.splitlines()
    assert [line.split(" ")[0] for line in seen] == ["6/8", "7/8", "8/8"], "five runs are not made again"


def test_what_cannot_be_compared_is_said(project):
    def error(*words: str) -> str:
        run = CliRunner().invoke(solvers, [*between(project), *words])
        assert isinstance(run.exception, InputError), run.output
        return str(run.exception)

    assert "the lake has no champion of the solvers line" in error()
    assert "no variant that passed begins with 'ab'" in error("--variant", "ab")
