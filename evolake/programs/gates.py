"""The gates of a program: what they look at, and the checks that rules name, which are pure functions of that
evidence. The cheap gates read its text, `build` builds it, `run` evaluates it, and those after it read what
these gave.

Names that lead to the evaluator, and constants of it, are found by a lint. It finds the usual spellings, so
that a model does not cheat by accident, and code that means to get round it can. A score is protected only if
program and evaluator run in separate processes.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from evolake.gates import Finding, checker
from evolake.programs.model.program_text import Unreadable, outside_change, parse, read_only_tree
from evolake.programs.model.project import Project
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, deciding_odd, score_in
from evolake.programs.sandbox.program_runs import Built

Evidence = Mapping[str, Any]


@checker("programs.inside_blocks")
def inside_blocks(evidence: Evidence) -> Finding | None:
    """Nothing outside the blocks of the initial program is changed, and no file is added or gone."""
    return Finding(f"it changes what may not evolve: {evidence['outside']}") if evidence["outside"] else None


@checker("programs.readable")
def readable(evidence: Evidence, most_characters: int) -> Finding | None:
    """Check that a Python program parses, and no program is longer than allowed."""
    if evidence["unreadable"]:
        return Finding(evidence["unreadable"])
    if evidence["characters"] > most_characters:
        return Finding(f"it has {evidence['characters']:,} characters, {most_characters:,} are allowed")
    return None


@checker("programs.no_copy")
def no_copy(evidence: Evidence) -> Finding | None:
    """No other program says the same, but for space and comments."""
    return Finding(f"it says the same as {evidence['same_as'][:12]}") if evidence["same_as"] else None


@checker("programs.no_reach")
def no_reach(evidence: Evidence) -> Finding | None:
    """Check that it uses no way to the evaluator or the interpreter's insides that the initial program does
    not use."""
    return (
        Finding(f"it reaches for what scores it: {', '.join(evidence['reaches'][:3])}")
        if evidence["reaches"]
        else None
    )


@checker("programs.no_constants")
def no_constants(evidence: Evidence, *, fraction_digits: int = 4, whole_digits: int = 6) -> Finding | None:
    """Check that it holds no constant of the evaluator, of so many significant digits, that the initial
    program does not hold."""
    for number, digits, whole in evidence["constants"]:
        if digits >= (whole_digits if whole else fraction_digits):
            return Finding(f"it holds the evaluator's constant {number}")
    return None


@checker("programs.builds")
def builds(evidence: Evidence) -> Finding | None:
    """Check that the build command ends well and leaves what it should."""
    return Finding(evidence["reason"]) if evidence["reason"] else None


@checker("programs.ends_well")
def ends_well(evidence: Evidence) -> Finding | None:
    """Every evaluation ends by itself, in time and memory, with a result that is no report of an error."""
    status, reason = evidence["status"], evidence["reason"]
    if status in ("ok", "tampered"):
        return None
    return Finding(
        f"its evaluator reports an error: {reason}"
        if status == "reported"
        else f"its evaluation ended as {status}: {reason}"
    )


@checker("programs.untouched")
def untouched(evidence: Evidence) -> Finding | None:
    """Check that what scores it is the same after the evaluation as before."""
    return (
        Finding(f"it tampered with what scores it: {', '.join(evidence['tampered'][:3])}")
        if evidence["tampered"]
        else None
    )


@checker("programs.finite")
def finite(evidence: Evidence) -> Finding | None:
    """Every metric that the project names, the score, and every metric of a mean is a finite number."""
    return Finding(f"the metric {evidence['odd'][0]!r} is no finite number") if evidence["odd"] else None


@checker("programs.shape")
def shape(evidence: Evidence, most_metrics: int) -> Finding | None:
    """Check that the metrics that the project declares are there, a score among them, and no more metrics
    than allowed."""
    if missing := [name for name in evidence["declared"] if name not in evidence["metrics"]]:
        return Finding(f"the result lacks the metric {missing[0]!r}")
    if evidence["score"] is None:
        return Finding("the result has no score")
    if len(evidence["metrics"]) > most_metrics:
        return Finding(f"the result has {len(evidence['metrics'])} metrics, {most_metrics} are allowed")
    return None


@checker("programs.no_duplicate")
def no_duplicate(evidence: Evidence) -> Finding | None:
    """No living program of the project gives the same metrics."""
    return (
        Finding(f"it behaves as {evidence['behaves_as'][:12]}: every metric is the same")
        if evidence["behaves_as"]
        else None
    )


MODULES = frozenset(
    {
        "gc",
        "inspect",
        "ctypes",
        "importlib",
        "builtins",
        "__main__",
        "atexit",
        "signal",
        "faulthandler",
        "unittest",
        "threading",
        "_thread",
        "concurrent",
        "multiprocessing",
        "asyncio",
    }
)
"""By which code gets at what imported it, or outlives its call."""
NAMES = frozenset(
    {
        "_getframe",
        "_current_frames",
        "__globals__",
        "__builtins__",
        "__subclasses__",
        "__code__",
        "__closure__",
        "__import__",
        "__loader__",
        "tb_frame",
        "f_back",
        "f_globals",
        "f_locals",
        "gi_frame",
        "settrace",
        "setprofile",
        "_exit",
        "setattr",
        "globals",
        "exec",
        "eval",
        "__dict__",
        "modules",
    }
)
FILES = frozenset(
    {
        "open",
        "listdir",
        "scandir",
        "glob",
        "rglob",
        "read_text",
        "read_bytes",
        "walk",
        "dup",
        "dup2",
        "fdopen",
        "write_text",
        "write_bytes",
    }
)
NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+(?:[eE][-+]?\d+)?")
RECORDED = 3
"""Significant digits from which on evidence names a number of the evaluator; from which on it counts, the
rule says."""


def reaches(text: str, evaluator: str) -> set[str]:
    """Return ways to the evaluator that a Python text uses, in words; nothing for one that cannot be read.

    evaluator: name of its file.
    """
    module = PurePosixPath(evaluator).stem
    try:
        tree = parse(text)
    except Unreadable:
        return set()
    result: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            result |= {
                f"imports {name.name}" for name in node.names if name.name.split(".")[0] in MODULES | {module}
            }
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES | {module}:
            result.add(f"imports {node.module}")
        elif isinstance(node, ast.Attribute) and node.attr in NAMES | FILES:
            result.add(f"uses {node.attr}")
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store | ast.Del)
            and _imported(node.value, tree)
        ):
            result.add(f"changes {ast.unparse(node)}")
        elif isinstance(node, ast.Name) and node.id in NAMES | FILES:
            result.add(f"uses {node.id}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and evaluator in node.value:
            result.add(f"names {evaluator}")
    return result


def _imported(node: ast.expr, tree: ast.Module) -> bool:
    """Return whether an expression begins with the name of an imported module."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    names = (name for result in ast.walk(tree) if isinstance(result, ast.Import) for name in result.names)
    return any(node.id in (name.asname, name.name.split(".")[0]) for name in names)


def constants(text: str) -> dict[str, tuple[int, bool]]:
    """Return number, in one spelling -> (its significant digits, whether the text writes it as a whole number
    only); none with fewer than `RECORDED`."""
    result: dict[str, tuple[int, bool]] = {}
    for match in NUMBER.finditer(text):
        digits = len(re.sub(r"[eE].*|\.", "", match.group()).strip("0"))
        if digits >= RECORDED:
            number = f"{float(match.group()):.12g}"
            result[number] = digits, "." not in match.group() and result.get(number, (0, True))[1]
    return result


def new_in(
    candidate: Mapping[str, str], initial: Mapping[str, str], evaluator: str, source: str
) -> tuple[list[str], list[tuple[str, int, bool]]]:
    """Return (ways to the evaluator, constants of it) that the candidate has and the initial program has not.

    A constant is (number, significant digits, whether one of the two texts writes it as a whole number).
    source: the evaluator's text.
    """
    python = [name for name in candidate if name.endswith(".py")]
    ways = {way for name in python for way in reaches(candidate[name], evaluator)}
    ways -= {way for name in python for way in reaches(initial.get(name, ""), evaluator)}
    own, known, scoring = (
        constants("\n".join(candidate.values())),
        constants("\n".join(initial.values())),
        constants(source),
    )
    held = sorted(own.keys() & scoring.keys() - known.keys())
    return sorted(ways), [(number, own[number][0], own[number][1] or scoring[number][1]) for number in held]


@dataclass
class Candidate:
    """A program as its gates see it.

    Attributes:
        texts: path -> text of what evolves. program_id: its id. seeds: of its evaluations, whose mean is its
            score.
        known: text without space and comments -> id of the program that has it. living: behaviour -> id of
            the living program that has it. Candidates of one generation share both.
        evaluations: one for each seed, up to the first that fails; empty until `evaluate`. A program that was
            evaluated as a draft brings them along.
    """

    texts: Mapping[str, str]
    program_id: str
    evaluator: Evaluator
    seeds: Sequence[int]
    known: dict[str, str] = field(default_factory=dict[str, str])
    living: dict[str, str] = field(default_factory=dict[str, str])
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
    if project.apart:
        return {"mode": project.mode, "reaches": [], "constants": []}
    name = project.given.evaluator.file
    ways, held = new_in(
        candidate.texts, project.evolving, name, project.files[name].decode("utf-8", "replace")
    )
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
                read_only_tree(text)
        except (Unreadable, UnicodeEncodeError) as error:
            return f"{name} {error}".replace("<unknown>, ", "")  # the parser is given a text, not the file
    return ""


def bare_text(texts: Mapping[str, str]) -> str:
    """Return sha256 of texts, the same where only space and, in Python, comments differ."""
    return _bare(tuple(sorted(texts.items())))


@lru_cache(maxsize=1024)
def _bare(items: tuple[tuple[str, str], ...]) -> str:
    parts = []
    for name, text in items:
        try:
            parts.append(ast.dump(read_only_tree(text)) if name.endswith(".py") else " ".join(text.split()))
        except Unreadable:
            parts.append(text)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def behaviour(metrics: Mapping[str, float]) -> str:
    """Return sha256 of metrics as they were measured."""
    return hashlib.sha256(json.dumps(dict(sorted(metrics.items()))).encode()).hexdigest()
