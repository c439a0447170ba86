"""What a checker's end is worth: a verdict only after one well-formed answer; whatever a hostile proof makes
of the checker, it is never verified."""

import json

import pytest

from evolake.errors import InputError, MachineryError
from evolake.jail import NativeOutcome
from evolake.solvers.proof import ProofLimits
from evolake.solvers.proof.asking import Read, read_finding

LIMITS = ProofLimits(cpu_s=3, memory_mb=100)
VERIFIED = b'ready\n{"verdict": "verified", "reason": "so", "format": "drat"}\n'


def ended(stdout, status="ok", exit_code=0, stderr=b"", signal=None):
    return NativeOutcome(status, exit_code, signal, {}, stdout, stderr, "why", 1.0, 1.0, 1.0, "bubblewrap")


def test_a_whole_answer_is_believed_as_far_as_its_task_goes():
    result = read_finding(ended(VERIFIED), "native", LIMITS)
    assert (result.verdict, result.reason, result.cpu_s) == ("verified", "so", 1.0)
    assert (result.format, result.by) == ("drat", "")
    assert read_finding(ended(VERIFIED.replace(b"drat", b"lrat")), "native", LIMITS).by == "evolake-lrat"
    assert read_finding(
        ended(b'ready\n{"verdict": "read", "reason": "", "format": "lrat"}\n'), "rewrite", LIMITS
    ) == Read(1.0, "lrat")


@pytest.mark.parametrize(
    "outcome",
    [
        ended(VERIFIED, "killed", None, signal=11),
        ended(VERIFIED, "cpu"),
        ended(VERIFIED, "timeout"),
        ended(VERIFIED, "output"),
        ended(VERIFIED, "memory"),
        ended(VERIFIED, exit_code=1),
        ended(VERIFIED, stderr=b"memory allocation of 5 bytes failed"),
        ended(VERIFIED + VERIFIED),
        ended(VERIFIED + b"x"),
        ended(b"ready\n"),
        ended(b"ready"),
        ended(b"ready\n[1]\n"),
        ended(b'ready\n{"verdict": "verified"}\n'),
        ended(b'ready\n{"verdict": "Verified", "reason": "", "format": ""}\n'),
        ended(b'ready\n{"verdict": "read", "reason": "", "format": ""}\n'),
        ended(b'ready\n{"verdict": true, "reason": "", "format": ""}\n'),
        ended(VERIFIED.replace(b"drat", b"frat")),
        ended(b'ready\n{"verdict": ["verified"], "reason": "", "format": ""}\n'),
        ended(b'ready\n{"verdict": "verified", "reason": "", "format": "", "cpu_s": 1}\n'),
        ended(b"ready\n" + b"[" * 90_000 + b"\n"),
        ended(b'ready\n{"verdict": "verified", "reason": "\xff", "format": ""}\n'),
    ],
)
def test_anything_else_is_unknown(outcome):
    assert read_finding(outcome, "native", LIMITS).verdict == "unknown"


def test_a_worker_that_never_began_is_machinery_and_a_bad_formula_an_input():
    with pytest.raises(MachineryError, match="did not start"):
        read_finding(ended(b"", exit_code=1, stderr=b"ModuleNotFoundError: x"), "native", LIMITS)
    error = InputError("a.cnf has no header", wanted="one", got="\x1b[31mtwo\nlines", do="correct it")
    said = json.dumps({"verdict": "input", "reason": json.dumps(error.to_json()), "format": ""}).encode()
    with pytest.raises(InputError, match=r"a\.cnf has no header") as raised:
        read_finding(ended(b"ready\n" + said + b"\n"), "native", LIMITS)
    assert (raised.value.wanted, raised.value.do) == ("one", "correct it")
    assert "\n" not in (raised.value.got or "")
    with pytest.raises(InputError, match="anything else"):
        read_finding(
            ended(b'ready\n{"verdict": "input", "reason": "anything else", "format": ""}\n'), "native", LIMITS
        )
