"""Audits as rows of a lake: `evolake audit --into`, what SQL and the report make of them, an audit that is
killed, and audits of projects that enter the programs line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import commands
import dagster as dg
import polars as pl
import pytest
from audit_fixtures import EVALUATORS, files_of, openevolve_run
from one_line import OneLine

from assets.line import register_keys
from evolake.audits import commands as audit_commands
from evolake.audits.rows import sentences
from evolake.lake import Lake

UNSOUND = EVALUATORS["unsound"]["degenerate"]
SOUND = EVALUATORS["sound"]["search"]
HOSTILE = "<script>alert(1)</script>\x1b[31m\n## red\ud800"


def written(folder: Path, entry) -> Path:
    folder.mkdir(parents=True)
    for name, text in files_of(entry).items():
        (folder / name).write_text(text)
    return folder


def run_of(folder: Path, entry) -> Path:
    """A run of a project below it: the initial program, a better one, and the first again with a comment."""
    first = entry["program"]
    texts = [first, first.replace("[0.5, 0.5]", "[3.2, 3.25]"), f"{first}\n# again\n"]
    return openevolve_run(folder / "openevolve_output", texts, [-15.125, -0.0025, -15.125])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a lake in use and two runs of projects of one name."""
    folder = tmp_path_factory.mktemp("audits")
    for name, entry in (("one", UNSOUND), ("two", SOUND)):
        run_of(written(folder / name / "title", entry), entry)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EVOLAKE_LAKE", str(folder / "lake"))
        patched.setenv("DAGSTER_HOME", str(folder / "home"))
        patched.setenv("EVOLAKE_WORKERS", "2")
        patched.chdir(folder)
        patched.setattr(audit_commands, "materialize", in_this_process)
        yield folder


def in_this_process(root: Path, study: str, key: str) -> int:
    """What the command does in a process of its own, which takes seconds to begin."""
    from evolake.cli.ending import end
    from pipelines.asked import main

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EVOLAKE_LAKE", str(root))
        return end(main, [study, key])


def audited(*words: str) -> tuple[int, dict]:
    done = commands.evolake("audit", *words, "--json")
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def rows(lake: Lake, table: str, key: str) -> list[dict]:
    return lake.read("audits", table, key).to_dicts()


@pytest.fixture(scope="module")
def made(place) -> tuple[Lake, str, str]:
    """The lake, and the audits of the two runs."""
    bad, first = audited("one/title/openevolve_output", "--only", "evaluator", "--seconds", "10", "--into")
    good, second = audited("two/title/openevolve_output", "--seconds", "12", "--into", str(place / "lake"))
    assert (bad, good) == (1, 0), (first["findings"], second["findings"])
    return Lake(place / "lake"), first["audit"], second["audit"]


def test_two_projects_of_one_title_are_two_audits_with_candidates_findings_and_measurements(made):
    lake, first, second = made
    assert {first.rpartition("-")[0], second.rpartition("-")[0]} == {"title"} and first != second
    (verdict,) = rows(lake, "verdicts", first)
    found = rows(lake, "findings", first)
    assert (verdict["verdict"], verdict["tool"], verdict["candidates"]) == ("not sound", "OpenEvolve", 3)
    assert len(found) == verdict["findings"] and "degenerate answers" in {row["kind"] for row in found}
    assert all(row["command"].startswith("evolake audit ") for row in found)
    candidates = rows(lake, "candidates", second)
    assert [row["score"] for row in candidates] == [-15.125, -0.0025, -15.125]
    assert json.loads(candidates[0]["metrics"]) == {"combined_score": -15.125, "size": 3.0}
    assert [row["same_as"] for row in candidates] == [None, None, "p0"]
    sides = {row["side"] for row in rows(lake, "measurements", second)}
    assert {"same seed", "other seed", "initial", "best"} <= sides


def test_sql_the_report_and_checks_work_on_audits(made, place):
    lake, first, _ = made
    bad = "verdict = 'not sound'"
    sql = f"SELECT audit, kind FROM audits.findings JOIN audits.verdicts USING (audit) WHERE {bad}"
    asked = commands.evolake("sql", sql, "--format", "csv")
    assert {line.partition(",")[0] for line in asked.stdout.splitlines()[1:]} == {first}
    assert sentences(lake.root)[0] == "2 audits, 1 with findings."
    checks = [
        row
        for name in ("candidates_are_whole", "findings_are_those_of_the_verdict", "measurements_are_whole")
        for line, asset in lake.assets()
        if line == "audits" and asset.endswith(f"{name}__checks")
        for row in lake.read(line, asset).to_dicts()
    ]
    assert len(checks) == 6 and all(row["passed"] for row in checks)
    verified = commands.evolake("lake", "verify")
    assert verified.returncode == 0, verified.stdout


def test_the_same_audit_again_costs_nothing_and_changes_nothing(made, place):
    lake, first, _ = made
    before = lake.record("audits", "verdicts", first)
    code, again = audited(
        "one/title/openevolve_output", "--only", "evaluator", "--seconds", "10", "--into", "-"
    )
    assert (code, again["audit"]) == (1, first)
    assert lake.record("audits", "verdicts", first) == before
    assert len(lake.cycles("audits", "requested")) == 2


def test_the_audits_materialize_in_dagster_too(made, place):
    from pipelines.definitions import defs

    first = made[1]
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("audits", [first])
        done = defs.resolve_job_def("audits_study").execute_in_process(instance=instance, partition_key=first)
        made = {event.asset_key.path[-1] for event in done.get_asset_materialization_events()}
    assert done.success and made == {"candidates", "verdicts", "findings", "measurements"}
    graph = defs.resolve_asset_graph()
    keys = {key.path[-1]: graph.get(key) for key in graph.get_all_asset_keys() if key.path[0] == "audits"}
    assert {node.group_name for node in keys.values()} == {"audits"} and "requested" in keys


@pytest.mark.parametrize(("number", "folder"), [(signal.SIGKILL, "two"), (signal.SIGINT, "one")])
def test_an_audit_that_is_killed_continues_with_the_part_that_it_was_in(place, number, folder):
    lake, words = (
        Lake(place / "lake"),
        [f"{folder}/title", f"{folder}/title/initial_program.py", "--seconds", "16", "--into"],
    )
    command = [sys.executable, "-c", "from evolake.cli import main; main()", "audit", *words]
    said = place / f"said-{folder}"
    with said.open("wb") as file:
        child = subprocess.Popen(command, start_new_session=True, stdout=file, stderr=file, env=os.environ)
    until = time.monotonic() + 120
    while time.monotonic() < until:
        notes = [
            key for key in lake.cycles("audits", "notes") if key not in lake.cycles("audits", "verdicts")
        ]
        if notes or child.poll() is not None:
            break
        time.sleep(0.05)
    os.killpg(child.pid, number)
    child.wait()
    assert "Traceback" not in said.read_text()
    (key,) = notes
    noted = rows(lake, "notes", key)[0]
    code, found = audited(*words)
    assert (found["audit"], found["parts"]) == (key, ["evaluator", "measurement", "gain"])
    assert noted in rows(lake, "notes", key)
    (row,) = rows(lake, "verdicts", key)
    assert row["findings"] == len(found["findings"]) and code == bool(found["findings"])
    with dg.DagsterInstance.get() as instance:
        unfinished = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
    assert unfinished == []


def test_hostile_names_and_texts_are_text(place, tmp_path):
    folder = tmp_path / "h<i>x"
    checkpoint = folder / "checkpoints" / "checkpoint_1"
    (checkpoint / "programs").mkdir(parents=True)
    entry = {
        "id": HOSTILE * 40,
        "code": f"def run():\n    return 1  # {HOSTILE}\n",
        "language": "python",
        "metrics": {HOSTILE: 1.0, "combined_score": 1e308 * 10, "x": float("nan"), "y": "NaN"},
    }
    (checkpoint / "programs" / "p.json").write_text(json.dumps(entry))
    (checkpoint / "metadata.json").write_text(json.dumps({"best_program_id": HOSTILE}))
    done = commands.evolake("audit", folder, "--into", "--out", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    page = (tmp_path / "page.html").read_text()
    assert "<script" not in page and "<i>x" not in page
    (key,) = [key for key in Lake(place / "lake").cycles("audits", "verdicts") if key.startswith("h_i_x-")]
    (candidate,) = rows(Lake(place / "lake"), "candidates", key)
    assert len(candidate["program_id"]) <= 120 and candidate["score"] == 1.0
    assert "\x1b[31m" in candidate["text"] and "\ud800" not in candidate["text"]
    asked = commands.evolake("sql", "SELECT * FROM audits.candidates")
    assert asked.returncode == 0 and "\x1b" not in asked.stdout


def test_a_run_with_five_thousand_candidates_is_kept(place, tmp_path):
    texts = [f"def run():\n    return {place % 4000}\n" for place in range(5000)]
    openevolve_run(tmp_path / "many", texts, [float(place % 4000) for place in range(5000)])
    done = commands.evolake("audit", tmp_path / "many", "--into", "--out", tmp_path / "page.html", "--json")
    found = json.loads(done.stdout)
    frame = Lake(place / "lake").read("audits", "candidates", found["audit"])
    assert (done.returncode, frame.height, frame["same_as"].count()) == (0, 5000, 1000)
    assert (
        'alt="Scores of 5,000 of 5,000 candidates in the order of birth'
        in (tmp_path / "page.html").read_text()
    )


def test_what_cannot_be_audited_leaves_no_audit(place, tmp_path):
    lake = Lake(place / "lake")
    before = lake.cycles("audits", "verdicts")
    damaged = tmp_path / "damaged" / "checkpoints" / "checkpoint_1" / "programs"
    damaged.mkdir(parents=True)
    (damaged / "p.json").write_text("{")
    done = commands.evolake("audit", tmp_path / "damaged", "--into")
    assert (done.returncode, "cannot be read" in done.stderr) == (2, True)
    broken = written(tmp_path / "broken", UNSOUND | {"evaluator": "def evaluate(path):\n    return {}\n"})
    done = commands.evolake("audit", broken, "--into")
    assert done.returncode == 2 and "the initial program has no score" in done.stderr
    assert lake.cycles("audits", "verdicts") == before


def test_a_lake_that_cannot_be_written_is_said_before_the_audit(place, tmp_path):
    (tmp_path / "file").write_text("")
    done = commands.evolake("audit", "one/title", "--into", tmp_path / "file" / "lake")
    assert done.returncode in (2, 3) and "Traceback" not in done.stderr and str(tmp_path) in done.stderr


CYCLE = {
    "EVOLAKE_PROFILE": "demo",
    "EVOLAKE_WORKERS": "1",
    "EVOLAKE_PROGRAMS__GENERATIONS_PER_CYCLE": "1",
    "EVOLAKE_PROGRAMS__CANDIDATES_PER_GENERATION": "2",
    "EVOLAKE_PROGRAMS__HELDOUT_REPEATS": "3",
    "EVOLAKE_PROGRAMS__BASELINE_SHARE": "0",
    "EVOLAKE_PROGRAMS__SIMPLIFY_S": "0",
    "EVOLAKE_PROGRAMS__POLISH_S": "0",
}


def test_a_project_that_enters_is_audited_once_and_its_findings_are_in_the_table_of_projects(
    tmp_path, monkeypatch
):
    for name, entry in (("bad", UNSOUND), ("good", SOUND)):
        written(tmp_path / name, entry)
    places = {
        "EVOLAKE_LAKE": str(tmp_path / "lake"),
        "EVOLAKE_PROGRAMS__PROJECTS": f"{tmp_path / 'bad'},{tmp_path / 'good'}",
    }
    for name, value in (CYCLE | places).items():
        monkeypatch.setenv(name, value)
    from evolake.programs.audit import entering
    from pipelines.definitions import defs

    asked: list[str] = []
    real = entering.entry_audit
    monkeypatch.setattr(
        entering, "entry_audit", lambda project, *rest: asked.append(project.name) or real(project, *rest)
    )
    with dg.DagsterInstance.ephemeral() as instance:
        assert defs.resolve_job_def("programs_seeds").execute_in_process(instance=instance).success
        project = OneLine("programs", Lake(tmp_path / "lake"), instance, defs)
        register_keys(instance, "programs", ["0001"])
        job, first, warned = defs.resolve_job_def("programs_cycle"), [], []
        for _ in range(2):
            done = job.execute_in_process(
                instance=instance,
                partition_key="0001",
                asset_selection=[dg.AssetKey(["programs", "projects"])],
            )
            assert done.success
            checks = done.get_asset_check_evaluations()
            warned += [check.check_name for check in checks if not check.passed]
            first = first or project.rows("entry_audits", "0001")
        again = project.rows("entry_audits", "0001")
    assert warned == ["scores_cannot_be_forged"] * 2
    assert asked == ["bad", "good"] and first == again
    notes = {row["project"]: row["note"] for row in project.rows("projects", "0001")}
    said = "its score can be forged (degenerate answers"
    assert said in notes["bad"] and notes["good"] == ""
    assert {row["project"]: row["verdict"] for row in first} == {"bad": "not sound", "good": "no finding"}
    frame = pl.DataFrame(first)
    assert frame["tried"].min() > 10 and frame["cpu_s"].max() < 30
