"""`evolake seeds`: what is given is looked at, copied whole, told where it enters; what cannot be used is a
sentence and exit code 2."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from evolake.cli.seeds import seeds
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lake.schemas import OPENED
from evolake.lines import lines
from evolake.programs.commands.group import programs
from evolake.report.entering import entry
from evolake.settings import load

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "data_lake" / "seeds"
SOURCES = {name: spec.seeds.load() for name, spec in lines().items() if spec.seeds}
DESIGN = SHIPPED / "reference_designs" / "design_340.py"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """Where the seeds lie."""
    (tmp_path / "seeds" / "prompts").mkdir(parents=True)
    shutil.copy(SHIPPED / "prompts" / "roots.json", tmp_path / "seeds" / "prompts")
    shutil.copy(SHIPPED / "solvers.toml", tmp_path / "seeds")
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path / "seeds"))
    return tmp_path / "seeds"


def asked(*arguments: str) -> dict:
    done = CliRunner().invoke(seeds, [*arguments, "--json"], catch_exceptions=False, standalone_mode=False)
    return json.loads(done.stdout)


def refused(*arguments: str) -> str:
    with pytest.raises(InputError) as error:
        CliRunner().invoke(seeds, arguments, catch_exceptions=False, standalone_mode=False)
    return str(error.value)


def a_root(folder: Path, **roots: object) -> Path:
    path = folder / "mine.json"
    path.write_text(json.dumps(roots))
    return path


@pytest.mark.parametrize("line", SOURCES)
def test_the_seeds_that_ship_are_seeds_of_their_line_each_known_by_another_content(line):
    result = SOURCES[line].items(SHIPPED, load())
    assert bool(result) is (line != "programs")  # whose projects are the user's own: none ships
    assert len({item.sha for item in result}) == len(result)
    assert all(item.pack() for item in result[:2])


def test_a_file_or_folder_is_added_to_the_line_that_it_looks_like_and_once(folder, tmp_path):
    given = {
        "designs": DESIGN,
        "families": SHIPPED / "families" / "bus-legs",
        "prompts": a_root(tmp_path, careful=["Check each step."]),
    }
    for line, path in given.items():
        summary = asked("add", str(path))
        assert (summary["verdict"], summary["line"], summary["enters"]) == ("added", line, None)
        assert (
            Path(summary["path"]).parent == folder / SOURCES[line].folder and Path(summary["path"]).exists()
        )
        assert asked("add", str(path))["verdict"] == "present"
        waiting = {row["seed"] for row in asked("list", "--line", line)["seeds"] if row["state"] == "waits"}
        assert summary["seed"] in waiting
    assert not (folder / ".adding").exists()


def test_the_list_says_what_a_seed_calls_itself_and_which_file_or_folder_it_lies_in(folder, tmp_path):
    renamed = tmp_path / "my-legs"
    shutil.copytree(SHIPPED / "families" / "bus-legs", renamed)
    for path in (DESIGN, renamed, a_root(tmp_path, careful=["Check each step."])):
        asked("add", str(path))
    shutil.copytree(renamed, folder / "families" / "half")
    (folder / "families" / "half" / "template.md").unlink()
    rows = asked("list")["seeds"]
    assert {(row["line"], row["seed"], row["place"]) for row in rows} >= {
        ("designs", "design_340", "designs/design_340.py"),
        ("families", "bus-legs", "families/my-legs"),
        ("families", "half", "families/half"),
        ("prompts", "careful", "prompts/roots/mine.json"),
        ("prompts", "plain", "prompts/roots.json"),
        ("solvers", "minisat22", "solvers.toml"),
    }
    printed = CliRunner().invoke(seeds, ["list"], catch_exceptions=False, standalone_mode=False).output
    assert [line.split() for line in printed.splitlines() if "my-legs" in line] == [
        ["families", "bus-legs", "families/my-legs", "waits"]
    ]


def test_another_seed_of_the_name_is_not_overwritten(folder, tmp_path):
    asked("add", str(a_root(tmp_path, careful=["Check each step."])))
    assert "another seed is at" in refused("add", str(a_root(tmp_path, careful=["Check no step."])))
    assert json.loads((folder / "prompts" / "roots" / "mine.json").read_text()) == {
        "careful": ["Check each step."]
    }


def test_what_is_no_seed_is_refused_with_what_was_wanted(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bare.py").write_text("x = 1\n")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "generator.py").write_text("")
    assert "there is no file or folder" in refused("add", str(tmp_path / "nowhere"))
    assert "which line" in refused("add", str(tmp_path / "empty"))
    assert "no VARIABLES_SPEC" in refused("add", str(tmp_path / "bare.py"))
    assert "no file template.md" in refused("add", str(tmp_path / "broken"))
    assert "holds no root prompts" in refused("add", str(a_root(tmp_path, careful="Check.")))
    assert "is no design" in refused("add", str(tmp_path / "broken"), "--line", "designs")
    assert "no line 'nowhere' takes seeds" in refused("add", str(DESIGN), "--line", "nowhere")
    assert sorted(path.name for path in folder.iterdir()) == ["prompts", "solvers.toml"]


def test_starting_over_asks_and_does_nothing_without_a_yes(tmp_path):
    assert "no line 'designs' in the lake" in refused("reseal", "designs")
    lake = Lake(tmp_path / "lake")
    for cycle, before in (("0001", None), ("0002", "one"), ("0003", "two")):
        lake.seals.seal("designs", cycle, {None: "one", "one": "two", "two": "three"}[before], before, "run")
    done = CliRunner().invoke(seeds, ["reseal", "designs"], input="n\n")
    assert done.exit_code == 1
    assert (
        "This voids the finished cycles 0001 to 0002 of designs" in done.output
        and "they enter the next cycle" in done.output
    )
    assert asked("add", str(DESIGN))["enters"] == "0003"
    with lake.line_lock("designs", run_id="at work"):
        assert asked("add", str(DESIGN))["enters"] == "0003"  # the cycle has not begun yet
        lake.publish(
            "designs",
            OPENED.name,
            OPENED.frame([{"cycle": "0003", "incoming_version": "three"}]),
            cycle="0003",
            run_id="at work",
            schema=OPENED,
        )
        assert asked("add", str(DESIGN))["enters"] == "0004"
    assert (
        entry_while(lake, "at work")
        == "a run is in progress on cycle 0003, which began without it: it enters cycle 0004"
    )
    assert "if its seeds have not been read yet, else cycle 0004" in entry_while(lake, "took over")
    assert asked("add", str(DESIGN))["enters"] == "0003"


def entry_while(lake: Lake, run_id: str) -> str:
    with lake.line_lock("designs", run_id=run_id):
        return entry(lake, "designs")[1]


def test_a_new_project_says_when_it_takes_part(folder, tmp_path, monkeypatch):
    def made(*words: str) -> str:
        return (
            CliRunner()
            .invoke(programs, ["new", *words], catch_exceptions=False, standalone_mode=False)
            .output
        )

    assert "it enters with the other seeds, when the line begins" in made("first")
    lake = Lake(tmp_path / "lake")
    for cycle, version, before in (("0001", "one", None), ("0002", "two", "one")):
        lake.seals.seal("programs", cycle, version, before, "run")
    assert "it enters cycle 0002 (evolake run --lines programs)" in made("second")
    assert f"it takes part after: evolake seeds add {tmp_path / 'third'}" in made(
        "third", "--in", str(tmp_path)
    )
    monkeypatch.setenv("EVOLAKE_PROGRAMS__PROJECTS", str(tmp_path / "third"))
    assert f"EVOLAKE_PROGRAMS__PROJECTS names it, which now is {tmp_path / 'third'}" in made("fourth")
    assert (folder / "programs" / "fourth" / "evaluator.py").is_file()
