"""Programs that answer well, badly and not at all, each run in the jail: what the run is worth."""

from pathlib import Path

import pytest

from evolake.errors import InputError
from evolake.solvers.execute import Program, RunLimits, run_solver

CNF = b"p cnf 2 1\n1 -2 0\n"
LIMITS = RunLimits(cpu_s=5, wall_s=20, memory_mb=256, proof_mb=1, output_bytes=100_000)
SHELL = (Path("/bin/sh"), Path("/usr/bin/yes"), Path("/bin/sleep"))
STATISTICS = {"conflicts": r"^c conflicts (\d+)"}


@pytest.fixture
def run(tmp_path):
    """run(script, limits=...) gives the outcome of a shell script as a solver, and `want_proof` its proof."""
    (tmp_path / "a-telling-name.cnf").write_bytes(CNF)

    def call(script, limits=LIMITS, **options):
        folder = tmp_path / "program"
        folder.mkdir(exist_ok=True)
        (folder / "solver").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "solver").chmod(0o755)
        program = Program(
            folder,
            ("solver", "{cnf}"),
            ("solver", "{cnf}", "--proof={proof}"),
            "drat-text",
            {"GREETING": "hello"},
            STATISTICS,
            tools=SHELL,
        )
        return run_solver(
            program, tmp_path / "a-telling-name.cnf", limits, scratch=tmp_path / "scratch", **options
        )

    return call


def test_a_model_comes_back_with_counters(run):
    seen = run("echo c conflicts 7; echo s SATISFIABLE; echo v 1 2 0; exit 10", core=0)
    assert (seen.status, seen.answer, seen.model.tolist(), seen.exit_code, seen.problems, seen.counters) == (
        "sat",
        "sat",
        [1, 2],
        10,
        (),
        {"conflicts": 7.0},
    )
    assert seen.stdout_tail == "c conflicts 7\ns SATISFIABLE\n"
    assert (seen.proof, seen.proof_bytes) == (None, 0)
    assert 0 < seen.cpu_s < 5
    assert 0 < seen.peak_mb < 50


def test_a_proof_comes_back_as_a_file(run):
    seen = run(
        'echo 1 0 > "${2#--proof=}"; echo 0 >> "${2#--proof=}"; echo s UNSATISFIABLE; exit 20',
        want_proof=True,
    )
    assert (seen.status, seen.proof.read_bytes(), seen.proof_bytes, seen.problems) == (
        "unsat",
        b"1 0\n0\n",
        6,
        (),
    )


def test_an_old_proof_is_never_taken_for_a_new_one(run):
    run('echo 0 > "${2#--proof=}"; echo s UNSATISFIABLE; exit 20', want_proof=True)
    assert run("echo s UNSATISFIABLE; exit 20", want_proof=True).proof_bytes == 0


def test_the_proof_may_be_written_by_a_program_that_checks_its_folder(run):
    """Kissat refuses a path whose folder is read-only."""
    seen = run(
        'path="${2#--proof=}"; case "$path" in */*) [ -w "${path%/*}" ] || exit 1;; esac\n'
        'echo 0 > "$path"; echo s UNSATISFIABLE; exit 20',
        want_proof=True,
    )
    assert (seen.status, seen.proof_bytes) == ("unsat", 2)


def test_the_program_sees_neither_the_instances_name_nor_its_place(run):
    seen = run('echo "c $0 $* $GREETING"; pwd; echo *; export -p; read line < "$1"; echo "c $line"; exit 0')
    assert seen.status == "unknown"
    assert "telling" not in seen.stdout_tail
    assert "c /solver/solver /work/instance.cnf hello" in seen.stdout_tail
    assert "c p cnf 2 1" in seen.stdout_tail


@pytest.mark.parametrize(
    ("script", "status", "answer", "part"),
    [
        ("echo s UNKNOWN; exit 0", "unknown", None, None),
        ("exit 0", "unknown", None, None),
        (
            "echo s SATISFIABLE; echo v 1 0; exit 20",
            "malformed",
            "sat",
            "the answer is sat but the exit code is 20",
        ),
        ("echo s UNSATISFIABLE; exit 0", "malformed", "unsat", "the answer is unsat but the exit code is 0"),
        ("exit 10", "malformed", None, "exit code 10 says sat but there is no such answer"),
        ("echo s SATISFIABLE; echo v 1 0; echo s UNSATISFIABLE; exit 10", "malformed", None, "two answers"),
        ("echo s SATISFIABLE; echo v 1; exit 10", "malformed", "sat", "without its final 0"),
        ("echo s SATISFIABLE; exit 10", "malformed", "sat", "no model"),
        ("exit 3", "refused", None, "it ended with exit code 3 and without an answer"),
        (
            "echo 'PARSE ERROR! Unexpected char: x' >&2; exit 3",
            "unread",
            None,
            "it ended with exit code 3 and without an answer",
        ),
        (
            "echo 'c parse error: expected header'; exit 1",
            "unread",
            None,
            "it ended with exit code 1 and without an answer",
        ),
        (
            "echo 'PARSE ERROR!'; echo s SATISFIABLE; exit 1",
            "malformed",
            "sat",
            "the answer is sat but the exit code is 1",
        ),
        ("kill -SEGV $$", "crash", None, "died by SIGSEGV"),
        ("echo s UNSATISFIABLE; kill -ABRT $$", "crash", "unsat", "died by SIGABRT"),
        ("echo 'terminate: std::bad_alloc' >&2; exit 134", "memory", None, None),
        ("exec /usr/bin/yes", "malformed", None, None),
        ("sleep 5 & wait; exit 3", "refused", None, "and without an answer"),
    ],
)
def test_what_a_run_is_worth(run, script, status, answer, part):
    seen = run(script)
    assert (seen.status, seen.answer) == (status, answer)
    assert part is None or part in "; ".join(seen.problems)


def test_a_limit_of_processor_time_is_held_whatever_was_said_before(run):
    seen = run(
        "trap '' XCPU TERM; echo s UNSATISFIABLE; while :; do :; done",
        RunLimits(cpu_s=0.3, wall_s=20, memory_mb=256),
    )
    assert (seen.status, seen.answer) == ("timeout", "unsat")
    assert 0.3 <= seen.cpu_s < 1.5


def test_a_limit_of_the_clock_is_held(run):
    seen = run("exec sleep 60", RunLimits(cpu_s=5, wall_s=0.3, memory_mb=256))
    assert (seen.status, seen.cpu_s < 1) == ("timeout", True)


def test_memory_beyond_the_limit_is_told_from_a_crash(run):
    doubling = "x=xxxxxxxx; i=0; while [ $i -lt 30 ]; do x=$x$x; i=$((i+1)); done; exit 0"
    assert run(doubling, RunLimits(cpu_s=5, wall_s=20, memory_mb=64)).status == "memory"


def test_a_proof_beyond_its_limit_gives_no_answer(run):
    seen = run(
        'while echo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 0; do :; done > "${2#--proof=}"; echo s '
        "UNSATISFIABLE; exit 20",
        want_proof=True,
    )
    assert (seen.status, seen.answer, seen.proof_bytes) == ("unknown", None, 1 << 20)
    assert "the proof reached its limit of 1 MiB" in seen.problems


def test_a_program_that_is_none_crashes(tmp_path):
    (tmp_path / "a.cnf").write_bytes(CNF)
    (tmp_path / "program").mkdir()
    seen = run_solver(
        Program(tmp_path / "program", ("absent", "{cnf}")), tmp_path / "a.cnf", LIMITS, scratch=tmp_path
    )
    assert seen.status == "crash"
    assert "cannot be executed" in seen.problems[0]


@pytest.mark.parametrize(
    ("cnf", "core", "proof", "part"),
    [
        ("absent.cnf", None, False, "cannot be given"),
        ("a.cnf", 10_000, False, "core 10000"),
        ("a.cnf", None, True, "writes no proof"),
    ],
)
def test_wrong_uses_are_wrong_inputs(cnf, core, proof, part, tmp_path):
    (tmp_path / "a.cnf").write_bytes(CNF)
    program = Program(Path("/usr/bin"), ("true", "{cnf}"))
    with pytest.raises(InputError, match=part):
        run_solver(program, tmp_path / cnf, LIMITS, core=core, scratch=tmp_path / "scratch", want_proof=proof)
