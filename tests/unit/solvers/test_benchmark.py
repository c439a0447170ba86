"""The benchmark: rows that say what was proved, work that goes on after a kill, the same rows from any
executor."""

import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from solver_runs import run_row

from evolake.errors import MachineryError
from evolake.gates import load_rules
from evolake.journal import read_journal
from evolake.lake.blobs import BlobStore
from evolake.project import BROUGHT
from evolake.solvers.execute import Program
from evolake.solvers.gates.judging import stage_judge, unsound_in
from evolake.solvers.measurement.benchmark import MeasuringPlan, plan_jobs, run_jobs, run_limits
from evolake.solvers.measurement.duel import Contender, DuelPlan, run_duel
from evolake.solvers.measurement.measuring import Job, held_core, usable_cores
from evolake.solvers.measurement.metrics import compute_metrics
from evolake.solvers.rules.outcomes import unsound
from evolake.solvers.suites import Suite, competition_suite
from evolake.solvers.tables import DUELS, RUNS, SMOKE_RUNS

SAT, UNSAT = b"p cnf 2 2\n1 2 0\n-1 0\n", b"p cnf 1 2\n1 0\n-1 0\n"
STATISTICS = {"conflicts": r"^c conflicts (\d+)"}
HONEST = """
echo "c conflicts 7"
read p cnf variables clauses < "$1"
if [ "$variables" = 2 ]; then echo "s SATISFIABLE"; echo "v -1 2 0"; exit 10; fi
[ -n "$2" ] && echo 0 > "$2"
echo "s UNSATISFIABLE"; exit 20
"""
WRONG_MODEL = 'echo "s SATISFIABLE"; echo "v 1 2 0"; exit 10'
ALWAYS_UNSAT = '[ -n "$2" ] && echo 0 > "$2"; echo "s UNSATISFIABLE"; exit 20'
UNPROVED = """
read p cnf variables clauses < "$1"
[ "$variables" = 2 ] && exit 0
[ -n "$2" ] && echo "1 2 foo 0" > "$2"
echo "s UNSATISFIABLE"; exit 20
"""
RESTLESS = HONEST.replace('&& echo 0 > "$2"', '&& { echo "1 0"; echo 0; } > "$2"')
"""Right answers, and a proof that `_Chance` makes longer from run to run."""
ENDLESS = "while :; do :; done"


@pytest.fixture
def suite(tmp_path) -> Suite:
    folder = tmp_path / "formulas"
    folder.mkdir()
    (folder / "good.cnf").write_bytes(SAT)
    (folder / "bad.cnf").write_bytes(UNSAT)
    (folder / "status.csv").write_text("good,SAT\nbad,UNSAT\n")
    return competition_suite(folder, BlobStore(tmp_path / "lake"), tmp_path / "cache")


@pytest.fixture
def solver(tmp_path) -> Callable[..., Program]:
    def make(script: str, *, proof: bool = True) -> Program:
        folder = tmp_path / hashlib.sha256(script.encode()).hexdigest()[:12]
        folder.mkdir(exist_ok=True)
        (folder / "solver").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "solver").chmod(0o755)
        proof_argv = ("solver", "{cnf}", "{proof}") if proof else None
        return Program(
            folder,
            ("solver", "{cnf}"),
            proof_argv,
            "drat-text" if proof else "none",
            {},
            STATISTICS,
            tools=(Path("/bin/sh"),),
        )

    return make


PLAN = MeasuringPlan(run_limits(2.0, 256, proof_mb=4))


def rows(
    programs: dict[str, Program], suite: Suite, plan: MeasuringPlan = PLAN, **options: Any
) -> dict[tuple[str, str], dict[str, Any]]:
    with ThreadPoolExecutor(2) as executor:
        frame = run_jobs(plan_jobs(programs, suite, plan, cycle="0001"), executor, **options)
    return {(row["variant_id"], row["instance"]): row for row in frame.to_dicts()}


def said(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(
        row[name] for name in ("status", "answer", "solved", "answer_checked", "certificate", "proof_status")
    )


def test_answers_are_worth_what_is_proved(solver, suite):
    programs = {
        "honest": solver(HONEST),
        "model": solver(WRONG_MODEL),
        "unsat": solver(ALWAYS_UNSAT),
        "junk": solver(UNPROVED),
        "no-proof": solver(HONEST, proof=False),
    }
    result = rows(programs, suite)
    assert {key: said(row) for key, row in result.items()} == {
        ("honest", "good"): ("sat", "SAT", True, True, "model", None),
        ("honest", "bad"): ("unsat", "UNSAT", True, True, "proof", "verified"),
        ("model", "good"): ("wrong", "SAT", False, True, None, None),
        ("model", "bad"): ("wrong", "SAT", False, True, None, None),
        ("unsat", "good"): ("wrong", "UNSAT", False, True, None, "unchecked"),
        ("unsat", "bad"): ("unsat", "UNSAT", True, True, "proof", "verified"),
        ("junk", "good"): ("unknown", None, False, False, None, None),
        ("junk", "bad"): ("unsat", "UNSAT", False, True, None, "malformed"),
        ("no-proof", "good"): ("sat", "SAT", True, True, "model", None),
        ("no-proof", "bad"): ("unsat", "UNSAT", False, True, None, "unknown"),
    }
    honest = result["honest", "bad"]
    assert (honest["conflicts"], honest["proof_bytes"], honest["proof_sha"]) == (
        7,
        2,
        hashlib.sha256(b"0\n").hexdigest(),
    )
    assert (
        result["model", "good"]["problems"]
        == "the model satisfies not one literal of 1 clauses, clause 2 the first"
    )
    metrics = compute_metrics(RUNS.frame(result.values()))
    assert {
        row["variant_id"]: (row["solved"], row["wrong"], row["unproved"]) for row in metrics.to_dicts()
    } == {
        "honest": (2.0, 0, 0),
        "model": (0.0, 2, 0),
        "unsat": (1.0, 1, 0),
        "junk": (0.0, 0, 1),
        "no-proof": (1.0, 0, 1),
    }


@pytest.mark.parametrize(
    ("declared", "proof", "status", "problem"),
    [
        ("lrat-text", "3 0 1 2 0", "verified", None),
        (
            "lrat-text",
            "3 0 1 0",
            "refuted",
            "proof refuted: step 1 (clause 3): its hints do not end in a conflict",
        ),
        (
            "lrat-text",
            "0",
            "malformed",
            "proof malformed: it cannot be read: a line that is no step of LRAT: '0'",
        ),
        (
            "drat-text",
            "3 0 1 2 0",
            "unsupported",
            "proof unsupported: it cannot be read: it is LRAT, and its declared format is DRAT text",
        ),
        (
            "drat-text",
            "o 1 1 0",
            "unsupported",
            "proof unsupported: it cannot be read: it looks like FRAT: something that is no literal near "
            "'o 1 1 0\\n'",
        ),
    ],
)
def test_a_proof_in_another_format_than_declared_proves_nothing(
    declared, proof, status, problem, solver, suite
):
    program = replace(solver(HONEST.replace("echo 0 >", f'echo "{proof}" >')), proof=declared)
    row = rows({"v": program}, suite)["v", "bad"]
    assert said(row) == (
        "unsat",
        "UNSAT",
        status == "verified",
        True,
        "proof" if status == "verified" else None,
        status,
    )
    assert (row["problems"] or "").partition(", and have nothing")[0] == (problem or "")
    assert unsound(row) == (status != "verified")


def test_what_the_checked_share_leaves_out_is_said(solver, suite):
    result = rows(
        {"v": solver(HONEST), "champion": solver(HONEST)},
        suite,
        replace(PLAN, proof_share=0.0, champions=frozenset({"champion"})),
    )
    assert said(result["v", "bad"]) == ("unsat", "UNSAT", False, False, None, "unchecked")
    assert said(result["champion", "bad"]) == ("unsat", "UNSAT", True, True, "proof", "verified")
    assert result["v", "bad"]["proof_bytes"] == 2


def test_a_proof_is_checked_once_and_an_undecided_one_again(solver, suite, tmp_path, monkeypatch):
    from evolake.solvers.proof import checking as proof_cache

    asked: list[str] = []
    real = proof_cache.check_proof

    def counted(formula: Path, proof: Path, **options: Any) -> Any:
        asked.append(proof.read_text())
        return real(formula, proof, **options)

    monkeypatch.setattr(proof_cache, "check_proof", counted)
    plan = replace(PLAN, verdicts=tmp_path / "verdicts")
    first = rows({"a": solver(HONEST), "b": solver(UNPROVED)}, suite, plan)
    again = rows({"a": solver(HONEST), "b": solver(UNPROVED)}, suite, plan)
    assert sorted(asked) == ["0\n", "1 2 foo 0\n"]
    assert {key: said(row) for key, row in first.items()} == {key: said(row) for key, row in again.items()}
    assert first["a", "bad"]["proof_cpu_s"] == again["a", "bad"]["proof_cpu_s"]
    rows({"a": solver(HONEST)}, suite, replace(plan, champions=frozenset({"a"})))
    assert len(asked) == 3


def test_a_run_without_end_is_a_timeout(solver, suite):
    result = rows({"v": solver(ENDLESS)}, suite.first(1), MeasuringPlan(run_limits(0.5, 256)))
    row = result["v", "bad"]
    assert said(row) == ("timeout", None, False, False, None, None)
    assert 0.4 < row["cpu_s"] < 3.0


def test_finished_rows_are_kept_and_not_run_again(solver, suite, tmp_path):
    jobs = plan_jobs({"v": solver(HONEST)}, suite, replace(PLAN, repeats=2), cycle="0001")
    journal = tmp_path / "journal.jsonl"
    with ThreadPoolExecutor(1) as executor, pytest.raises(MachineryError, match="pulled the plug"):
        run_jobs(jobs, executor, journal=journal, run=_dies_at(3))
    kept = len(read_journal(journal))
    assert 1 <= kept <= 3
    with journal.open("ab") as file:
        file.write(b'{"key": "torn')
    seen: list[tuple[int, int]] = []
    with ThreadPoolExecutor(1) as executor:
        full = run_jobs(
            jobs,
            executor,
            journal=journal,
            run=_mark,
            on_progress=lambda done, total, row: seen.append((done, total)),
        )
    assert seen == [(kept + 1 + number, 4) for number in range(4 - kept)]
    assert full["host"].to_list().count("marked") == 4 - kept
    with ThreadPoolExecutor(1) as executor:
        assert run_jobs(jobs, executor, journal=journal, run=_dies_at(0)).equals(full)


def test_other_limits_are_another_measurement(solver, suite):
    first, second = (
        plan_jobs({"v": solver(HONEST)}, suite, MeasuringPlan(run_limits(seconds, 256)), cycle="0001")
        for seconds in (1.0, 2.0)
    )
    assert not {job.key for job in first} & {job.key for job in second}
    again = plan_jobs({"v": solver(HONEST)}, suite, MeasuringPlan(run_limits(1.0, 256)), cycle="0001")
    assert [job.key for job in first] == [job.key for job in again]


def test_a_dask_cluster_gives_the_rows_of_a_process_pool(solver, suite, tmp_path):
    distributed = pytest.importorskip("distributed")
    jobs = plan_jobs({"v": solver(HONEST)}, suite, PLAN, cycle="0001")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask")
        ) as cluster,
        distributed.Client(cluster) as client,
        ProcessPoolExecutor(2) as processes,
    ):
        assert _stable(run_jobs(jobs, client.get_executor())) == _stable(run_jobs(jobs, processes))


def test_pairs_run_in_turns_and_say_what_was_proved(solver, suite, tmp_path):
    duel = DuelPlan(
        Contender("old", solver(HONEST)), Contender("new", solver(ALWAYS_UNSAT)), suite, "0002", 2
    )
    with ThreadPoolExecutor(2) as executor:
        result = run_duel(duel, replace(PLAN, proof_share=0.0), executor, journal=tmp_path / "journal.jsonl")
        again = run_duel(duel, replace(PLAN, proof_share=0.0), executor, journal=tmp_path / "journal.jsonl")
    assert result == again
    frame = DUELS.frame(result)
    assert frame.select("instance", "pair", "part", "place").rows() == [
        ("bad", 0, "champion", 0),
        ("bad", 0, "challenger", 1),
        ("good", 0, "champion", 1),
        ("good", 0, "challenger", 0),
        ("bad", 1, "champion", 1),
        ("bad", 1, "challenger", 0),
        ("good", 1, "champion", 0),
        ("good", 1, "challenger", 1),
    ]
    assert frame.filter(pl.col("pair") == 0).select(
        "variant_id", "instance", "status", "certificate"
    ).rows() == [
        ("old", "bad", "unsat", "proof"),
        ("new", "bad", "unsat", "proof"),
        ("old", "good", "sat", "model"),
        ("new", "good", "wrong", None),
    ]


class _Chance(ThreadPoolExecutor):
    """Stands for chance, of which a jail holds little: from the second pair of two formulas on, RESTLESS
    writes longer proofs."""

    def __init__(self, script: Path):
        super().__init__(1)
        self._script, self._text, self._made = script, script.read_text(), 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        def chancy() -> Any:
            self._script.write_text(
                self._text.replace('echo "1 0"', 'echo "1 0"; echo "-1 1 1 0"')
                if self._made >= 2
                else self._text
            )
            self._made += 1
            return fn(*args, **kwargs)

        return super().submit(chancy)


def test_a_core_is_held_by_one_at_a_time(tmp_path):
    first, *_ = usable_cores()
    with held_core([first], tmp_path) as core:
        assert core == first
        descriptor = os.open(tmp_path / str(first), os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)
    with held_core([first], tmp_path) as core:
        assert core == first


def _stable(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return frame.drop("cpu_s", "wall_s", "peak_mb", "proof_cpu_s", "instructions").to_dicts()


def _mark(job: Job) -> dict[str, Any]:
    return _row(job) | {"host": "marked"}


def _row(job: Job) -> dict[str, Any]:
    row = run_row(job.variant_id, job.instance.name, "sat", 1.0, repeat=job.repeat)
    return {name: row.get(name) for name in RUNS.columns}


def _dies_at(count: int) -> Callable[[Job], dict[str, Any]]:
    calls = [0]

    def run(job: Job) -> dict[str, Any]:
        if calls[0] == count:
            raise MachineryError("somebody pulled the plug")
        calls[0] += 1
        return _row(job)

    return run


def test_a_row_of_another_program_version_is_measured_again(solver, suite, tmp_path):
    jobs = plan_jobs({"v": solver(HONEST)}, suite.first(1), PLAN, cycle="0001")
    journal = tmp_path / "journal.jsonl"
    with ThreadPoolExecutor(1) as executor:
        run_jobs(jobs, executor, journal=journal, run=_mark)
    entry = json.loads(journal.read_text())
    del entry["value"]["host"]
    journal.write_text(json.dumps(entry) + "\n")
    with ThreadPoolExecutor(1) as executor:
        assert run_jobs(jobs, executor, journal=journal, run=_mark).height == 1
    assert len(journal.read_text().splitlines()) == 2


def test_a_process_pool_gives_the_rows_of_threads(solver, suite):
    jobs = plan_jobs({"v": solver(HONEST), "w": solver(WRONG_MODEL)}, suite, PLAN, cycle="0001")
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2) as processes:
        assert _stable(run_jobs(jobs, threads, schema=SMOKE_RUNS)) == _stable(
            run_jobs(jobs, processes, schema=SMOKE_RUNS)
        )


def test_who_does_not_repeat_itself_in_a_duel_is_blocked(solver, suite, tmp_path):
    def duel(champion: str, challenger: str, pairs: int) -> set[str]:
        sides = Contender("old", solver(champion)), Contender("new", solver(challenger))
        with _Chance(sides[challenger == RESTLESS].program.folder / "solver") as executor:
            result = run_duel(DuelPlan(*sides, suite, "0002", pairs), PLAN, executor)
        assert all(row["solved"] for row in result)
        for part, script in (("champion", champion), ("challenger", challenger)):
            lengths = {
                row["proof_bytes"] for row in result if (row["part"], row["status"]) == (part, "unsat")
            }
            if script == HONEST:
                wanted = {2}
            elif pairs > 1:
                wanted = {6, 15}
            else:
                wanted = {6}
            assert lengths == wanted
        return unsound_in(judge(result))

    rules = load_rules(BROUGHT / "data_lake" / "seeds" / "rules", "solvers")
    judge = stage_judge("duel", rules, BlobStore(tmp_path), cycle="0002", run_id="r")
    assert duel(HONEST, HONEST, pairs=2) == set()
    assert duel(HONEST, RESTLESS, pairs=2) == {"new"}
    assert duel(RESTLESS, HONEST, pairs=2) == {"old"}
    assert duel(HONEST, RESTLESS, pairs=1) == set(), (
        "who runs once cannot differ from itself: known, and said in docs/trust.md"
    )
