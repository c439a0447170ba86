"""`evolake solvers tune` with a real program: a small solver that wastes time by one option and lies by
another."""

import json
import subprocess

import polars as pl
import pytest
from commands import evolake
from small_dpll import MAIN

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.reading.formula import write_dimacs
from evolake.solvers.suites.generators import random_ksat
from evolake.solvers.tuning.rows import option_knowledge, sentences, tuned
from evolake.solvers.tuning.submitting import named_values
from evolake.solvers.tuning.tuning import open_solver

OPTIONS = (
    "  --sat          waste no time\\n  --idle=0..9        milliseconds times five that are wasted [8]\\n"
    "  --other=0..100     decides nothing [50]\\n  --lie=bool         a wrong model [false]"
)
MAIN_PART = r"""
#include <time.h>
static int idle = 8, lie = 0;
static void waste() { clock_t end = clock() + idle * (CLOCKS_PER_SEC / 200); while (clock() < end); }
int main(int argc, char **argv) {"""
REFUSING = ' if (argc > 1 && strcmp(argv[1], "--help")) return 1;'
READ = r"""if (!strcmp(argv[k], "--sat")) idle = 0;
        else if (!strncmp(argv[k], "--idle=", 7)) idle = atoi(argv[k] + 7);
        else if (!strncmp(argv[k], "--other=", 8)) ;
        else if (!strncmp(argv[k], "--lie=", 6)) lie = !strcmp(argv[k] + 6, "true");
        else if (!strncmp(argv[k], "--proof=", 8))"""
ADAPTER = """\
name = "mini"
licences = ["src/LICENSE"]
editable = ["src/*.cc"]
[build]
commands = [["make"]]
program = "bin/mini"
[run]
argv = ["mini", "{cnf}"]
proof_argv = ["mini", "--proof={proof}", "{cnf}"]
proof = "drat-text"
"""


def source(waste: str = "waste();") -> str:
    """The small solver with options."""
    text = MAIN.replace("\nint main(int argc, char **argv) {", MAIN_PART)
    text = text.replace("  --proof=<file>   write a DRAT proof", OPTIONS)
    text = text.replace('if (!strncmp(argv[k], "--proof=", 8))', READ)
    text = text.replace("    bool found = search();", f"    {waste}\n    bool found = search();")
    return text.replace("value[v] < 0 ? -v : v", "(value[v] < 0) != (lie != 0) ? -v : v")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of sixteen formulas, both kinds of answers among them, and a way to call the command."""
    folder = tmp_path / "formulas"
    folder.mkdir()
    for number in range(16):
        formula = random_ksat(12, 44 + 4 * (number % 3), 3, number)
        (folder / f"f{number:02d}.cnf").write_bytes(write_dimacs(formula))
    (tmp_path / "mini.toml").write_text(ADAPTER)
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    return tmp_path


def compiled(place, text):
    (place / "main.cc").write_text(text)
    subprocess.run(["g++", "-O1", "-o", place / "mini", place / "main.cc"], check=True)


def tune(place, *words, code: int | tuple[int, ...] = 0, rows: bool = False):
    """What the command printed; on standard error if it failed. rows: it also keeps them in the lake."""
    done = evolake(
        *("solvers", "tune", place / "mini", "--adapter", place / "mini.toml"),
        *("--formulas", place / "formulas", "--timeout", "2", "--workers", "1", *words),
        *([] if rows else ["--no-rows"]),
    )
    assert done.returncode in (code if isinstance(code, tuple) else (code,)), done.stderr
    return done.stderr if code == 2 else done.stdout


def test_the_option_that_wastes_time_is_found_and_meets_the_default_on_unseen_formulas(place):
    compiled(
        place, source("waste(); waste();")
    )  # a setting without is ten times cheaper, which is all that counts
    said = json.loads(tune(place, "--minutes", "0.25", "--out", str(place / "out"), "--json", rows=True))
    decision = said["decision"]
    assert said["verdict"] == "better" and decision["ratio"] > 2 and decision["ratio_low"] > 1
    assert said["options"] == ["--sat"] or any(word.startswith("--idle=") for word in said["options"])
    assert not any(word.startswith("--other=") for word in said["options"]), "it decides nothing, so it goes"
    liars = [item for item in said["tried"] if "--lie=true" in item["options"]]
    assert all("refuted answer" in item["left_because"] for item in liars if item["formulas"] < 8)
    assert (said["formulas"], said["unseen"]) == (8, 8)
    trials = pl.read_parquet(place / "out" / "unseen.parquet")
    assert trials["solved"].all() and set(trials["certificate"]) == {"model", "proof"}
    journal = next((place / "lake").glob("cache/solvers/tune/*/runs.jsonl"))
    raced = {json.loads(line)["value"]["instance"] for line in journal.read_text().splitlines()}
    assert not raced & set(trials["instance"]), "what decides was raced on"
    page = (place / "out" / "tune.md").read_text()
    assert "Run: mini" in page and (place / "out" / "scatter.png").read_bytes()[:4] == b"\x89PNG"

    lake, key = Lake(place / "lake"), said.pop("tuning")
    row, settings, runs = (
        lake.read("tunings", table, key).to_dicts() for table in ("verdicts", "settings", "runs")
    )
    assert (row[0]["verdict"], row[0]["options"], row[0]["ratio"]) == (
        "better",
        said["options"],
        decision["ratio"],
    )
    assert [item["options"] for item in settings] == [item["options"] for item in said["tried"]]
    assert len(runs) == 16 and {item["cpu_s"] for item in runs} == set(trials["cpu_s"])
    assert sentences(lake.root)[0] == "1 tuning, 1 with a gain on unseen formulas."
    [fact] = option_knowledge(lake, {row[0]["solver"]})
    assert f"race of {row[0]['settings']} settings" in fact and " ".join(said["options"]) in fact
    assert option_knowledge(lake, {"another"}) == []
    checks = [asset for line, asset in lake.assets() if line == "tunings" and asset.endswith("__checks")]
    for name in ("verdicts_rest_on_runs", "settings_are_whole"):
        assert any(asset.endswith(f"{name}__checks") for asset in checks)
    assert all(lake.read("tunings", name)["passed"].all() for name in checks)

    lines = journal.read_text().splitlines()
    again = json.loads(tune(place, "--minutes", "0.25", "--json"))
    assert again.pop("tuning") == "" and again == said and journal.read_text().splitlines() == lines, (
        "a finished search runs nothing again"
    )
    journal.write_text("\n".join(lines[: len(lines) // 2]) + '\n{"key": "torn')
    assert json.loads(tune(place, "--minutes", "0.25", "--json"))["verdict"] == "better"


def test_a_partition_is_not_made_of_other_formulas_than_it_was_asked_for(place):
    compiled(place, source())
    key = json.loads(tune(place, "--minutes", "0.1", "--json", rows=True))["tuning"]
    (place / "formulas" / "f00.cnf").write_text("p cnf 1 1\n1 0\n")
    with pytest.raises(InputError, match="cannot be made again"):
        tuned(Lake(place / "lake"), key, print)


def test_options_that_change_nothing_are_no_gain(place):
    compiled(place, source(waste="idle = 4; waste();"))
    said = json.loads(tune(place, "--minutes", "0.1", "--control", "--json", code=(0, 1)))
    assert len(said["tried"]) >= 3
    for ratio in (said["race_ratio"], (said["decision"] or {}).get("ratio")):
        assert ratio is None or ratio < 1.25, "processor time of equal programs differs by some percent only"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--minutes", "0.11"), "too little time to tune"),
        (("--instances", "11"), "too few formulas to tune on"),
        (("--adapter", "nosuch"), "there is no adapter 'nosuch'"),
    ],
)
def test_what_cannot_be_tuned_is_said(place, words, message):
    compiled(place, source(waste="idle = 9; waste(); waste();"))
    said = tune(place, *words, code=2)
    assert message in said and "Traceback" not in said


def test_a_setting_with_a_name_is_asked_of_the_solver(tmp_path):
    said = ("--idle=3 (different from default '8')", "--fast=true (different from default 'false')")
    waste = "".join(f'printf("c   {line}\\n"); ' for line in said)
    (tmp_path / "adapter.toml").write_text(ADAPTER)
    blobs, cache = Lake(tmp_path / "lake").blobs, tmp_path / "cache"

    def named(text):
        compiled(tmp_path, source(waste=text))
        _, program = open_solver(str(tmp_path / "mini"), str(tmp_path / "adapter.toml"), blobs, cache)
        return named_values(program, ("--sat",))

    assert named(waste) == {"idle": 3.0, "fast": True}
    with pytest.raises(InputError, match="does not print which options --sat moves"):
        named("")


def test_formulas_that_take_no_time_and_a_program_without_options_are_refused(place):
    compiled(place, source(waste=""))
    assert "too easy to tune on" in tune(place, "--minutes", "0.1", code=2)
    compiled(place, MAIN)
    assert "no options are known of mini" in tune(place, "--minutes", "0.1", code=2)


def test_a_program_that_answers_no_formula_is_refused(place):
    start = MAIN_PART.splitlines()[-1]
    compiled(place, source().replace(start, start + REFUSING))
    said = tune(place, "--minutes", "0.1", code=2)
    assert "the solver answers none of the formulas" in said and "exit code 1" in said
