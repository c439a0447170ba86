"""Every proof checker against the conformance kit; absent programs are skipped by name. The command around
them."""

import json

import pytest
from commands import evolake
from proof_kit import CASES, SQUARE, cases_for, dimacs, violations

from evolake.errors import InputError
from evolake.solvers.proof import Finding, ProofLimits
from evolake.solvers.proof.checking import CHECKERS, Dratify, check_proof, checker_named
from evolake.solvers.proof.native_check import find_program

OPTIONAL = ("drat-trim", "lrat-trim", "lrat-check", "cake_lpr")


@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, id=f"{name}-{case.name.replace(' ', '_')}")
        for name, checker in CHECKERS.items()
        if name not in OPTIONAL or checker.available()
        for case in cases_for(checker)
    ],
)
def test_a_checker_gives_the_right_verdict(name, case, tmp_path):
    assert violations(CHECKERS[name], case, tmp_path) == []


@pytest.mark.parametrize("name", OPTIONAL)
def test_an_optional_checker_is_tried_where_it_is_on_path(name):
    if not CHECKERS[name].available():
        pytest.skip(f"{name} (with drat-trim) is neither on PATH nor built; it is optional")
    assert find_program(name) is not None


def test_the_kit_notices_a_checker_that_believes_everything(tmp_path):
    class Believer:
        name = "believer"
        formats = ("drat", "lrat")

        def available(self):
            return True

        def check(self, cnf, proof, limits, spelling="auto"):
            return Finding("verified", "why not", 0.0)

    assert [case.name for case in CASES if not violations(Believer(), case, tmp_path)] == [
        case.name for case in CASES if case.verdict == "verified"
    ]


def test_the_default_is_our_own_checker_if_there_is_a_compiler_and_else_dratify(
    tmp_path, monkeypatch, requires
):
    requires("cc")
    assert checker_named("default").name == "evolake"
    monkeypatch.setenv("EVOLAKE_PROOF_TOOLS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checker_named("default").name == "dratify"
    with pytest.raises(InputError, match="evolake is not on this machine"):
        checker_named("evolake")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.cnf").write_bytes(dimacs(SQUARE))
    (tmp_path / "good.drat").write_bytes(b"2 0\n0\n")
    (tmp_path / "bad.drat").write_bytes(b"0\n")
    (tmp_path / "open.drat").write_bytes(b"2 0\n")
    return tmp_path


def test_a_verdict_names_the_proof_and_who_judged_it(files):
    import hashlib

    result = check_proof(files / "a.cnf", files / "good.drat")
    sha = hashlib.sha256(b"2 0\n0\n").hexdigest()
    reason = "2 steps, 1 needed, each by unit propagation"
    assert (result.verdict, result.reason, result.checker, result.proof_sha) == (
        "verified",
        reason,
        "evolake-drat",
        sha,
    )
    assert 0 < result.cpu_s < 20


def test_two_checkers_must_agree(files, monkeypatch):
    """dratify's other engine takes the place of a second program here, which may not be on PATH."""
    python = Dratify("second", "python")
    monkeypatch.setitem(CHECKERS, "cake_lpr", python)
    result = check_proof(files / "a.cnf", files / "good.drat", second=True)
    reasons = "2 steps, 1 needed, each by unit propagation; 2 steps, each by unit propagation"
    assert (result.checker, result.reason) == ("evolake-drat and second", reasons)
    monkeypatch.setattr(python, "check", lambda *arguments: Finding("refuted", "no", 0.0))
    result = check_proof(files / "a.cnf", files / "good.drat", second=True)
    assert (result.verdict, result.checker) == ("refuted", "second")


def test_a_proof_that_takes_too_long_is_not_judged(tmp_path):
    holes = 6
    from proof_kit import pigeons

    (tmp_path / "a.cnf").write_bytes(dimacs(pigeons(holes)))
    (tmp_path / "a.drat").write_bytes(b"1 2 3 4 5 6 0\n" * 1_500_000 + b"0\n")
    result = check_proof(tmp_path / "a.cnf", tmp_path / "a.drat", limits=ProofLimits(cpu_s=1, memory_mb=2048))
    assert (result.verdict, result.reason) == ("unknown", "no verdict within 1 s of processor time")


def test_a_clock_that_runs_out_gives_no_verdict(files):
    result = check_proof(files / "a.cnf", files / "good.drat", limits=ProofLimits(wall_s=0.001))
    assert (result.verdict, result.reason) == ("unknown", "no verdict within 0.001 s of the clock")


@pytest.mark.parametrize(
    ("cnf", "proof", "checker", "part"),
    [
        ("absent.cnf", "good.drat", "default", "no formula"),
        ("a.cnf", "absent.drat", "default", "no proof"),
        ("a.cnf", ".", "default", "no proof"),
        ("good.drat", "good.drat", "default", "no header"),
        ("a.cnf", "good.drat", "magic", "no proof checker named"),
    ],
)
def test_wrong_uses_are_wrong_inputs(cnf, proof, checker, part, files):
    with pytest.raises(InputError, match=part) as raised:
        check_proof(files / cnf, files / proof, checker=checker)
    assert all(raised.value.to_json().values()), "what, wanted, got and next"


@pytest.mark.parametrize(
    ("arguments", "code", "verdict"),
    [
        (["a.cnf", "good.drat"], 0, "verified"),
        (["a.cnf", "bad.drat"], 1, "refuted"),
        (["a.cnf", "good.drat", "--second"], 0, "verified"),
        (["a.cnf", "good.drat", "--spelling", "drat-binary"], 2, "malformed"),
        (["a.cnf", "absent"], 2, "error"),
        (["good.drat", "good.drat"], 2, "error"),
        (["a.cnf", "open.drat"], 1, "incomplete"),
    ],
)
def test_the_command_says_so_and_exits_so(arguments, code, verdict, files):
    done = evolake("proof", "check", *arguments, "--json", cwd=files)
    assert done.returncode == code, done.stderr
    said = json.loads(done.stdout)
    assert said["verdict"] == verdict
    assert said.get("note", "").startswith("drat-trim may verify it") == (
        verdict in ("incomplete", "malformed")
    ), "where it is more lenient"
