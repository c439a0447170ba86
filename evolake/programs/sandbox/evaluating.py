"""Evaluate one program by its project's evaluator, in jails, and check on the host what comes back.

Mode "imports", OpenEvolve's: one jail, in which the evaluator imports the program. Mode "calls": the same
evaluator in one jail, and the program in another, where the evaluator calls its functions (see `calling`).
Mode "separate": the evaluator makes the cases in one jail, the program runs on each in another that has
neither the evaluator nor the other cases, and the evaluator scores the outputs in a third.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import secrets
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from evolake.errors import InputError
from evolake.gates.run import side_by_side
from evolake.jail import Limits, NativeOutcome, NativeRun, Outcome, run_native
from evolake.jail.bubblewrap import WORK
from evolake.jail.native import SHARED_MEMORY
from evolake.jail.patience import patiently
from evolake.jail.protocol import one_line
from evolake.jail.waiting import Waiting
from evolake.programs.model.project import Project, limits_of, stages_in
from evolake.programs.sandbox.calling import MOST_TROUBLES, STUB
from evolake.programs.sandbox.environment import needs_of
from evolake.programs.sandbox.harness import ERROR
from evolake.programs.sandbox.polishing import numbers_of, sound_state
from evolake.programs.sandbox.program_runs import Built, Runner, build, python_command, run_script
from evolake.programs.sandbox.shinka import PRIVATE
from evolake.programs.sandbox.starting import NeedsOwnJail, Starts
from evolake.programs.settings import ProgramsSettings
from evolake.text_edits import BOM

ANSWER_BYTES = 4 << 20
MOST_METRICS, LONGEST_NAME, LONGEST_ARTIFACT, MOST_CASES = 200, 200, 4000, 1000
CHANNEL = "the result's channel"
TOO_LARGE = " (a file, or shared memory, may have half of memory_mb of [evaluator], and at least 64 MiB)"
REPORTS = ("error", "error_type", "error_message", "errors", "exception", "failure_stage", "traceback")
"""Texts next to a score in which evaluators written for OpenEvolve say that something failed."""
IN_PROJECT = re.compile(rf'File "{re.escape(WORK)}/([^"]+)", line (\d+)')
"""A place of a traceback that is in the project's own files, as the jail has them."""
STARTING_S = 10.0
"""Processor seconds that a polish may take beyond its own, to import what it needs."""
HARNESS = "from evolake.programs.sandbox.harness import main; main()"


@dataclass(frozen=True)
class Evaluation:
    """What one evaluation gave.

    Attributes:
        status: ok; or a status of the jail; or no_result (ended without one), raised (the evaluator did),
            reported (it returned an `error` in words), tampered.
        metrics: finite and other numbers as they came. odd: names of metrics that are no finite numbers.
            artifacts: texts.
        tampered: what the program changed of what scores it. stage, stages: how many stages it passed
            through, of how many.
        cpu_s: processor time of the jails; of the program alone in mode "separate". seed: that it ran under.
            troubles: in mode "calls", why values could not cross between evaluator and program. calls,
            carried: of its calls, the number and the bytes both ways.
        flags: metrics that were true or false: 1 and 0.
        starved: the host cut it off, so that it says nothing; `Evaluator.evaluate` returns none that is.
    """

    status: str
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    odd: tuple[str, ...] = ()
    artifacts: Mapping[str, str] = field(default_factory=dict[str, str])
    tampered: tuple[str, ...] = ()
    stage: int = 0
    stages: int = 1
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_mb: float = 0.0
    seed: int = 0
    jail: str = ""
    troubles: tuple[str, ...] = ()
    calls: int = 0
    carried: int = 0
    flags: tuple[str, ...] = ()
    starved: bool = False

    @property
    def ok(self) -> bool:
        """Whether the evaluator said something of it that counts."""
        return self.status == "ok"


@dataclass(frozen=True)
class _Trial:
    """One evaluation to run. stretch: of its limits, on a busy host. built, watch: as of `evaluate`."""

    texts: Mapping[str, str]
    seed: int
    stretch: float
    built: Built | None
    watch: bool


class Evaluator:
    """Evaluates programs of one project. May be asked by several threads. Close it, or use it as a context
    manager.

    constant: whether the initial program returns one value for every case; None: not known yet.
    """

    def __init__(self, project: Project, own: ProgramsSettings, *, workers: int = 1, mode: str | None = None):
        self.project, self.own, self.mode = project, own, mode
        self.limits = limits_for(project, own, mode)
        self._needs = needs_of(project, own, mode)
        self._runner = (
            Runner(project, self.limits, workers=workers, mode=mode, needs=self._needs)
            if project.apart
            else None
        )
        self.starts = Starts(project, self.limits, workers=workers, mode=mode, obstacle=self._needs.words)
        self._cases: dict[int, list[Any]] = {}
        self._lock = threading.Lock()
        self._cases_lock = threading.Lock()
        self._idle = workers
        self.constant: bool | None = None

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what it started."""
        self.starts.close()
        if self._runner:
            self._runner.close()

    def build(self, texts: Mapping[str, str]) -> Built:
        """Return the program made ready to run; without a build command it is as it is."""
        return build(self.project, texts, self.limits, self.mode, self._needs)

    def evaluate(
        self, texts: Mapping[str, str], seed: int, built: Built | None = None, *, watch: bool = False
    ) -> Evaluation:
        """Run one evaluation under a seed. built: what `build` gave; None: build it. watch: in mode "calls",
        note arguments that are changed in place.

        Raises:
            JailUnavailable: nothing was judged. InputError: the evaluator makes no cases, which no program
                has a part in.
            HostBusy: the host let the evaluation run for too short a time, several times over. Nothing is
                known of the program.
        """
        with self._busy():
            return patiently(
                lambda stretch: self._evaluated(_Trial(texts, seed, stretch, built, watch)),
                lambda evaluation: evaluation.starved,
                f"an evaluation of {self.project.name}",
            )

    def evaluate_each(
        self, texts: Mapping[str, str], seeds: Sequence[int], built: Built | None = None
    ) -> list[Evaluation]:
        """Run one evaluation under each seed, up to the first that fails; the first alone, the others side by
        side if workers are idle.

        Raises:
            JailUnavailable, InputError, HostBusy: as `evaluate`.
        """
        result = [self.evaluate(texts, seed, built) for seed in seeds[:1]]
        while len(result) < len(seeds) and result[-1].ok:
            some = seeds[len(result) : len(result) + max(1, self._idle)]
            for evaluation in side_by_side(lambda seed: self.evaluate(texts, seed, built), some, len(some)):
                result.append(evaluation)
                if not evaluation.ok:
                    break
        return result

    def run_script(self, texts: Mapping[str, str], script: str) -> NativeOutcome:
        """Run an author's script next to a program's files, without the evaluator and under the limits of an
        evaluation.

        Raises:
            JailUnavailable: the jail failed.
        """
        with self._busy():
            return run_script(texts, script, self.limits, self._needs, self.mode)

    @contextlib.contextmanager
    def _busy(self) -> Iterator[None]:
        with self._lock:
            self._idle -= 1
        try:
            yield
        finally:
            with self._lock:
                self._idle += 1

    def _evaluated(self, trial: _Trial) -> Evaluation:
        if self._runner is None:
            return self._imported(trial)
        if self.project.mode != "calls":
            return self._separate(trial, self._runner)
        try:
            return self._by_calls(trial, self._runner)
        except NeedsOwnJail:
            return self._by_calls(trial, self._runner, forks=False)

    def _separate(self, trial: _Trial, runner: Runner) -> Evaluation:
        """Run the program on each case in a jail, then let the evaluator score the outputs in another."""
        seed, built = trial.seed, trial.built or self.build(trial.texts)
        if not built.ok:
            return Evaluation("build", built.reason, cpu_s=built.cpu_s, seed=seed)
        cases = self.cases(seed)
        ran = runner.run(trial.texts, built, cases, trial.stretch)
        if any(run.starved for run in ran):
            return Evaluation("timeout", seed=seed, starved=True)
        shown = ("status", "output", "cpu_s", "peak_mb", "reason")
        results = [{name: getattr(run, name) for name in shown} for run in ran]
        request = {"task": "score", "cases": cases, "results": results}
        outcome, answer = self._ask(self.project.evaluator_files, request, seed, trial.stretch)
        if answer is None:  # a strange output may have caused it: that is the program's failure, not ours
            status = outcome.status if outcome.status != "ok" else "no_result"
            why = f"the evaluator ended without a result: {outcome.reason or outcome.exit_code}"
            return _failed(outcome, status, why, seed)
        spent: dict[str, Any] = {
            "cpu_s": sum(run.cpu_s for run in ran),
            "wall_s": sum(run.wall_s for run in ran),
            "peak_mb": max(run.peak_mb for run in ran),
        }
        if all(run.status != "ok" for run in ran):
            return Evaluation(ran[0].status, ran[0].reason, seed=seed, jail=outcome.jail, **spent)
        return taken(outcome, answer, seed, spent)

    def cases(self, seed: int) -> list[Any]:
        """Return the inputs under a seed, made once by the evaluator alone."""
        with self._cases_lock:
            if seed not in self._cases:
                outcome, answer = patiently(
                    lambda stretch: self._ask(self.project.evaluator_files, {"task": "cases"}, seed, stretch),
                    lambda asked: asked[0].starved,
                    f"the cases of {self.project.name}",
                )
                made = (answer or {}).get("cases")
                if not isinstance(made, list) or not 0 < len(made) <= MOST_CASES:
                    raise self._broken("cases(seed)", outcome, answer)
                self._cases[seed] = made
            return self._cases[seed]

    def constant_value(self, texts: Mapping[str, str], seeds: Sequence[int]) -> Any:
        """Return the one value of numbers that a program's entry returns for every case under these seeds;
        None where it has none. The value is the program's word: plain data, looked at number by number.

        Raises:
            HostBusy: as `evaluate`.
        """
        program = self.project.given.program
        if self._runner is None or not program.entry or not self.project.python:
            return None
        found: list[Any] = []
        run, built = self._runner.run, self.build(texts)
        with self._busy():
            for cases in map(self.cases, seeds):
                ran = patiently(
                    lambda stretch, cases=cases: run(texts, built, cases, stretch),
                    lambda runs: any(run.starved for run in runs),
                    f"a program of {self.project.name}",
                )
                found += [item.output if item.status == "ok" else None for item in ran]
        return found[0] if numbers_of(found[0]) and all(item == found[0] for item in found) else None

    def polish(
        self, value: Any, seeds: Sequence[int], state: Mapping[str, Any], *, seconds: float, seed: int
    ) -> dict[str, Any] | None:
        """Return the state of a polish of a value (see `polishing`) after so many processor seconds more in
        the jail; None if the evaluator failed there. state: of the part before. It says what all parts have
        cost, too (cpu_s).

        Raises:
            HostBusy: as `evaluate`.
        """
        request = {
            "task": "polish",
            "value": value,
            "cases": [self.cases(item) for item in seeds],
            "state": dict(state),
            "seconds": seconds,
            "seed": seed % 2**32,
            "score": self.project.score_name,
            "maximize": self.project.higher_is_better,
        }
        most = replace(self.limits, cpu_s=seconds + self.limits.cpu_s + STARTING_S)
        most = replace(most, wall_s=max(most.wall_s, 3 * most.cpu_s))
        with self._busy():
            outcome, answer = patiently(
                lambda stretch: self._ask(
                    self.project.evaluator_files, request, seeds[0], stretch, most=most
                ),
                lambda asked: asked[0].starved,
                f"a polish of {self.project.name}",
            )
        found = (answer or {}).get("state")
        if not isinstance(found, dict) or not sound_state(found):
            return None
        return found | {"cpu_s": state.get("cpu_s", 0.0) + outcome.cpu_s}

    def _by_calls(self, trial: _Trial, runner: Runner, *, forks: bool = True) -> Evaluation:
        """Run the program in a pool's jail while the evaluator runs in a separate one. What ends the
        program while it is needed ends the evaluation.
        """
        outcome, answer, ran, died = self._called(trial, runner, forks=forks)
        seed, troubles = trial.seed, _troubles(answer)
        spent: dict[str, Any] = {
            "cpu_s": outcome.cpu_s + ran.cpu_s,
            "wall_s": outcome.wall_s,
            "peak_mb": max(outcome.peak_mb, ran.peak_mb),
        }
        if outcome.starved or (died and ran.starved):
            return Evaluation("timeout", seed=seed, starved=True)
        if died and ran.status != "ok":
            status, reason = ran.status, ran.reason
            if status == "protocol":
                status, reason = "no_result", "the program's process ended before its evaluator"
            return Evaluation(status, reason, seed=seed, jail=outcome.jail, troubles=troubles, **spent)
        if forged := (answer or {}).get("forged"):
            tampered = ("the answers to its evaluator",)
            return replace(_failed(outcome, "tampered", str(forged), seed, tampered=tampered), **spent)
        counts: dict[str, Any] = {
            name: count for name in ("calls", "carried") if isinstance(count := (answer or {}).get(name), int)
        }
        return replace(self._answered(outcome, answer, seed), troubles=troubles, **spent, **counts)

    def _called(
        self, trial: _Trial, runner: Runner, *, forks: bool
    ) -> tuple[NativeOutcome, dict[str, Any] | None, Outcome, bool]:
        """Return the evaluator's outcome and answer, the program's outcome, and whether the program ended
        first."""
        (asked, asks), (answers, replies), (until, ends) = (os.pipe2(os.O_CLOEXEC) for _ in range(3))
        early, waiting, numpy = threading.Event(), Waiting(), self._numpy(trial.texts)

        def serve() -> Outcome:
            try:
                return runner.serve(
                    trial.texts, trial.seed, numpy, (asked, replies), until, trial.stretch, waiting
                )
            finally:
                early.set()  # before the evaluator can know of it
                os.close(asked)
                os.close(replies)

        with ThreadPoolExecutor(1, thread_name_prefix="served") as thread:
            serving = thread.submit(serve)
            try:
                files = self.project.evaluator_files | {self.project.main: STUB.encode()}
                request = self._request() | {"calls": True, "watch": trial.watch, "numpy": numpy}
                outcome, answer = self._ask(
                    files, request, trial.seed, trial.stretch, (answers, asks), waiting, forks=forks
                )
                died = early.is_set()
            finally:
                for descriptor in (answers, asks, ends):
                    os.close(descriptor)
                serving.exception()
                os.close(until)
            return outcome, answer, serving.result(), died

    def _numpy(self, texts: Mapping[str, str]) -> bool:
        return any(b"numpy" in data for data in self.project.evaluator_files.values()) or any(
            "numpy" in text for text in texts.values()
        )

    def _imported(self, trial: _Trial) -> Evaluation:
        own = {name: text.encode("utf-8", "surrogatepass") for name, text in trial.texts.items()}
        asked = self._ask(self.project.evaluator_files | own, self._request(), trial.seed, trial.stretch)
        return self._answered(*asked, trial.seed)

    def _request(self) -> dict[str, Any]:
        """Return what the evaluator's process is asked for, where the evaluator calls or imports the
        program."""
        config = self.project.config
        staged = config.cascade is not False
        own = (
            self.project.files[self.project.given.evaluator.file].decode("utf-8", "replace").removeprefix(BOM)
        )
        return {
            "task": "evaluate",
            "program": self.project.main,
            "stages": list(stages_in(own)) if staged or "def evaluate(" not in own else [],
            "thresholds": list(config.thresholds),
            "score": self.project.score_name,
        }

    def _answered(self, outcome: NativeOutcome, answer: Mapping[str, Any] | None, seed: int) -> Evaluation:
        if outcome.status != "ok":
            return _failed(outcome, outcome.status, outcome.reason or outcome.status, seed)
        if answer is None:
            why = "the process ended without a result"
            if outcome.stdout:
                return _failed(outcome, "tampered", f"{CHANNEL} was written to", seed, tampered=(CHANNEL,))
            return _failed(
                outcome, "no_result", f"{why} (exit code {outcome.exit_code}, signal {outcome.signal})", seed
            )
        return taken(outcome, answer, seed)

    def _ask(
        self,
        files: Mapping[str, bytes],
        request: Mapping[str, Any],
        seed: int,
        stretch: float,
        channel: tuple[int, ...] = (),
        waiting: Waiting | None = None,
        *,
        forks: bool = True,
        most: Limits | None = None,
    ) -> tuple[NativeOutcome, dict[str, Any] | None]:
        """(outcome, the one answer that came by the result's channel; None if there is not exactly one).
        channel, waiting: to the program, and of both. forks: it may be forked. most: limits other than those
        of an evaluation."""
        nonce = secrets.token_hex(16)
        numpy = any(b"numpy" in data for data in files.values())
        asked = {
            "nonce": nonce,
            "seed": seed,
            "numpy": numpy,
            "evaluator": self.project.given.evaluator.file,
            **request,
        }
        most = most or self.limits
        shared = int(most.memory_mb * SHARED_MEMORY) if most.processes else 0  # the size of its /dev/shm
        limits = replace(most, stretch=stretch, file_mb=max(most.file_mb, shared))
        outcome = self.starts.fork(files, asked, limits, channel, waiting) if forks else None
        outcome = outcome or self._started(files, asked, limits, channel, waiting)
        return outcome, answer_in(outcome.stdout, nonce)

    def _started(
        self,
        files: Mapping[str, bytes],
        asked: Mapping[str, Any],
        limits: Limits,
        channel: tuple[int, ...],
        waiting: Waiting | None,
    ) -> NativeOutcome:
        """Return the evaluator in a new process in a new jail."""
        argv = python_command(HARNESS, self._needs)
        run = NativeRun(
            argv,
            dict(files),
            stdin=json.dumps(asked).encode(),
            python=True,
            channel=channel,
            shared_memory=True,
            shown=self._needs.shown,
            path=self._needs.path,
        )
        return run_native(run, limits, mode=self.mode, waiting=waiting)

    def _broken(self, what: str, outcome: NativeOutcome, answer: Mapping[str, Any] | None) -> InputError:
        said = (
            str((answer or {}).get("error") or "")
            or outcome.reason
            or outcome.stderr.decode(errors="replace")
        )
        got = cause(said) or f"{outcome.status}, exit code {outcome.exit_code}"
        file = self.project.given.evaluator.file
        return InputError(
            f"the evaluator of project {self.project.name} cannot be used: {what} fails",
            got=got,
            do=f"correct {file}, then: evolake programs check",
        )


def limits_for(project: Project, own: ProgramsSettings, mode: str | None = None) -> Limits:
    """Return the jail's limits of one evaluation."""
    from evolake.jail.backends import backend

    given = limits_of(project, own)
    processes = int(given["processes"]) if backend(mode).counts_processes else 0
    return Limits(
        cpu_s=given["cpu_s"],
        wall_s=given["wall_s"],
        memory_mb=int(given["memory_mb"]),
        file_mb=64,
        output_bytes=ANSWER_BYTES,
        open_files=256,
        processes=processes,
        total_mb=int(given["memory_mb"]),
    )


def answer_in(stdout: bytes, nonce: str) -> dict[str, Any] | None:
    """Return the answer in what came by the channel: one line with the nonce and nothing else. None for
    anything else."""
    mark = nonce.encode()
    if (
        not stdout.startswith(mark)
        or stdout.count(mark) != 1
        or stdout.count(b"\n") != 1
        or not stdout.endswith(b"\n")
    ):
        return None
    try:
        result = json.loads(stdout[len(mark) :])
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def _troubles(answer: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return why values could not cross, as the evaluator's process noted it."""
    given = (answer or {}).get("troubles")
    return (
        tuple(one_line(str(text), 300) for text in given[:MOST_TROUBLES]) if isinstance(given, list) else ()
    )


def cause(text: str) -> str:
    """Return the end of a traceback in one line: the innermost place in the project's files, then the
    exception. Other text: its last line."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    places = IN_PROJECT.findall(text)
    place = f"{places[-1][0]}, line {places[-1][1]}: " if places else ""
    return one_line(place + lines[-1].strip())


def taken(
    outcome: NativeOutcome, answer: Mapping[str, Any], seed: int, spent: Mapping[str, float] | None = None
) -> Evaluation:
    """Return an answer as an evaluation, every part of it looked at: it is a program's word."""
    tampered = tuple(one_line(str(item), LONGEST_NAME) for item in answer.get("tampered") or ())
    if tampered:
        return _failed(outcome, "tampered", f"it changed {', '.join(tampered[:3])}", seed, tampered=tampered)
    if "error" in answer:
        text = str(answer["error"])
        why = cause(text) + (TOO_LARGE if f"[Errno {errno.EFBIG}]" in cause(text) else "")
        return _failed(outcome, "raised", why, seed, artifacts={"error": text[-LONGEST_ARTIFACT:]})
    given, texts = answer.get("metrics"), answer.get("artifacts")
    if not isinstance(given, dict) or len(given) > MOST_METRICS:
        return _failed(
            outcome, "no_result", f"the result is no table of at most {MOST_METRICS} metrics", seed
        )
    held = {
        one_line(name, LONGEST_NAME): str(text)[:LONGEST_ARTIFACT]
        for name, text in list(dict(texts or {}).items())[:20]
    }
    if isinstance(error := given.get(ERROR), str):
        return _failed(
            outcome,
            "reported",
            cause(error) or error,
            seed,
            artifacts={ERROR: error[-LONGEST_ARTIFACT:]} | held,
        )
    metrics, odd = {}, []
    for name, value in given.items():
        if isinstance(value, int | float) and math.isfinite(value) and len(name) <= LONGEST_NAME:
            metrics[name] = float(value)
        else:
            odd.append(one_line(name, LONGEST_NAME) if not isinstance(value, str) else "")
    if (
        errors_in(held)
        and len(shown_metrics(metrics)) == len(metrics)
        and (printed := outcome.stderr.decode(errors="replace").strip())
    ):
        held.setdefault("stderr", printed[-LONGEST_ARTIFACT:])
    used: dict[str, Any] = {
        "cpu_s": outcome.cpu_s,
        "wall_s": outcome.wall_s,
        "peak_mb": outcome.peak_mb,
    } | dict(spent or {})
    stage, stages = (
        value if isinstance(value := answer.get(name), int) else 1 for name in ("stage", "stages")
    )
    return Evaluation(
        "ok",
        "",
        metrics,
        tuple(filter(None, odd)),
        held,
        (),
        stage,
        stages,
        seed=seed,
        jail=outcome.jail,
        flags=tuple(name for name in metrics if isinstance(given[name], bool)),
        **used,
    )


def _failed(
    outcome: NativeOutcome,
    status: str,
    reason: str,
    seed: int,
    *,
    tampered: Sequence[str] = (),
    artifacts: Mapping[str, str] | None = None,
) -> Evaluation:
    errors = outcome.stderr.decode(errors="replace")[-LONGEST_ARTIFACT:]
    shown = ({"stderr": errors} if errors.strip() else {}) | dict(artifacts or {})
    return Evaluation(
        status,
        one_line(reason),
        {},
        (),
        shown,
        tuple(tampered),
        cpu_s=outcome.cpu_s,
        wall_s=outcome.wall_s,
        peak_mb=outcome.peak_mb,
        seed=seed,
        jail=outcome.jail,
        starved=outcome.starved,
    )


def shown_metrics(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics that the writer of a program may see."""
    return {name: value for name, value in metrics.items() if not name.startswith(PRIVATE)}


def errors_in(artifacts: Mapping[str, str]) -> list[str]:
    """Return the names of the artifacts that report an error."""
    return [name for name in REPORTS if artifacts.get(name, "").strip()]


def score_of(project: Project, evaluation: Evaluation) -> float | None:
    """Return the score of one evaluation; None if it has none."""
    return score_in(project, evaluation.metrics, evaluation.flags)


def score_in(project: Project, metrics: Mapping[str, float], flags: Collection[str]) -> float | None:
    """Return the score: the first declared metric; if the project declares none and there is no
    combined_score, the mean of `averaged`."""
    if project.score_name in metrics:
        return metrics[project.score_name]
    if project.given.metrics or not metrics:
        return None
    names = averaged(project, metrics, flags)
    return math.fsum(metrics[name] for name in names) / len(names)


def deciding_odd(project: Project, evaluation: Evaluation) -> list[str]:
    """Return the metrics without a finite number that something depends on: those that the project names, the
    score, and if the score is a mean, all.

    Others are left out, as OpenEvolve leaves them out. From a mean they are not: a program could drop a low
    metric by making it NaN.
    """
    if project.score_name not in evaluation.metrics and not project.given.metrics:
        return sorted(evaluation.odd)
    named = {project.score_name, *project.given.metrics, *project.given.features, *project.config.features}
    return sorted(set(evaluation.odd) & named)


def averaged(project: Project, metrics: Mapping[str, float], flags: Collection[str]) -> list[str]:
    """Return the metrics whose mean is the score if there is no combined_score: as OpenEvolve has it, numbers
    that are no features; if there are none, all numbers; and if there are no numbers, the truth values."""
    features, numbers = (
        {*project.given.features, *project.config.features},
        [name for name in metrics if name not in flags],
    )
    return [name for name in numbers if name not in features] or numbers or list(metrics)


@lru_cache(maxsize=1)
def host() -> str:
    """Return the name of this machine, as rows have it."""
    import platform

    return platform.node()
