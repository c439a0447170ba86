"""A scratch run of a session: a script that its author writes, next to the program's files, in its own jail
without the evaluator.

It has the limits of an evaluation, and its author sees what it prints. A program's score is none of it: only
an evaluation scores.
"""

from __future__ import annotations

from collections.abc import Mapping

from evolake.jail import Limits, NativeOutcome, NativeRun, run_native
from evolake.jail.backends import ONE_WAY
from evolake.jail.identity import interpreter
from evolake.programs.sandbox.needs import Needs

SCRIPT = "scratch.py"
LAUNCH = (
    "import os, runpy, sys; sys.path[:0] = [os.getcwd(), *{folders!r}]; runpy.run_path({script!r}, "
    "run_name='__main__')"
)
LONGEST_PRINTED, LONGEST_ERROR = 4_000, 1_000
"""Characters of standard output and of standard error that an author is shown, from the end."""


def run_script(
    texts: Mapping[str, str], script: str, limits: Limits, needs: Needs, mode: str | None
) -> NativeOutcome:
    """Run a Python script to its end. texts: the program's files, which it may import or read.

    Raises:
        JailUnavailable: the jail failed.
    """
    python, folders = interpreter()
    name = SCRIPT
    while name in texts:
        name = f"_{name}"
    files = {path: text.encode("utf-8", "surrogatepass") for path, text in {**texts, name: script}.items()}
    argv = [
        "/usr/bin/env",
        *(f"{variable}={value}" for variable, value in ONE_WAY.items()),
        python,
        "-S",
        "-s",
        "-P",
        "-B",
        "-c",
        LAUNCH.format(folders=[*needs.packages, *folders], script=name),
    ]
    run = NativeRun(argv, files, python=True, shared_memory=True, shown=needs.shown, path=needs.path)
    return run_native(run, limits, mode=mode)


def printed_text(outcome: NativeOutcome) -> str:
    """Return how a scratch run ended and the end of what it printed."""
    ended = (
        f"exit code {outcome.exit_code}" if outcome.status == "ok" else f"{outcome.status}: {outcome.reason}"
    )
    lines = [f"{ended}; used {outcome.cpu_s:.2f} s of processor time, {outcome.peak_mb:.0f} MiB"]
    for name, data, most in (
        ("printed", outcome.stdout, LONGEST_PRINTED),
        ("standard error", outcome.stderr, LONGEST_ERROR),
    ):
        text = data.decode("utf-8", "replace").strip()
        if text:
            left = len(text) - most
            lines.append(
                f"{name}{f' ({left} characters before it are left out)' if left > 0 else ''}:\n{text[-most:]}"
            )
    return "\n".join(lines)
