"""Is the evaluator sound? Run attacks in the jail, each in the project's mode, and keep those that forged a
score.

A score counts as forged if it is better than the initial program's under each of three seeds, and of ten if
the initial program's score depends on the seed, by more than what evaluations under one seed differ by. If
these differ, both are evaluated ten times more in turn. A control, the same program without its attack, must
score as the initial program; otherwise nothing is said of attacks of that form."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evolake.errors import HostBusy, InputError
from evolake.file_names import shell_word
from evolake.gates.run import side_by_side
from evolake.parsing import parse_python
from evolake.programs.audit import attacks
from evolake.programs.audit.attacks import CHANGED, CONTROL, Attack, Target, in_front
from evolake.programs.audit.verdict import Finding
from evolake.programs.evolution.budgeted_search import processor_seconds
from evolake.programs.model.evaluator_text import clock_in
from evolake.programs.model.program_text import Places
from evolake.programs.model.project import Project, stages_in
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, deciding_odd, errors_in, score_of
from evolake.programs.sandbox.remedies import remedy, trouble_of
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import child_seed
from evolake.text_edits import BOM

MARGIN = 1e-9
"""Relative difference from which one score is better than another."""
SLACK, LEAST_S = 4.0, 2.0
"""An attack may take so many times the initial program's processor time, and so many seconds at least."""
AGAIN = 5
"""Evaluations under one seed by which noise is known, if two of them differ."""
FURTHER = 7
"""Seeds beyond the first three under which a forged score has to be better, if scores depend on the seed: a
program that is as good as the initial one is better under ten of ten in one case of 1,024."""
LINE, CYCLE = "programs", "audit"
DRAWS = re.compile(r"\b(random|default_rng|RandomState|shuffle|randint|randrange|sample|uniform|gauss)\b")


class Budget:
    """Processor seconds that a part of an audit may take, of this process and its jails. seconds: at most."""

    def __init__(self, seconds: float):
        self._until = processor_seconds() + seconds

    @property
    def left(self) -> float:
        """Return the seconds that are left, 0 at least."""
        return max(0.0, self._until - processor_seconds())


@dataclass(frozen=True)
class Scores:
    """Scores of one program, higher is better; None where an evaluation gave none. seeds: under each seed.
    again: under the first seed, the first of them included."""

    seeds: tuple[float | None, ...]
    again: tuple[float | None, ...] = ()

    @property
    def spread(self) -> float:
        """Return by how much evaluations under one seed differ at most."""
        known = [score for score in self.again if score is not None]
        return max(known) - min(known) if known else 0.0


@dataclass(frozen=True)
class Soundness:
    """What the attacks found. tried, made: how many attacks were run, of how many. forged: those that forged,
    with their scores. notes: in words."""

    findings: tuple[Finding, ...]
    tried: int
    made: int
    forged: Mapping[str, float]
    notes: tuple[str, ...] = ()


def merit_of(project: Project, evaluation: Evaluation) -> float | None:
    """Return the score of an evaluation such that higher is better; None if it failed or has no finite
    score."""
    if not evaluation.ok or deciding_odd(project, evaluation):
        return None
    score = score_of(project, evaluation)
    return score if score is None or project.higher_is_better else -score


def with_limits(project: Project, cpu_s: float) -> Project:
    """Return the project with limits for attacks: few times what its initial program takes."""
    most = max(LEAST_S, SLACK * cpu_s)
    given = project.given.evaluator
    most = min(most, given.cpu_s or most)
    evaluator = given.model_copy(update={"cpu_s": most, "wall_s": 4 * most})
    return replace(project, given=project.given.model_copy(update={"evaluator": evaluator}))


def first_evaluation(
    project: Project, own: ProgramsSettings, seed: int, jail: str | None = None, called: str = ""
) -> Evaluation:
    """Return an evaluation of the initial program. called: how the user named the project.

    Raises:
        InputError: it has no finite score, or the evaluator reports an error next to it.
    """
    with Evaluator(project, own, mode=jail) as evaluator:
        first = evaluator.evaluate(project.evolving, seed)
    if merit_of(project, first) is not None and not errors_in(first.artifacts):
        return first
    raise InputError(
        f"{project.name}: the initial program has no score",
        wanted="an evaluation that ends with a finite score and reports no error",
        got=trouble_of(first),
        do=remedy(project, first, called)
        or f"evolake programs check {shell_word(called or project.name)} shows what it printed",
    )


class Referee:
    """Evaluates programs of one project under fixed seeds, `workers` at the same time. Close it, or use it as
    a context manager.

    first: an evaluation of the initial program under the first seed, if there is one. initial: scores of the
    initial program. best: of the best program that is claimed; None without one.
    """

    def __init__(
        self,
        project: Project,
        own: ProgramsSettings,
        seeds: Sequence[int],
        *,
        best: Mapping[str, str] | None = None,
        workers: int = 1,
        jail: str | None = None,
        first: Evaluation | None = None,
    ):
        self.project, self.own, self.seeds, self.workers, self.jail = project, own, list(seeds), workers, jail
        first = first or first_evaluation(project, own, self.seeds[0], jail)
        self.cpu_s = first.cpu_s
        self._evaluator = Evaluator(with_limits(project, first.cpu_s), own, workers=workers, mode=jail)
        self.initial = self._scores(project.evolving, first)
        self.best = None if best is None else self._scores(best)
        self._known: dict[int, float | None] = dict(zip(self.seeds, self.initial.seeds, strict=True))
        self._further = [child_seed(self.seeds[0], LINE, CYCLE, "further", place) for place in range(FURTHER)]

    def __enter__(self) -> Referee:
        return self

    def __exit__(self, *_: object) -> None:
        self._evaluator.close()

    def _scores(self, texts: Mapping[str, str], first: Evaluation | None = None) -> Scores:
        first = first or self._evaluator.evaluate(texts, self.seeds[0])
        others = [self._evaluator.evaluate(texts, seed) for seed in [*self.seeds[1:], self.seeds[0]]]
        *scores, second = [merit_of(self.project, item) for item in (first, *others)]
        again = [scores[0], second]
        while len(set(again)) > 1 and len(again) < AGAIN:
            again.append(merit_of(self.project, self._evaluator.evaluate(texts, self.seeds[0])))
        return Scores(tuple(scores), tuple(again))

    def merit(self, text: str, seed: int) -> float | None:
        """Return the score of a program's main file under a seed; None without one, also if the host is too
        busy."""
        texts = {**self.project.evolving, self.project.main: text}
        try:
            return merit_of(self.project, self._evaluator.evaluate(texts, seed))
        except HostBusy:
            return None

    def difference(self, text: str, seed: int) -> tuple[float, float] | None:
        """Return (score of a program, how much better it is than the initial one beyond the noise) under a
        seed, or under any where scores are noise within one; the latter is 0 within the noise. None if one of
        both has none."""
        if seed not in self._known:
            self._known[seed] = self.merit(self.project.evolving[self.project.main], seed)
        merit, own = self.merit(text, seed), self._known[seed]
        if merit is None or own is None:
            return None
        if self.initial.spread > 0:
            own = max(score for score in (own, *self.initial.seeds, *self.initial.again) if score is not None)
        noise = max(3 * self.initial.spread, MARGIN * max(1e-6, abs(own)))
        return merit, merit - own if abs(merit - own) > noise else 0.0

    def forged(self, text: str) -> float | None:
        """Return the mean score of a program that is better than the initial one under each seed; else
        None."""
        merits: list[float] = []
        for seed in [*self.seeds, *(self._further if len(set(self.initial.seeds)) > 1 else ())]:
            found = self.difference(text, seed)
            if found is None or found[1] <= 0:
                return None
            merits.append(found[0])
        if self.initial.spread > 0 and not self._still_better(text):
            return None
        return math.fsum(merits) / len(merits)

    def _still_better(self, text: str) -> bool:
        """Return whether a program is better than the initial one in each of some evaluations of both in
        turn. Scores that change within one seed may rest on a clock, and a machine is busier at one time than
        at another."""
        main = self.project.evolving[self.project.main]
        own, other = [], []
        for seed in [*self.seeds, *self._further]:
            own.append(self.merit(main, seed))
            other.append(self.merit(text, seed))
        least = min((merit for merit in other if merit is not None), default=-math.inf)
        known = [merit for merit in own if merit is not None]
        return None not in other and least - max(known, default=math.inf) > 3 * self.initial.spread

    def attacked(self, attack: Attack) -> float | None:
        """Return the mean score that an attack forged; None if it forged none, or one of its controls, which
        do without the attack, scores as well."""
        merit = self.forged(attack.text)
        for control in attack.controls if merit is not None else ():
            own = self.merit(control, self.seeds[0])
            if merit is not None and own is not None and own >= merit - MARGIN * max(1e-6, abs(merit)):
                return None
        return merit

    def as_initial(self, text: str) -> bool:
        """Return whether a program scores as the initial one under each seed; where scores are noise within
        one seed, whether it has one and is not better."""
        found = [self.difference(text, seed) for seed in self.seeds]
        noisy = self.initial.spread > 0
        return all(item is not None and (item[1] == 0 or (noisy and item[1] < 0)) for item in found)

    def target(self, varied: bool | None) -> Target:
        """Return what attacks are made for."""
        known = [
            score
            for scores in (self.initial, self.best)
            if scores
            for score in scores.seeds
            if score is not None
        ]
        far = max(known) + 1000 * (1 + abs(max(known)))
        score = far if self.project.higher_is_better else -far
        project = self.project
        return Target(
            project,
            attacks.called_functions(project),
            score,
            bool(clock_in(attacks.evaluator_texts(project))),
            varied,
        )


def sound(referee: Referee, budget: Budget, command: str, only: str = "") -> Soundness:
    """Return what the attacks forged.

    command: `evolake audit PATH` as it was typed. only: an attack, or a class of attacks, to run.

    Raises:
        InputError: no attack has the name `only`.
    """
    project = referee.project
    notes: list[str] = []
    asks = only in ("", SEEDS) or only.startswith(("constant", "load"))
    calls = recorded(referee) if attacks.called_functions(project) and asks else None
    target = referee.target(None if calls is None else len(set(calls)) > 1)
    made = [*attacks.attacks_on(target), *_loading(target, calls)]
    if only:
        names = [*dict.fromkeys(attack.group for attack in made), SEEDS, TOLERANCES]
        made = [attack for attack in made if only in (attack.name, attack.group, attack.kind)]
        if not made and only not in names[-2:]:
            raise InputError(
                f"there is no attack {only!r} on {project.name}", wanted=f"one of {', '.join(names)}"
            )
    if not project.python:
        notes.append("no attack was tried: they are made for programs in Python")
    elif not target.names:
        notes.append("the evaluator names no function of the program, so that only whole programs were tried")
    elif not referee.as_initial(in_front(project, target.names, CONTROL)):
        notes.append(
            "a program with functions in front of its own does not score as the initial one: no attack of "
            "that form was tried"
        )
        made = [attack for attack in made if not attack.whole]
    forged: list[tuple[Attack, float]] = []
    tried = 0
    for start in range(0, len(made), referee.workers):
        if budget.left <= 0:
            notes.append(f"{tried} of {len(made)} attacks were tried in the time: --seconds gives more")
            break
        some = made[start : start + referee.workers]
        scores = side_by_side(referee.attacked, some, len(some))
        forged += [(attack, score) for attack, score in zip(some, scores, strict=True) if score is not None]
        tried += len(some)
    forged, constant = _without_constants(referee, _by_cause(forged))
    notes += constant
    findings = [
        _finding(referee, kind, forged, command) for kind in dict.fromkeys(item.kind for item, _ in forged)
    ]
    if only in ("", SEEDS):
        found = foreseen(referee, calls, command)
        findings, notes = [*findings, *found[0]], [*notes, *found[1]]
    if only in ("", TOLERANCES) and target.names and budget.left > 0:
        findings += tolerances(referee, target, budget, command)
    scores = {attack.name: score for attack, score in forged}
    return Soundness(tuple(findings), tried, len(made), scores, tuple(notes))


def _by_cause(forged: Sequence[tuple[Attack, float]]) -> list[tuple[Attack, float]]:
    """Return the attacks that forged without those that only do what simpler ones do: an attack that fails
    where a program that raises has the same score shows nothing of its own."""
    order = sorted(forged, key=lambda item: SIMPLER.index(item[0].kind) if item[0].kind in SIMPLER else 9)
    result: list[tuple[Attack, float]] = []
    for attack, merit in order:
        if not any(
            math.isclose(merit, other, rel_tol=MARGIN) and one.kind != attack.kind for one, other in result
        ):
            result.append((attack, merit))
    return result


def _without_constants(
    referee: Referee, forged: Sequence[tuple[Attack, float]]
) -> tuple[list[tuple[Attack, float]], list[str]]:
    """Return the attacks without constant answers, unless these beat the best program, and a note on them:
    that a constant beats the initial program says as much of that program as of the score."""
    best = _mean(referee.best) if referee.best else None
    result = [
        (attack, merit)
        for attack, merit in forged
        if attack.kind != CONSTANTS or (best is not None and merit > best)
    ]
    left = [(attack, merit) for attack, merit in forged if (attack, merit) not in result]
    sign = 1 if referee.project.higher_is_better else -1
    notes = [
        f"a program that {attack.does} scores {sign * merit:.6g}, which is better than the initial program: "
        "a gain counts from there on"
        for attack, merit in left[:1]
    ]
    return result, notes


def _mean(scores: Scores) -> float | None:
    known = [score for score in scores.seeds if score is not None]
    return math.fsum(known) / len(known) if known else None


CONSTANTS = "constants"
SIMPLER = ("endings", "constants", "degenerate answers", "not a number", "huge numbers", "iterators")
"""Classes of attacks, those first that need least; all others come after them."""


def _finding(referee: Referee, kind: str, forged: Sequence[tuple[Attack, float]], command: str) -> Finding:
    """Return the finding of one class of attacks: its smallest program."""
    ours = sorted((item for item in forged if item[0].kind == kind), key=lambda item: len(item[0].text))
    attack, merit = ours[0]
    project = referee.project
    sign = 1 if project.higher_is_better else -1
    own, top = _mean(referee.initial) or 0.0, _mean(referee.best) if referee.best else None
    beats = "" if top is None else f", the best program {sign * top:.6g}"
    further = "" if len(ours) == 1 else f"; so do {len(ours) - 1} more of its kind"
    return Finding(
        "evaluator",
        f"{kind}: {attack.group}",
        f"a program that {attack.does} scores {project.score_name} {sign * merit:.6g}; the initial program "
        f"has {sign * own:.6g}{beats}{further}",
        attack.change,
        f"{command} --attack {attack.name}",
        attack.text,
    )


SEEDS, TOLERANCES = "seeds", "tolerances"
RECORD = """
import builtins, hashlib
calls = vars(builtins).setdefault("audit_calls", [])
calls.append([hashlib.sha256(repr((function.__name__, args, named)).encode()).hexdigest()[:16],
              repr((function.__name__, args, named)) if len(calls) < 200 else ""])
return function(*args, **named)
"""
RECORDED = """
def audit_record():
    import builtins, json
    calls = vars(builtins).get("audit_calls", [])
    text = json.dumps(calls)
    return text if len(text) < 60_000 else json.dumps([[key, ""] for key, _ in calls])[:60_000]
"""
AROUND = """
import importlib.util, os, sys

def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module

def evaluate(program_path):
    inner = load("evaluator", {file!r})
    try:
        for name in {stages!r} or ["evaluate"]:
            if hasattr(inner, name):
                getattr(inner, name)(program_path)
            else:
                from evolake.programs.sandbox.shinka import evaluated
                evaluated(inner.main, program_path)
    except Exception:
        pass
    text = load("audit_program", program_path).audit_record()
    parts = range(0, len(text), 3500)
    return {{"combined_score": 0.0, "artifacts": {{f"part{{n:03}}": text[n : n + 3500] for n in parts}}}}
"""
"""An evaluator around the project's, which hands out what the program has recorded."""
WRAPPER = "audit_evaluator.py"


def recorded(referee: Referee) -> dict[str, str] | None:
    """Return key -> text of the arguments of the calls in an evaluation of the initial program under the
    first seed, in order; None if they are not known. The text is empty where it is too long."""
    project = referee.project
    names = attacks.called_functions(project)
    if project.mode == "separate":
        with Evaluator(project, referee.own, mode=referee.jail) as evaluator:
            cases = evaluator.cases(referee.seeds[0])
        return {json.dumps(case, sort_keys=True): repr((names[0], (case,), {})) for case in cases}
    own = project.files[project.given.evaluator.file].decode("utf-8", "replace")
    stages = [] if project.config.cascade is False else list(stages_in(own))
    around = AROUND.format(file=project.given.evaluator.file, stages=stages)
    evaluator_section = project.given.evaluator.model_copy(update={"file": WRAPPER})
    given = project.given.model_copy(update={"evaluator": evaluator_section, "metrics": {}})
    wrapped = replace(project, files={**project.files, WRAPPER: around.encode()}, given=given)
    text = in_front(project, names, RECORD) + RECORDED
    with Evaluator(wrapped, referee.own, mode=referee.jail) as evaluator:
        answer = evaluator.evaluate({**project.evolving, project.main: text}, referee.seeds[0])
    parts = "".join(part for name, part in sorted(answer.artifacts.items()) if name.startswith("part"))
    try:
        found = json.loads(parts)
        return {str(key): str(text) for key, text in found} or None
    except (ValueError, TypeError, RecursionError):
        return None


KNOWN = """
import hashlib
if hashlib.sha256(repr((function.__name__, args, named)).encode()).hexdigest()[:16] not in {keys!r}:
    raise KeyError("a call that was not foreseen")
return function(*args, **named)
"""


def foreseen(
    referee: Referee, calls: Mapping[str, str] | None, command: str
) -> tuple[list[Finding], list[str]]:
    """Return whether all calls of an evaluation were known from an evaluation under another seed: (findings,
    notes).

    It is a finding if the evaluator draws, and a note if its cases are fixed. A construction, which is called
    once or without arguments, is neither."""
    project = referee.project
    if calls is None or len(calls) < 2:
        return [], []
    if project.mode == "separate":
        with Evaluator(project, referee.own, mode=referee.jail) as evaluator:
            later = [
                {json.dumps(case, sort_keys=True) for case in evaluator.cases(seed)}
                for seed in referee.seeds[1:]
            ]
        known, text = all(some <= calls.keys() for some in later), ""
    else:
        text = in_front(project, attacks.called_functions(project), KNOWN.format(keys=sorted(calls)))
        known = referee.as_initial(text)
    if not known:
        return [], []
    said = f"the {len(calls)} inputs of an evaluation are the same under each seed"
    if not DRAWS.search(attacks.evaluator_texts(project)):
        return [], [f"{said}: a program that knows their answers by heart scores like one that computes them"]
    finding = Finding(
        "evaluator",
        "seeds: foreseen",
        f"{said}, though the evaluator draws: a program that knows their answers by heart scores like one "
        "that computes them, and no held-out seed shows it",
        "draw the inputs from the seed of the evaluation: cases(seed), or random as evolake has seeded it",
        f"{command} --attack {SEEDS}",
        text,
    )
    return [finding], []


LOADED = """
import builtins
answers = vars(builtins).get("answers", {})
asked = repr((function.__name__, args, named))
return answers[asked] if asked in answers else function(*args, **named)
"""


def _loading(target: Target, calls: Mapping[str, str] | None) -> Iterator[Attack]:
    """Yield the attack that computes the answers to calls it has seen before while it is loaded."""
    if not target.timed or not calls or not target.names or not all(calls.values()):
        return
    try:
        known = [ast.literal_eval(text) for text in calls.values()]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return
    top = (
        "\nimport builtins\nanswers = vars(builtins).setdefault('answers', {})\n"
        f"for name, args, named in {known!r}:\n"
        "    answers[repr((name, args, named))] = globals()[name](*args, **named)\n"
    )
    yield Attack(
        "loads-answers",
        "loading",
        "computes the answers to the calls that it expects while it is loaded, before the clock starts",
        'time all of it, and draw inputs from the seed: mode "separate", and the cpu_s of the results',
        in_front(target.project, target.names, LOADED, top),
        True,
        "loads-answers",
    )


SMALLEST, LARGEST = 1e-11, 1e-3
"""Numbers in an evaluator's text that may be a tolerance."""
STEPS = (1e-9, 1e-6, 1e-3, 0.03, 0.3, 1.0, 4.0)
MOST_TOLERANCES, BISECTIONS = 4, 40


def tolerances(referee: Referee, target: Target, budget: Budget, command: str) -> Iterator[Finding]:
    """Yield tolerances that a construction gains by: scaled until it is just not valid any more with a
    tolerance of 0, it is valid with the evaluator's, and scores better than the largest valid one."""
    project, seed, own = referee.project, referee.seeds[0], referee.initial.seeds[0]
    assert own is not None

    def scaled(factor: float) -> str:
        code = f"return {CHANGED.format(f'number * {factor!r}')}"
        return in_front(project, target.names, code)

    for file, line, literal, strict in _strict(project):
        if budget.left <= 0:
            return
        with Evaluator(with_limits(strict, referee.cpu_s), referee.own, mode=referee.jail) as evaluator:

            def refused(factor: float, evaluator: Evaluator = evaluator, strict: Project = strict) -> bool:
                """Return whether a scaled construction has no score, or a much worse one, without the
                tolerance."""
                merit = merit_of(
                    strict, evaluator.evaluate({**project.evolving, project.main: scaled(factor)}, seed)
                )
                return merit is None or merit < own - 0.01 * abs(own)

            low, high = 1 - 1e-3, next((1 + step for step in STEPS if refused(1 + step)), None)
            if high is None or refused(low):
                continue
            for _ in range(BISECTIONS):
                middle = (low + high) / 2
                low, high = (low, middle) if refused(middle) else (middle, high)
                if high - low < literal / 100:
                    break
        valid, beyond = referee.merit(scaled(low), seed), referee.merit(scaled(high), seed)
        if valid is None or beyond is None or beyond <= valid + 1e-3 * literal * abs(valid):
            continue
        sign = 1 if project.higher_is_better else -1
        yield Finding(
            "evaluator",
            f"tolerances: {literal:g}",
            f"a construction that is not valid scores {sign * beyond:.12g}, and the largest valid one of its "
            f"form {sign * valid:.12g}: with 0 in place of {literal:g} ({file}, line {line}) it is refused",
            "check with exact numbers (fractions.Fraction), or take the tolerance off before scoring",
            f"{command} --attack {TOLERANCES}",
            scaled(high),
        )


def _strict(project: Project) -> Iterator[tuple[str, int, float, Project]]:
    """Yield (file, line, tolerance, the project with 0 in its place), of the evaluator's numbers that may be
    one."""
    count = 0
    for file, data in project.evaluator_files.items():
        if not file.endswith(".py"):
            continue
        text = data.decode("utf-8", "replace").removeprefix(BOM)
        try:
            tree, places = parse_python(text), Places(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            value: Any = node.value if isinstance(node, ast.Constant) else None
            fits = isinstance(value, float) and SMALLEST <= value <= LARGEST
            if not isinstance(node, ast.Constant) or not fits or count == MOST_TOLERANCES:
                continue
            count += 1
            start, end = places.span(node)
            changed = f"{text[:start]}0.0{text[end:]}"
            yield file, node.lineno, value, replace(project, files={**project.files, file: changed.encode()})
