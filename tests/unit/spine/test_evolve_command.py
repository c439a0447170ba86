"""`python -m pipelines.evolve`: exit codes, the last line, going on after any end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest

from evolake import settings
from evolake.lake import Lake
from pipelines.events import event_of
from pipelines.evolve import entry
from pipelines.outcome import STOPPED
from pipelines.side_by_side import NICER, OUTCOME, niceness, order_of

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    (tmp_path / "plants").mkdir()
    for name, value in (("DAGSTER_HOME", "home"), ("EVOLAKE_LAKE", "lake"), ("EVOLAKE_TOY_PLANTS", "plants")):
        monkeypatch.setenv(name, str(tmp_path / value))
    for name in ("EVOLAKE_PROFILE", "EVOLAKE_BACKEND", "EVOLAKE_SEED"):
        monkeypatch.setenv(name, "undone after the test, for the command sets these")
        monkeypatch.delenv(name)
    return tmp_path


def evolve(*options: str) -> int:
    return entry(["--definitions", "toy_location.definitions", *options])


def test_cycles_are_added_and_runs_checks_and_partitions_are_there_afterwards(place, capsys):
    assert evolve("--lines", "gated", "--cycles", "2", "--profile", "demo", "--json") == 0
    assert settings.profile_of(place / "lake") == "demo"
    assert json.loads(capsys.readouterr().out) == {
        "verdict": "sealed",
        "cycles": {"gated": ["0001", "0002"]},
        "reason": "",
        "run_id": "",
    }
    with dg.DagsterInstance.get() as instance:
        runs = instance.get_runs()
        assert sorted((run.job_name, run.status.value) for run in runs) == [
            ("gated_cycle", "SUCCESS")
        ] * 2 + [("gated_seeds", "SUCCESS")]
        assert sorted(run.tags["dagster/partition"] for run in runs if run.job_name == "gated_cycle") == [
            "0001",
            "0002",
        ]
        assert instance.get_dynamic_partitions("gated_cycle") == ["0001", "0002", "0003"]
        key = dg.AssetCheckKey(dg.AssetKey(["gated", "candidates"]), "members_are_unique")
        assert len(instance.event_log_storage.get_asset_check_execution_history(key, limit=9)) == 2


def test_a_line_of_text_for_each_cycle_with_its_outcome_and_the_time_left_once_one_is_recorded(place, capfd):
    assert evolve("--lines", "gated", "--cycles", "2") == 0
    out, err = capfd.readouterr()
    said = [
        re.sub(r"\d+ s\b", "N s", line).replace("a few seconds", "about N s")
        for line in out.splitlines()
        if not line.startswith(("profile ", "next: "))
    ]
    assert said == [
        "gated: seeds (estimating the time left)",
        "gated: seeds in N s",
        "gated: cycle 1 of 2 (estimating the time left)",
        "gated: cycle 1 of 2 in N s: 0 of 0 new candidates accepted",
        "gated: cycle 2 of 2 (about N s left)",
        "gated: cycle 2 of 2 in N s: 0 of 0 new candidates accepted",
        "sealed: gated 0001 to 0002",
        "model: not asked (operators made everything); 0 calls, 0 tokens, 0 usd",
    ]
    assert out.splitlines()[-1] == (
        f"next: evolake status --lake {place / 'lake'}, or evolake report --lake {place / 'lake'} --out "
        "report.html"
    )
    assert err == ""
    assert evolve("--lines", "gated", "--cycles", "1", "-v") == 0
    out = capfd.readouterr().out
    assert "gated: cycle 1 of 1 (0003)" in out
    assert "gated/candidates: check members_are_unique passed" in out
    assert re.search(r"gated/candidates +1 rows", out)
    [log] = (place / "home" / "logs").glob("gated-0003-*.log")
    assert "RUN_SUCCESS" in log.read_text()


def test_lines_side_by_side_hold_what_they_hold_one_after_the_other_and_one_that_fails_stops_alone(
    place, monkeypatch, capsys
):
    (place / "plants" / "fail-failing-0001").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    assert evolve("--lines", "left,failing,right", "--cycles", "2", "--at-once", "3", "--json") == 3
    said = json.loads(capsys.readouterr().out)
    assert said["cycles"] == {"left": ["0001", "0002"], "failing": [], "right": ["0001", "0002"]}
    assert said["reason"] == "failing/survivors: planted failure in cycle 0001"
    with dg.DagsterInstance.get() as instance:
        assert instance.get_run_by_id(said["run_id"]).job_name == "failing_cycle"
        assert sorted(run.job_name for run in instance.get_runs()) == sorted(
            [
                "left_seeds",
                "failing_seeds",
                "right_seeds",
                "failing_cycle",
                *["left_cycle", "right_cycle"] * 2,
            ]
        )
    apart = Lake(place / "lake").read("right", "incoming_members", "0003")
    monkeypatch.setenv("EVOLAKE_LAKE", str(place / "other"))
    monkeypatch.setenv("DAGSTER_HOME", str(place / "other_home"))
    assert evolve("--lines", "left,right", "--cycles", "2", "--at-once", "1", "--json") == 0
    assert Lake(place / "other").read("right", "incoming_members", "0003").equals(apart)


def test_the_heaviest_line_starts_first_then_the_lightest_which_gets_the_processor_first():
    weights = {"bridges": 1.0, "alike": 1.0, "solvers": 4.0, "designs": 2.0}
    assert order_of(weights) == ["solvers", "alike", "designs", "bridges"]
    assert order_of({"left": 3.0}) == ["left"]
    assert niceness(weights) == {"bridges": 0, "alike": 0, "designs": NICER, "solvers": 2 * NICER}
    assert niceness({"left": 3.0}) == {"left": 0}


def test_it_goes_on_where_an_earlier_run_stopped(place, capsys):
    assert evolve("--lines", "left", "--cycles", "1") == 0
    fail = place / "plants" / "fail-left-0002"
    fail.write_text("")
    assert evolve("--lines", "left", "--cycles", "3") == 3
    assert "left/survivors: planted failure in cycle 0002" in capsys.readouterr().err
    fail.unlink()
    assert evolve("--lines", "left", "--cycles", "2") == 0
    assert Lake(place / "lake").read("left", "incoming_members", "0004")["member"].to_list() == [
        "seed>0001>0002>0003"
    ]


def steps_of_newest_run() -> list[str]:
    with dg.DagsterInstance.get() as instance:
        [run] = instance.get_runs(limit=1)
        return sorted(step.step_key for step in instance.get_run_step_stats(run.run_id))


ALL = ["gated__candidates", "gated__candidates_members_are_unique", "gated__survivors"]


def test_a_failed_seal_continues_at_the_seal_unless_what_it_stands_on_is_another_by_now(
    place, capsys, monkeypatch
):
    fail = place / "plants" / "fail-gated-0001"
    fail.write_text("")
    assert evolve("--lines", "gated") == 3 and steps_of_newest_run() == ALL
    capsys.readouterr()
    monkeypatch.setenv("EVOLAKE_WORKERS", str(settings.load().workers + 1))
    assert evolve("--lines", "gated") == 3 and steps_of_newest_run() == ALL  # other sizes
    fail.unlink()
    assert evolve("--lines", "gated") == 0 and steps_of_newest_run() == ["gated__survivors"]
    assert "did all of cycle 0001 but its seal; it continues there" in capsys.readouterr().out
    assert Lake(place / "lake").read("gated", "incoming_members", "0002")["member"].to_list() == ["seed>0001"]
    fail = place / "plants" / "fail-gated-0002"
    fail.write_text("")
    assert [evolve("--lines", "gated") for _ in range(2)] == [3, 3]
    assert steps_of_newest_run() == ["gated__survivors"]
    assert evolve("--lines", "gated") == 3 and steps_of_newest_run() == ALL  # the seal refused once more


def test_a_cycle_that_a_check_judges_bad_exits_1_with_the_reason(place, capsys):
    (place / "plants" / "twice-gated-0001").write_text("")
    assert evolve("--lines", "gated", "--cycles", "2", "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["verdict"], said["cycles"]) == ("blocked", {"gated": []})
    assert (
        said["reason"] == "check members_are_unique of gated/candidates failed: "
        "expect_column_values_to_be_unique(column=member): 2 of 2 rows"
    )


def test_without_a_home_it_says_what_to_set(place, monkeypatch, capsys):
    monkeypatch.delenv("DAGSTER_HOME")
    assert evolve("--lines", "left") == 2
    assert "DAGSTER_HOME is not set" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--lines", "nowhere"], "no line named 'nowhere'"),
        (["--lines", ","], "no line to run"),
        (["--cycles", "-1"], "-1 is not in the range"),
        (["--profile", "gigantic"], "no profile named 'gigantic'"),
        (["--frobnicate"], "No such option"),
    ],
)
def test_wrong_usage_exits_2_and_says_what_is_wrong(place, capsys, options, said):
    assert evolve(*options) == 2
    assert said in capsys.readouterr().err


def test_wrong_usage_under_json_is_one_object_too(place, capsys):
    assert evolve("--lines", "nowhere", "--json") == 2
    assert json.loads(capsys.readouterr().out)["verdict"] == "failed"


def test_a_line_at_work_elsewhere_exits_3_and_changes_nothing(place, capsys):
    assert evolve("--lines", "left", "--cycles", "1") == 0
    lake = Lake(place / "lake")
    before = [lake.seals.read("left", cycle) for cycle in ("0001", "0002")]
    with lake.line_lock("left", run_id="somebody"):
        assert evolve("--lines", "left", "--cycles", "1") == 3
    assert "line left is busy" in capsys.readouterr().err
    assert [lake.seals.read("left", cycle) for cycle in ("0001", "0002")] == before
    assert evolve("--lines", "left", "--cycles", "1") == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_ended_in_the_middle_of_a_cycle_and_started_again_it_goes_on(place, how):
    hang = place / "plants" / "hang-left-0002"
    hang.write_text("")
    command = [
        sys.executable,
        "-m",
        "pipelines.evolve",
        "--definitions",
        "toy_location.definitions",
        "--lines",
        "left",
        "--cycles",
        "2",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        lake, deadline = Lake(place / "lake"), time.monotonic() + 300
        while lake.record("left", "candidates", "0002") is None:
            assert time.monotonic() < deadline and process.poll() is None, process.stdout.read()
            time.sleep(0.05)
        process.send_signal(how)
        summary = process.communicate(timeout=300)[0]
    hang.unlink()
    if how != signal.SIGKILL:
        assert summary.splitlines()[-1] == STOPPED and summary.count("stopped") == 1
        assert "FAILED" not in summary and "Error" not in summary and "Traceback" not in summary
    assert process.returncode != 0
    assert lake.seals.read("left", "0003") is None
    assert evolve("--lines", "left", "--cycles", "1") == 0
    assert lake.read("left", "incoming_members", "0003")["member"].to_list() == ["seed>0001>0002"]
    with dg.DagsterInstance.get() as instance:
        assert {run.status.value for run in instance.get_runs()} <= {"SUCCESS", "FAILURE", "CANCELED"}


def test_what_a_part_prints_besides_is_not_taken_for_what_it_tells():
    part = """
import os
from pipelines.events import Event
from pipelines.outcome import Outcome
from pipelines.side_by_side import parent
parent().tell(Event("left", "said", text="one"))
print("a library speaks", flush=True)
os.system("echo so does a program")
parent().leave(Outcome({"left": ["0001"]}))
"""
    done = subprocess.run([sys.executable, "-c", part], capture_output=True, text=True, check=True)
    summary, ended = done.stdout.splitlines()
    assert (event_of(summary).text, ended.startswith(OUTCOME)) == ("one", True)
    assert done.stderr.splitlines()[-2:] == ["a library speaks", "so does a program"]


def test_a_schedule_that_is_none_does_not_stop_cycles_and_is_named(place):
    """In its own process, in which the definitions are loaded under the variable."""
    command = [sys.executable, "-m", "pipelines.evolve", "--definitions", "toy_location.definitions"]
    done = subprocess.run(
        [*command, "--lines", "gated", "--cycles", "1", "--profile", "demo"],
        env=os.environ | {"EVOLAKE_NIGHTLY_CRON": "every day", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("warning: EVOLAKE_NIGHTLY_CRON is no schedule, and this command needs none")
    assert "'every day'" in done.stderr
