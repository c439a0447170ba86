"""What the classical checkers print, as their documentation and source say, and what it is worth."""

import pytest

from evolake.jail import NativeOutcome
from evolake.solvers.proof.checkers import _by_line


def printed(stdout, status="ok", exit_code=0):
    return NativeOutcome(
        status=status,
        exit_code=exit_code,
        signal=None,
        outputs={},
        stdout=stdout,
        stderr=b"",
        reason="" if status == "ok" else "stopped",
        cpu_s=1.0,
        wall_s=1.0,
        peak_mb=1.0,
        jail="bubblewrap",
    )


@pytest.mark.parametrize(
    ("stdout", "status", "verdict", "reason"),
    [
        (b"c parsing\n\rs VERIFIED\n", "ok", "verified", "`s VERIFIED`"),
        (
            b"c finished parsing\n\rc RAT check failed\n\rs NOT VERIFIED\n",
            "ok",
            "refuted",
            "`s NOT VERIFIED`",
        ),
        (b"\rs TIMEOUT\n", "ok", "unknown", "s TIMEOUT"),
        (b"c nothing\n", "ok", "unknown", "no status line"),
        (b"", "ok", "unknown", "no status line"),
        (b"c the proof says s VERIFIED\n", "ok", "unknown", "no status line"),
        (b"s VERIFIED\ns NOT VERIFIED\n", "ok", "unknown", "s NOT VERIFIED"),
        (b"\rs VERIFIED\n", "timeout", "unknown", "stopped"),
        (b"\rs VERIFIED\n", "killed", "unknown", "stopped"),
    ],
)
def test_only_the_exact_line_of_a_whole_run_counts(stdout, status, verdict, reason):
    result = _by_line(printed(stdout, status), "s VERIFIED", "s NOT VERIFIED", 0.5)
    assert (result.verdict, result.reason, result.cpu_s) == (verdict, reason, 1.5)
