"""What decides about variants, rules and objectives, and where planner, coders, analyst and writers read it.
Nothing of the holdout is among it."""

from __future__ import annotations

from evolake.agents.feedback import Feedback, columns_of, shown_in

CODERS = ("solvers_coder", "solvers_coder_session")
ATTEMPTS = ("solvers_planner.attempts", "solvers_analyst.attempts")
INCIDENTS = (
    "solvers_analyst.incidents",
    "solvers_analyst_session.incidents",
    "solvers_rule_writer.incidents",
)
BLOCKED = (*ATTEMPTS, "solvers_planner.tried", "solvers_coder_repair.error", *INCIDENTS)
STANDINGS = ("solvers_planner.standings", *(f"{role}.parent" for role in CODERS))
FAMILIES = ("solvers_planner.families", *(f"{role}.families" for role in CODERS), "solvers_analyst.families")
CONTESTS = (
    "solvers_planner.contests",
    *(f"{role}.contests" for role in CODERS),
    "solvers_analyst.contests",
    "solvers_analyst_session.contests",
    "solvers_objective_writer.contests",
)
OBJECTIVES, BLOCKED_OBJECTIVES = ("solvers_objective_writer.existing",), ("solvers_objective_writer.blocked",)
WITHIN = " ".join(f"solved_within_{share}" for share in (6, 12, 20, 40, 60, 90))
FEEDBACK = Feedback(
    tables=(
        "verdicts",
        "compliance",
        "binaries",
        "smoke",
        "correctness",
        "stability_runs",
        "gate_runs",
        "unmade",
        "coder_runs",
        "benchmark_runs",
        "metrics",
        "objectives",
        "objective_reviews",
        "objective_scores",
        "consensus_ranking",
        "consensus_ranking_weights",
        "attempts",
        "champion",
        "champion_families",
        "champion_trials",
        "champion_races",
        "holdout_runs",
        "post_mortem",
        "rule_proposals",
        "rule_metrics",
    ),
    shown={
        **shown_in(BLOCKED, "verdicts", "gate outcome reason"),
        **shown_in(INCIDENTS, "verdicts", "rule_id"),
        **shown_in(BLOCKED, "compliance", "gate reason"),
        **shown_in(INCIDENTS, "compliance", "rule_id"),
        **shown_in(BLOCKED, "binaries", "reason"),
        **shown_in(("solvers_coder_repair.error",), "binaries", "log_sha"),
        # of a trial, next to the parent's runs, and of the gate that blocked a variant
        **shown_in(
            ("solvers_coder_revise.measured", "solvers_coder_repair.error"),
            "gate_runs",
            "instance status conflicts proof_status problems",
        ),
        **shown_in(("solvers_coder_revise.measured",), "gate_runs", "cpu_s"),
        **shown_in(("solvers_coder_repair.error",), "gate_runs", "expected answer peak_mb"),
        **shown_in(ATTEMPTS, "unmade", "plan_id reason"),
        **shown_in(("solvers_coder_repair.error",), "unmade", "objections"),
        **shown_in(FAMILIES, "benchmark_runs", "family solved conflicts cpu_s answer_checked"),
        **shown_in(
            STANDINGS,
            "metrics",
            "instances instances_sat instances_unsat vbs_mismatch wrong unproved failed solved solved_sat "
            "solved_unsat memory_mean_mb memory_max_mb "
            f"additionally_solved checked_share fastest {WITHIN}",
        ),
        # none before the cycle `par2_hidden_until`
        **shown_in(STANDINGS, "metrics", "par2 par2_sat par2_unsat"),
        **shown_in(STANDINGS, "consensus_ranking", "rank consensus visits solved par2 wrong"),
        **shown_in(OBJECTIVES, "consensus_ranking_weights", "weight median_tau description"),
        **shown_in((*OBJECTIVES, *BLOCKED_OBJECTIVES), "objectives", "description"),
        **shown_in(OBJECTIVES, "objectives", "source"),
        **shown_in(BLOCKED_OBJECTIVES, "objectives", "state reason"),
        **shown_in(OBJECTIVES, "objective_reviews", "weight median_tau findings"),
        **shown_in(ATTEMPTS, "attempts", "outcome gate gain solved_gain"),
        **shown_in(
            CONTESTS,
            "champion",
            "champion_id challenger_id formulas solved_champion solved_challenger ratio ratio_low "
            "ratio_high noise_floor wins verdict reason",
        ),
        **shown_in(
            CONTESTS,
            "champion_families",
            "family formulas solved_champion solved_challenger par2_champion par2_challenger "
            "conflicts_champion conflicts_challenger",
        ),
        **shown_in(
            ("solvers_planner.findings", "solvers_analyst.earlier_findings"),
            "post_mortem",
            "title explanation",
        ),
        **shown_in(
            ("solvers_planner.rules", *(f"{role}.rules" for role in CODERS)), "rule_proposals", "text lesson"
        ),
        **shown_in(("solvers_rule_writer.rules",), "rule_proposals", "state reason"),
        # of the race before the contests, a line for each variant
        **shown_in(CONTESTS, "champion_races", "formulas solved par2 place survives stopped"),
    },
    left_out={
        "withheld: the holdout decides nothing, and no role reads a result on it": ("holdout_runs.*",),
        "withheld: formulas of contests and races are secret; champion and champion_families sum the "
        "contests up": ("champion_trials.*", "champion_races.instances"),
        "how many formulas of a family cost less and more: PAR-2 of both by family, which is shown, has "
        "the direction": ("champion_families.gained", "champion_families.lost"),
        "runs of a gate: the verdict has what it objects to": (
            "smoke.*",
            "correctness.*",
            "stability_runs.*",
        ),
        "a coding agent of the user's own: unmade has why nothing came of it": ("coder_runs.*",),
        "how the learned rules do as a whole, for people": ("rule_metrics.*",),
        "names the row": (
            "artifact_id",
            "variant_id",
            "objective_id",
            "plan_id",
            "cycle",
            "champion_families.champion_id",
            "champion_families.challenger_id",
            "gate_runs.gate",
            "finding_id",
            "rule_proposals.rule_id",
            "version",
            "attempts.base",
            "champion_races.rung",
        ),
        "says where the evidence is, which `evolake show` prints": (
            "gate_no",
            "rule_version",
            "ruleset_hash",
            "evidence_sha",
            "run_id",
            "program_sha",
            "formula_sha",
            "proof_sha",
            "text_sha",
            "post_mortem.evidence",
            "rule_proposals.evidence",
        ),
        "gate and reason say it": ("passed",),
        "single runs: metrics, and results by family, sum them up": columns_of(
            "benchmark_runs", "instance status answer certificate proof_status problems expected peak_mb"
        ),
        "the status and the problems of the run say it": columns_of(
            "gate_runs", "family solved answer_checked certificate"
        ),
        "how a run was set up": (
            "suite",
            "shuffle",
            "seed",
            "repeat",
            "timeout_s",
            "memory_mb",
            "metrics.runs",
        ),
        "figures of runs by which nothing is decided": (
            "proof_checker",
            "proof_bytes",
            "proof_cpu_s",
            "wall_s",
            "decisions",
            "propagations",
            "restarts",
            "instructions",
            "host",
            "binaries.cpu_s",
            "warnings",
            "flags",
        ),
        "solved and unproved say it": columns_of("metrics", "vbs_match proof_share"),
        "standings are in its order": ("consensus_ranking.ucb",),
        "the title and the hypothesis say it": ("attempts.changed",),
        "the source and the description say it": (
            *columns_of("objectives", "family parameters origin created_round"),
            "consensus_ranking_weights.family",
        ),
        "the weight follows from it, and is shown": ("multiplier", "objective_reviews.multiplier_before"),
        "the conditions say it": ("champion.pairs",),
        "the ratio with its interval says it": columns_of(
            "champion", "instances left_out par2_champion par2_challenger test"
        ),
        "a role's text that nothing is decided by; people read it": ("post_mortem.assessment",),
        "the rule that comes of it is shown": ("post_mortem.lesson", "post_mortem.subject"),
        "the reason says it": columns_of("rule_proposals", "blocked_failed blocked_accepted"),
        "an objective that fails on a probe is blocked, and its reason is shown; weight, agreement and "
        "rank follow from the scores": columns_of("objective_scores", "score status reason"),
        "a retired objective has no vote any more, and the writer is shown those that vote": (
            "objective_reviews.retired",
        ),
        "what the text of the rule was made from": columns_of(
            "rule_proposals", "check parameters rationale diff"
        ),
    },
)
