"""Types of the tables of the designs line.

Those in ARCHIVE are carried from cycle to cycle (`population.Population`); the others are what single assets
add. `N` keeps the name that the experiment contract gives it.
"""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema

TERMS = {
    "design_id": (
        "Design: sha256 (hex) of its graph and hyperparameter values, or of its text where it cannot be "
        "traced."
    ),
    "direction_id": "Direction of the planner that it follows; null without one.",
    "engine": "What computed the run: fused, mixed, torch or reference; all agree in results.",
    "failure": "How the run broke; null if it did not.",
    "fidelity": "How much effort the run was given: low, medium or high.",
    "genome": "Drives, memories and parameters that it consists of, as JSON; null for free text.",
    "graph_sha": "sha256 (hex) of the traced graph; designs of one graph compute the same.",
    "hyper": "Hyperparameter values that differ from the source's own, as JSON.",
    "hyper_values": "All hyperparameter values as they ran, as JSON.",
    "key": "What the proposer knows it by, so that it is not proposed again.",
    "key_insight": "What the designer learnt from its results, in a sentence; null before the analysis.",
    "largest_solved": "Variables of the largest instances of which more than half were solved; 0 for none.",
    "left_again": "Instances that were solved and had been left again by the last step; null if solved "
    "instances were computed no further (batches other than 100).",
    "max_steps": "Integration steps that the run was allowed.",
    "max_work": "Work that the run was allowed, in steps of the baseline.",
    "median_step": (
        "Median over instances of the integration step at which one was first solved; extrapolated if not "
        "half were."
    ),
    "median_work": ("Median step times work_per_step: the cost in steps of the baseline."),
    "median_tau": "Median rank correlation (Kendall's tau) with the other objectives.",
    "N": "Variables of an instance; the experiment contract spells it so.",
    "operator": (
        "What made it from its parents: seed, mutation, crossover, tuning, ... ; written where a model "
        "names none."
    ),
    "pairs": "Seeds on which both designs ran.",
    "profile": "Profile of settings that the run was made under: demo, laptop or cluster.",
    "rationale": "What its maker expects of it.",
    "source_sha": "Blob with the Python source.",
    "steps_run": "Integration steps that were computed.",
    "success_level": "How well the designer thinks it went; null before the analysis.",
    "timed_out": "Whether a clock cut the run before it had shown anything; it counts as not measured.",
    "together_step": (
        "First integration step at which more than half of the batch was solved at the same time, the "
        "paper's measure; null if that was not seen, and where the batch is not the paper's 100."
    ),
    "traced_sha": "Blob with the traced design as JSON: graph and variables; null where it cannot be traced.",
    "work_per_step": ("Cost of a step relative to one of the baseline, counted in operators."),
    "tuned": "Whether its hyperparameters are the outcome of a tuning.",
    "unsolved_fraction": "Share of the batch that was left unsolved, from 0 to 1.",
}
"""What the columns mean that several of the tables below have; see `TableSchema`."""

DESIGNS = TableSchema(
    "designs",
    1,
    {
        "design_id": pl.String,
        "state": (
            pl.String,
            "accepted (may be used as a parent), champion, blocked (by a gate) or retired (an ancestor "
            "that came by a merge).",
        ),
        "cycle": (pl.String, "Cycle in which it was made; 0000 for a seed."),
        "title": pl.String,
        "origin": (pl.String, "Where it comes from: seed, merge, import, operators or model."),
        "operator": pl.String,
        "rationale": pl.String,
        "direction_id": pl.String,
        "source_sha": pl.String,
        "traced_sha": pl.String,
        "graph_sha": pl.String,
        "key": pl.String,
        "genome": pl.String,
        "hyper": pl.String,
        "hyper_values": pl.String,
        "tuned": pl.Boolean,
        "reason": pl.String,
        "key_insight": pl.String,
        "success_level": pl.String,
        "imported_from": (
            pl.String,
            "Lake that it was merged from, or folder that it was imported from; null where it was made here.",
        ),
        "idea": (pl.String, "What it tries, in a sentence of its author."),
    },
    keys=("design_id",),
    terms=TERMS,
)
EXPERIMENTS = TableSchema(
    "experiments",
    4,
    {
        "design_id": pl.String,
        "cycle": pl.String,
        "fidelity": pl.String,
        "level": (pl.Int64, "Budget level, from 0; each is larger by the square root of 2."),
        "batch": pl.Int64,
        "N": pl.Int64,
        "ratio": (pl.Float64, "Clauses per variable of an instance."),
        "run_till_median": (pl.Boolean, "Whether the run ends when half of the batch is solved."),
        "max_steps": pl.Int64,
        "unsolved_fraction": pl.Float64,
        "median_step": pl.Int64,
        "steps_run": pl.Int64,
        "seed": (
            pl.Int64,
            "Seed of the instances and of the start on them; the same for all designs of a size.",
        ),
        "wall_s": pl.Float64,
        "cpu_s": pl.Float64,
        "profile": pl.String,
        "engine": pl.String,
        "timed_out": pl.Boolean,
        "diverged": (pl.Int64, "Instances whose variables left the finite numbers."),
        "failure": pl.String,
        "work_per_step": pl.Float64,
        "median_work": pl.Float64,
        "max_work": pl.Float64,
        "together_step": pl.Int64,
        "left_again": pl.Int64,
        "kind": (pl.String, "Kind of the formulas, planted or uniform."),
    },
    keys=("design_id", "fidelity", "N", "max_steps", "seed", "profile"),
    provenance=("wall_s", "cpu_s"),
    terms=TERMS,
)
OBJECTIVES = TableSchema(
    "objectives",
    1,
    {
        "objective_id": pl.String,
        "state": (pl.String, "accepted (votes) or blocked (by a gate)."),
        "cycle": pl.String,
        "created_round": pl.Int64,
        "family": pl.String,
        "parameters": pl.String,
        "description": pl.String,
        "source": (pl.String, "Text of its Python function."),
        "multiplier": pl.Float64,
        "origin": (pl.String, "Where it comes from: seed, merge, import, operators or model."),
        "reason": pl.String,
        "imported_from": (
            pl.String,
            "Lake that it was merged from, or folder that it was imported from; null where it was made here.",
        ),
        "operator": (
            pl.String,
            "What made it from its parents: draw, point, subtree, hoist, constants, insert or crossover; "
            "null for other files.",
        ),
        "genome": (
            pl.String,
            "The program that it is, as JSON; null for a file that was not written from one.",
        ),
        "parents": (pl.String, "JSON, objective -> share that it has in this one; null for none."),
    },
    keys=("objective_id",),
    terms=TERMS,
)

DIRECTIONS = TableSchema(
    "directions",
    1,
    {
        "direction_id": pl.String,
        "cycle": pl.String,
        "number": (pl.Int64, "Place among the cycle's directions, from 0."),
        "phase": (
            pl.String,
            "Where the planner sees the search, from early_exploration to breakthrough_needed.",
        ),
        "direction": (pl.String, "What the designer is asked to try."),
        "rationale": (pl.String, "Why the planner believes in it."),
        "focus": (pl.String, "Terms or ideas to work with."),
        "avoid": (pl.String, "Terms or ideas to leave out."),
        "reference_ids": (pl.List(pl.String), "Designs to build on, the base first."),
        "looked_up": (pl.List(pl.String), "Designs whose details the planner asked to see."),
        "key_insights": (pl.List(pl.String), "What the planner reads from the designs so far."),
        "success_patterns": (pl.List(pl.String), "What the better designs have in common."),
        "failure_patterns": (pl.List(pl.String), "What the worse designs have in common."),
        "guidance": pl.List(pl.String),
    },
    keys=("direction_id",),
    terms=TERMS,
)
ANALYSES = TableSchema(
    "analyses",
    1,
    {
        "design_id": pl.String,
        "cycle": pl.String,
        "fidelity": pl.String,
        "short_name": (pl.String, "Name that the designer gives it."),
        "key_insight": pl.String,
        "success_level": pl.String,
        "detailed_analysis": (pl.String, "What the results say, at length."),
        "comparison_to_references": (pl.String, "How it compares with the designs it was built on."),
        "recommended_next_steps": (pl.String, "What the designer would try next."),
        "reference_weights": (
            pl.String,
            "JSON, design -> share that it had in shaping this one, seen after the results.",
        ),
    },
    keys=("design_id", "fidelity"),
    terms=TERMS,
)
SCORES = TableSchema(
    "objective_scores",
    1,
    {
        "objective_id": pl.String,
        "design_id": pl.String,
        "cycle": pl.String,
        "fidelity": pl.String,
        "score": pl.Float64,
        "status": (pl.String, "ok, or how the objective failed on this design."),
        "reason": pl.String,
    },
    keys=("objective_id", "design_id", "fidelity"),
    terms=TERMS,
)
RANKING = TableSchema(
    "consensus_ranking",
    2,
    {
        "design_id": pl.String,
        "cycle": pl.String,
        "rank": (pl.Int64, "Place by consensus; 1 is best."),
        "consensus": pl.Float64,
        "visits": pl.Float64,
        "ucb": pl.Float64,
        "largest_solved": pl.Int64,
        "median_step": pl.Int64,
        "median_work": pl.Float64,
        "fidelity": (pl.String, "Highest effort that the design was run at: low, medium, high, or none."),
    },
    keys=("design_id",),
    terms=TERMS,
)
TUNING = TableSchema(
    "tuning",
    2,
    {
        "design_id": pl.String,
        "cycle": pl.String,
        "trial": (pl.Int64, "Number of the trial; 0 is the design as it is."),
        "hyper_values": pl.String,
        "consensus": (
            pl.Float64,
            "Consensus estimated for these values; 0 is best, null where the trial could not be traced.",
        ),
        "status": (pl.String, "ok or blocked."),
        "reason": pl.String,
        "largest_solved": pl.Int64,
        "median_step": pl.Int64,
        "median_work": pl.Float64,
    },
    keys=("design_id", "cycle", "trial"),
    terms=TERMS,
)
REVIEWS = TableSchema(
    "meta_review",
    1,
    {
        "cycle": pl.String,
        "objective_id": pl.String,
        "assessment": (pl.String, "What the reviewer thinks of the objective."),
        "multiplier_before": pl.Float64,
        "multiplier": (pl.Float64, "Factor on the objective's weight from now on; 1 is neutral."),
        "research_phase": (pl.String, "Where the reviewer sees the search."),
        "research_assessment": (pl.String, "What the reviewer thinks of the search as a whole."),
        "guidance": (pl.String, "What the next objectives shall look at."),
    },
    keys=("cycle", "objective_id"),
    terms=TERMS,
)
DUELS = TableSchema(
    "champion_trials",
    3,
    {
        "cycle": pl.String,
        "part": (pl.String, "Whose run it is: challenger, incumbent or baseline."),
        "design_id": pl.String,
        "pair": (
            pl.Int64,
            "Number of the fresh seed; runs of one number and part challenger or incumbent share their "
            "instances.",
        ),
        "N": pl.Int64,
        "batch": pl.Int64,
        "seed": (pl.Int64, "Seed of the instances, which no design has met before."),
        "max_steps": pl.Int64,
        "median_step": pl.Int64,
        "unsolved_fraction": pl.Float64,
        "solved": (pl.Boolean, "Whether more than half of the batch was solved."),
        "steps_run": pl.Int64,
        "wall_s": pl.Float64,
        "cpu_s": pl.Float64,
        "profile": pl.String,
        "engine": pl.String,
        "timed_out": pl.Boolean,
        "failure": pl.String,
        "work_per_step": pl.Float64,
        "median_work": pl.Float64,
        "max_work": pl.Float64,
        "together_step": pl.Int64,
        "left_again": pl.Int64,
    },
    keys=("cycle", "part", "design_id", "pair", "N"),
    provenance=("wall_s", "cpu_s"),
    terms=TERMS,
)
DECISIONS = TableSchema(
    "champion_decisions",
    3,
    {
        "cycle": pl.String,
        "comparison": (
            pl.String,
            "Against whom: incumbent (the duel for the title) or baseline (for the report).",
        ),
        "challenger_id": (pl.String, "Design that is compared."),
        "incumbent_id": (pl.String, "Design that it is compared with."),
        "N": pl.Int64,
        "batch": pl.Int64,
        "profile": pl.String,
        "pairs": pl.Int64,
        "ratio": (
            pl.Float64,
            "Median work of the other over that of the challenger, geometric mean over pairs; above 1 the "
            "challenger is better.",
        ),
        "ratio_low": pl.Float64,
        "ratio_high": pl.Float64,
        "noise_floor": (
            pl.Float64,
            "Ratio that this duel could not distinguish from none: the ratio over the lower end of its "
            "interval; null against the baseline.",
        ),
        "wins": pl.Boolean,
        "reason": (pl.String, "The verdict in words."),
        "bound": (
            pl.String,
            "lower bound if the other side has unsolved runs, estimate if the challenger has, else empty.",
        ),
        "test": (pl.String, "Test that decided, with its number of pairs."),
        "target": (
            pl.Int64,
            "Size that the ratio is of, if a law through several sizes decided: the largest of the "
            "profile; null against the baseline, whose ratio is of N.",
        ),
        "law": (
            pl.String,
            "Law through the sizes by which the challenger is less ahead: power law or exponential law; "
            "null if one size decided.",
        ),
        "sizes": (pl.List(pl.Int64), "Sizes that the law is through; null against the baseline."),
    },
    keys=("cycle", "comparison", "challenger_id"),
    terms=TERMS,
)
ABLATIONS = TableSchema(
    "champion_ablations",
    1,
    {
        "cycle": (pl.String, "Cycle in which the design became champion."),
        "design_id": pl.String,
        "number": (pl.Int64, "Place of the term, from 0."),
        "slot": (pl.String, "Drive that the term is in, or memory."),
        "term": (
            pl.String,
            "Term that was left out: an operand of a sum or a difference, or a further memory.",
        ),
        "kind": (pl.String, "Kind of the formulas, planted or uniform."),
        "N": pl.Int64,
        "batch": (pl.Int64, "How many formulas of each kind were run."),
        "ratio": (pl.Float64, "Median work without the term over that with it; above 1 the term helps."),
        "bound": (
            pl.String,
            "at least if the run without the term was not solved, at most if that with it was not, about "
            "if both, else empty.",
        ),
        "effect": (pl.String, "The same in words."),
    },
    keys=("cycle", "design_id", "number", "kind"),
    terms=TERMS,
)
ARCHIVE: dict[str, TableSchema] = {
    "designs": DESIGNS,
    "derivations": DERIVATIONS,
    "experiments": EXPERIMENTS,
    "objectives": OBJECTIVES,
    "ranking": RANKING,
    "state": STATE,
}
MERGED = TableSchema(
    "merged",
    1,
    {
        "bundle_id": (pl.String, "What came in with one merge: sha256 (hex) over its designs."),
        "since_cycle": (pl.String, "First cycle that takes the bundle in."),
        "source": (pl.String, "Name of the other lake's folder."),
        "source_cycle": (pl.String, "Cycle of the other lake whose population was read."),
        "design_id": pl.String,
        "chosen": (pl.Boolean, "Whether it was among the best; else it came as an ancestor."),
        "place": (pl.Int64, "Place in the other lake's ranking, from 1; null for an ancestor."),
        "title": pl.String,
        "origin": (pl.String, "Where it came from in the other lake."),
        "operator": pl.String,
        "rationale": pl.String,
        "source_sha": pl.String,
        "traced_sha": pl.String,
        "graph_sha": pl.String,
        "key": pl.String,
        "genome": pl.String,
        "hyper": pl.String,
        "hyper_values": pl.String,
        "tuned": pl.Boolean,
        "key_insight": pl.String,
        "success_level": pl.String,
        "parents": (pl.String, "JSON, its parents with operator and weight."),
        "alive": (pl.Boolean, "Whether it is judged here and may live on, as it did there."),
    },
    keys=("bundle_id", "design_id"),
    terms=TERMS,
)
MERGED_OBJECTIVES = TableSchema(
    "merged_objectives",
    1,
    {
        "bundle_id": (pl.String, "Bundle of designs that it came with, in `merged`."),
        "since_cycle": (pl.String, "First cycle that takes the bundle in."),
        "imported_from": (pl.String, "Name of the other lake's folder."),
        "source_cycle": (pl.String, "Cycle of the other lake whose population was read."),
        "number": (pl.Int64, "Place in the other lake's portfolio, from 0, in the order they came."),
        "objective_id": pl.String,
        "voted": (
            pl.Boolean,
            "Whether it voted there and is to be judged here; else it came as an ancestor.",
        ),
        "family": pl.String,
        "parameters": pl.String,
        "description": pl.String,
        "source": (pl.String, "Text of its Python function."),
        "operator": pl.String,
        "genome": (pl.String, "The program that it is, as JSON; null for other files."),
        "parents": (pl.String, "JSON, objective -> share that it has in this one; null for none."),
        "reason": pl.String,
    },
    keys=("bundle_id", "objective_id"),
    terms=TERMS,
)
FAILED_PROPOSALS = TableSchema(
    "unmade",
    1,
    {
        "number": (pl.Int64, "Place among the cycle's calls without a candidate, from 0."),
        "cycle": pl.String,
        "role": (pl.String, "What was asked for, e.g. a design; its prompt has that name."),
        "reason": (pl.String, "Why no candidate came of it."),
        "idea": (pl.String, "Direction that was asked for."),
    },
    keys=("number",),
    terms=TERMS,
)
TRIALS = TableSchema(
    "trials",
    1,
    {
        "cycle": pl.String,
        "number": (pl.Int64, "Request of the cycle whose design was tried, from 1."),
        "design_id": (
            pl.String,
            "Design that was tried: as first written, or revised; of a draft in a session the sha256 of "
            "its text.",
        ),
        "side": (
            pl.String,
            "Whose run it is: yours (the design that was tried) or start (the design that it starts from).",
        ),
        "N": pl.Int64,
        "batch": pl.Int64,
        "pair": (
            pl.Int64,
            "Number of the batch, plus 100 n in the n-th trial of a session; both sides run on the same "
            "instances.",
        ),
        "seed": (pl.Int64, "Seed of the instances, which no experiment and no contest draws."),
        "max_work": pl.Float64,
        "solved": (pl.Boolean, "Whether half of the batch was solved."),
        "unsolved_fraction": pl.Float64,
        "median_step": pl.Int64,
        "steps_run": pl.Int64,
        "work_per_step": pl.Float64,
        "median_work": pl.Float64,
        "timed_out": pl.Boolean,
        "diverged": (pl.Int64, "Instances whose variables left the finite numbers."),
        "failure": pl.String,
        "cpu_s": pl.Float64,
    },
    keys=("cycle", "number", "design_id", "side", "N", "pair"),
    provenance=("cpu_s",),
    terms=TERMS,
)
EXTRAPOLATIONS = TableSchema(
    "extrapolations",
    2,
    {
        "cycle": pl.String,
        "fidelity": (pl.String, "Fidelity that was decided on: medium or high."),
        "design_id": pl.String,
        "N": (pl.Int64, "Largest size of that fidelity."),
        "expected_work": (
            pl.Float64,
            "Median work expected there, by a power law through the solved sizes; null where fewer than "
            "three are.",
        ),
        "low_work": (
            pl.Float64,
            "Lower end of the 95% prediction interval, and not below the work that did not suffice at a "
            "smaller size.",
        ),
        "high_work": (pl.Float64, "Upper end of the 95% prediction interval."),
        "levels": (pl.Int64, "Sizes that the power law goes through."),
        "place": (pl.Int64, "Place in the consensus at that moment, from 0."),
        "goes_on": (pl.Boolean, "Whether the design continues to the fidelity."),
    },
    keys=("cycle", "fidelity", "design_id"),
    terms=TERMS,
)
RACED = TableSchema(
    "raced",
    3,
    {
        "cycle": pl.String,
        "number": (pl.Int64, "Place in the order in which racers were taken, from 0."),
        "design_id": pl.String,
        "title": pl.String,
        "operator": (pl.String, "What made it from its parents; null for a design that raced as it was."),
        "parents": (pl.String, "JSON, design or racer -> share that it had in this one."),
        "state": (
            pl.String,
            "start (a design that raced as it was), blocked (by a gate), raced, or enters (a candidate of "
            "the cycle).",
        ),
        "gate": (pl.String, "Gate that blocked it; null for any other."),
        "reason": (pl.String, "Why it was blocked, or how its runs broke; null where neither happened."),
        "genome": pl.String,
        "source_sha": (
            pl.String,
            "Blob with the Python source; null for a design that raced as it was, which has it in its own "
            "row.",
        ),
        "traced_sha": pl.String,
        "sizes": (pl.List(pl.Int64), "Variables of the budget levels that it was run on, in their order."),
        "kinds": (pl.List(pl.String), "Kind of the formulas of each of these, planted or uniform."),
        "seeds": (pl.List(pl.Int64), "Seed of the formulas of each of these."),
        "batches": (pl.List(pl.Int64), "Formulas of each of these."),
        "solved": (
            pl.List(pl.Boolean),
            "Whether more than half were solved within the bar, at each of these.",
        ),
        "median_steps": (
            pl.List(pl.Int64),
            "Median step at each of these; an estimate at the last of a kind if it missed the bar.",
        ),
        "median_works": (pl.List(pl.Float64), "Median work at each of these, in steps of the baseline."),
        "solved_rungs": (pl.Int64, "Budget levels of which it solved more than half within the cutoff."),
        "rungs": (pl.Int64, "How many sizes with their instances the race consists of."),
        "steps_run": (pl.Int64, "Integration steps that were computed, of all budget levels together."),
        "score": (
            pl.Float64,
            "Mean logarithm of its median work at the largest budget levels that it solved; null outside "
            "the elite.",
        ),
        "elite": (pl.Boolean, "Whether it was among the elite when it was taken."),
        "timed_out": pl.Boolean,
        "cpu_s": pl.Float64,
    },
    keys=("cycle", "number"),
    provenance=("cpu_s",),
    terms=TERMS,
)
WEIGHTS = TableSchema(
    "consensus_weights",
    1,
    {
        "objective_id": pl.String,
        "cycle": pl.String,
        "stage": (pl.String, "Ranking that the weights made: consensus_ranking or final_ranking."),
        "weight": (pl.Float64, "Share of the objective in the consensus; the shares of a ranking sum to 1."),
        "median_tau": pl.Float64,
        "multiplier": pl.Float64,
        "family": pl.String,
        "description": pl.String,
    },
    keys=("objective_id", "stage"),
    terms=TERMS,
)
