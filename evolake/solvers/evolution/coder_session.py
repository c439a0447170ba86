"""The coder as a session of a model: its tools, and the commands that build and run what it wrote, all in the
jail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.agents.session_roles import RunCommand, SessionSpec, hold_session
from evolake.agents.session_tools import Call, Workspace
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
from evolake.solvers.evolution.coder_turn import (
    PARENT,
    TrialPlace,
    asked_for,
    ratio_text,
    run_text,
    word_in,
    word_of,
)
from evolake.solvers.evolution.planning import Base, KnownVariant
from evolake.solvers.execute import Program
from evolake.solvers.gates.runs import GateRunner, smoke_runs
from evolake.solvers.measurement.benchmark import StageLimits
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.repository.build import BuildResult, build_variant, open_program
from evolake.solvers.repository.variant import source_sha
from evolake.solvers.roles.coder import (
    CODER_SESSION,
    BenchFormulas,
    RunFormula,
    SessionReply,
    SessionRequest,
    Smoke,
)
from evolake.solvers.roles.models import CodeReply
from evolake.solvers.suites import Suite

SHOWN_LOG = 6_000
SHOWN_FAULTS = 6
YOURS = "yours"
RULES_FILE = f"{REFERENCE}/rules.md"
"""Where a session reads the rules with their whole texts."""


@dataclass(frozen=True)
class Shop:
    """The formulas and folders of the commands.

    smoke: the suite of the gate, with files. fresh: word of a draw -> formulas as those of training, with
    files. limits: of their runs. cache: folder for executables and copies of formulas.
    """

    blobs: Any
    cache: Path
    limits: StageLimits
    smoke: Callable[[], Suite]
    fresh: Callable[[str], Suite]
    cycle: str

    @property
    def trials(self) -> TrialPlace:
        """Return where formulas are drawn and run."""
        return TrialPlace(self.fresh, self.limits, self.cycle)


@dataclass
class SessionAuthor:
    """Holds a session for each plan. call: the jail of the file tools."""

    agents: Agents
    call: Call
    shop: Shop
    origin: str = field(init=False)
    turns: int = field(init=False)

    def __post_init__(self) -> None:
        self.origin = self.agents.backend.name
        settings = getattr(self.agents.backend, "session", None)
        self.turns = settings.turns if settings else 0

    def write(self, commission: Commission) -> Authored | AgentFailure:
        """Return the session's files as a diff; an AgentFailure with a typed status where it was not
        finished."""
        parent, base = commission.parents[0], commission.base

        def to_reply(card: SessionReply, workspace: Workspace) -> Authored:
            diff = diff_of(workspace, parent)
            return (
                Authored(CodeReply(title=card.title, changelog=card.changelog, diff=diff))
                if diff
                else Authored(None, NOTHING_CHANGED)
            )

        spec = SessionSpec(
            CODER_SESSION,
            request_of(commission, self.turns),
            source_workspace(parent, base),
            to_reply,
            commands(self.shop, base, parent, commission.plan["plan_id"]),
            parent.folder,
            reference=lambda: (
                reference_files(commission)
                | {RULES_FILE: "\n\n".join(commission.long_rules or commission.rules)}
            ),
        )
        ended = hold_session(self.agents, spec, self.call, seed=commission.seed)
        if isinstance(ended.value, AgentFailure) or ended.value.reply is None:
            return ended.value
        return replace(ended.value, made=lambda variant_id: self.agents.assign(ended.call_id, variant_id))


def request_of(commission: Commission, turns: int = 0) -> SessionRequest:
    """Return what the session is sent. turns: that it has; 0 if that is not known."""
    return SessionRequest(
        editable=list(commission.base.adapter.may_change),
        references=sorted([*references_of(commission), RULES_FILE]),
        turns=turns,
        **asked_for(commission),
    )


def commands(shop: Shop, base: Base, parent: KnownVariant, session: str) -> Mapping[str, RunCommand]:
    """Return the commands of a session on a child of `parent`.

    session: what distinguishes it from others. Formulas are drawn by it, the sources at that time and the
    number that the call names, so that a replay draws the same and a changed variant meets formulas that it
    was not changed for.
    """

    def built(folder: Path) -> BuildResult:
        return build_variant(folder, base.adapter, shop.blobs)

    def program(folder: Path) -> Program | str:
        result = built(folder)
        return open_program(result, base.adapter, shop.blobs, shop.cache) if result.ok else _log(result, shop)

    def drawn(folder: Path, purpose: str, draw: int) -> str:
        return word_of(session, source_sha(folder), purpose, str(draw))

    def build(folder: Path, arguments: Any) -> str:
        return _log(built(folder), shop)

    def smoke(folder: Path, arguments: Smoke) -> str:
        if isinstance(made := program(folder), str):
            return made
        runner, gate = (
            GateRunner("session", made, shop.cycle, shop.limits.smoke, shop.limits.proof),
            shop.smoke(),
        )
        chosen = shop.trials.draw(drawn(folder, "smoke", arguments.draw), arguments.formulas)
        rows, small = (
            smoke_runs(runner, chosen, cache=shop.cache),
            runner.run([runner.job(item, gate) for item in gate.instances]),
        )
        faulty = [row for row in small if row["status"] not in ("sat", "unsat")]
        counted = f"of {len(small)} small formulas of the gate, {len(faulty)} not answered as known"
        return "\n".join([_rows(rows), counted, _rows(faulty[:SHOWN_FAULTS])]).rstrip()

    def run_formula(folder: Path, arguments: RunFormula) -> str:
        if isinstance(made := program(folder), str):
            return made
        word = word_in(arguments.formula)
        there = [shop.smoke(), *([shop.fresh(word)] if word else [])]
        suites = {item.name: (item, suite.name) for suite in there for item in suite.instances}
        if arguments.formula not in suites:
            return (
                f"There is no formula of this name. There are, among others: {', '.join(list(suites)[:12])}."
            )
        instance, suite = suites[arguments.formula]
        return _rows(shop.trials.run({"session": made}, [instance], suite))

    def bench(folder: Path, arguments: BenchFormulas) -> str:
        if isinstance(made := program(folder), str):
            return made
        if isinstance(other := program(parent.folder), str):
            return f"The parent: {other}"
        chosen = shop.trials.draw(drawn(folder, "bench", arguments.draw), arguments.formulas)
        rows = shop.trials.run({YOURS: made, PARENT: other}, chosen.instances, chosen.name)
        return f"{_rows(rows, who=True)}\n{ratio_text(rows, PARENT, YOURS)}"

    return {"build": build, "smoke": smoke, "run_formula": run_formula, "bench": bench}


def _log(result: BuildResult, shop: Shop) -> str:
    log = shop.blobs.get(result.log_sha).decode("utf-8", "replace").strip()
    lines = [line for line in log.splitlines() if "error" in line.lower() or "undefined reference" in line]
    text = "\n".join(lines) if lines and not result.ok else log
    head = (
        f"It was built, with {result.warnings} warnings."
        if result.ok
        else f"It was not built: {result.reason}"
    )
    return head if result.ok and not result.warnings else f"{head}\n{text[-SHOWN_LOG:]}"


def _rows(rows: Rows, *, who: bool = False) -> str:
    return "\n".join(run_text(row, row["variant_id"] if who else "") for row in rows)
