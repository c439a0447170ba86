"""What later cycles are told of a contest: verdict, interval and families, never a formula; and of everything
that was tried."""

import math

import pytest
from solver_lake import ID, duel_rows

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend
from evolake.solvers.evolution.planning_facts import rank_notes
from evolake.solvers.evolution.population import (
    CONTESTS,
    FAILED_PLANS,
    contest_records,
    contest_texts,
    empty_population,
    race_lines,
    tried_ideas,
    with_failed_plans,
)
from evolake.solvers.evolution.post_mortem import Evaluated, post_mortem
from evolake.solvers.measurement.duel import decide_duel, decision_rng
from evolake.solvers.measurement.duel_families import family_rows
from evolake.solvers.roles.analyst import ANALYST
from evolake.solvers.roles.review_models import AnalysisReply, Finding
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import CONTEST_FAMILIES, DUELS

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


def test_a_contest_is_told_with_its_interval_and_by_family_and_names_no_formula(records):
    [text] = contest_texts(records)
    head, first, second = text.splitlines()
    assert head.startswith(
        f"Cycle 0001: {CHALLENGER[:12]} (fast) against the champion {CHAMPION[:12]} (alpha): "
    )
    assert (
        "Cost ratio 2 (" in head and "to no upper end) on 4 fresh formulas; solved 4, the champion 4" in head
    )
    assert first == "  sat-one (2): solved 2, champion 2, PAR-2 ratio 2, conflicts ratio 1"
    assert second == "  unsat-one (2): solved 2, champion 2, PAR-2 ratio 2, conflicts ratio 1"
    assert "u-1" not in text and "90% of the differences are on one formula" in str(records)


def test_rank_1_that_is_not_champion_is_explained(records):
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


def test_everything_that_was_tried_is_one_list_with_failed_plans_and_contests(records):
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


def finding(lesson: str, *evidence: str) -> Finding:
    return Finding(title="t", lesson=lesson, subject="s", explanation="e", evidence=list(evidence))


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
def test_a_rule_writer_is_asked_only_if_something_failed(gate, lesson, asked):
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


def test_a_race_compares_costs_on_the_same_formulas():
    rows = [
        {"variant_id": name * 64, "rung": rung, "formulas": formulas, "solved": formulas, "par2": par2}
        | {"place": place, "survives": survives, "stopped": None}
        for name, rung, formulas, par2, place, survives in [
            ("a", 1, 6, 0.32, 1, True),
            ("b", 1, 6, 0.48, 2, False),
            ("a", 2, 12, 0.5, 1, True),
        ]
    ]
    first, second = race_lines(rows, {"a" * 64: "one", "b" * 64: "two"})
    assert "place 1 after 12 formulas, solved 12, cost 1 of the first one's on these, continued" in first
    assert "place 2 after 6 formulas, solved 6, cost 1.5 of the first one's on these, dropped out" in second
    assert race_lines([], {}) == []
