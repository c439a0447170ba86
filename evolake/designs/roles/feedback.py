"""What decides about designs and objectives, and where planner, designers, objective writer and reviewer read
it."""

from __future__ import annotations

from evolake.agents.feedback import Feedback, columns_of, shown_in

PLANNER = ("designs_planner_lookup", "designs_planner_directions")
DESIGNERS = ("designs_designer", "designs_designer_session")
TRIED = ("designs_planner_directions.tried", *(f"{role}.tried" for role in DESIGNERS))
SUMMARIES = tuple(f"{role}.summaries" for role in PLANNER)
ANALYSIS = "designs_designer_analysis.designs"
RESULTS = ("designs_planner_directions.details", *(f"{role}.references" for role in DESIGNERS), ANALYSIS)
SCALING = RESULTS
OUTCOMES = tuple(
    f"{role}.outcomes"
    for role in (
        *PLANNER,
        *DESIGNERS,
        "designs_designer_analysis",
        "designs_meta_reviewer",
        "designs_objective_writer",
    )
)
OBJECTIVES = ("designs_objective_writer.existing", "designs_meta_reviewer.objectives")
RUNS = (
    "N max_work work_per_step median_work unsolved_fraction fidelity kind steps_run timed_out failure "
    "diverged"
)
FEEDBACK = Feedback(
    tables=(
        "verdicts",
        "unmade",
        "trials",
        "experiments",
        "promoted_experiments",
        "objectives",
        "final_scores",
        "consensus_ranking",
        "final_ranking",
        "final_ranking_weights",
        "meta_review",
        "analyses",
        "tuning",
        "extrapolations",
        "raced",
        "champion_trials",
        "champion_decisions",
        "champion_ablations",
    ),
    shown={
        **shown_in(TRIED, "verdicts", "gate outcome reason"),
        **shown_in(TRIED, "unmade", "reason idea"),
        **shown_in(
            ("designs_designer_revision.trial",),
            "trials",
            "side N batch pair max_work solved work_per_step median_work timed_out diverged failure",
        ),
        **shown_in(RESULTS, "experiments", RUNS),
        **shown_in(RESULTS, "promoted_experiments", RUNS),
        **shown_in(("designs_objective_writer.recent_results",), "experiments", "batch ratio max_steps"),
        **shown_in(
            ("designs_objective_writer.recent_results",), "promoted_experiments", "batch ratio max_steps"
        ),
        **shown_in(OBJECTIVES, "objectives", "description family multiplier created_round"),
        **shown_in(("designs_objective_writer.existing",), "objectives", "source"),
        **shown_in(("designs_objective_writer.blocked",), "objectives", "state reason"),
        **shown_in(("designs_meta_reviewer.scores",), "final_scores", "score"),
        # how many designs an objective gave no score
        **shown_in(OBJECTIVES, "final_scores", "status"),
        **shown_in((*SUMMARIES, ANALYSIS), "final_ranking", "rank"),
        **shown_in((*SUMMARIES, ANALYSIS), "final_ranking", "consensus"),
        **shown_in(SUMMARIES, "final_ranking", "visits ucb largest_solved median_work"),
        **shown_in(RESULTS, "final_ranking", "fidelity"),
        **shown_in(
            (*OBJECTIVES, *(f"{role}.objectives" for role in DESIGNERS)),
            "final_ranking_weights",
            "weight description",
        ),
        **shown_in(OBJECTIVES, "final_ranking_weights", "median_tau multiplier family"),
        **shown_in(
            ("designs_objective_writer.review_guidance", "designs_meta_reviewer.previous_guidance"),
            "meta_review",
            "guidance",
        ),
        **shown_in(OBJECTIVES, "meta_review", "multiplier assessment"),
        **shown_in(
            ("designs_planner_directions.outcomes",), "tuning", "hyper_values consensus status reason"
        ),
        **shown_in(
            ("designs_planner_directions.details", *(f"{role}.references" for role in DESIGNERS)),
            "analyses",
            "key_insight success_level",
        ),
        **shown_in(SCALING, "extrapolations", "expected_work low_work high_work levels"),
        # the reason has the ratio with its interval, the sizes, the law and the runs that were not solved
        **shown_in(
            OUTCOMES,
            "champion_decisions",
            "comparison challenger_id incumbent_id N pairs ratio ratio_low ratio_high bound target law "
            "sizes reason",
        ),
        **shown_in(TRIED, "champion_decisions", "wins"),
    },
    left_out={
        "the decision sums them up": ("champion_trials.*",),
        "racers are composed by operators; what enters the cycle is judged as all others are": ("raced.*",),
        "taken out of the champion to explain it; it decides nothing and is in the report": (
            "champion_ablations.*",
        ),
        "the first ranking of a cycle, which final_ranking replaces before anything is proposed": (
            "consensus_ranking.*",
        ),
        "names the row": (
            "artifact_id",
            "design_id",
            "objective_id",
            "cycle",
            "number",
            "stage",
            "trial",
            "analyses.fidelity",
            "final_scores.fidelity",
            "extrapolations.fidelity",
            "extrapolations.N",
        ),
        "says which rule it was and where the evidence is, which `evolake show` prints": (
            "gate_no",
            "rule_id",
            "rule_version",
            "ruleset_hash",
            "evidence_sha",
            "run_id",
        ),
        "chance, which all designs of a size share": ("seed",),
        "about the machine that it ran on": ("wall_s", "cpu_s", "profile", "engine"),
        "the schedule says it": columns_of("experiments", "level run_till_median")
        + columns_of("promoted_experiments", "level run_till_median")
        + columns_of("champion_decisions", "batch"),
        "figures of the paper, by which nothing is decided": (
            *columns_of("experiments", "together_step left_again"),
            *columns_of("promoted_experiments", "together_step left_again"),
        ),
        "whether half of the batch was solved, which is shown, decides": (
            "trials.unsolved_fraction",
            "trials.steps_run",
        ),
        "median work divided by work per step": (
            "experiments.median_step",
            "promoted_experiments.median_step",
            "final_ranking.median_step",
            "trials.median_step",
        ),
        "the description says it": ("objectives.parameters",),
        "an objective's gate has tried it on all designs before; how many have no score is shown": (
            "final_scores.reason",
        ),
        "the fidelity of its results says it": ("extrapolations.goes_on",),
        "the words of the reason say how it was decided": columns_of(
            "champion_decisions", "noise_floor test"
        ),
        "the idea says what was asked for": ("unmade.role",),
        "about where an objective comes from": columns_of(
            "objectives", "origin operator genome parents imported_from"
        ),
        "the multiplier of now is shown": ("meta_review.multiplier_before",),
        "the graph search reads it: visits are shown": ("analyses.reference_weights",),
        "a new name of the design, which keeps its title": ("analyses.short_name",),
        "the rank is shown": ("extrapolations.place",),
        "the consensus of the trial follows from it": columns_of(
            "tuning", "largest_solved median_step median_work"
        ),
        "a role's text that nothing is decided by; people read it": (
            *columns_of("analyses", "detailed_analysis comparison_to_references recommended_next_steps"),
            *columns_of("meta_review", "research_phase research_assessment"),
        ),
    },
)
