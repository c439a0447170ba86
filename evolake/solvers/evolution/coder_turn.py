"""The coder's turn in a cycle: who is asked, who judges, under which settings, rules and seeds; its requests,
built from plans, parents and the sources that it may see; and its trials, a variant next to its parent on
formulas that are drawn for it.

The formulas of a trial are those of the training suite's recipes with other seeds, under the lake's secret; a
word names the draw, so that the same word gives the same formulas. They are none of the benchmark's, of a
contest's or of the holdout's.
"""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evolake.agents import Agents
from evolake.contest import LEAST_FORMULAS, cost_ratio
from evolake.seeds import CycleSeeds
from evolake.solvers.edits import Edit
from evolake.solvers.edits.anchors import source_files
from evolake.solvers.edits.apply import cross_edits, cross_files
from evolake.solvers.edits.draw import applicable, editable_tree
from evolake.solvers.evolution.authors import Author, CoderFacts, Commission
from evolake.solvers.evolution.drafts import Draft, Judge, sources_diff
from evolake.solvers.evolution.excerpt import MAX_LINES, MAX_REGIONS, changed_excerpts, outline
from evolake.solvers.evolution.planning import Base, KnownVariant
from evolake.solvers.execute import Program
from evolake.solvers.measurement.benchmark import StageLimits
from evolake.solvers.measurement.measuring import Job, Rows, run_all
from evolake.solvers.measurement.metrics import PENALTY
from evolake.solvers.roles.coder import models_of
from evolake.solvers.roles.models import (
    SHORT_ID,
    CodeReply,
    CodeRequest,
    CoderMaterial,
    Excerpt,
    Forbidden,
    LookupRequest,
    Option,
    Plan,
    RepairRequest,
    ReviseRequest,
)
from evolake.solvers.roles.shown import ShownRules
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites import Instance, Suite
from evolake.solvers.suites.generators import pcg

PARENT = "parent"
TRIAL = "trial"
"""What GATE_RUNS calls the runs of a variant next to its parent before the benchmark."""
LEAST_COST_S = 1e-6
WORD = 12
"""Hex digits of the word of a draw, which are behind the @ in the names of its formulas."""


@dataclass(frozen=True)
class TrialPlace:
    """Where trials are run. fresh: word of a draw -> its formulas, with files. limits: of a run."""

    fresh: Callable[[str], Suite]
    limits: StageLimits
    cycle: str

    def draw(self, word: str, count: int) -> Suite:
        """Return `count` formulas of a draw, of as many recipes."""
        suite = self.fresh(word)
        chosen = sorted(pcg(int(word, 16)).permutation(len(suite.instances))[:count].tolist())
        return Suite(suite.name, tuple(suite.instances[place] for place in chosen))

    def run(self, programs: Mapping[str, Program], instances: Sequence[Instance], suite: str) -> Rows:
        """Return rows of RUNS: each formula by each program, one after another on one core, with every proof
        checked. programs: id -> solver."""
        return run_all(
            [
                Job(
                    who, program, instance, suite, self.cycle, self.limits.run, proof_limits=self.limits.proof
                )
                for instance in instances
                for who, program in programs.items()
            ]
        )


@dataclass(frozen=True)
class Trial:
    """A variant and its parent on a few formulas. rows: of RUNS, by whole ids. text: for the coder. ratio:
    PAR-2, parent over variant; noise: whether its 95 % interval includes 1."""

    rows: Rows
    text: str
    ratio: float
    noise: bool = False

    def record(self) -> dict[str, Any]:
        """Return it as JSON that it can be made from again."""
        return vars(self) | {"rows": list(self.rows)}


def word_of(*content: str) -> str:
    """Return the word of a draw that follows from this content."""
    return hashlib.sha256("\x1f".join(content).encode()).hexdigest()[:WORD]


def word_in(formula: str) -> str:
    """Return the word of the draw that a formula's name bears, "" if it bears none."""
    word = formula.partition("@")[2].partition("~")[0]
    return word if len(word) == WORD and not set(word) - set("0123456789abcdef") else ""


def trial_costs(rows: Sequence[Mapping[str, Any]], who: str) -> list[float]:
    """Return the PAR-2 cost in seconds of one side, formula by formula."""
    return [
        max(LEAST_COST_S, row["cpu_s"] if row["solved"] else PENALTY * row["timeout_s"])
        for row in rows
        if row["variant_id"] == who
    ]


def run_text(row: Mapping[str, Any], who: str = "") -> str:
    """Return one run in a line: what is true of the answer is the host's word, not the solver's."""
    parts = [who, row["instance"], row["status"], f"{row['cpu_s']:.2f} s"]
    parts += [
        f"{row['conflicts']} conflicts" if row["conflicts"] is not None else "",
        f"proof {row['proof_status']}" if row["proof_status"] else "",
    ]
    parts += [str(row["problems"] or "")]
    return "  ".join(part for part in parts if part)


def trial_of(rows: Rows, parent: str, child: str) -> Trial:
    """Return a trial from its runs. parent, child: the whole ids."""
    names = {parent: PARENT, child: "yours"}
    theirs, ours = trial_costs(rows, parent), trial_costs(rows, child)
    contest = cost_ratio(np.array(theirs), np.array(ours), pcg(len(ours)))
    runs = [run_text(row, names[row["variant_id"]]) for row in rows]
    text = "\n".join([*runs, ratio_text(rows, parent, child)])
    return Trial(rows, text, sum(theirs) / sum(ours), bool(contest.low <= 1 <= contest.high))


def ratio_text(rows: Sequence[Mapping[str, Any]], parent: str, child: str) -> str:
    """Return the ratio of costs, parent over child, with its interval, in a line."""
    theirs, ours = trial_costs(rows, parent), trial_costs(rows, child)
    contest = cost_ratio(np.array(theirs), np.array(ours), pcg(len(ours)))
    upper = f"{contest.high:.3g}" if np.isfinite(contest.high) else "no upper end"
    few = f"; fewer than {LEAST_FORMULAS} formulas decide nothing" if len(ours) < LEAST_FORMULAS else ""
    interval = f"{contest.effect:.3g} (95% interval {contest.low:.3g} to {upper}; above 1 is a gain)"
    return f"cost ratio, parent over yours: {interval} on {len(ours)} formulas{few}"


WhoElse = Callable[[Mapping[str, Any]], Author | None]
"""Plan -> who else than the roles of the coder carries it out; None: they do."""


TryVariant = Callable[[Commission, Path], Trial]
"""(commission, folder of a variant that was built) -> how it compares with its parent on formulas drawn for
the plan."""


@dataclass(frozen=True)
class CoderTurn:
    """What all plans of a cycle share.

    into: an empty folder; each attempt gets one in it. judge: the gates, or those of them that the caller
    wants fed back. workers: how many plans of the operators are carried out at one time. facts: what decides,
    for the coders. trial: runs a variant that passed its gates next to its parent, so that a one-shot coder
    may revise it; None: there is no such round.
    """

    agents: Agents
    judge: Judge
    into: Path
    settings: SolversSettings
    seeds: CycleSeeds
    rules: ShownRules = field(default_factory=ShownRules)
    author: WhoElse = lambda plan: None
    workers: int = 1
    facts: CoderFacts = field(default_factory=CoderFacts)
    trial: TryVariant | None = None

    @property
    def operators(self) -> bool:
        """Return whether operators propose, not a model."""
        return self.agents.backend.name == "operators"

    def fresh(self, number: int, attempt: int | str) -> Path:
        """Return the path of an attempt's folder, which does not exist."""
        folder = self.into / f"{number:03d}-{attempt}"
        if folder.exists():
            shutil.rmtree(folder)
        return folder


@dataclass(frozen=True)
class CoderInput:
    """The inputs of the coder in addition to its commission.

    material: for operators only. crossed: rows of what a crossover dropped. shown: the lines that a model
    wanted.
    """

    material: CoderMaterial | None = None
    crossed: tuple[dict[str, Any], ...] = ()
    shown: tuple[Excerpt, ...] = ()


def plan_of(row: Mapping[str, Any]) -> Plan:
    """Return a row of PLANS as the plan it came from, with short ids."""
    parents = [parent[:SHORT_ID] for parent in row["parent_ids"]]
    second = parents[1] if row["kind"] == "crossover" and len(parents) > 1 else None
    return Plan(
        parent_id=parents[0],
        second_parent_id=second,
        kind=row["kind"],
        hypothesis=row["hypothesis"],
        instructions=row["instructions"],
        target=row["target"] or "",
    )


def lookup_request(
    plan: Mapping[str, Any], parent: KnownVariant, base: Base, files: Mapping[str, str]
) -> LookupRequest:
    """Return what the coder is asked first: which lines it wants to see. plan: a row of PLANS. files: path ->
    text of the parent's editable files."""
    return LookupRequest(
        hypothesis=plan["hypothesis"],
        instructions=plan["instructions"],
        base=base.name,
        files=outline(files),
        parent_diff=sources_diff(base.folder, parent.folder),
        max_regions=MAX_REGIONS,
        max_lines=MAX_LINES,
    )


def code_request(commission: Commission, given: CoderInput) -> CodeRequest:
    """Return what the coder is asked then: the change."""
    return CodeRequest(
        excerpts=list(given.shown),
        plan=plan_of(commission.plan),
        material=given.material or CoderMaterial(),
        **asked_for(commission),
    )


def asked_for(commission: Commission) -> dict[str, Any]:
    """Return what every coder is told of a plan: its words, the parents as diffs against their bases, rules,
    what is known and was tried, and what decides."""
    plan, base = commission.plan, commission.base
    return {
        "hypothesis": plan["hypothesis"],
        "instructions": plan["instructions"],
        "base": base.name,
        "parent": commission.standing,
        "parent_diff": sources_diff(base.folder, commission.parents[0].folder),
        "rules": list(commission.rules),
        "knowledge": list(commission.knowledge),
        "tried": list(commission.tried),
        **second_of(commission),
        **commission.change(),
    }


def second_of(commission: Commission) -> dict[str, str]:
    """Return what a request says of a crossover's second parent: its diff against its own base, and that base
    where it is another one."""
    if len(commission.parents) < 2:
        return {}
    other = commission.second_base
    diff = sources_diff(other.folder, commission.parents[1].folder)
    return {
        "second_parent_diff": diff,
        "second_base": "" if other.name == commission.base.name else other.name,
    }


def repair_request(
    commission: Commission, given: CoderInput, reply: CodeReply, draft: Draft, error: str, output: str
) -> RepairRequest:
    """`diff` is what was written where it was a diff, else what the edits came to. output: what the program
    wrote where a run did not end well."""
    plan, parents = commission.plan, commission.parents
    diff = reply.diff or sources_diff(parents[0].folder, draft.folder)
    return RepairRequest(
        hypothesis=plan["hypothesis"],
        instructions=plan["instructions"],
        diff=diff,
        error=error,
        output=output,
        excerpts=list(given.shown),
        rules=list(commission.rules),
        plan=plan_of(plan),
        edits=reply.edits,
        material=given.material or CoderMaterial(),
        knowledge=list(commission.knowledge),
    )


def revise_request(commission: Commission, given: CoderInput, draft: Draft, measured: str) -> ReviseRequest:
    """Return what the coder is asked once its variant was run next to its parent."""
    diff = sources_diff(commission.parents[0].folder, draft.folder)
    return ReviseRequest(
        hypothesis=commission.plan["hypothesis"],
        diff=diff,
        measured=measured,
        excerpts=changed_excerpts(given.shown, diff),
        note=commission.note,
    )


def operators_input(
    commission: Commission, scratch: Path, taken: set[str], forbidden: Sequence[Forbidden]
) -> CoderInput:
    """Return what the operators work with. scratch: a folder that a crossover by files makes. taken: texts of
    `edits.json` that exist."""
    parents, base = commission.parents, commission.base
    parent = parents[0]
    material = _material(parent.edits, parent, base).model_copy(
        update={"forbidden": list(forbidden), "taken": sorted(taken)}
    )
    if commission.plan["kind"] != "crossover" or len(parents) < 2 or parents[1].base != parent.base:
        return CoderInput(material)
    first, second = parents
    if first.edits is not None and second.edits is not None:
        crossed = cross_edits(source_files(base.folder), base.adapter, first.edits, second.edits)
        further = _material(crossed.edits, parent, base)
        joined = {
            "joined": models_of(crossed.edits),
            "dropped": [str(item) for item in crossed.dropped],
            "options": further.options,
            "patches": further.patches,
        }
        return CoderInput(material.model_copy(update=joined), tuple(item.row() for item in crossed.dropped))
    dropped = cross_files(base.folder, first.folder, second.folder, scratch, base.adapter.editable)
    joined = {"joined_diff": sources_diff(first.folder, scratch), "dropped": [str(item) for item in dropped]}
    return CoderInput(material.model_copy(update=joined), tuple(item.row() for item in dropped))


def _material(edits: Sequence[Edit] | None, parent: KnownVariant, base: Base) -> CoderMaterial:
    """Return what applies next to these edits to the base or, if there are none since the parent was written
    as a diff, to the parent."""
    result = applicable(
        editable_tree(source_files(base.folder if edits is not None else parent.folder), base.adapter),
        edits or (),
    )
    options = [
        Option(
            name=item.name,
            kind=item.kind,
            default=item.default,
            low=_finite(item.low),
            high=_finite(item.high),
        )
        for item in result.options
    ]
    return CoderMaterial(
        base=base.name,
        edits=None if edits is None else models_of(edits),
        options=options,
        patches=list(result.patches),
    )


def _finite(bound: float) -> float | None:
    return None if math.isinf(bound) else bound
