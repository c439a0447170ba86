"""Build a program that runs apart from its evaluator, and run it on one case after another, each time in a
jail that holds nothing else; and run scripts that the author of a session writes next to it, without the
evaluator and under the limits of an evaluation. Only an evaluation scores."""

from __future__ import annotations

import json
import os
import shlex
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evolake.jail import GENERIC_DRIVER, Call, Limits, NativeOutcome, NativeRun, Outcome, run_native
from evolake.jail.backends import ONE_WAY
from evolake.jail.identity import interpreter
from evolake.jail.patience import patiently, starved
from evolake.jail.pool import Pool, open_pool
from evolake.jail.protocol import one_line
from evolake.jail.waiting import Waiting
from evolake.programs.model.project import Project
from evolake.programs.sandbox.environment import Needs
from evolake.text_edits import BOM

BUILD_PROCESSES = 32
OUTPUT_BYTES = 4 << 20
SERVING = "evolake.programs.sandbox.serving:serve"


@dataclass(frozen=True)
class Built:
    """A program made ready. files: what its jail holds."""

    ok: bool
    files: Mapping[str, bytes] = field(repr=False)
    reason: str = ""
    cpu_s: float = 0.0


@dataclass(frozen=True)
class Ran:
    """One run on one case. output: of an entry, what it returned; of a command, its standard output as text.
    starved: as of an Outcome."""

    status: str
    output: Any = None
    reason: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_mb: float = 0.0
    starved: bool = False


def build(
    project: Project,
    texts: Mapping[str, str],
    limits: Limits,
    mode: str | None = None,
    needs: Needs = Needs(),
) -> Built:
    """Build a program if the project has a command for it. Raises HostBusy."""
    program = project.given.program
    files = {name: project.files[name] for name in program.needs} | {
        name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()
    }
    if not program.build:
        return Built(True, files)
    most = Limits(**{**limits.to_json(), "processes": BUILD_PROCESSES})
    outcome = patiently(
        lambda stretch: run_native(
            NativeRun(
                shlex.split(program.build),
                files,
                program.built,
                shown=needs.shown,
                path=needs.path,
                shared_memory=needs.programs,
            ),
            replace(most, stretch=stretch),
            mode=mode,
        ),
        starved,
        f"the build of {project.name}",
    )
    if outcome.status != "ok" or outcome.exit_code != 0:
        said = (
            outcome.reason
            or outcome.stderr.decode(errors="replace")[:1500]
            or f"exit code {outcome.exit_code}"
        )
        return Built(False, {}, one_line(f"the build failed: {said}"), outcome.cpu_s)
    if missing := [name for name in program.built if name not in outcome.outputs]:
        return Built(False, {}, f"the build left no {missing[0]}", outcome.cpu_s)
    return Built(True, outcome.outputs, "", outcome.cpu_s)


def python_command(start: str, needs: Needs) -> list[str]:
    """Return the command of a Python process that runs `start` with evolake's libraries and the project's.
    They are in the environment, so that a child by `sys.executable` has the same."""
    python, folders = interpreter()
    variables = ONE_WAY | {"PYTHONPATH": os.pathsep.join([*needs.packages, *folders])}
    given = [f"{name}={value}" for name, value in variables.items()]
    return ["/usr/bin/env", *given, python, "-S", "-s", "-P", "-B", "-c", start]


class Runner:
    """Runs programs of one project. A pool of jails is opened when the first entry is called."""

    def __init__(
        self, project: Project, limits: Limits, *, workers: int, mode: str | None, needs: Needs = Needs()
    ):
        self.project, self.limits, self.workers, self.mode, self.needs = project, limits, workers, mode, needs
        self._pool: Pool | None = None
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the pool, if there is one."""
        if self._pool:
            self._pool.close()

    def run(self, texts: Mapping[str, str], built: Built, cases: Sequence[Any], stretch: float) -> list[Ran]:
        """Run the program on each case; after the first that does not end by itself no other is tried.
        stretch: see `Limits`."""
        result: list[Ran] = []
        for case in cases:
            if result and result[-1].status in ("timeout", "cpu", "memory"):
                result.append(
                    Ran(result[-1].status, reason="an earlier case ended so", starved=result[-1].starved)
                )
            else:
                run = (
                    self._called(texts, case, stretch)
                    if self.project.given.program.entry
                    else self._executed(built, case, stretch)
                )
                result.append(run)
        return result

    def serve(
        self,
        texts: Mapping[str, str],
        seed: int,
        numpy: bool,
        channel: tuple[int, int],
        until: int,
        stretch: float,
        waiting: Waiting,
    ) -> Outcome:
        """Run the program for as long as an evaluator calls it by `channel`, and `until` is open: see
        `serving`. waiting: of both."""
        payload = {"seed": seed, "numpy": numpy}
        return self._jails().run(
            Call(
                SERVING,
                texts[self.project.main].removeprefix(BOM),
                payload,
                self._alone(stretch),
                channel,
                until,
                waiting,
            )
        )

    def _jails(self) -> Pool:
        with self._lock:
            if self._pool is None:
                numpy = any("numpy" in text for text in self.project.evolving.values())
                self._pool = open_pool(
                    self.workers,
                    ("numpy",) if numpy and not self.needs.packages else (),
                    self.mode,
                    view=self.needs.view,
                )
            return self._pool

    def _alone(self, stretch: float) -> Limits:
        return replace(self.limits, processes=0, output_bytes=OUTPUT_BYTES, stretch=stretch)

    def _called(self, texts: Mapping[str, str], case: Any, stretch: float) -> Ran:
        payload = {"function": self.project.given.program.entry, "args": [case]}
        outcome = self._jails().call(
            GENERIC_DRIVER, texts[self.project.main].removeprefix(BOM), payload, self._alone(stretch)
        )
        return Ran(
            outcome.status,
            outcome.value,
            outcome.reason,
            outcome.cpu_s,
            outcome.wall_s,
            outcome.peak_mb,
            outcome.starved,
        )

    def _executed(self, built: Built, case: Any, stretch: float) -> Ran:
        argv = self.project.run_argv()
        python = argv[0] == "python"
        if python:
            start = f"import runpy, sys; sys.path.insert(0, '.'); sys.argv = {argv[1:]!r}; "
            start += f"runpy.run_path({argv[1]!r}, run_name='__main__')"
            argv = python_command(start, self.needs)
        data = case.encode() if isinstance(case, str) else json.dumps(case).encode()
        # a program of the host may need what no program gets that is not to number what ran before: pipes,
        # processes
        limits = replace(
            self.limits, processes=self.limits.processes if self.needs.programs else 0, stretch=stretch
        )
        run = NativeRun(
            argv,
            built.files,
            stdin=data,
            python=python,
            proc=False,
            shown=self.needs.shown,
            path=self.needs.path,
            shared_memory=self.needs.programs,
        )
        outcome = run_native(run, limits, mode=self.mode)
        status = outcome.status if outcome.status != "ok" or outcome.exit_code == 0 else "error"
        said = outcome.reason or outcome.stderr.decode(errors="replace")[-400:]
        reason = one_line(said or f"exit code {outcome.exit_code}") if status != "ok" else ""
        return Ran(
            status,
            outcome.stdout.decode("utf-8", "replace"),
            reason,
            outcome.cpu_s,
            outcome.wall_s,
            outcome.peak_mb,
            outcome.starved,
        )


SCRIPT = "scratch.py"
LAUNCH = (
    "import os, runpy, sys; sys.path.insert(0, os.getcwd()); runpy.run_path({script!r}, run_name='__main__')"
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
    name = SCRIPT
    while name in texts:
        name = f"_{name}"
    files = {path: text.encode("utf-8", "surrogatepass") for path, text in {**texts, name: script}.items()}
    argv = python_command(LAUNCH.format(script=name), needs)
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
