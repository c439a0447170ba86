"""The programs line for real: two projects evolve through two cycles, the first of which is killed once; the
second by the library call."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from designs_fixtures import Project, open_project
from lake_damage import damage_of
from loopback_model import LoopbackModel
from programs_fixtures import EVALUATOR, PROGRAM
from programs_scripted_model import ScriptedPrograms
from project_steps import by_a_model, kill_when, run_here, undescribed

import evolake
from evolake.cli.sql import all_tables
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.programs.commands.group import FILES
from evolake.programs.library import Evolved
from evolake.report.figures import figures_in
from evolake.seeds import CycleSeeds

pytestmark = pytest.mark.e2e
SMALL = {
    "EVOLAKE_PROGRAMS__GENERATIONS_PER_CYCLE": "2",
    "EVOLAKE_PROGRAMS__CANDIDATES_PER_GENERATION": "3",
    "EVOLAKE_PROGRAMS__HELDOUT_REPEATS": "2",
    "EVOLAKE_PROGRAMS__ISLANDS": "2",
}


@pytest.fixture(scope="module")
def projects(tmp_path_factory) -> Path:
    """A project that `evolake programs new` wrote, and one in OpenEvolve's contract whose evaluator could
    read the program."""
    folder = tmp_path_factory.mktemp("projects")
    reading = f"{EVALUATOR}\n\nOWN_TEXT = open(__file__).read()\n"
    for name, files in {
        "fit": FILES,
        "open": {"initial_program.py": PROGRAM, "evaluator.py": reading},
    }.items():
        (folder / name).mkdir()
        for file, text in files.items():
            (folder / name / file).write_text(text)
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory, projects) -> Project:
    return open_project(
        tmp_path_factory.mktemp("programs"),
        **SMALL,
        EVOLAKE_PROGRAMS__PROJECTS=f"{projects / 'fit'},{projects / 'open'}",
    )


@pytest.fixture(scope="module")
def killed(project) -> list[dict]:
    """The notes of the first cycle when its run was killed."""

    def noted() -> list[dict] | None:
        lake = Lake(project.lake)
        return (
            lake.read("programs", "notes", "0001").to_dicts()
            if lake.record("programs", "notes", "0001") is not None
            else None
        )

    return kill_when(project, noted, "run", "--cycles", "1", "--lines", "programs")


@pytest.fixture(scope="module")
def evolved(project, projects, killed) -> Evolved:
    """What the library call gives after two cycles in the same lake and home."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in [name for name in os.environ if name.startswith(("EVOLAKE_", "DAGSTER_"))]:
            monkeypatch.delenv(name)
        for name, value in project.environment.items():
            monkeypatch.setenv(name, value)
        return evolake.evolve(projects / "fit", cycles=2)


def test_a_killed_cycle_goes_on_after_the_generation_that_it_had_noted(project, killed, evolved):
    now = Lake(project.lake).read("programs", "generations", "0001").to_dicts()
    assert [(row["project"], row["generation"]) for row in now] == [
        ("fit", 1),
        ("fit", 2),
        ("open", 1),
        ("open", 2),
    ]
    assert killed and now[: len(killed)] == killed


def test_every_table_is_known_and_says_what_its_columns_mean(project, evolved):
    assert undescribed(project.lake, "programs") == []
    published = {
        row[0]
        for row in project.sql(
            "SELECT DISTINCT asset FROM parts WHERE line = 'programs' AND asset NOT LIKE '%\\_\\_%' "
            "ESCAPE '\\'"
        )
    }
    assert published <= {asset for line, asset in all_tables() if line == "programs"}


def test_no_held_out_seed_follows_from_the_root_seed_and_the_cycle(project, evolved):
    known = {
        CycleSeeds(0, "programs", cycle).seed(f"heldout/{name}", place)
        for cycle in ("0001", "0002")
        for name in ("fit", "open")
        for place in range(100)
    }
    used = project.sql("SELECT cycle, project, seed FROM programs.heldout")
    assert used and not {seed for *_, seed in used} & known
    revealed = dict(project.sql("SELECT cycle, root_seed FROM contest_seeds WHERE line = 'programs'"))
    for cycle, name, seed in used:
        drawn = CycleSeeds(revealed[cycle], "programs", cycle)
        assert seed in {drawn.seed(f"heldout/{name}", place) for place in range(100)}


def test_the_lake_is_intact(project, evolved):
    assert damage_of(project.lake) == []


def test_every_candidate_is_blocked_or_measured_and_rows_say_whose_score_is_protected(project, evolved):
    asked = (
        "SELECT project, count(*) > 0, bool_and(protected = (project = 'fit')) FROM programs.candidates "
        "GROUP BY project ORDER BY project"
    )
    counts = project.sql(asked)
    assert counts == [["fit", True, True], ["open", True, True]]
    modes = project.sql(
        "SELECT project, mode, note FROM programs.projects WHERE cycle = '0002' ORDER BY project"
    )
    assert modes[0] == ["fit", "separate", ""] and modes[1][:2] == ["open", "imports"]
    assert modes[1][2].startswith(
        "score not protected: the evaluator may read or start the program's file (line "
    ), modes
    loose = """
SELECT count(*) FROM programs.candidates AS c WHERE c.state <> 'blocked'
AND c.program_id NOT IN (SELECT program_id FROM programs.measured WHERE status = 'ok')"""
    assert project.sql(loose) == [[0]]
    vain = "SELECT cycle, blocked FROM funnel('programs') WHERE gate = 'made' ORDER BY cycle"
    assert project.sql(vain) == project.sql(
        "SELECT cycle, count(*) FROM programs.unmade GROUP BY cycle ORDER BY cycle"
    )
    asked = sum(
        row[0]
        for row in project.sql(
            "SELECT count(*) FROM programs.candidates UNION ALL SELECT count(*) FROM programs.unmade"
        )
    )
    assert asked == project.sql("SELECT count(*) * 3 FROM programs.generations")[0][0], (
        "each proposal is a candidate or says why it is none"
    )
    gates = project.sql(
        "SELECT DISTINCT gate FROM verdicts WHERE artifact_id IN (SELECT program_id FROM programs.candidates)"
    )
    assert {"form", "reach", "run", "result"} <= {row[0] for row in gates}


def test_a_title_changes_beyond_the_noise_under_seeds_of_its_own_alone(project, evolved):
    shared = "SELECT count(*) FROM programs.heldout AS h JOIN programs.measured AS m USING (seed)"
    assert project.sql(shared) == [[0]]
    for wins, low, difference, noise in project.sql(
        "SELECT wins, low, difference, noise FROM programs.champion"
    ):
        assert not wins or (low > 0 and difference > noise)
    assert (
        evolved.cycles == 2
        and evolved.protected
        and evolved.initial_score is not None
        and evolved.score is not None
    )
    assert "def curve(x):" in evolved.program
    assert evolved.score >= evolved.initial_score


def test_the_report_the_champion_and_show_have_it(project, tmp_path, evolved):
    project.run(
        "report",
        "--lines",
        "programs",
        "--out",
        str(tmp_path / "report.html"),
        "--figures",
        str(tmp_path / "figures"),
    )
    page = (tmp_path / "report.html").read_text()
    assert "Score not protected" in page and "open" in page
    assert len(list((tmp_path / "figures").iterdir())) == len(figures_in("evolake.programs.report.figures"))
    project.run("champion", "programs", "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "fit" / "initial_program.py").read_text() == evolved.program
    summary = project.run("programs", "show", "fit").stdout
    assert evolved.program_id in summary and "gate      form: pass" in summary
    for name in ("fit", "open"):
        file = tmp_path / f"{name}.tar"
        project.run("bundle", "export", "programs", "--project", name, "-o", str(file))
        assert (
            ": holds"
            in project.run(
                "bundle", "verify", str(file), EVOLAKE_LAKE=str(tmp_path / "none")
            ).stdout.splitlines()[0]
        )
    assert project.run("programs", "trace").stdout.startswith("fit: ")
    assert "is in the lake" in project.run("programs", "show", "nosuchid", check=False).stderr


def test_the_library_call_refuses_what_is_no_project(tmp_path):
    with pytest.raises(InputError, match="there is no evaluator"):
        evolake.evolve("x = 1\n", lake=tmp_path / "lake")
    with pytest.raises(InputError, match="EVOLVE-BLOCK"):
        evolake.evolve("# EVOLVE-BLOCK-START\n", EVALUATOR, lake=tmp_path / "lake")
    assert not (tmp_path / "lake").exists()


def test_a_project_that_the_lake_has_is_forecast_though_nothing_names_its_folder_any_more(projects, tmp_path):
    with LoopbackModel(ScriptedPrograms(())) as server:
        one = {
            "EVOLAKE_PROGRAMS__GENERATIONS_PER_CYCLE": "1",
            "EVOLAKE_PROGRAMS__CANDIDATES_PER_GENERATION": "2",
            "EVOLAKE_PROGRAMS__WRITER": "one-shot",
        }
        project = open_project(tmp_path, **SMALL | one, **by_a_model(server.base_url))
        run_here(project, "programs", EVOLAKE_PROGRAMS__PROJECTS=str(projects / "open"))
        run_here(project, "programs")  # each is compared with its forecast
    assert project.sql("SELECT DISTINCT cycle FROM calls WHERE backend = 'model' ORDER BY 1") == [
        ["0001"],
        ["0002"],
    ]
