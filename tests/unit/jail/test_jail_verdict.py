"""From what was observed to a typed status."""

import signal

import pytest

from evolake.errors import JailUnavailable
from evolake.jail.protocol import Limits
from evolake.jail.supervise import Observation, judge

QUIET = {"exit_code": 0, "signal": None, "cpu_s": 0.1, "peak_mb": 10.0, "excess": None}
LIMITS = Limits(cpu_s=1, wall_s=2, file_mb=3, output_bytes=4)


def seen(cause=None, **report):
    return Observation(QUIET | report, {}, cause, 0.5)


@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        (seen(), None),
        (seen(exit_code=3), None),
        (
            seen("timeout", signal=signal.SIGKILL),
            ("timeout", "still running after 2 s of wall clock, most of which it slept or waited"),
        ),
        (
            seen("timeout", signal=signal.SIGKILL, cpu_s=1.5),
            ("timeout", "still running after 2 s of wall clock"),
        ),
        (seen("output", signal=signal.SIGKILL), ("output", "wrote more than 4 bytes")),
        (
            seen(signal=signal.SIGKILL, excess="made more than 256 threads"),
            ("forbidden", "made more than 256 threads"),
        ),
        (
            seen(signal=signal.SIGKILL, excess="used more than 9 MiB in all", out_of_memory=True),
            ("memory", "used more than 9 MiB in all"),
        ),
        (
            seen(out_of_memory=True),
            ("killed", "the kernel ended it because memory was short beyond its own limit"),
        ),
        (seen(signal=signal.SIGKILL, excess="made more than 9 files"), ("output", "made more than 9 files")),
        (seen(signal=signal.SIGXCPU, cpu_s=0.99), ("cpu", "used more than 1 s of processor time")),
        (seen(cpu_s=1.2), ("cpu", "used more than 1 s of processor time")),
        (seen(signal=signal.SIGKILL, cpu_s=0.2), ("killed", "died by SIGKILL")),
        (seen(signal=signal.SIGXFSZ), ("output", "wrote a file larger than 3 MiB")),
        (seen(signal=signal.SIGSYS), ("forbidden", "made a system call of a foreign architecture")),
        (seen(signal=signal.SIGSEGV), ("killed", "died by SIGSEGV")),
        (seen(signal=99), ("killed", "died by signal 99")),
    ],
)
def test_observation_gives_status_and_reason(observation, expected):
    assert judge(observation, LIMITS) == expected


def test_a_broken_confinement_is_never_the_candidates_outcome():
    with pytest.raises(JailUnavailable, match="no filter"):
        judge(seen(exit_code=1, broken="OSError: no filter"), LIMITS)
