"""Is the gain real? Compare the best program with the initial one on fresh seeds, and with dumb searches; and
look into the record of a run: duplicates, lines that came back, who brought what."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.contest import LEAST_PAIRS
from evolake.errors import HostBusy
from evolake.gates import Ruleset
from evolake.lake import BlobStore
from evolake.programs.audit.measuring import Part, seeds_needed
from evolake.programs.audit.runs import Candidate, Run
from evolake.programs.audit.soundness import LINE, MARGIN, Budget, merit_of
from evolake.programs.audit.verdict import Finding, Scored
from evolake.programs.evolution.budgeted_search import BudgetedEvaluator, SearchSetup, SearchState, continued
from evolake.programs.evolution.outcome import search_seeds
from evolake.programs.evolution.program_contest import decide_duel, differences_of, run_duel
from evolake.programs.gates import bare_text
from evolake.programs.model.chance import chance_in
from evolake.programs.model.project import Project
from evolake.programs.report.tracing import blame_rows, trace_of
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, score_of
from evolake.programs.settings import ProgramsSettings
from evolake.scratch import Scratch
from evolake.seeds import generator

Texts = Mapping[str, str]
SEARCHES = ("hill", "restart")
DUEL = {"champion": "initial", "again": "initial again", "challenger": "best"}
"""Side of a duel -> name of its scores."""
FRESH_SEEDS = "fresh seeds"
"""Figure of every contest that was held: under how many seeds."""
FEW = 8
"""Fresh seeds, at most, on which the best program and what dumb searches found are compared."""
EVALUATIONS = 200
"""Evaluations of a dumb search if no run says how many it had."""


class Gain:
    """Compares programs of one project on fresh seeds. cost: processor seconds of an evaluation."""

    def __init__(
        self,
        project: Project,
        own: ProgramsSettings,
        seeds: Sequence[int],
        budget: Budget,
        command: str,
        jail: str | None,
        cost: float = 0.0,
    ):
        self.project, self.own, self.seeds, self.budget, self.jail = project, own, list(seeds), budget, jail
        self.cost = max(0.02, cost)
        self.few = self.seeds[: max(2, min(FEW, int(budget.left / (12 * self.cost))))]
        self.again = f"{command} --only gain"
        self.sign = 1 if project.higher_is_better else -1

    def compared(self, best: Texts, recorded: float | None = None, began: float | None = None) -> Part:
        """Return how the best program compares with the initial one. recorded, began: scores that a run
        states for the two (`stated_scores`); None where it states none."""
        part, project = Part("gain"), self.project
        seedless = not chance_in(project, [project.evolving, best])
        sides = {"champion": "initial", "again": "initial", "challenger": "best"}
        texts = {"initial": project.evolving, "best": best}
        done = self._duel(sides, texts, seedless)
        if done is None:
            part.notes.append("the machine was too busy to compare the programs")
            return part
        scores = {side: [merit_of(project, item) for item in some] for side, some in done.items()}
        part.scores += [
            Scored("gain", DUEL[side], seed, None if merit is None else self.sign * merit)
            for side, merits in scores.items()
            for seed, merit in zip(self.seeds, merits, strict=False)
        ]
        decision, figures = self.decided(scores, seedless)
        part.figures |= figures
        differences = differences_of(scores)
        if (
            len(differences) > 1
            and statistics.stdev(differences) > 0
            and (needed := seeds_needed(differences))
        ):
            part.figures["held-out seeds that would show it in 80 % of contests (an estimate)"] = str(needed)
        if not decision["wins"]:
            change = "evaluate both under more seeds before the gain is stated"
            part.findings.append(
                Finding(
                    "gain",
                    "not shown",
                    f"the best program is no better: {decision['reason']}",
                    change,
                    self.again,
                )
            )
        measured = {
            name: [score for score in scores[side] if score is not None]
            for side, name in (("champion", "initial"), ("challenger", "best"))
        }
        if recorded is not None:
            self._reproduced(part, measured["best"], recorded)
        self._plausible(part, measured, {"initial": began, "best": recorded})
        return part

    def decided(
        self, scores: Mapping[str, Sequence[float | None]], seedless: bool
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return (the decision of a contest by the scores of its sides, higher is better, and its figures in
        words)."""
        decision = decide_duel(scores, generator(self.seeds[0], LINE, "audit", "duel"), seedless=seedless)
        figures = {
            "initial program": _figure(self.sign, _mean(scores["champion"])),
            "best program": _figure(self.sign, _mean(scores["challenger"])),
            FRESH_SEEDS: str(len(scores["champion"])),
        }
        if decision["difference"] is not None:
            low, high = (
                f"{end:.4g}" if end is not None else "unknown" for end in (decision["low"], decision["high"])
            )
            figures["gain"] = f"{decision['difference']:.4g} (95 % {low} to {high}; {decision['test']})"
        return decision, figures

    def _duel(
        self, sides: Mapping[str, str], texts: Mapping[str, Texts], seedless: bool
    ) -> dict[str, list[Evaluation]] | None:
        try:
            with Evaluator(self.project, self.own, mode=self.jail) as evaluator:
                built = {name: evaluator.build(text) for name, text in texts.items()}

                def evaluate(name: str, seed: int) -> Evaluation:
                    return evaluator.evaluate(texts[name], seed, built[name])

                score = (lambda evaluation: merit_of(self.project, evaluation),)
                return run_duel(sides, self._within(), evaluate, scores=score, seedless=seedless)
        except HostBusy:
            return None

    def _within(self) -> list[int]:
        """Return the seeds for which there is time, `LEAST_PAIRS` at least."""
        return self.seeds[: max(LEAST_PAIRS, int(self.budget.left / 2 / (3 * self.cost)))]

    def _reproduced(self, part: Part, scores: Sequence[float], recorded: float) -> None:
        """Say whether the best program has the score that was recorded for it."""
        if not scores:
            return
        stated = self.sign * recorded
        mean, most = _mean(scores) or 0.0, max(scores)
        spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
        part.figures["recorded score of the best program"] = f"{recorded:.8g}"
        if stated > max(most, mean + 4 * spread) + 1e-6 * max(abs(most), 1e-6):
            reason = (
                f"the run states {recorded:.8g} for its best program; here it has {self.sign * mean:.8g}, "
                f"and {self.sign * most:.8g} under its best seed"
            )
            change = "find out what the evaluation depended on: data, machine, versions, time, or chance"
            part.findings.append(Finding("gain", "not reproduced", reason, change, self.again))

    def _plausible(
        self, part: Part, measured: Mapping[str, Sequence[float]], stated: Mapping[str, float | None]
    ) -> None:
        """Add a note if what is measured is better than the best known score, or far from what the run
        states."""
        if not all(measured.values()):
            return
        means = {side: math.fsum(some) / len(some) for side, some in measured.items()}
        beyond = beyond_best(self.project, self.sign * means["best"])
        if beyond and not beyond_best(self.project, stated["best"]):
            part.notes.append(f"the best program has {beyond}")
        far = False
        for side, mean in means.items():
            score, some = stated[side], measured[side]
            if score is not None:
                gap = max(4 * (statistics.stdev(some) if len(some) > 1 else 0.0), 1e-6 * abs(means["best"]))
                away = abs(self.sign * score - mean)
                far = far or away > max(gap, HUGE * max(abs(score), abs(mean)))
        if not far:
            return
        here = {side: _figure(self.sign, mean) for side, mean in means.items()}
        begun, best = stated["initial"], stated["best"]
        if begun is not None and best is not None:
            said = (
                f"the run states a gain of {abs(best - begun):.6g} (from {begun:.6g} to {best:.6g}), and "
                f"here its two programs have {here['initial']} and {here['best']}"
            )
        elif best is not None and self.sign * best < means["best"]:
            said = f"the run states {best:.6g} for its best program, and here it has {here['best']}"
        else:
            return
        part.notes.append(f"{said}: its evaluator, its data or its machine was another one")

    def dumb(
        self, part: Part, best: Texts | None, evaluations: int | None, rules: Ruleset, workers: int
    ) -> None:
        """Add what hill climbing and restarts find with as many evaluations, or in the time that is left.

        best: the best program, which is compared with them; None without one.
        """
        if not self.project.python or self.budget.left <= 1:
            part.notes.append(
                "dumb searches were not run" if self.project.python else "dumb searches change Python alone"
            )
            return
        most = evaluations or EVALUATIONS
        part.figures.setdefault("initial program", _figure(self.sign, self._on_few(self.project.evolving)))
        with Scratch("audit") as folder:
            found = {name: self._search(name, most, rules, workers, Path(folder)) for name in SEARCHES}
        for name, (state, merit) in found.items():
            spent = f"{state.evaluations} evaluations in {state.seconds:.1f} processor s"
            said = f"{_figure(self.sign, merit)} with {spent}"
            part.figures["hill climbing" if name == "hill" else "restarts"] = said
        top, (state, merit) = max(
            found.items(), key=lambda item: -math.inf if item[1][1] is None else item[1][1]
        )
        claimed = None if best is None else self._on_few(best)
        if claimed is not None and merit is not None and merit >= claimed - MARGIN * max(1e-6, abs(claimed)):
            called = "hill climbing" if top == "hill" else "restarts of random changes"
            reason = (
                f"{called} over the literals of the initial program has {_figure(self.sign, merit)} on the "
                f"same seeds with {state.evaluations} evaluations; the best program has "
                f"{_figure(self.sign, claimed)}"
            )
            change = "state the gain over such a search, not over the initial program"
            part.findings.append(Finding("gain", "dumb search", reason, change, self.again))

    def _search(
        self, name: str, most: int, rules: Ruleset, workers: int, folder: Path
    ) -> tuple[SearchState, float | None]:
        """Return how far a search came, and the mean score of what it found on the fresh seeds."""
        project, left = self.project, self.budget.left - (len(self.few) + 1) * self.cost
        seconds = max(1.0, left / (2 if name == SEARCHES[0] else 1) - 1)
        seed, mode = self.seeds[0], self.jail
        with Evaluator(project, self.own, mode=mode) as other:
            some = [other.evaluate(project.evolving, one) for one in search_seeds(project, self.own, seed)]
        initial = [score_of(project, item) or 0.0 for item in some]
        row = {"score": math.fsum(initial) / len(initial)}
        limits: dict[str, Any] = {"workers": workers, "mode": mode, "most": most, "seconds": seconds}
        evaluator = BudgetedEvaluator(project, self.own, **limits)
        with evaluator:
            setup = SearchSetup(project, self.own, evaluator, row, rules, BlobStore(folder), seed, workers)
            state = continued(
                setup, name, SearchState(project.evolving, row["score"]), "audit", lambda state: None
            )
        return state, self._on_few(state.texts)

    def _on_few(self, texts: Texts) -> float | None:
        """Return the mean score of a program on the first fresh seeds; None if it fails."""
        try:
            with Evaluator(self.project, self.own, mode=self.jail) as evaluator:
                return _mean([merit_of(self.project, evaluator.evaluate(texts, one)) for one in self.few])
        except HostBusy:
            return None


HUGE = 0.5
"""Share of the larger of two scores from which they differ hugely."""


def beyond_best(project: Project, score: float | None) -> str:
    """Return in words by how much a score is better than the best known one, and what that means; "" if it is
    not."""
    known = project.given.construction.best
    if known is None or score is None:
        return ""
    gap = score - known if project.higher_is_better else known - score
    if gap <= MARGIN * max(1.0, abs(known)):
        return ""
    share = f" ({gap / abs(known):.2%})" if known else ""
    return (
        f"{score:.8g}, better by {gap:.4g}{share} than the best known score, {known:.8g}: a record, or a "
        "score that the evaluator should not give"
    )


def stated_scores(run: Run, project: Project) -> tuple[float | None, float | None]:
    """Return (score of the best, of the initial program), as a run states them in the project's metric; None
    where it does not."""
    name = project.main
    initial = bare_text({name: project.evolving[name]})
    first = next((item for item in run.candidates if bare_text({name: item.text}) == initial), None)

    def stated(item: Candidate | None) -> float | None:
        if item is None:
            return None
        named = project.given.metrics and item.metrics
        return item.metrics.get(project.score_name) if named else item.score

    return stated(run.best), stated(first)


def record_of(run: Run, project: Project | None) -> Part:
    """Return what the record of a run tells by itself."""
    part = Part("gain")
    name = project.main if project else f"program{run.suffix or '.txt'}"
    texts = {item.program_id: {name: item.text} for item in run.candidates}
    seen: Counter[str] = Counter(bare_text(texts[item.program_id]) for item in run.candidates)
    copies = len(run.candidates) - len(seen)
    failed = sum(item.score is None for item in run.candidates)
    part.figures |= {"tool": run.tool, "candidates": str(len(run.candidates)), "duplicates": str(copies)}
    if run.evaluations > len(run.candidates):
        part.figures["evaluations of the run"] = str(run.evaluations)
    part.notes += run.notes
    if project and (beyond := beyond_best(project, stated_scores(run, project)[0])):
        part.notes.append(f"the run states that its best program has {beyond}")
    if any(item.score is not None for item in run.candidates):
        part.figures["candidates without a score"] = str(failed)
    if run.best is None or not any(item.parents for item in run.candidates):
        return part
    rows = [_row(item) for item in run.candidates]
    known = {row["program_id"]: row for row in rows}

    def read(row: Mapping[str, Any]) -> Texts:
        return texts[row["program_id"]]

    trace = trace_of("run", rows, run.best_id, read).to_json()
    if trace["share"] is not None:
        said = f"{trace['share']:.1%} of {trace['added']} added lines had been deleted before"
        part.figures["lines that came back"] = said
    brought: Counter[str] = Counter()
    for row in blame_rows(known[run.best_id], known, read, higher_is_better=True):
        brought[row["origin_id"]] += row["last_line"] - row["line"] + 1
    part.figures["lines of the best program by the candidate that brought them"] = ", ".join(
        f"{origin[:12]}: {lines}" for origin, lines in brought.most_common(8)
    )
    return part


def _row(item: Candidate) -> dict[str, Any]:
    """Return a candidate as a row of PROGRAMS, as far as tracing reads it."""
    return {
        "program_id": item.program_id,
        "parents": list(item.parents),
        "number": item.number,
        "score": item.score,
        "operator": item.operator,
        "state": "accepted",
        "origin": "model",
        "cycle": "run",
        "idea": None,
        "project": "run",
    }


def _mean(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(scores) else None


def _figure(sign: int, merit: float | None) -> str:
    return "no score" if merit is None else f"{sign * merit:.6g}"
