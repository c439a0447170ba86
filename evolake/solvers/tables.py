"""Types of the tables of the solvers line that hold measurements, rankings and the champion.

A run is one process on one formula. `instance` names the formula (shuffles have their own names), `shuffle`
is 0 for the formula as generated.
"""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import TableSchema

TERMS = {
    "base": "Seed solver that it descends from.",
    "certificate": (
        "What proves the answer: model (checked on the formula) or proof (verified by a checker); null if "
        "nothing does."
    ),
    "challenger_id": "Variant that tried to become champion.",
    "champion_id": "Variant that held the title when the duel began.",
    "changed": "What its author says it changed.",
    "conflicts": "Conflicts that the solver reports; null where it reports none.",
    "decisions": "Decisions that the solver reports; null where it reports none.",
    "expected": "Known status of the formula: SAT, UNSAT or unknown.",
    "formula_sha": "sha256 (hex) of the formula's file, its name among the blobs.",
    "gate": "Gate that blocked it; null or empty if none did.",
    "instance": "Formula by name; shuffled copies have their own names.",
    "instances": "How many different formulas, copies counted.",
    "instructions": "Machine instructions counted by the kernel; null where it counts none.",
    "memory_mb": "Memory that the run was allowed, in MiB.",
    "noise_floor": (
        "Ratio of PAR-2 that repeated passes of one side stay within; 1 is no noise. Reported only: the "
        "interval decides."
    ),
    "origin": "Where it comes from: seed, operators, model, command (an agent of the user's own) or submitted.",  # noqa: E501
    "par2": "Mean PAR-2 in seconds: processor time of a solved run, twice the timeout of any other.",
    "plan_id": "Plan that it follows: sha256 (hex); null for a seed.",
    "proof_bytes": "Length of the proof that the run wrote, in bytes; null where the solver writes none.",
    "proof_checker": "Which checkers judged the proof; joined by and where two did.",
    "proof_cpu_s": "Processor time of checking the proof, in seconds.",
    "proof_sha": "sha256 (hex) of the proof.",
    "proof_status": (
        "Of an UNSAT answer: verified, refuted (a step does not follow), missing (empty file), incomplete "
        "(no empty clause), malformed (unreadable), unsupported (another format), unknown (a limit, or "
        "none) or unchecked."
    ),
    "propagations": "Propagations that the solver reports; null where it reports none.",
    "ratio": "PAR-2 of the champion over the challenger's; above 1 is a gain.",
    "ratio_high": "Upper end of the 95% interval of the ratio (over formulas, with their shuffles and passes).",  # noqa: E501
    "ratio_low": "Lower end of the 95% interval of the ratio (over formulas, with their shuffles and passes).",  # noqa: E501
    "restarts": "Restarts that the solver reports; null where it reports none.",
    "rule_id": "Rule that blocked it; null if none did.",
    "shuffle": "Which equivalent copy of the formula it is; 0 is the formula as generated.",
    "solved": "Whether the answer is certified and came within timeout_s of processor time.",
    "status": (
        "sat, unsat, unknown, timeout, clock (ended by the clock with processor time left: no result), "
        "memory, crash, refused (ended with an error and no answer), unread (so, and it said that it "
        "cannot read the formula), malformed, or wrong (refuted)."
    ),
    "suite": "Set of formulas that it was run on.",
    "timeout_s": "Processor time that a run was allowed, in seconds.",
    "variant_id": "Variant of a solver's repository: sha256 (hex) of its source tree.",
    "wins": (
        "Whether the whole interval of the ratio is above 1, no fewer formulas are solved, and no answer "
        "is refuted."
    ),
    "wrong": "Answers that are refuted.",
}
"""What the columns mean that several of the tables below have; see `TableSchema`."""

CLOCK = "clock"
"""Status of a run that the clock ended with processor time left, because the machine was too busy: no result,
see `process.execute.starved`."""
REFUSED, UNREAD = "refused", "unread"
"""Statuses of a run that ended by itself with an error and no answer; unread: and it said that it cannot read
the formula."""
LATE_GATES = ("benchmark", "duel", "holdout")
"""Stages in which a variant that passed all gates can still be blocked permanently; see `soundness`."""
_RUN_COLUMNS = {
    "variant_id": pl.String,
    "cycle": pl.String,
    "suite": pl.String,
    "instance": pl.String,
    "family": (pl.String, "Kind of formula, e.g. random-3; shuffled copies keep it."),
    "expected": pl.String,
    "formula_sha": pl.String,
    "shuffle": pl.Int64,
    "seed": (pl.Int64, "Seed of the formula's generator, or of the shuffle."),
    "repeat": (pl.Int64, "Which repetition of the run on this formula, from 0."),
    "status": pl.String,
    "answer": (
        pl.String,
        "What the solver said, SAT or UNSAT, also when it is wrong; null without an answer.",
    ),
    "solved": pl.Boolean,
    "answer_checked": (pl.Boolean, "Whether the answer was looked at; a proof that was not drawn was not."),
    "certificate": pl.String,
    "proof_status": pl.String,
    "proof_checker": pl.String,
    "proof_sha": pl.String,
    "proof_bytes": pl.Int64,
    "proof_cpu_s": pl.Float64,
    "problems": (pl.String, "What was wrong with the run or its answer; null for nothing."),
    "cpu_s": pl.Float64,
    "wall_s": pl.Float64,
    "peak_mb": pl.Float64,
    "conflicts": pl.Int64,
    "decisions": pl.Int64,
    "propagations": pl.Int64,
    "restarts": pl.Int64,
    "instructions": pl.Int64,
    "timeout_s": pl.Float64,
    "memory_mb": pl.Int64,
    "host": pl.String,
}
_RUN_KEYS = ("variant_id", "suite", "instance", "timeout_s", "repeat")
_RUN_PROVENANCE = ("wall_s", "host")

GATED = TableSchema(
    "gated",
    2,
    {
        "variant_id": pl.String,
        "cycle": pl.String,
        "gate": pl.String,
        "passed": (pl.Boolean, "Whether every rule of the gate passed it."),
        "rule_id": pl.String,
        "reason": pl.String,
        "evidence_sha": pl.String,
    },
    keys=("variant_id",),
    terms=TERMS,
)
"""Without the rules' versions, which the verdicts hold: an edit of a rule that flips no verdict leaves this
content, and what rests on it, alone."""

RUNS = TableSchema("benchmark_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE, terms=TERMS)
SMOKE_RUNS = TableSchema(
    "smoke_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE, terms=TERMS
)
CORRECTNESS_RUNS = TableSchema(
    "correctness_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE, terms=TERMS
)
STABILITY_RUNS = TableSchema(
    "stability_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE, terms=TERMS
)
HOLDOUT_RUNS = TableSchema(
    "holdout_runs", 1, _RUN_COLUMNS, keys=_RUN_KEYS, provenance=_RUN_PROVENANCE, terms=TERMS
)
GATE_RUNS = TableSchema(
    "gate_runs",
    1,
    {
        "gate": (
            pl.String,
            "Gate that the run was made for: smoke, correctness or stability; or trial, next to the "
            "parent before the benchmark.",
        ),
        **RUNS.described,
    },
    keys=("gate", *RUNS.keys),
    provenance=RUNS.provenance,
    terms=TERMS,
)
"""The runs that the coder's variants were judged on when they were made, in their last form, and those next
to their parents that a model read."""

BINARIES = TableSchema(
    "binaries",
    2,
    {
        "variant_id": pl.String,
        "cycle": pl.String,
        "passed": pl.Boolean,
        "program_sha": (pl.String, "Blob with the built program; null where the build failed."),
        "log_sha": (pl.String, "Blob with what the build printed."),
        "warnings": (pl.Int64, "How many times the compiler warned."),
        "cpu_s": (pl.Float64, "Processor time of the build, in seconds."),
        "reason": pl.String,
        "flags": (
            pl.List(pl.String),
            "Command lines of compilers and linkers without names of files, as the kernel saw them.",
        ),
    },
    keys=("variant_id",),
    terms=TERMS,
)

CUT_OFF_SHARES = (6, 12, 20, 40, 60, 90)
METRICS = TableSchema(
    "metrics",
    2,
    {
        "variant_id": pl.String,
        "cycle": pl.String,
        "suite": pl.String,
        "timeout_s": pl.Float64,
        "instances": pl.Int64,
        "instances_sat": (pl.Int64, "How many of them are satisfiable, as far as that is known."),
        "instances_unsat": (pl.Int64, "How many of them are unsatisfiable, as far as that is known."),
        "runs": (pl.Int64, "How many runs, repetitions included."),
        "vbs_match": (
            pl.Int64,
            "Formulas with a certified answer that agrees with the known truth (virtual best solver).",
        ),
        "vbs_mismatch": (
            pl.Int64,
            "Formulas with an answer that contradicts the known truth (virtual best solver).",
        ),
        "wrong": pl.Int64,
        "unproved": (pl.Int64, "UNSAT answers that were checked and have no certificate."),
        "failed": (
            pl.Int64,
            "Runs that ended in a crash, with an error, out of memory or with malformed output.",
        ),
        "solved": (pl.Float64, "Formulas solved, as a mean over repetitions."),
        "solved_sat": (pl.Float64, "Satisfiable formulas solved, as a mean over repetitions."),
        "solved_unsat": (pl.Float64, "Unsatisfiable formulas solved, as a mean over repetitions."),
        **{
            f"solved_within_{share}": (
                pl.Float64,
                f"Formulas solved within {share}% of the timeout, as a mean over repetitions.",
            )
            for share in CUT_OFF_SHARES
        },
        "memory_mean_mb": (pl.Float64, "Mean over the runs of the most memory held, in MiB."),
        "memory_max_mb": (pl.Float64, "Most memory held by any run, in MiB."),
        "additionally_solved": (pl.Int64, "Formulas solved at least once that no baseline ever solves."),
        "par2": pl.Float64,
        "par2_sat": (pl.Float64, "PAR-2 over the satisfiable formulas, in seconds."),
        "par2_unsat": (pl.Float64, "PAR-2 over the unsatisfiable formulas, in seconds."),
        "proof_share": (
            pl.Float64,
            "Share of UNSAT answers with a verified proof; null without such answers.",
        ),
        "checked_share": (
            pl.Float64,
            "Share of UNSAT answers whose proof was looked at; the others count as unsolved. Null without "
            "such answers.",
        ),
        "fastest": (
            pl.Int64,
            "Formulas solved on which no other variant took less processor time; ties count for each.",
        ),
    },
    keys=("variant_id", "suite", "timeout_s"),
    terms=TERMS,
)
OBJECTIVES = TableSchema(
    "objectives",
    1,
    {
        "objective_id": pl.String,
        "state": (pl.String, "accepted (votes), blocked (by its trial) or retired (votes no more)."),
        "cycle": pl.String,
        "created_round": pl.Int64,
        "family": pl.String,
        "parameters": pl.String,
        "description": pl.String,
        "source": (pl.String, "Text of its Python function."),
        "multiplier": pl.Float64,
        "origin": pl.String,
        "reason": pl.String,
    },
    keys=("objective_id",),
    terms=TERMS,
)
OBJECTIVE_REVIEWS = TableSchema(
    "objective_reviews",
    1,
    {
        "objective_id": pl.String,
        "cycle": pl.String,
        "weight": (
            pl.Float64,
            "Share in the consensus by the multipliers before; the shares of a cycle sum to 1.",
        ),
        "median_tau": (
            pl.Float64,
            "Median rank correlation (Kendall's tau) with the other objectives, by the multipliers before.",
        ),
        "findings": (pl.List(pl.String), "What the review noticed about it."),
        "multiplier_before": pl.Float64,
        "multiplier": (pl.Float64, "Factor on the objective's weight from now on; 1 is neutral."),
        "retired": (pl.Boolean, "Whether it votes no more."),
    },
    keys=("objective_id",),
    terms=TERMS,
)
"""What a cycle's review said of each objective that voted before it."""
SCORES = TableSchema(
    "objective_scores",
    1,
    {
        "objective_id": pl.String,
        "variant_id": pl.String,
        "cycle": pl.String,
        "score": pl.Float64,
        "status": (pl.String, "ok, or how the objective failed on this variant."),
        "reason": pl.String,
    },
    keys=("objective_id", "variant_id"),
    terms=TERMS,
)
RANKING = TableSchema(
    "consensus_ranking",
    1,
    {
        "variant_id": pl.String,
        "cycle": pl.String,
        "rank": (pl.Int64, "Place by consensus; 1 is best."),
        "consensus": pl.Float64,
        "visits": pl.Float64,
        "ucb": pl.Float64,
        "solved": (pl.Float64, "Formulas of the benchmark solved, as a mean over repetitions."),
        "par2": pl.Float64,
        "wrong": pl.Int64,
    },
    keys=("variant_id",),
    terms=TERMS,
)
WEIGHTS = TableSchema(
    "consensus_weights",
    1,
    {
        "objective_id": pl.String,
        "cycle": pl.String,
        "weight": (pl.Float64, "Share of the objective in the consensus; the shares of a cycle sum to 1."),
        "median_tau": (pl.Float64, "Median rank correlation (Kendall's tau) with the other objectives."),
        "family": pl.String,
        "description": pl.String,
    },
    keys=("objective_id",),
    terms=TERMS,
)
DUELS = TableSchema(
    "champion_trials",
    3,
    {
        "cycle": pl.String,
        "champion_id": pl.String,
        "challenger_id": pl.String,
        "instance": pl.String,
        "formula": (
            pl.String,
            "Formula that the instance comes from: shuffled copies share it and count as one.",
        ),
        "pair": (pl.Int64, "Which pass over the suite, from 0."),
        "part": (pl.String, "Whose run it is: champion or challenger."),
        "place": (pl.Int64, "Whether it ran first (0) or second (1) of its pair on the same core."),
        "variant_id": pl.String,
        "status": pl.String,
        "solved": pl.Boolean,
        "certificate": pl.String,
        "proof_status": pl.String,
        "cpu_s": pl.Float64,
        "conflicts": pl.Int64,
        "timeout_s": pl.Float64,
        "host": pl.String,
        "proof_bytes": (pl.Int64, "Length of the proof that the run wrote, in bytes; null without one."),
    },
    keys=("cycle", "challenger_id", "instance", "pair", "part"),
    provenance=("host",),
    terms=TERMS,
)
DECISIONS = TableSchema(
    "champion_decisions",
    3,
    {
        "cycle": pl.String,
        "champion_id": pl.String,
        "challenger_id": pl.String,
        "instances": (
            pl.Int64,
            "Instances that count: formulas that no variant has seen before, with their shuffled copies.",
        ),
        "formulas": (pl.Int64, "Independent formulas among them."),
        "pairs": (pl.Int64, "Passes over the suite by each side."),
        "left_out": (pl.Int64, "Pairs that count for neither side, as the clock cut a run short."),
        "solved_champion": (pl.Float64, "Formulas that the champion solved, as a mean over passes."),
        "solved_challenger": (pl.Float64, "Formulas that the challenger solved, as a mean over passes."),
        "par2_champion": (
            pl.Float64,
            "PAR-2 of the champion in seconds, a mean over formulas; null if nothing counts.",
        ),
        "par2_challenger": (pl.Float64, "PAR-2 of the challenger in seconds, likewise."),
        "ratio": pl.Float64,
        "ratio_low": pl.Float64,
        "ratio_high": pl.Float64,
        "noise_floor": pl.Float64,
        "wins": pl.Boolean,
        "verdict": (pl.String, "Of the challenger: better, worse or undecided (the interval holds 1)."),
        "reason": (pl.String, "Why it wins or does not, in words; without the ratio."),
        "test": (
            pl.String,
            "Tests that decided, with their number of formulas (shuffled copies count as one).",
        ),
    },
    keys=("cycle", "challenger_id"),
    terms=TERMS,
)
CONTEST_FAMILIES = TableSchema(
    "champion_families",
    2,
    {
        "cycle": pl.String,
        "champion_id": pl.String,
        "challenger_id": pl.String,
        "family": (pl.String, "Kind of formula."),
        "formulas": (pl.Int64, "Independent formulas of the family in the contest."),
        "solved_champion": (
            pl.Float64,
            "Instances of the family that the champion solved, as a mean over passes.",
        ),
        "solved_challenger": (pl.Float64, "Instances of the family that the challenger solved, likewise."),
        "par2_champion": (
            pl.Float64,
            "PAR-2 of the champion on the family in seconds; null if nothing counts.",
        ),
        "par2_challenger": (pl.Float64, "PAR-2 of the challenger on the family in seconds, likewise."),
        "conflicts_champion": (
            pl.Float64,
            "Mean conflicts of the champion's runs; null if none are reported.",
        ),
        "conflicts_challenger": (
            pl.Float64,
            "Mean conflicts of the challenger's runs; null if none are reported.",
        ),
        "gained": (
            pl.Int64,
            "Formulas of the family on which the challenger costs less, by more than 2 %; null if no pair "
            "counts.",
        ),
        "lost": (pl.Int64, "Formulas of the family on which it costs more, likewise."),
    },
    keys=("cycle", "challenger_id", "family"),
    terms=TERMS,
)
"""A contest by family of formulas, which proposers may see; its formulas they may not."""
RACES = TableSchema(
    "champion_races",
    2,
    {
        "cycle": pl.String,
        "rung": (pl.Int64, "Budget level of the race, from 1."),
        "variant_id": pl.String,
        "instances": (
            pl.List(pl.String),
            "Formulas that it ran at this budget level, which no variant has seen before and no duel uses.",
        ),
        "formulas": (pl.Int64, "How many formulas it has run at all budget levels so far."),
        "solved": (pl.Float64, "How many of those formulas it answered in time and with a certificate."),
        "par2": pl.Float64,
        "place": (pl.Int64, "Place among those of the budget level by PAR-2 so far; 1 is best."),
        "survives": (
            pl.Boolean,
            "Whether it continues to the next budget level, or, after the last one, to a duel.",
        ),
        "stopped": (pl.String, "Why it was stopped before the end of the budget level; null if it was not."),
    },
    keys=("cycle", "rung", "variant_id"),
    terms=TERMS,
)
"""The races before duels. In a cycle whose champion fell there may be several; the last one counts."""
RULE_METRICS = TableSchema(
    "rule_metrics",
    1,
    {
        "cycle": pl.String,
        "metric": (
            pl.String,
            "prevention, compliance, coverage, kill_rate (shares) or time_to_fix (attempts); see "
            "`solvers.rule_metrics`.",
        ),
        "rule_id": (pl.String, "Rule that the value is about; null for all together."),
        "value": (
            pl.Float64,
            "A share from 0 to 1, or a mean number of attempts; null for a share of nothing.",
        ),
    },
    keys=("metric", "rule_id"),
    terms=TERMS,
)


def counting(runs: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of RUNS that are results: not those that the clock cut short, unless a variant has no
    others on a suite."""
    cut = pl.col("status") == CLOCK
    return runs.filter(~cut | cut.all().over("variant_id", "suite", "timeout_s"))
