"""`evolake solvers bench`: from a folder of sources to a table, with exit codes that mean something."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result
from solver_fixtures import ADAPTER, answering, answering_tree, two_formulas
from solver_runs import run_row

from evolake.errors import InputError
from evolake.lake import BlobStore
from evolake.solvers.commands import solvers
from evolake.solvers.measurement.repositories import Report
from evolake.solvers.repository.seeding import lay_out_seed
from evolake.solvers.repository.seeds_file import Seed
from evolake.solvers.repository.variant import source_sha
from evolake.solvers.tables import METRICS, RUNS


@pytest.fixture
def project(tmp_path, monkeypatch, requires) -> Path:
    """A lake, a seeds folder with the adapter `toy`, and a folder of two formulas."""
    requires("c++")
    adapters = tmp_path / "seeds" / "solvers" / "adapters"
    adapters.mkdir(parents=True)
    (adapters / "toy.toml").write_text(ADAPTER)
    (two_formulas(tmp_path / "formulas") / "status.csv").write_text("good,SAT\nbad,UNSAT\n")
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path / "seeds"))
    monkeypatch.setenv("EVOLAKE_PROFILE", "demo")
    return tmp_path


def solver(project: Path, name: str, text: str) -> Path:
    folder = project / name
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.cc").write_text(text)
    (folder / "src" / "LICENSE").write_text("MIT\n")
    (folder / "variant.toml").write_text('base = "toy"\nadapter = "toy"\n')
    return folder


def bench(project: Path, *folders: Path, options: tuple[str, ...] = ("--adapter", "toy")) -> Result:
    arguments = ["bench", *map(str, folders), "--suite", str(project / "formulas"), *options]
    return CliRunner().invoke(solvers, arguments)


def test_a_repository_is_built_measured_and_told_in_numbers(project):
    folder = solver(project, "sound", answering())
    runs = project / "runs.parquet"
    result = bench(project, folder, options=("--adapter", "toy", "--json", "--runs", str(runs)))
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert (summary["verdict"], summary["reasons"]) == ("measured", [])
    [row] = summary["metrics"]
    assert (
        row["folder"],
        row["suite"],
        row["solved"],
        row["solved_sat"],
        row["solved_unsat"],
        row["proof_share"],
        row["timeout_s"],
    ) == (str(folder), "competition:formulas", 2.0, 1.0, 1.0, 1.0, 0.25)
    assert pl.read_parquet(runs).select("instance", "status", "certificate", "conflicts").rows() == [
        ("bad", "unsat", "proof", 3),
        ("good", "sat", "model", None),
    ]


def test_figures_of_milliseconds_say_that_they_rank_nothing():
    def said(cpu_s: float, timeout_s: float) -> str:
        rows = [run_row("v", "f", "unsat", seconds, timeout_s=timeout_s) for seconds in (0.001, cpu_s)]
        return Report((), RUNS.frame(rows), METRICS.empty(), "").short

    assert said(0.004, 10.0).startswith(
        "no run took more than 4 ms, and below 100 ms the start of a program decides"
    )
    assert said(0.004, 0.25) == said(0.2, 5000.0) == Report((), RUNS.empty(), METRICS.empty(), "").short == ""


def test_a_folder_that_a_champion_was_written_to_stands_for_the_repository_in_it(project):
    solver(project / "champion", "solver", answering())
    (project / "champion" / "README.md").write_text("# A champion\n")
    inner, outer = (
        json.loads(bench(project, folder, options=("--adapter", "toy", "--json")).stdout)
        for folder in (project / "champion" / "solver", project / "champion")
    )
    assert inner["verdict"] == outer["verdict"] == "measured"
    assert outer["metrics"][0]["folder"] == str(project / "champion")
    assert inner["metrics"][0]["variant_id"] == outer["metrics"][0]["variant_id"]
    assert (
        "for an upstream tree name its family" not in bench(project, project / "champion", options=()).output
    )


def test_a_proof_that_cannot_be_read_is_no_proof_and_is_not_called_refuted(project):
    text = answering()
    assert '"0\\n"' in text
    result = bench(project, solver(project, "frat", text.replace('"0\\n"', '"o 1 1 0\\n"')))
    assert result.exit_code == 1
    assert (
        "the answer on bad has no proof: it is unsupported: proof unsupported: it cannot be read: it "
        "looks like FRAT" in result.stdout
    )
    assert "refuted" not in result.stdout


def test_a_formula_that_a_program_cannot_read_is_no_crash_and_is_named(project):
    refusal = 'if (variables == 1) { fprintf(stderr, "PARSE ERROR! Unexpected char\\n"); return 3; }'
    text = answering().replace("if (variables == 2)", f"{refusal} if (variables == 2)")
    folder = solver(project, "picky", text)
    result = bench(project, folder, options=("--adapter", "toy", "--json"))
    summary = json.loads(result.stdout)
    assert (result.exit_code, summary["metrics"][0]["solved"], summary["metrics"][0]["failed"]) == (0, 1.0, 1)
    assert summary["unread"] == [
        f"{folder} says that it cannot read 1 formulas, which count as unsolved: bad"
    ]
    assert summary["unread"][0] in " ".join(bench(project, folder).stdout.split())


def test_a_refuted_answer_is_told_and_is_exit_code_1(project):
    good, bad = solver(project, "sound", answering()), solver(project, "lying", answering("1 2"))
    result = bench(project, good, bad)
    assert result.exit_code == 1
    assert (
        f"{bad}: the answer on good is refuted: the model satisfies not one literal of 1 clauses, clause "
        "2 the first" in result.stdout
    )
    assert "suite competition:formulas: 2 formulas, timeout 0.25 s of cpu time" in result.stdout


def test_a_repository_that_does_not_build_is_told_and_the_others_are_measured(project):
    good, broken = (
        solver(project, "sound", answering()),
        solver(project, "broken", "int main() { return nothing; }"),
    )
    result = bench(project, broken, good, options=("--adapter", "toy", "--json"))
    assert result.exit_code == 1
    summary = json.loads(result.stdout)
    assert summary["verdict"] == "failed"
    assert [reason.startswith(f"{broken}: it does not build: ") for reason in summary["reasons"]] == [True]
    assert [row["folder"] for row in summary["metrics"]] == [str(good)]


def test_without_an_adapter_the_layout_is_asked_for(project):
    result = bench(project, solver(project, "bare", answering()), options=("--json",))
    assert result.exit_code == 1
    summary = json.loads(result.stdout)
    assert summary["metrics"] == []
    assert "it is not laid out as a variant" in summary["reasons"][0]


def test_what_is_not_there_is_a_wrong_input(project):
    folder = solver(project, "sound", answering())
    for arguments, message in (
        (["bench", str(project / "nowhere"), "--suite", str(project / "formulas")], "there is no folder"),
        (["bench", str(folder), "--suite", "unheard-of"], "there is no suite 'unheard-of'"),
        (
            ["bench", str(folder), "--suite", str(project / "formulas"), "--adapter", "unheard-of"],
            "unheard-of",
        ),
    ):
        result = CliRunner().invoke(solvers, arguments)
        assert isinstance(result.exception, InputError)
        assert message in str(result.exception)


def upstream(project: Path) -> Path:
    """The solver as its authors would publish it."""
    return answering_tree(project / "upstream")


def test_a_repository_becomes_the_seed_that_it_is_named_as(project):
    out = project / "laid-out"
    assert (
        CliRunner()
        .invoke(
            solvers,
            ["layout", str(upstream(project)), "--adapter", "toy", "--base", "mine", "--out", str(out)],
        )
        .exit_code
        == 0
    )
    seed = Seed(name="mine", version="1", adapter="toy", licence="MIT", path=out)
    assert source_sha(lay_out_seed(seed, BlobStore(project / "lake"), project / "cache")) == source_sha(out)
    (out / "stray").write_text("x")
    with pytest.raises(InputError, match="is not laid out as a variant"):
        lay_out_seed(seed, BlobStore(project / "other"), project / "other")


def test_an_adapter_that_lies_in_a_file_is_enough_for_a_family_that_nobody_listed(project):
    mine = project / "mine.toml"
    mine.write_text(ADAPTER.replace('name = "toy"', 'name = "mine"', 1))
    tree, out = upstream(project), project / "laid-out"
    made = CliRunner().invoke(solvers, ["layout", str(tree), "--adapter", str(mine), "--out", str(out)])
    assert (
        made.exit_code == 0
        and f"next: evolake solvers verify {out} --suite smoke --adapter {mine}" in made.output
    )
    ways = ((tree, ("--adapter", str(mine), "--json")), (out, ("--adapter", str(mine), "--json")))
    assert [
        json.loads(bench(project, folder, options=options).stdout)["verdict"] for folder, options in ways
    ] == ["measured"] * 2
    for name, complaint in (
        (project / "nowhere.toml", "cannot be read"),
        (project / "formulas" / "status.csv", "there is no adapter"),
    ):
        error = (
            CliRunner()
            .invoke(solvers, ["layout", str(tree), "--adapter", str(name), "--out", str(project / "other")])
            .exception
        )
        assert isinstance(error, InputError) and complaint in error.what


def test_what_cannot_be_laid_out_is_a_wrong_input_and_writes_nothing(project):
    tree, out = upstream(project), project / "out"
    (project / "full").mkdir()
    (project / "full" / "x").write_text("x")
    (project / "laid").mkdir()
    (project / "laid" / "variant.toml").write_text('base = "toy"\nadapter = "toy"\n')
    for arguments, message in (
        ([str(project / "nowhere"), "--adapter", "toy", "--out", str(out)], "there is no file or folder"),
        ([str(tree), "--out", str(out)], "the solver's family is not named"),
        ([str(tree), "--adapter", "unheard-of", "--out", str(out)], "there is no adapter 'unheard-of'"),
        ([str(tree), "--adapter", "toy", "--base", "../x", "--out", str(out)], "--base has an id"),
        ([str(tree), "--adapter", "toy", "--out", str(project / "full")], "is not empty"),
        ([str(project / "laid"), "--adapter", "toy", "--out", str(out)], "is laid out already"),
    ):
        error = CliRunner().invoke(solvers, ["layout", *arguments]).exception
        assert isinstance(error, InputError)
        assert message in str(error)
        assert not out.exists()
