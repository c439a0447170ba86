"""What a project's own initial program says of its evaluator, before anything evolves."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

from evolake.file_names import shell_word
from evolake.gates import Ruleset, Verdict, load_rules, run_gates
from evolake.jail.protocol import one_line
from evolake.programs.evolution.outcome import LINE
from evolake.programs.gate_specs import GATES
from evolake.programs.gates import Candidate
from evolake.programs.model.project import Project, program_id
from evolake.programs.sandbox.environment import not_installed
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, averaged, cause, errors_in, score_of
from evolake.programs.sandbox.meeting import with_mode
from evolake.programs.sandbox.remedies import remedy
from evolake.programs.search.numbers import numbers_in
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import child_seed
from evolake.settings import Settings

GUARDS = {
    "separate": "protected: evaluator and program run in separate jails",
    "calls": "protected: the evaluator calls the program, which runs in a separate jail",
    "imports": "not protected: the evaluator imports the program, since {}",
}
"""What is said of a score, by how evaluator and program meet."""
MOST_LINES = 12
"""Lines that are shown of each text of an evaluation that failed."""


@dataclass(frozen=True)
class Checked:
    """What a check found. evaluations: the first two under one seed. wall_s: of each, jails and all. starts:
    how their processes start. not_installed: lines of requirements.txt. called: by which text the user named
    the project."""

    project: Project
    evaluations: list[Evaluation]
    wall_s: list[float]
    blocked_by: Verdict | None
    numbers: int
    workers: int
    starts: str
    not_installed: tuple[str, ...] = ()
    called: str = ""

    @property
    def passed(self) -> bool:
        """Whether every gate passes the initial program, and every evaluation gave a score."""
        return self.blocked_by is None and all(evaluation.ok for evaluation in self.evaluations)

    @property
    def reports(self) -> dict[str, str]:
        """What the evaluator says of errors in texts next to a score that counts; with these, everything that
        it handed on in words."""
        failed = next((item for item in self.evaluations if item.ok and errors_in(item.artifacts)), None)
        if failed is None:
            return {}
        names = errors_in(failed.artifacts)
        return {
            name: failed.artifacts[name]
            for name in [*names, *(name for name in failed.artifacts if name not in names)]
        }

    @property
    def verdict(self) -> str:
        """The finding in one word or two."""
        if not self.passed:
            return "blocked"
        return "usable" if self.clean else "reports errors"

    @property
    def clean(self) -> bool:
        """Whether it is usable and its evaluator reports no error."""
        return self.passed and not self.reports

    @property
    def scores(self) -> list[float]:
        """Of all evaluations that gave one."""
        return [
            score
            for evaluation in self.evaluations
            if evaluation.ok and (score := score_of(self.project, evaluation)) is not None
        ]

    @property
    def deterministic(self) -> bool:
        """Whether both evaluations under one seed gave the same metrics."""
        return len(self.evaluations) > 1 and self.evaluations[0].metrics == self.evaluations[1].metrics

    @property
    def noise(self) -> float:
        """Standard deviation of the score over seeds."""
        return statistics.stdev(self.scores[1:]) if len(self.scores) > 2 else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        reason = next((evaluation.reason for evaluation in self.evaluations if not evaluation.ok), "")
        reason = f"{self.blocked_by.gate}: {self.blocked_by.reason}" if self.blocked_by else reason
        config = self.project.config
        return {
            "verdict": self.verdict,
            "reason": reason,
            "project": self.project.name,
            "score_name": self.project.score_name,
            "scores": self.scores,
            "deterministic": self.deterministic,
            "noise": self.noise,
            "protected": self.project.protected,
            "mode": self.project.mode,
            "open_because": self.project.open_because,
            "metrics": dict(self.evaluations[0].metrics) if self.evaluations else {},
            "cpu_s": [evaluation.cpu_s for evaluation in self.evaluations],
            "wall_s": self.wall_s,
            "starts": self.starts,
            "peak_mb": max((evaluation.peak_mb for evaluation in self.evaluations), default=0.0),
            "stages": self.evaluations[0].stages if self.evaluations else 0,
            "files": list(self.project.evolving),
            "numbers": self.numbers,
            "config_unused": list(config.unused),
            "reports": {name: one_line(text) for name, text in self.reports.items()},
            "not_installed": list(self.not_installed),
            "left_out": list(self.evaluations[0].odd) if self.evaluations else [],
        }

    def lines(self) -> list[str]:
        """For people."""
        summary = self.to_json()
        if not self.passed:
            failed = next((item for item in self.evaluations if not item.ok), None)
            do = remedy(self.project, failed, self.called) if failed and not self.not_installed else ""
            return [
                f"{self.project.name}: the initial program cannot be used: {summary['reason']}",
                *self._errors(),
                *self._packages(),
                *([f"next: {do}"] if do else []),
            ]
        spread = (
            f"{min(self.scores):.6g} to {max(self.scores):.6g}"
            if len(set(self.scores)) > 1
            else f"{self.scores[0]:.6g}"
        )
        # the others start jails that later evaluations find warm
        quickest = min(self.wall_s)
        stages = f", {summary['stages']} stages" if summary["stages"] > 1 else ""
        guard = GUARDS[self.project.mode].format(self.project.open_because)
        if self.project.apart and not self.project.protected:
            guard = f"not protected: {self.project.open_because}"
        lines = [
            f"{self.project.name}: usable"
            if self.clean
            else f"{self.project.name}: usable, but your evaluator reports: {self._report()}",
            f"  score     {self._score_name()} {spread} over {len(self.scores)} evaluations{stages}; "
            f"{'higher' if self.project.higher_is_better else 'lower'} is better",
            "  same seed "
            f"{'the same metrics: deterministic' if self.deterministic else 'other metrics: it measures time, or draws at random'}",  # noqa: E501
            f"  noise     {self.noise:.3g} (standard deviation over seeds)",
            f"  time      {max(summary['cpu_s']):.2f} cpu s, {quickest:.2f} s on the clock with its "
            f"jails, {summary['peak_mb']:.0f} MiB",
            f"  starts    {self.starts}",
            f"  score     {guard}",
            f"  evolves   {', '.join(summary['files'])}; {self.numbers} numbers to tune",
        ]
        lines += [f"  reports   {name}: {text}" for name, text in summary["reports"].items()]
        if summary["left_out"]:
            lines.append(f"  left out  no finite number: {', '.join(summary['left_out'])}")
        if not self.numbers and not self.project.python:
            lines.append(
                "  note      no operator can change it: mark its numbers by EVOLVE-PARAM, or let a model "
                "write"
            )
        if summary["config_unused"]:
            lines.append(f"  not used  of config.yaml: {', '.join(summary['config_unused'])}")
        lines += self._packages()
        return [
            *lines,
            f"next: evolake run --lines programs --cycles 3   (an estimate: {self._estimate(quickest)})",
        ]

    def _score_name(self) -> str:
        """Return what the score is: a metric, or the mean of some if there is no combined_score."""
        project, metrics = self.project, self.evaluations[0].metrics
        if project.score_name in metrics:
            return project.score_name
        return f"mean of {', '.join(averaged(project, metrics, self.evaluations[0].flags))}:"

    def _packages(self) -> list[str]:
        """Return the requirements that are not met, with what meets them."""
        if not self.not_installed:
            return []
        command = f"evolake programs check {shell_word(self.called or self.project.name)} --install"
        return [f"  packages  not installed: {', '.join(self.not_installed)}; to install them: {command}"]

    def _report(self) -> str:
        """Return the first error that the evaluator reports, in one line."""
        text = next(iter(self.reports.values()))
        return cause(text) if "Traceback" in text else one_line(text)

    def _estimate(self, seconds: float) -> str:
        return f"{seconds / self.workers:.2f} s per candidate with {self.workers} at the same time"

    def _errors(self) -> list[str]:
        """Return every text of the first evaluation that failed, the end of each."""
        failed = next((evaluation for evaluation in self.evaluations if not evaluation.ok), None)
        result: list[str] = []
        for name, text in dict(failed.artifacts if failed else {}).items():
            first, *further = text.strip().splitlines()[-MOST_LINES:] or [""]
            result += [f"  {name}: {first}", *(f"    {line}" for line in further)] if first else []
        return result


def check_project(
    project: Project, own: ProgramsSettings, settings: Settings, runs: int, called: str = ""
) -> Checked:
    """Evaluate the initial program `runs` times, twice under the first seed, and ask every gate about it.

    Raises:
        InputError: the evaluator of a protected project fails by itself, or what the project names in
            `[jail]` or requirements.txt cannot be used.
    """
    seeds = [
        child_seed(settings.seed, LINE, "check", project.name, max(place - 1, 0)) for place in range(runs)
    ]
    ruleset: Ruleset = load_rules(settings.seeds / "rules", LINE)
    evaluations, walls = [], []
    project = with_mode(project, own, settings.jail)
    with Evaluator(project, own, mode=settings.jail) as evaluator:
        candidate = Candidate(
            project.evolving, program_id(project.name, project.evolving), evaluator, seeds[:1]
        )
        judged = run_gates(
            candidate, GATES, ruleset, artifact_id=candidate.program_id, cycle="check", run_id="check"
        )
        for seed in seeds if judged.accepted else seeds[:1]:
            begun = time.monotonic()
            evaluations.append(evaluator.evaluate(project.evolving, seed))
            walls.append(time.monotonic() - begun)
    lacking = tuple(not_installed(project))
    numbers = len(numbers_in(project.evolving)) if judged.accepted else 0  # a text that is no Python has none
    return Checked(
        project,
        evaluations,
        walls,
        judged.blocked_by,
        numbers,
        settings.workers,
        evaluator.starts.words,
        lacking,
        called,
    )
