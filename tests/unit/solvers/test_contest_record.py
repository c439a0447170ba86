"""What later cycles are told of a contest: verdict, interval and families, never a formula; and of everything
that was tried."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from solver_lake import ID, duel_rows
from solver_runs import run_row

from evolake.agents import Agents
from evolake.agents.backends import OperatorsBackend
from evolake.agents.prompts import build_messages
from evolake.gates import load_rules
from evolake.settings import load
from evolake.solvers.evolution.analysis_facts import analysis_facts
from evolake.solvers.evolution.attempts_record import FAILED_PLANS, tried_ideas, with_failed_plans
from evolake.solvers.evolution.conditions import measuring_conditions
from evolake.solvers.evolution.contest_record import CONTESTS, contest_records, contest_texts, with_contests
from evolake.solvers.evolution.planning_facts import rank_notes, shown_contests
from evolake.solvers.evolution.population import RankedCycle, empty_population
from evolake.solvers.evolution.post_mortem import Evaluated, post_mortem
from evolake.solvers.measurement.duel import decide_duel, decision_rng
from evolake.solvers.measurement.duel_families import family_rows
from evolake.solvers.roles.analyst import ANALYST, findings_fault
from evolake.solvers.roles.models import Plan, PlanReply, PlanRequest, Standing
from evolake.solvers.roles.planner import PLANNER, plan_fault
from evolake.solvers.roles.review_models import AnalysisReply, AnalysisRequest, Finding, Incident
from evolake.solvers.roles.rules_to_show import prompt_knowledge, refused_rules, rule_lines, rule_names
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import CONTEST_FAMILIES, DECISIONS, DUELS, RUNS

SETTINGS = SolversSettings(train_instances=4, timeout_s=8.0)
CHAMPION, CHALLENGER = ID["alpha"], ID["fast"]
FAMILIES = {"u-1": "unsat-one", "u-2": "unsat-one", "s-1": "sat-one", "s-2": "sat-one"}


def trials() -> list[dict]:
    return [
        row | {"formula": row["instance"], "proof_bytes": 1} for row in duel_rows("0001", "alpha", "fast")
    ]


@pytest.fixture(scope="module")
def records() -> list[dict]:
    rows = trials()
    decision = decide_duel(DUELS.frame(rows), decision_rng(1, "0001", CHALLENGER)).row("0001")
    decision |= {
        "reason": "no gain beyond the noise: 90% of the differences are on the formula u-1@0001",
        "ratio_high": math.inf,
    }
    families = CONTEST_FAMILIES.frame(family_rows(rows, FAMILIES)).to_dicts()
    return contest_records([decision], families, {CHAMPION: "alpha", CHALLENGER: "fast"})


def test_a_contest_is_told_with_its_interval_and_by_family_and_names_no_formula(records: list[dict]) -> None:
    [text] = contest_texts(records)
    head, first, second = text.splitlines()
    assert head.startswith(
        f"Cycle 0001: {CHALLENGER[:12]} (fast) against the champion {CHAMPION[:12]} (alpha): "
    )
    assert (
        "PAR-2 ratio 2 (" in head and "to no upper end) on 4 fresh formulas; solved 4, the champion 4" in head
    )
    assert first == "  sat-one (2): solved 2, champion 2, PAR-2 ratio 2, conflicts ratio 1"
    assert second == "  unsat-one (2): solved 2, champion 2, PAR-2 ratio 2, conflicts ratio 1"
    assert "u-1" not in text and "90% of the differences are on one formula" in str(records)


def test_the_newest_contests_are_kept_and_one_that_is_made_again_replaces_its_first_form(
    records: list[dict],
) -> None:
    again = [records[0] | {"ratio": 3.0}]
    assert with_contests(records, again) == again
    many = [records[0] | {"cycle": f"{number:04d}"} for number in range(60)]
    assert with_contests(many[:50], many[50:]) == many[20:]


def test_rank_1_that_is_not_champion_is_explained(records: list[dict]) -> None:
    ranking = [{"variant_id": CHALLENGER, "rank": 1}, {"variant_id": CHAMPION, "rank": 2}]
    assert rank_notes(ranking, CHALLENGER, records) == []
    [lost] = rank_notes(ranking, CHAMPION, records)
    assert (
        "is rank 1 of the benchmark and not champion: it lost or did not win its contest of cycle 0001"
        in lost
    )
    [untried] = rank_notes(ranking, CHAMPION, [])
    assert "it has had no contest with this champion yet" in untried


def population(records: list[dict]):
    rows = [
        {
            "variant_id": CHAMPION,
            "state": "champion",
            "cycle": "0000",
            "title": "alpha",
            "base": "alpha",
            "operator": "seed",
            "parents": [],
        },
        {
            "variant_id": CHALLENGER,
            "state": "accepted",
            "cycle": "0001",
            "title": "fast",
            "base": "alpha",
            "operator": "rewrite",
            "hypothesis": "Half the work.",
            "parents": [CHAMPION],
        },
        {
            "variant_id": ID["liar"],
            "state": "blocked",
            "cycle": "0001",
            "title": "liar",
            "base": "alpha",
            "operator": "rewrite",
            "hypothesis": "Guess.",
            "parents": [CHAMPION],
            "gate": "correctness",
            "reason": "a wrong answer",
        },
    ]
    history = [
        {
            "variant_id": CHALLENGER,
            "cycle": "0001",
            "base": "alpha",
            "changed": [],
            "outcome": "accepted",
            "gain": 0.5,
            "solved_gain": 0.0,
        },
        {
            "variant_id": ID["liar"],
            "cycle": "0001",
            "base": "alpha",
            "changed": [],
            "outcome": "blocked",
            "gate": "correctness",
        },
    ]
    failed_proposals = with_failed_plans(
        [],
        [{"plan_id": "p", "cycle": "0001", "reason": "The diff does not apply"}],
        [{"plan_id": "p", "parent_ids": [CHAMPION], "hypothesis": "Restart sooner."}],
    )
    ranking = [
        {"variant_id": name, "cycle": "0001", "rank": place}
        for place, name in enumerate((CHALLENGER, CHAMPION), 1)
    ]
    return (
        empty_population()
        .with_tables(variants=rows, history=history, ranking=ranking)
        .with_values(**{CONTESTS: [records[0] | {"wins": False}], FAILED_PLANS: failed_proposals})
    )


def test_everything_that_was_tried_is_one_list_with_failed_plans_and_contests(records: list[dict]) -> None:
    ideas = tried_ideas(population(records))
    assert [(item.candidate, item.parent, item.outcome) for item in ideas] == [
        (CHALLENGER[:12], CHAMPION[:12], "not promoted"),
        (ID["liar"][:12], CHAMPION[:12], "blocked"),
        ("", CHAMPION[:12], "unmade"),
    ]
    assert [item.idea for item in ideas] == ["fast / Half the work.", "liar / Guess.", "Restart sooner."]
    assert (
        ideas[0].gain.startswith("rank +0.50, contest 2 (")
        and ideas[1].reason == "correctness: a wrong answer"
    )
    assert ideas[2].reason == "The diff does not apply"


def test_the_analyst_reads_the_verdict_the_champion_and_the_families(records: list[dict]) -> None:
    known = population(records)
    ranked = RankedCycle(known, [{"variant_id": CHALLENGER, "parents": [CHAMPION]}], known.ranking.to_dicts())
    runs = RUNS.frame(
        [
            run_row(name, f"{family}-{n}", "sat", 1.0)
            for name in (CHAMPION, CHALLENGER)
            for family in ("php", "rnd")
            for n in range(2)
        ]
    )
    decision = {"wins": False, "champion_id": CHAMPION, "challenger_id": CHALLENGER, "ratio": 1.0}
    facts = analysis_facts(ranked, runs, [decision], known.value(CONTESTS), settings=SETTINGS, cycle="0002")
    assert facts.champion == CHAMPION[:12] and facts.contests == shown_contests(known)
    request = AnalysisRequest(cycle="0002", incidents=[], accepted=1, **vars(facts))
    text = build_messages(ANALYST, request)[1]["content"]
    assert f"The champion is {CHAMPION[:12]}" in text and "not promoted" in text and "Restart sooner." in text
    assert f"php (2):\n  {CHAMPION[:12]}: solved 2, " in text


def finding(lesson: str, *evidence: str) -> Finding:
    return Finding(title="t", lesson=lesson, subject="s", explanation="e", evidence=list(evidence))


def incident(name: str, kind: str) -> Incident:
    return Incident(
        variant_id=name, base="b", kind=kind, gate="build", cause="c", detail="d", hypothesis="h", diff=""
    )


def test_a_finding_without_an_incident_and_a_plan_without_a_parent_get_one_more_turn() -> None:
    request = AnalysisRequest(cycle="0001", incidents=[incident("a" * 12, "blocked")], accepted=0)
    reply = AnalysisReply(
        assessment="", findings=[finding("failure", "a" * 64), finding("failure", "b" * 12)]
    )
    assert (
        findings_fault(request, reply)
        == f"finding 2 names no incident of this cycle in `evidence`; there are {'a' * 12}"
    )
    standing = Standing(
        variant_id="a" * 12,
        title="",
        base="b",
        operator="seed",
        rank=1,
        consensus=0,
        ucb=0,
        visits=0,
        instances=1,
        solved=1,
        solved_sat=1,
        solved_unsat=0,
    )
    asked = PlanRequest(cycle="0001", plans_wanted=2, standings=[standing], history=[])
    plan = Plan(parent_id="a" * 64, kind="rewrite", hypothesis="x", instructions="y")
    assert PLANNER.fault is plan_fault and plan_fault(asked, PlanReply(assessment="", plans=[plan])) == ""
    said = plan_fault(
        asked, PlanReply(assessment="", plans=[plan, plan, plan.model_copy(update={"parent_id": "c" * 12})])
    )
    assert (
        "plan 2 is the same as an earlier one" in said
        and f"plan 3: no variant '{'c' * 12}' may be built on" in said
    )


class Scripted(OperatorsBackend):
    """Operators that find what a test says, and count the calls of each role."""

    def __init__(self, reply: AnalysisReply) -> None:
        super().__init__("0001")
        self.reply, self.roles = reply, []

    def ask(self, job, record):
        self.roles.append(job.role.name)
        return self.reply if job.role is ANALYST else super().ask(job, record)


@pytest.mark.parametrize(
    ("gate", "lesson", "asked"), [("", "failure", 0), ("", "champion", 0), ("build", "failure", 1)]
)
def test_a_rule_writer_is_asked_only_if_something_failed(gate: str, lesson: str, asked: int) -> None:
    item = Evaluated(
        "a" * 64,
        "b",
        "h",
        "",
        (),
        (),
        blocked_gate=gate,
        measured=None if gate else {"solved": 2, "suite": "train", "par2": 1.0},
        parent_measured={"solved": 1, "suite": "train", "par2": 1.0},
        rank=1,
        parent_rank=2,
    )
    backend = Scripted(AnalysisReply(assessment="", findings=[finding(lesson, "a" * 12)]))
    with Agents(backend, line="solvers", cycle="0001") as agents:
        post_mortem(agents, [item], settings=SETTINGS, cycle="0001", root_seed=1)
    assert backend.roles.count("solvers_rule_writer") == asked


def test_rules_are_a_line_each_or_a_name_and_learned_ones_say_what_they_block() -> None:
    rules = load_rules(load().seeds / "rules", "solvers")
    lines, names = rule_lines(rules), rule_names(rules)
    assert all(len(line) < 200 and "\n" not in line for line in lines) and len("".join(lines)) < 4500
    assert len("".join(names)) < 1500 and any(
        line.startswith("at compliance: ") and "no-clocks" in line for line in names
    )
    assert "holdout" not in "".join([*lines, *names])
    assert prompt_knowledge(rules) == [] and len(rules.guidance) == 4
    own = [
        replace(rule, version=rule.version + 1)
        for rule in rules.guidance
        if rule.id == "solvers-domain-knowledge"
    ]
    assert (
        "Soundness must stay whole" in prompt_knowledge(replace(rules, guidance=tuple(own)))[0]
    )  # a version of a user's own is shown


def test_conditions_state_limits_contest_and_noise(records: list[dict]) -> None:
    text = "\n".join(measuring_conditions(SETTINGS, [records[0] | {"noise_floor": 1.07}]))
    assert (
        "8 s of processor time, 2048 MiB" in text
        and "factor of up to 1.07" in text
        and "4 fresh formulas" in text
    )
    assert "Noise" not in "\n".join(measuring_conditions(SETTINGS))


def test_a_plan_without_a_variant_shows_its_idea_and_why(tmp_path: Path):
    from evolake.lake import Lake
    from evolake.report.kinds import Artifact
    from evolake.solvers.report.artifacts import plan_text
    from evolake.solvers.tables import FAILED_PROPOSALS, PLANS

    lake, row = (
        Lake(tmp_path),
        {"plan_id": "p", "cycle": "0001", "instructions": "Restart sooner.", "hypothesis": "It helps."},
    )
    artifact = Artifact("p", "solvers", "plan", "It helps.", row=PLANS.frame([row]).to_dicts()[0])
    assert plan_text(lake, artifact) == "Restart sooner."
    failed_proposals = FAILED_PROPOSALS.frame(
        [{"plan_id": "p", "cycle": "0001", "reason": "The diff does not apply"}]
    )
    lake.publish("solvers", "unmade", failed_proposals, cycle="0001", run_id="run", schema=FAILED_PROPOSALS)
    assert plan_text(lake, artifact) == "Restart sooner.\n\nNo variant came of it: The diff does not apply"


def test_a_race_is_kept_with_the_first_contest_and_shown_a_line_a_variant(records: list[dict]) -> None:
    row = {
        "cycle": "0001",
        "rung": 1,
        "variant_id": CHALLENGER,
        "formulas": 4,
        "solved": 4.0,
        "par2": 0.25,
        "place": 1,
        "survives": True,
    }
    row |= {"stopped": None}
    out = row | {
        "variant_id": "d" * 64,
        "par2": 0.5,
        "place": 2,
        "survives": False,
        "stopped": "it was over twice the best",
    }
    later = row | {"rung": 2, "formulas": 8, "par2": 0.2}
    decision = dict.fromkeys(DECISIONS.columns) | {
        "champion_id": CHAMPION,
        "challenger_id": CHALLENGER,
        "solved_champion": 4,
        "solved_challenger": 4,
        "reason": "r",
        "cycle": "0001",
    }
    [kept] = contest_records([decision], [], {CHALLENGER: "fast", "d" * 64: "slow"}, [row, out, later])
    assert kept["race"] == [
        f"{CHALLENGER[:12]} (fast): place 1 after 8 formulas, solved 4, PAR-2 0.2 s, continued to a contest",
        "dddddddddddd (slow): place 2 after 4 formulas, solved 4, PAR-2 0.5 s, dropped out, stopped: it "
        "was over twice the best",
    ]
    [text] = contest_texts([records[0] | {"race": kept["race"]}])
    assert text.splitlines()[:3] == [
        "Cycle 0001, race on fresh formulas before the contests:",
        *(f"  {line}" for line in kept["race"]),
    ]
    assert contest_records([], [], {}, [row]) == []


def test_the_rule_writer_is_shown_which_proposals_did_not_come_into_force() -> None:
    active = {"rule_id": "learned-a", "state": "active", "reason": "it blocks 2 failed variants"}
    refused = {"rule_id": "learned-b", "state": "rejected", "reason": "it blocks an accepted variant"}
    assert refused_rules([active, refused]) == [
        "not in force: learned-b (rejected): it blocks an accepted variant"
    ]
    assert len(refused_rules([refused] * 9)) == 6
