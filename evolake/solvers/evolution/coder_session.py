"""The coder as a session of a model: its tools, and the commands that build and run what it wrote, all in the jail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.agents.session.tools import Call
from evolake.agents.session.workspace import Workspace
from evolake.agents.session_spec import RunCommand, SessionSpec, hold_session
from evolake.solvers.evolution.authors import (
    NOTHING_CHANGED,
    REFERENCE,
    Authored,
    Commission,
    diff_of,
    reference_files,
    references_of,
    source_workspace,
)
from evolake.solvers.evolution.planning import Base, KnownVariant
from evolake.solvers.evolution.proposing.draft import sources_diff
from evolake.solvers.evolution.proposing.request import second_of
from evolake.solvers.gates.runs import GateRunner, smoke_runs
from evolake.solvers.measurement.benchmark import StageLimits
from evolake.solvers.measurement.measuring import Job, Rows, run_all
from evolake.solvers.process.execute import Program
from evolake.solvers.repository.build import BuildResult, build_variant, open_program
from evolake.solvers.roles.coder_session import CODER_SESSION, BenchFormulas, RunFormula, SessionReply, SessionRequest, Smoke
from evolake.solvers.roles.models import CodeReply
from evolake.solvers.suites import Instance, Suite

SHOWN_LOG = 6_000
RULES_FILE = f"{REFERENCE}/rules.md"
"""Where a session reads the rules with their whole texts."""


@dataclass(frozen=True)
class Shop:
    """What the commands need. smoke, train: suites with files. limits: of their runs. cache: folder for executables and copies of formulas."""

    blobs: Any
    cache: Path
    limits: StageLimits
    smoke: Callable[[], Suite]
    train: Callable[[], Suite]
    cycle: str


@dataclass
class SessionAuthor:
    """Holds a session for each plan. call: the jail of the file tools."""

    agents: Agents
    call: Call
    shop: Shop
    origin: str = field(init=False)

    def __post_init__(self) -> None:
        self.origin = self.agents.backend.name

    def write(self, commission: Commission) -> Authored | AgentFailure:
        """The session's files as a diff; an AgentFailure with a typed status where it was not finished."""
        parent, base = commission.parents[0], commission.base

        def to_reply(card: SessionReply, workspace: Workspace) -> Authored:
            diff = diff_of(workspace, parent)
            return Authored(CodeReply(title=card.title, changelog=card.changelog, diff=diff)) if diff else Authored(None, NOTHING_CHANGED)

        spec = SessionSpec(
            CODER_SESSION, request_of(commission), source_workspace(parent, base), to_reply, commands(self.shop, base, parent), parent.folder,
            reference=lambda: reference_files(commission) | {RULES_FILE: "\n\n".join(commission.long_rules or commission.rules)},
        )
        ended = hold_session(self.agents, spec, self.call, seed=commission.seed)
        if isinstance(ended.value, AgentFailure) or ended.value.reply is None:
            return ended.value
        return replace(ended.value, made=lambda variant_id: self.agents.assign(ended.call_id, variant_id))


def request_of(commission: Commission) -> SessionRequest:
    """What the session is told."""
    plan, parents, base = commission.plan, commission.parents, commission.base
    return SessionRequest(
        hypothesis=plan["hypothesis"], instructions=plan["instructions"], base=base.name, parent=commission.standing,
        parent_diff=sources_diff(base.folder, parents[0].folder), rules=list(commission.rules), editable=list(base.adapter.may_change),
        knowledge=list(commission.knowledge), tried=list(commission.tried), references=sorted([*references_of(commission), RULES_FILE]),
        **second_of(commission), **commission.change(),
    )


def commands(shop: Shop, base: Base, parent: KnownVariant) -> Mapping[str, RunCommand]:
    """The commands of a session on a child of `parent`."""
    def built(folder: Path) -> BuildResult:
        return build_variant(folder, base.adapter, shop.blobs)

    def program(folder: Path) -> Program | str:
        result = built(folder)
        return open_program(result, base.adapter, shop.blobs, shop.cache) if result.ok else _log(result, shop)

    def build(folder: Path, arguments: Any) -> str:
        return _log(built(folder), shop)

    def smoke(folder: Path, arguments: Smoke) -> str:
        if isinstance(made := program(folder), str):
            return made
        runner = GateRunner("session", made, shop.cycle, shop.limits.smoke, shop.limits.proof)
        return _rows(smoke_runs(runner, shop.smoke().first(arguments.formulas), cache=shop.cache))

    def run_formula(folder: Path, arguments: RunFormula) -> str:
        if isinstance(made := program(folder), str):
            return made
        suites = {item.name: (item, suite.name) for suite in (shop.smoke(), shop.train()) for item in suite.instances}
        if arguments.formula not in suites:
            return f"There is no formula of this name. There are, among others: {', '.join(list(suites)[:12])}."
        return _rows(_run_formulas({"session": made}, [suites[arguments.formula][0]], suites[arguments.formula][1], shop))

    def bench(folder: Path, arguments: BenchFormulas) -> str:
        if isinstance(made := program(folder), str):
            return made
        if isinstance(other := program(parent.folder), str):
            return f"The parent: {other}"
        suite = shop.train()
        chosen = suite.instances[arguments.first : arguments.first + arguments.formulas]
        if not chosen:
            return f"The suite has {len(suite.instances)} formulas; none was chosen."
        rows = _run_formulas({"yours": made, "parent": other}, chosen, suite.name, shop)
        return _rows(rows, who=True)

    return {"build": build, "smoke": smoke, "run_formula": run_formula, "bench": bench}


def _run_formulas(programs: Mapping[str, Program], instances: Sequence[Instance], suite: str, shop: Shop) -> Rows:
    """Each formula by each program, one after another, with every proof checked."""
    jobs = [
        Job(who, program, instance, suite, shop.cycle, shop.limits.run, proof_limits=shop.limits.proof)
        for instance in instances for who, program in programs.items()
    ]
    return run_all(jobs)


def _log(result: BuildResult, shop: Shop) -> str:
    log = shop.blobs.get(result.log_sha).decode("utf-8", "replace").strip()
    lines = [line for line in log.splitlines() if "error" in line.lower() or "undefined reference" in line]
    text = "\n".join(lines) if lines and not result.ok else log
    head = f"It was built, with {result.warnings} warnings." if result.ok else f"It was not built: {result.reason}"
    return head if result.ok and not result.warnings else f"{head}\n{text[-SHOWN_LOG:]}"


def _rows(rows: Rows, *, who: bool = False) -> str:
    return "\n".join(_line(row, who=who) for row in rows)


def _line(row: Mapping[str, Any], *, who: bool) -> str:
    """One run, in a line: what is true of the answer is the host's word, not the solver's."""
    parts = [row["variant_id"] if who else "", row["instance"], row["status"], f"{row['cpu_s']:.2f} s"]
    parts += [f"{row['conflicts']} conflicts" if row["conflicts"] is not None else "", f"proof {row['proof_status']}" if row["proof_status"] else ""]
    parts += [str(row["problems"] or "")]
    return "  ".join(part for part in parts if part)
