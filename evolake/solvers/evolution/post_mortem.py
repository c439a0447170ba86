"""The post-mortem of a cycle: compile errors, gate blocks, regressions and gains become findings, and
findings become rule proposals. Its analyst answers once or as a session of a model, and is shown what decided
the cycle: contests, champion, results by family, and what earlier cycles tried.

A proposal names a registered checker with parameters and the variants it rests on; `learned_rules.decide`
replays it on stored evidence. Benchmark numbers in an incident are solved counts; PAR-2 joins them from the
cycle on in which roles may see it. The session's workspace holds what the one-shot analyst is shown, whole,
and the sources next to it. Contests are sent by their verdict and by family: no formula of one, no holdout
formula and no PAR-2 that roles may not see yet is in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from evolake.agents import AgentFailure, Agents
from evolake.agents.attempts import attempts_table
from evolake.agents.session_roles import SessionSpec, hold_session, require_model
from evolake.agents.session_tools import Workspace
from evolake.seeds import child_seed
from evolake.settings import Settings
from evolake.solvers.edits import Edit
from evolake.solvers.evolution.planning import LINE, MAX_FINDINGS, par2_visible, refuse_holdout
from evolake.solvers.evolution.planning_facts import MOST_CONTESTS, family_results, rank_notes
from evolake.solvers.evolution.population import (
    CONTESTS,
    RankedCycle,
    contest_texts,
    tried_ideas,
    with_contests,
)
from evolake.solvers.evolution.solver_contest import champion_after
from evolake.solvers.roles.analyst import (
    ANALYST,
    ANALYST_SESSION,
    RULE_WRITER,
    AnalysisSessionRequest,
    IncidentCard,
)
from evolake.solvers.roles.coder import models_of
from evolake.solvers.roles.models import SHORT_ID, Attempt, EditModel, FamilyResult
from evolake.solvers.roles.review_models import (
    AnalysisReply,
    AnalysisRequest,
    CheckerSpec,
    Finding,
    Incident,
    RuleReply,
    RuleRequest,
)
from evolake.solvers.roles.shown import families_text
from evolake.solvers.rules.edits import LEARNED_CHECKERS
from evolake.solvers.settings import SolversSettings

NOTES = "notes.md"


@dataclass(frozen=True)
class SessionAnalyst:
    """Holds the session of a cycle. sources: base -> path -> text, of the solvers that variants descend from.
    jail: opens the jail of the tools."""

    jail: Callable[[], AbstractContextManager[Any]]
    sources: Callable[[], Mapping[str, Mapping[str, str]]] = field(default=dict)

    def analyse(self, agents: Agents, request: AnalysisRequest, *, seed: int) -> AnalysisReply | AgentFailure:
        """Return what the session finished with."""
        sources = {
            base: files
            for base, files in self.sources().items()
            if base in {item.base for item in request.incidents}
        }
        files = {
            f"sources/{base}/{name}": text
            for base, tree in sorted(sources.items())
            for name, text in tree.items()
        }
        files |= {
            "cycle/families.txt": families_text(request.families),
            "cycle/attempts.txt": request.attempts,
        }
        for item in request.incidents:
            files |= files_of(item)
        asked = AnalysisSessionRequest(
            cycle=request.cycle,
            accepted=request.accepted,
            earlier_findings=request.earlier_findings,
            sources=[f"sources/{base}" for base in sorted(sources)],
            champion=request.champion,
            contests=request.contests,
            incidents=[
                IncidentCard(
                    variant_id=item.variant_id,
                    base=item.base,
                    kind=item.kind,
                    gate=item.gate,
                    cause=item.cause,
                    files=sorted(files_of(item)),
                )
                for item in request.incidents
            ],
        )
        with self.jail() as pool:
            spec = SessionSpec(
                ANALYST_SESSION,
                asked,
                Workspace(files, lambda path: path == NOTES),
                lambda reply, workspace: reply,
                must_change=False,
            )
            return hold_session(agents, spec, pool.call, seed=seed).value


def files_of(item: Incident) -> dict[str, str]:
    """Return what was said of one incident, and its diff."""
    gain = "" if item.solved_gain is None else f"Solved more than its parent: {item.solved_gain:g}\n"
    head = f"# {item.variant_id}, a child of {item.base}\n\n{item.kind} at {item.gate}: {item.cause}\n{gain}"
    text = f"{head}\n## What it was for\n\n{item.hypothesis}\n\n## What was said\n\n{item.detail}\n"
    return {
        f"incidents/{item.variant_id}/told.md": text,
        f"incidents/{item.variant_id}/change.diff": item.diff,
    }


def check_analyst(settings: Settings) -> None:
    """Raise InputError where the setting `analyst` cannot be followed."""
    require_model("an analyst", ANALYST_SESSION, settings.of(SolversSettings).analyst, settings.backend)


MAX_INCIDENTS = 24
MAX_RULES = 6
BENCHMARK = "benchmark"


@dataclass(frozen=True)
class Evaluated:
    """A variant after its cycle, with what is needed of its first parent.

    blocked_gate, blocked_rule, reason: "" for one that passed. feedback: what the coder was shown. measured,
    parent_measured: rows of METRICS of the suite that variants are ranked on, None if there is none.
    parent_edits: () for a seed. rank, parent_rank: of the same ranking.
    """

    variant_id: str
    base: str
    hypothesis: str
    diff: str
    edits: tuple[Edit, ...] | None
    parent_edits: tuple[Edit, ...] | None
    blocked_gate: str = ""
    blocked_rule: str = ""
    reason: str = ""
    feedback: str = ""
    measured: Mapping[str, Any] | None = None
    parent_measured: Mapping[str, Any] | None = None
    rank: int | None = None
    parent_rank: int | None = None


@dataclass(frozen=True)
class PostMortem:
    """Findings; proposals as `learned_rules.decide` takes them; calls that gave no reply."""

    assessment: str = ""
    findings: tuple[Finding, ...] = ()
    proposals: tuple[dict[str, Any], ...] = ()
    failures: tuple[AgentFailure, ...] = field(default=())


@dataclass(frozen=True)
class CycleFacts:
    """What decided a cycle, as the analyst is sent it; see the fields of AnalysisRequest."""

    champion: str = ""
    contests: list[str] = field(default_factory=list)
    families: list[FamilyResult] = field(default_factory=list)
    attempts: str = ""
    earlier_findings: list[str] = field(default_factory=list)


def post_mortem(
    agents: Agents,
    evaluated: Sequence[Evaluated],
    *,
    settings: SolversSettings,
    cycle: str,
    root_seed: int,
    rules: Sequence[str] = (),
    session: SessionAnalyst | None = None,
    facts: CycleFacts | None = None,
) -> PostMortem:
    """Return what one cycle teaches; nothing if nothing happened that could be learnt from.

    Args:
        evaluated: all variants of the cycle, the accepted ones too. rules: the active rules, in words.
        session: who reads the cycle in a session; None: the analyst is asked once. facts: what decided, for
            the analyst.

    Raises:
        InputError: a measurement is of `holdout_suite`.
    """
    incidents = [
        result
        for item in evaluated
        if (result := incident_of(item, settings=settings, cycle=cycle)) is not None
    ][:MAX_INCIDENTS]
    if not incidents:
        return PostMortem()
    request = AnalysisRequest(
        cycle=cycle,
        incidents=incidents,
        accepted=sum(not item.blocked_gate for item in evaluated),
        **vars(facts or CycleFacts()),
    )
    seed = child_seed(root_seed, LINE, cycle, "analysis")
    reply = (
        agents.call(ANALYST, request, seed=seed).value
        if session is None
        else session.analyse(agents, request, seed=seed)
    )
    if isinstance(reply, AgentFailure):
        return PostMortem(failures=(reply,))
    whole = {item.variant_id[:SHORT_ID]: item.variant_id for item in evaluated}
    findings = [item for item in reply.findings if any(name[:SHORT_ID] in whole for name in item.evidence)][
        :MAX_RULES
    ]
    requests = [
        _rule_request(item, incidents, evaluated, rules)
        for item in findings
        if _rests_on_failure(item, incidents)
    ]
    seeds = [child_seed(root_seed, LINE, cycle, "rule", number) for number in range(len(requests))]
    replies = [reply.value for reply in agents.call_many(RULE_WRITER, requests, seeds=seeds)]
    failures = tuple(item for item in replies if isinstance(item, AgentFailure))
    proposals = tuple(proposal_of(item, whole) for item in replies if not isinstance(item, AgentFailure))
    return PostMortem(reply.assessment, tuple(findings), proposals, failures)


def incident_of(item: Evaluated, *, settings: SolversSettings, cycle: str) -> Incident | None:
    """Return what can be learnt from one variant; None for one that passed and did as its parent did."""
    refuse_holdout([row for row in (item.measured, item.parent_measured) if row], settings)
    changed, lost = changes(item.edits, item.parent_edits)
    shared = {
        "variant_id": item.variant_id[:SHORT_ID],
        "base": item.base,
        "hypothesis": item.hypothesis,
        "diff": item.diff,
        "edits": models_of(item.edits or ()),
        "changed": changed,
        "lost": lost,
    }
    if item.blocked_gate:
        return Incident(
            kind="blocked",
            gate=item.blocked_gate,
            cause=item.blocked_rule,
            detail=item.feedback or item.reason,
            **shared,
        )
    if item.measured is None or item.parent_measured is None:
        return None
    gain = float(item.measured["solved"]) - float(item.parent_measured["solved"])
    if gain:
        better = gain
    elif item.rank and item.parent_rank:
        better = float((item.parent_rank or 0) - (item.rank or 0))
    else:
        better = 0.0
    if not better:
        return None
    detail = f"solved {item.measured['solved']:g} instances, its parent {item.parent_measured['solved']:g}"
    detail += f"; rank {item.rank}, its parent {item.parent_rank}"
    if par2_visible(settings, cycle):
        detail += f"; PAR-2 {item.measured['par2']:.4g}, its parent {item.parent_measured['par2']:.4g}"
    return Incident(
        kind="improved" if better > 0 else "regressed",
        gate=BENCHMARK,
        cause="solved" if gain else "rank",
        detail=detail,
        solved_gain=gain,
        **shared,
    )


def attempt_of(item: Evaluated, ranked: int, settings: SolversSettings) -> Attempt:
    """Return the variant as an entry of the planner's history. `ranked`: how many variants the ranking holds.

    Raises:
        InputError: a measurement is of `holdout_suite`.
    """
    refuse_holdout([row for row in (item.measured, item.parent_measured) if row], settings)
    gain = (item.parent_rank - item.rank) / max(1, ranked) if item.rank and item.parent_rank else None
    solved = None
    if item.measured is not None and item.parent_measured is not None:
        solved = float(item.measured["solved"]) - float(item.parent_measured["solved"])
    return Attempt(
        variant_id=item.variant_id[:SHORT_ID],
        base=item.base,
        changed=changes(item.edits, item.parent_edits)[0],
        outcome="blocked" if item.blocked_gate else "accepted",
        gate=item.blocked_gate,
        gain=gain,
        solved_gain=solved,
    )


def changes(edits: Sequence[Edit] | None, before: Sequence[Edit] | None) -> tuple[list[str], list[str]]:
    """Return keys of edits that a child has again or with other values, and of those that it lost; empty
    where one of them is no list of edits."""
    if edits is None or before is None:
        return [], []
    mine, theirs = {edit.key: edit for edit in edits}, {edit.key: edit for edit in before}
    return sorted(key for key, edit in mine.items() if theirs.get(key) != edit), sorted(
        set(theirs) - set(mine)
    )


def checker_specs() -> list[CheckerSpec]:
    """Return the checkers that a learned rule may name, in the words of their docstrings."""
    from evolake.gates import find_checker

    specs = []
    for name in LEARNED_CHECKERS:
        function = find_checker(name)
        head = ", ".join(
            f"{key}: {value}"
            for key, value in function.__annotations__.items()
            if key not in ("evidence", "return")
        )
        text = " ".join((function.__doc__ or "").partition("Raises:")[0].split())
        specs.append(CheckerSpec(name=name, meaning=f"Parameters {head}. {text}"))
    return specs


def _rests_on_failure(finding: Finding, incidents: Sequence[Incident]) -> bool:
    """Return whether something failed that a rule could block: of the incidents it names or, for what must be
    kept, of the whole cycle."""
    keeps = finding.lesson == "champion"
    return any(
        item.kind != "improved"
        and (keeps or item.variant_id in {name[:SHORT_ID] for name in finding.evidence})
        for item in incidents
    )


def proposal_of(reply: RuleReply, whole: Mapping[str, str]) -> dict[str, Any]:
    """Return a rule writer's reply as `learned_rules.decide` takes it, with whole ids."""
    evidence = [whole[name[:SHORT_ID]] for name in reply.evidence if name[:SHORT_ID] in whole]
    return {
        "name": reply.name,
        "lesson": reply.lesson,
        "check": reply.check,
        "parameters": dict(reply.parameters),
        "rationale": reply.rationale,
        "evidence": evidence,
    }


def _rule_request(
    finding: Finding, incidents: Sequence[Incident], evaluated: Sequence[Evaluated], rules: Sequence[str]
) -> RuleRequest:
    bases = {item.base for item in incidents if item.variant_id in finding.evidence}
    accepted: list[list[EditModel]] = [
        models_of(item.edits)
        for item in evaluated
        if item.edits is not None and item.base in bases and _accepted(item)
    ]
    return RuleRequest(
        finding=finding,
        incidents=list(incidents),
        checkers=checker_specs(),
        rules=list(rules),
        accepted=accepted,
    )


def _accepted(item: Evaluated) -> bool:
    """Return whether a variant passed all gates and did no worse than its parent: what a rule must not
    block."""
    if item.blocked_gate:
        return False
    worse = (
        item.measured is not None
        and item.parent_measured is not None
        and item.measured["solved"] < item.parent_measured["solved"]
    )
    return not worse


MOST_VARIANTS = 12


def analysis_facts(
    ranked: RankedCycle,
    runs: pl.DataFrame,
    decisions: Sequence[Mapping[str, Any]],
    contests: Sequence[Mapping[str, Any]],
    *,
    settings: SolversSettings,
    cycle: str,
) -> CycleFacts:
    """Return the facts of a cycle.

    Args:
        runs: rows of RUNS that compare. decisions: rows of DECISIONS. contests: records of this cycle's
            contests.

    Raises:
        InputError: a run is of `holdout_suite`.
    """
    champion_id = champion_after(ranked, decisions)
    records = with_contests(ranked.population.value(CONTESTS, []), contests)
    parents = [parent for row in ranked.variants for parent in row["parents"] or ()]
    named = dict.fromkeys([champion_id, *(row["variant_id"] for row in ranked.variants), *parents])
    return CycleFacts(
        champion_id[:SHORT_ID],
        [*contest_texts(records[-MOST_CONTESTS:]), *rank_notes(ranked.ranking, champion_id, records)],
        family_results(
            runs, [name[:SHORT_ID] for name in named][:MOST_VARIANTS], settings=settings, cycle=cycle
        ),
        attempts_table(tried_ideas(ranked.population)),
        [f"{row['title']}: {row['explanation']}" for row in ranked.population.findings.to_dicts()][
            -MAX_FINDINGS:
        ],
    )
