"""Where added seeds are stored: below the lake in use, in every kind of set-up, and that each line reads them
there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import evolake

from evolake import project
from evolake.cli import init
from evolake.lake.added_seeds import seeds_of
from evolake.lines import lines
from evolake.programs.commands.group import FILES
from evolake.settings import load

SHIPPED = Path(__file__).resolve().parents[3] / "data_lake" / "seeds"
SOURCES = {name: spec.seeds.load() for name, spec in lines().items() if spec.seeds}


@pytest.fixture(autouse=True)
def shipped_stay(tmp_path, monkeypatch) -> Iterator[None]:
    """No test here may change what evolake brings along."""
    for name in ("EVOLAKE_SEEDS", "EVOLAKE_LAKE", "EVOLAKE_PROJECT", "EVOLAKE_PROGRAMS__PROJECTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in SHIPPED.rglob("*") if "__pycache__" not in path.parts}
    yield
    assert {
        path: path.stat().st_mtime_ns for path in SHIPPED.rglob("*") if "__pycache__" not in path.parts
    } == before


@pytest.fixture
def mine(tmp_path) -> dict[str, Path]:
    """Line -> a seed of one's own that is none of those shipped."""
    folder = tmp_path / "mine"
    folder.mkdir()
    design = folder / "my_design.py"
    design.write_text((SHIPPED / "reference_designs" / "design_340.py").read_text())
    family = folder / "my-family"
    shutil.copytree(SHIPPED / "families" / "bus-legs", family)
    for path in family.glob("*.toml"):
        path.write_text(path.read_text().replace("bus-legs", "my-family"))
    prompts = folder / "my_roots.json"
    prompts.write_text(json.dumps({"careful": ["Check each step."]}))
    program = folder / "my-program"
    program.mkdir()
    for name, text in FILES.items():
        (program / name).write_text(text)
    solver = folder / "my-solver"
    (solver / "source" / "minisat").mkdir(parents=True)
    (solver / "source" / "minisat" / "Main.cc").write_text("int main() {}\n")
    (solver / "seed.toml").write_text('adapter = "minisat22"\nlicence = "MIT"\nversion = "2"\n')
    return {"designs": design, "families": family, "prompts": prompts, "programs": program, "solvers": solver}


def a_project(folder: Path) -> Path:
    init.lay_out(folder)
    return folder


def added(mine: dict[str, Path]) -> dict[str, Path]:
    """Line -> where its seed was copied to. Every seed waits then, beside all those shipped."""
    places: dict[str, Path] = {}
    for line, path in mine.items():
        before = {item.sha for item in seeds_of(SOURCES[line], load())}
        summary = json.loads(evolake("seeds", "add", path, "--line", line, "--json").stdout)
        assert (summary["verdict"], summary["line"]) == ("added", line)
        assert (
            json.loads(evolake("seeds", "add", path, "--line", line, "--json").stdout)["verdict"] == "present"
        )
        places[line] = Path(summary["path"])
        after = seeds_of(SOURCES[line], load())
        assert {item.sha for item in after} > before and len(after) == len(before) + 1
        assert [item.path for item in after if item.sha not in before] == [places[line]]
        assert all(item.pack() for item in after if item.sha not in before)
        listed = json.loads(evolake("seeds", "list", "--line", line, "--json").stdout)["seeds"]
        assert len(listed) == len(after) and all(row["state"] == "waits" for row in listed)
    return places


def all_below(places: dict[str, Path], folder: Path) -> bool:
    return places == {line: folder / SOURCES[line].folder / places[line].name for line in places} and all(
        path.exists() for path in places.values()
    )


def test_in_a_project_it_is_the_projects_data_lake(tmp_path, mine, monkeypatch):
    monkeypatch.chdir(a_project(tmp_path / "project"))
    assert all_below(added(mine), tmp_path / "project" / "data_lake" / "seeds")


def test_in_a_clone_with_a_lake_elsewhere_it_is_that_lake(tmp_path, mine, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    assert all_below(added(mine), tmp_path / "lake" / "seeds")


def test_in_a_project_with_a_lake_elsewhere_it_is_that_lake(tmp_path, mine, monkeypatch):
    monkeypatch.chdir(a_project(tmp_path / "project"))
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    assert all_below(added(mine), tmp_path / "lake" / "seeds")


def test_an_installed_package_is_never_written_to(tmp_path, mine, monkeypatch):
    package = tmp_path / "site-packages" / "_project"
    shutil.copytree(SHIPPED, package / "data_lake" / "seeds")
    monkeypatch.setattr(project, "INSTALLED", True)
    monkeypatch.setattr(project, "BROUGHT", package)
    monkeypatch.setattr(project, "PRIVATE", package)
    refused = evolake("seeds", "add", mine["designs"])
    assert refused.returncode == 2 and "evolake init DIR" in refused.stderr
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    assert load().seeds == package / "data_lake" / "seeds"
    assert all_below(added(mine), tmp_path / "lake" / "seeds")
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "other"))
    monkeypatch.setenv("EVOLAKE_SEEDS", str(package / "data_lake" / "seeds"))
    assert all_below(added(mine), tmp_path / "other" / "seeds")
    shipped = {path.relative_to(SHIPPED) for path in SHIPPED.rglob("*")}
    assert {
        path.relative_to(package / "data_lake" / "seeds")
        for path in (package / "data_lake" / "seeds").rglob("*")
    } <= shipped


def test_a_folder_that_the_setting_names_is_the_only_one(tmp_path, mine, monkeypatch):
    shutil.copytree(SHIPPED, tmp_path / "seeds")
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path / "seeds"))
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    assert all_below(added(mine), tmp_path / "seeds")
    assert load().seed_folders == (tmp_path / "seeds",)


def test_the_lakes_own_seed_replaces_a_shipped_one_of_its_name(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    folder = tmp_path / "lake" / "seeds" / "designs"
    folder.mkdir(parents=True)
    source = (SHIPPED / "designs" / "baseline.py").read_text()
    (folder / "copy.py").write_text(source)
    before = seeds_of(SOURCES["designs"], load())
    assert "copy" not in [item.name for item in before]  # it is a shipped seed already
    (folder / "baseline.py").write_text(source + "\n")
    after = seeds_of(SOURCES["designs"], load())
    assert [item.name for item in after] == [item.name for item in before]
    assert [item.path for item in after if item.name == "baseline"] == [folder / "baseline.py"]
