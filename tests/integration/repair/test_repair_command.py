"""`evolake repair` as a user types it: processes, files, exit codes, kills."""

import json
import os
import signal
import subprocess
from pathlib import Path

import commands
import polars as pl
import psutil
import pytest
from repair_cases import LIN_0127, ROUND_1, ROUND_2
from repair_study import PROGRAM, SMALL, environment, finished_study

from evolake.lake import Lake
from evolake.repair.names import DEFAULT_ARMS
from evolake.repair.problems import parse_problem
from evolake.repair.running import read_study
from evolake.repair.tables import RESULTS

FINDINGS = ("summary", "comparisons", "frontier", "convergence", "effort", "robustness")
MEASURED = ["latency_mean_s", "latency_median_s", "latency_p95_s", "cpu_mean_s"]


def evolake(*arguments: str | Path, lake: Path, **more: str) -> subprocess.CompletedProcess[str]:
    if arguments[0] == "run":  # it starts workers
        return subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            env=environment(lake, **more),
        )
    return commands.evolake("repair", *arguments, environment=environment(lake, **more))


@pytest.fixture
def certify(tmp_path):
    """Writes a problem and a candidate (objects as JSON, text as it is); gives (exit code, printed object,
    standard error)."""

    def run(problem, candidate, *options: str):
        files = []
        for name, content in (("problem.json", problem), ("candidate.json", candidate)):
            path = tmp_path / name
            path.write_text(content if isinstance(content, str) else json.dumps(content))
            files.append(path)
        done = evolake("certify", *files, "--json", *options, lake=tmp_path)
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    return run


@pytest.mark.parametrize(
    ("candidate", "code", "printed"),
    [
        (
            ROUND_1,
            1,
            {
                "verdict": "refuted",
                "core": ["c2"],
                "violated": ["c2"],
                "reason": "the assignment violates c2",
            },
        ),
        (
            ROUND_2,
            1,
            {
                "verdict": "refuted",
                "core": ["dom:x1"],
                "violated": ["dom:x1"],
                "reason": "the assignment violates dom:x1",
            },
        ),
        (
            {"status": "unsat"},
            0,
            {
                "verdict": "certified",
                "core": ["c2", "dom:x1", "dom:x2"],
                "violated": [],
                "reason": "no assignment satisfies c2, dom:x1, dom:x2",
            },
        ),
        (
            "{}",
            1,
            {
                "verdict": "malformed",
                "core": [],
                "violated": [],
                "reason": "`status` must be sat or unsat (got null)",
            },
        ),
    ],
)
def test_certify_prints_one_object_and_says_by_its_exit_code_whether_it_is_certified(
    certify, candidate, code, printed
):
    assert certify(LIN_0127, candidate) == (code, printed, "")


def test_certify_refuses_what_is_no_problem_or_no_file(certify, tmp_path):
    code, printed, said = certify(LIN_0127 | {"constraints": 1}, ROUND_1)
    assert (code, printed["verdict"], printed["next"]) == (2, "error", "fix the problem")
    assert "`constraints` cannot be used" in said and "`constraints` cannot be used" in printed["what"]
    certify(LIN_0127, ROUND_1)
    done = evolake("certify", tmp_path / "problem.json", tmp_path / "nowhere.json", lake=tmp_path)
    assert done.returncode == 2 and "nowhere.json" in done.stderr


def test_certify_tells_a_whole_conflict_where_it_is_asked(certify, tmp_path):
    together = LIN_0127 | {"constraints": [
        {"id": "c1", "coef": {"x1": 1, "x2": 1}, "op": ">=", "rhs": 8}, {"id": "c2", "coef": {"x1": 1, "x2": -1}, "op": ">=", "rhs": 3},  # noqa: E501
    ]}  # fmt: skip
    candidate = {"status": "sat", "assignment": {"x1": 5, "x2": 2, "x3": 0, "x4": 0}}
    assert certify(together, candidate)[1]["core"] == ["c1"]
    said = {
        "verdict": "refuted",
        "core": ["c1", "c2"],
        "violated": ["c1"],
        "reason": "no assignment with x1=5 satisfies c1, c2",
        "values": ["x1"],
    }
    assert certify(together, candidate, "--conflict") == (1, said, "")
    done = evolake(
        "certify", tmp_path / "problem.json", tmp_path / "candidate.json", "--conflict", lake=tmp_path
    )
    assert done.stdout == "lin-0127: refuted: no assignment with x1=5 satisfies c1, c2\n  violated: c1\n"


def test_the_benchmark_is_written_as_jsonl_and_its_first_problem_can_be_judged(tmp_path):
    path = tmp_path / "problems.jsonl"
    assert evolake("problems", "--problems", "5", "--out", path, lake=tmp_path).returncode == 0
    assert evolake("problems", "--problems", "5", lake=tmp_path).stdout == path.read_text()
    problems = [parse_problem(line) for line in path.read_text().splitlines()]
    assert [item.id for item in problems] == [f"lin-000{place}" for place in range(5)]
    assert sorted(str(item.label) for item in problems) == ["sat"] * 3 + ["unsat"] * 2
    for item in problems:
        (tmp_path / "one.json").write_text(item.to_json())
        (tmp_path / "claim.json").write_text('{"status": "unsat"}')
        done = evolake("certify", tmp_path / "one.json", tmp_path / "claim.json", "--json", lake=tmp_path)
        assert done.returncode == (0 if item.label == "unsat" else 1)
    assert (
        evolake("problems", "--out", tmp_path / "no" / "folder", "--problems", "1", lake=tmp_path).returncode
        == 2
    )


def content(lake: Path) -> dict[str, str]:
    """Content hashes of all parts of the study."""
    store = Lake(lake)
    shas = {}
    for line, asset in store.assets():
        for cycle in store.cycles(line, asset) or [None]:
            record = store.record(line, asset, cycle)
            assert record is not None
            shas[f"{asset} {cycle}"] = record.content_sha
    return shas


def test_a_study_runs_whole_is_kept_and_can_be_extended(tmp_path):
    lake = tmp_path / "lake"
    answer = finished_study(lake)
    assert (answer["verdict"], answer["backend"], answer["problems"], len(answer["ran"]), answer["kept"]) == (
        "complete",
        "operators",
        18,
        9,
        [],
    )
    stored = read_study(Lake(lake))
    assert RESULTS.repeated_keys(stored.results).is_empty()
    counts = stored.results.group_by("suite", "variation").len().sort("suite", "variation").rows()
    assert counts == [
        ("lia", "none", 90),
        ("lia", "permute", 18),
        ("lia", "relabel", 18),
        ("lia", "scale", 18),
        ("sudoku4", "none", 18),
    ]
    assert stored.study["arms"] == list(DEFAULT_ARMS) and stored.study["seeds"] == [0]
    before = content(lake)

    again = json.loads(evolake("run", *SMALL, "--json", lake=lake).stdout)
    assert (again["ran"], again["kept"]) == ([], answer["ran"])
    assert content(lake) == before

    more = json.loads(
        evolake("run", *SMALL, "--seeds", "2", "--arms", "one_shot", "--json", lake=lake).stdout
    )
    assert (more["ran"], more["kept"]) == (["one_shot-1"], ["one_shot-0"])
    assert read_study(Lake(lake)).study["seeds"] == [0, 1]

    other = json.loads(
        evolake("run", *SMALL, "--problems", "5", "--arms", "one_shot", "--json", lake=lake).stdout
    )
    assert other["ran"] == ["one_shot-0"], "a study of other problems keeps no cell of this one"
    assert read_study(Lake(lake)).results["problem_id"].n_unique() == 13


def test_a_killed_study_goes_on_and_ends_in_the_same_content_and_findings(tmp_path):
    finished_study(tmp_path / "whole")
    running = subprocess.Popen(
        [*PROGRAM, "run", *SMALL], env=environment(tmp_path / "killed"), stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("multi_no_feedback-0:"):
            workers = psutil.Process(running.pid).children(recursive=True)
            running.send_signal(signal.SIGKILL)
            break
    running.wait()
    running.stderr.close()
    assert psutil.wait_procs(workers, timeout=30)[1] == [], "a killed run must leave no worker behind"
    done = json.loads(evolake("run", *SMALL, "--json", lake=tmp_path / "killed").stdout)
    assert {"one_shot-0", "multi_no_feedback-0"} <= set(done["kept"])
    assert sorted([*done["kept"], *done["ran"]]) == sorted(f"{arm}-0" for arm in DEFAULT_ARMS)
    assert content(tmp_path / "killed") == content(tmp_path / "whole")
    tables = {}
    for name in ("whole", "killed"):
        assert evolake("report", "--out", tmp_path / "reports" / name, lake=tmp_path / name).returncode == 0
        folder = tmp_path / "reports" / name / "tables"
        tables[name] = {
            item: pl.read_parquet(folder / f"{item}.parquet").drop(MEASURED, strict=False)
            for item in FINDINGS
        }
    for item in FINDINGS:
        assert tables["whole"][item].equals(tables["killed"][item]), item


def test_an_interrupt_says_that_what_was_finished_is_kept(tmp_path):
    running = subprocess.Popen(
        [*PROGRAM, "run", *SMALL],
        env=environment(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stderr is not None
    running.stderr.readline()
    os.killpg(running.pid, signal.SIGINT)
    said = running.stderr.read()
    running.stderr.close()
    assert running.wait() == 130
    assert (
        said.splitlines()[-1] == "interrupted; what was finished is kept, run the command again to continue"
    )
    assert "Traceback" not in said
    assert (
        "one_shot-0"
        in json.loads(evolake("run", *SMALL, "--arms", "one_shot", "--json", lake=tmp_path).stdout)["kept"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--arms", "one_shot,two_shot"], "--arms cannot be used"),
        (["--seeds", "0"], "--seeds"),
        (["--backend", "model"], "the model backend lacks an endpoint"),
        (["--profile", "huge"], "no profile named 'huge'"),
    ],
)
def test_wrong_usage_ends_with_two_before_anything_is_written(tmp_path, arguments, said):
    words = ("repair", "run", *SMALL, *arguments)
    done = commands.evolake(*words, environment=environment(tmp_path / "lake"))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (tmp_path / "lake").exists()


def test_two_runs_at_once_are_refused(tmp_path):
    with Lake(tmp_path).line_lock("repair", run_id="other"):
        done = commands.evolake("repair", "run", *SMALL, environment=environment(tmp_path))
    assert done.returncode == 3 and "other" in done.stderr


def test_the_lake_is_queried_by_cell(tmp_path):
    finished_study(tmp_path / "lake")
    rows = Lake(tmp_path / "lake").read("repair", "results")
    assert set(rows["cycle"]) == {f"{arm}-0" for arm in DEFAULT_ARMS}
    assert rows.filter(cycle="one_shot-0").select(pl.col("calls").sum()).item() == 18
