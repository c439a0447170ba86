"""What the gates of a program look at. The cheap ones read its text, the gate `build` builds it, the gate
`run` evaluates it, and those after it read what these gave."""

from __future__ import annotations

import ast
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolake.programs.gates.reach import new_in
from evolake.programs.model.blocks import outside_change
from evolake.programs.model.project import Project
from evolake.programs.model.source import Unreadable, parse
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, deciding_odd, score_in
from evolake.programs.sandbox.running import Built


@dataclass
class Candidate:
    """A program as its gates see it.

    Attributes:
        texts: path -> text of what evolves. program_id: its id. seeds: of its evaluations, whose mean is its
            score.
        known: text without space and comments -> id of the program that has it. living: behaviour -> id of
            the living program that has it.
        evaluations: one for each seed, up to the first that fails; empty until `evaluate`. A program that was
            evaluated as a draft brings them along.
    """

    texts: Mapping[str, str]
    program_id: str
    evaluator: Evaluator
    seeds: Sequence[int]
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    living: Mapping[str, str] = field(default_factory=dict[str, str])
    evaluations: Sequence[Evaluation] = ()
    _built: Built | None = field(default=None, init=False)

    @property
    def project(self) -> Project:
        """Its project."""
        return self.evaluator.project

    def build(self) -> Built:
        """Build it, once; return what that gave."""
        if self._built is None:
            self._built = self.evaluator.build(self.texts)
        return self._built

    def evaluate(self) -> Sequence[Evaluation]:
        """Evaluate it, once; return its evaluations."""
        if not self.evaluations:
            self.evaluations = self.evaluator.evaluate_each(self.texts, self.seeds, self.build())
        return self.evaluations

    @property
    def score(self) -> float | None:
        """The score of the means; None if there is none, or if it was not evaluated."""
        return score_in(
            self.project, self.metrics, {name for evaluation in self.evaluations for name in evaluation.flags}
        )

    @property
    def metrics(self) -> dict[str, float]:
        """Mean of each metric that all evaluations have."""
        done = [evaluation.metrics for evaluation in self.evaluations if evaluation.ok]
        names = [name for name in (done[0] if done else {}) if all(name in item for item in done)]
        return {name: math.fsum(item[name] for item in done) / len(done) for name in names}


def form(candidate: Candidate) -> dict[str, Any]:
    """Return what it changes outside its blocks, whether it can be read, its size, and an earlier program of
    the same text."""
    project = candidate.project
    outside = (
        "" if list(candidate.texts) == list(project.evolving) else "other files than the initial program's"
    )
    for name, text in candidate.texts.items():
        outside = outside or (
            (said := outside_change(project.evolving.get(name, ""), text, name)) and f"{name}: {said}"
        )
    same = candidate.known.get(bare_text(candidate.texts))
    return {
        "outside": outside,
        "unreadable": unreadable(candidate.texts),
        "characters": sum(map(len, candidate.texts.values())),
        "same_as": same if same != candidate.program_id else None,
    }


def reach(candidate: Candidate) -> dict[str, Any]:
    """Return ways to the evaluator and constants of it that the initial program has not. A program that runs
    apart has no way there."""
    project = candidate.project
    name = project.given.evaluator.file
    ways, held = new_in(
        candidate.texts, project.evolving, name, project.files[name].decode("utf-8", "replace")
    )
    if project.protected:
        return {"mode": project.mode, "reaches": [], "constants": []}
    return {"mode": project.mode, "reaches": ways, "constants": [list(item) for item in held]}


def build(candidate: Candidate) -> dict[str, Any]:
    """Build it, and return what came of that."""
    built = candidate.build()
    return {
        "command": candidate.project.given.program.build,
        "reason": "" if built.ok else built.reason or "the build failed",
    }


def run(candidate: Candidate) -> dict[str, Any]:
    """Evaluate it, and return how that ended."""
    last = candidate.evaluate()[-1]
    return {"status": last.status, "reason": last.reason, "tampered": list(last.tampered)}


def result(candidate: Candidate) -> dict[str, Any]:
    """Return what it scored."""
    project, metrics = candidate.project, candidate.metrics
    odd = sorted({name for evaluation in candidate.evaluations for name in deciding_odd(project, evaluation)})
    return {"metrics": metrics, "odd": odd, "declared": list(project.given.metrics), "score": candidate.score}


def novel(candidate: Candidate) -> dict[str, Any]:
    """Return a living program that gives the same metrics."""
    same = candidate.living.get(behaviour(candidate.metrics))
    return {"behaves_as": same if same != candidate.program_id else None}


def unreadable(texts: Mapping[str, str]) -> str:
    """Return why a text is none that can be run, in words; "" if nothing is wrong."""
    for name, text in texts.items():
        try:
            text.encode("utf-8")
            if name.endswith(".py"):
                parse(text)
        except (Unreadable, UnicodeEncodeError) as error:
            return f"{name} {error}".replace("<unknown>, ", "")  # the parser is given a text, not the file
    return ""


def bare_text(texts: Mapping[str, str]) -> str:
    """Return sha256 of texts, the same where only space and, in Python, comments differ."""
    parts = []
    for name, text in sorted(texts.items()):
        try:
            parts.append(ast.dump(parse(text)) if name.endswith(".py") else " ".join(text.split()))
        except Unreadable:
            parts.append(text)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def behaviour(metrics: Mapping[str, float]) -> str:
    """Return sha256 of metrics as they were measured."""
    return hashlib.sha256(json.dumps(dict(sorted(metrics.items()))).encode()).hexdigest()
