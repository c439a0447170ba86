"""Types of the tables of the prompts line. Those in ARCHIVE are carried from cycle to cycle (`population`);
single assets add the others."""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema, incoming_tables, tables_by_name

TERMS = {
    "arm": (
        "What was switched on: espl (prompts and weights), evolution (prompts), rl (weights) or "
        "reflection (one prompt, replaced by its mutant)."
    ),
    "calls": (
        "Calls of tools as a JSON list, each with tool, given, status, result and the result's tokens; "
        "null for a policy without tools."
    ),
    "challenger_id": "Best-rated prompt, which tried to become champion.",
    "champion_id": "Prompt that was champion when the duel began.",
    "correct": "Whether the answer is right.",
    "formatted": "Whether the answer is in the place that was asked for.",
    "iteration": "Iteration of the line, counted from 1 through all cycles.",
    "mu": "Mean of the prompt's rating (TrueSkill); higher is better.",
    "problem_id": "What was asked, by its source's name for it.",
    "prompt_id": "System prompt: sha256 (hex) of its principles.",
    "rejected": "Rollouts that were kept out of the update.",
    "reply": "What the policy wrote, with the results of its tools where it called them.",
    "rollouts": "Replies that were sampled.",
    "sigma": "Standard deviation of the prompt's rating (TrueSkill): how uncertain it is.",
    "tokens": "Length of the reply in tokens, without results of tools.",
    "truncated": "Whether the reply ran into its limit.",
    "unverified": (
        "Why the own verifier of the problem's dataset gave no score, so that the reply is worth 0; null "
        "where it did, or there is none."
    ),
}
"""What the columns mean that several of the tables below have; see `TableSchema`."""

PROMPTS = TableSchema(
    "prompts",
    1,
    {
        "prompt_id": pl.String,
        "cycle": (pl.String, "Cycle in which it was born; 0000 for a root."),
        "iteration": (
            pl.Int64,
            "Iteration in which it was born, counted from 1 through all cycles; 0 for a root.",
        ),
        "number": (pl.Int64, "Place in the order of birth, from 0."),
        "state": (
            pl.String,
            "candidate (took no part yet), accepted (in the window), champion, retired (has left the "
            "window) or blocked (by a gate).",
        ),
        "operator": (pl.String, "root, mutation or crossover."),
        "parents": (pl.List(pl.String), "Prompts that it was made from."),
        "principles": (pl.String, "Its principles with their ids, as JSON."),
        "text": (pl.String, "What the policy reads."),
        "size": (pl.Int64, "How many principles it has."),
        "mu": pl.Float64,
        "sigma": pl.Float64,
        "rounds": (pl.Int64, "Iterations that it took part in."),
        "origin": (pl.String, "Backend that edited it, or the name of the root."),
        "idea": (
            pl.String,
            "What it is, in short: its author's words, if there are any, and the edits; null for a root "
            "and before 0.2.0.",
        ),
    },
    keys=("prompt_id",),
    terms=TERMS,
)
ARCHIVE: dict[str, TableSchema] = {"prompts": PROMPTS, "derivations": DERIVATIONS, "state": STATE}

RATINGS = TableSchema(
    "ratings",
    1,
    {
        "cycle": pl.String,
        "arm": pl.String,
        "iteration": pl.Int64,
        "prompt_id": pl.String,
        "mu": pl.Float64,
        "sigma": pl.Float64,
        "rank": (
            pl.Int64,
            "Place in the iteration's match by mean reward, 0 is best; equal rewards share one. Null at "
            "birth.",
        ),
        "mean_reward": (pl.Float64, "Mean reward that the match went by; null at birth."),
        "source": (pl.String, "update (after a match) or birth (inherited)."),
        "place": (
            pl.Int64,
            "Order in the match, from 0; where prompts draw, the last digits depend on it. Null at birth.",
        ),
    },
    keys=("arm", "iteration", "prompt_id", "source"),
    terms=TERMS,
)
PROBLEMS = TableSchema(
    "problems",
    1,
    {
        "cycle": pl.String,
        "problem_id": (pl.String, "One problem, by its source's name for it."),
        "split": (pl.String, "train or heldout."),
        "source": (pl.String, "Where the problems come from: families, or the file of the seeds."),
        "category": (pl.String, "Kind of reasoning that it asks for."),
        "difficulty": pl.Int64,
        "text": (pl.String, "The problem as the policy reads it."),
        "answer": pl.String,
        "case_sensitive": (pl.Boolean, "Whether upper and lower case count when answers are compared."),
        "family": (
            pl.String,
            "Family of tasks that it is an instance of; a family is on one side of the split only.",
        ),
        "scorer": (
            pl.String,
            "How answers are judged: answer, exact (the same text), reasoning-gym (the own verifier of "
            "that dataset), or own:FILE:FUNCTION@HASH.",
        ),
        "entry": (
            pl.String,
            "Values that create the entry of reasoning-gym again, or the verifier of own:..., as JSON; "
            "null for every other scorer.",
        ),
        "turn": (
            pl.Int64,
            "Iteration of the cycle, from 1, that it is set for, an instance of a family; null where it "
            "is drawn with the others.",
        ),
    },
    keys=("problem_id",),
    terms=TERMS,
)
"""The problems of a cycle."""
FEED_READ = TableSchema(
    "feed_read",
    1,
    {
        "cycle": pl.String,
        "number": (pl.Int64, "Place among what was read, from 0."),
        "line": (pl.String, "Line whose table it is."),
        "asset": (
            pl.String,
            "Table: instances, incoming_families (which are accepted, and their parents), or learnability.",
        ),
        "of_cycle": (pl.String, "Cycle of that line; null where it had no finished one."),
        "content_sha": (
            pl.String,
            "sha256 (hex) over the content of that table when the cycle opened; null if there was none.",
        ),
    },
    keys=("number",),
    terms=TERMS,
)
"""What a cycle read of families when it opened; without rows where nobody asked for problems of families."""
FEED = TableSchema(
    "feed",
    1,
    {
        "cycle": pl.String,
        "turn": (pl.Int64, "Iteration of the cycle, from 1, that the problem is set for."),
        "problem_id": pl.String,
        "family": (pl.String, "Family of tasks that it is an instance of."),
        "difficulty": (pl.Int64, "Level that it was made at, from 1 to 10."),
        "reason": (
            pl.String,
            "new (asked for the first time at this difficulty), learnable (it taught before) or again (it "
            "taught nothing before).",
        ),
        "groups": (pl.Int64, "Groups of replies to the family at this difficulty in earlier cycles."),
        "replies": (pl.Int64, "Replies in these groups."),
        "correct": (pl.Int64, "Replies that were right."),
        "score": (
            pl.Float64,
            "Learnability by these groups, from 0 (too easy, or impossible) to 1; null where there were "
            "none.",
        ),
    },
    keys=("problem_id",),
    terms=TERMS,
)
"""The instances of families among the problems of a cycle, and why each is."""
ROLLOUTS = TableSchema(
    "rollouts",
    1,
    {
        "cycle": pl.String,
        "arm": pl.String,
        "iteration": pl.Int64,
        "prompt_id": pl.String,
        "problem_id": pl.String,
        "number": (pl.Int64, "Which reply of this prompt to this problem, from 0."),
        "reply": pl.String,
        "tokens": pl.Int64,
        "truncated": pl.Boolean,
        "correct": pl.Boolean,
        "formatted": pl.Boolean,
        "reward": (
            pl.Float64,
            "What the update and the rating get for it; null where it was kept out of the update.",
        ),
        "unverified": pl.String,
        "calls": pl.String,
    },
    keys=("arm", "iteration", "prompt_id", "problem_id", "number"),
    terms=TERMS,
)
VALUES = TableSchema(
    "values",
    1,
    {
        "cycle": pl.String,
        "arm": pl.String,
        "iteration": pl.Int64,
        "prompt_id": pl.String,
        "problem_id": pl.String,
        "value": (
            pl.Float64,
            "Mean reward of the prompt on the problem; null where every rollout was kept out.",
        ),
        "rollouts": pl.Int64,
        "rejected": pl.Int64,
        "correct": (pl.Int64, "Replies that were right."),
        "formatted": (pl.Int64, "Replies whose answer is in the place that was asked for."),
        "won": (
            pl.Boolean,
            "Whether it is the best value of its problem, where not all prompts have that value.",
        ),
    },
    keys=("arm", "iteration", "prompt_id", "problem_id"),
    terms=TERMS,
)
"""The matrix V of an iteration, one row per entry."""
EDITS = TableSchema(
    "edits",
    1,
    {
        "cycle": pl.String,
        "arm": pl.String,
        "iteration": pl.Int64,
        "operator": (pl.String, "mutation or crossover."),
        "step": (
            pl.String,
            "Call that proposed it: local, global or recombine; for what is no hunk also summary, "
            "critique or child.",
        ),
        "number": (pl.Int64, "Place among what the operator did in the iteration, from 0."),
        "prompt_id": (pl.String, "System prompt that the hunk is for."),
        "child_id": (pl.String, "Prompt that was born of it; null if none was."),
        "problem_id": (pl.String, "Problem that taught it; null where it is about the whole batch."),
        "kind": (
            pl.String,
            "add, modify, merge or drop; none for what is no hunk (a call without a usable reply, or why "
            "there is no child).",
        ),
        "targets": (pl.List(pl.String), "Principles that it changes."),
        "text": (pl.String, "What the principle is to say."),
        "applied": (pl.Boolean, "Whether the hunk took effect."),
        "reason": (pl.String, "Why it was not applied; empty where it was."),
        "principle_id": (pl.String, "Principle that it made or changed; null for none."),
        "backend": pl.String,
    },
    keys=("arm", "iteration", "operator", "step", "number"),
    terms=TERMS,
)
FAILED_PROPOSALS = TableSchema(
    "unmade",
    1,
    {
        "number": (pl.Int64, "Place among the cycle's mutations and crossovers that gave no child, from 0."),
        "cycle": pl.String,
        "iteration": pl.Int64,
        "operator": (pl.String, "mutation or crossover."),
        "prompt_id": (pl.String, "System prompt that was to have a child."),
        "reason": (pl.String, "Why there is no child."),
    },
    keys=("number",),
    terms=TERMS,
)
UPDATES = TableSchema(
    "updates",
    1,
    {
        "cycle": pl.String,
        "arm": pl.String,
        "iteration": pl.Int64,
        "policy": (pl.String, "Policy that was sampled and updated, by name."),
        "updated": (pl.Boolean, "Whether the weights changed."),
        "step": (pl.Int64, "Updates so far, this one included; null if none was asked for."),
        "loss": (pl.Float64, "Loss of the update; null if none was asked for."),
        "grad_norm": (pl.Float64, "Norm of the gradient before clipping; null if no update was asked for."),
        "kl": (
            pl.Float64,
            "Divergence per token from the policy before any update; 0 where it has no weight, null if no "
            "update was asked for.",
        ),
        "groups": (pl.Int64, "Groups of rollouts of one prompt on one problem."),
        "informative": (pl.Int64, "Groups whose rewards differ, so that something can be learnt from them."),
        "trained_tokens": (pl.Int64, "Tokens that the loss went over; null if no update was asked for."),
        "rollouts": pl.Int64,
        "rejected": pl.Int64,
        "failed": (pl.Int64, "Samples without a reply."),
        "truncated": (pl.Int64, "Replies that ran into their limit."),
        "formatted": (pl.Int64, "Replies whose answer is in the place that was asked for."),
        "correct": (pl.Int64, "Replies that were right."),
        "tokens": (pl.Int64, "Tokens of all replies together."),
        "mean_reward": (pl.Float64, "Mean reward of all replies; null without any."),
        "checkpoint_sha": (
            pl.String,
            "Blob with the policy after the last iteration of a cycle; null for the others.",
        ),
    },
    keys=("arm", "iteration"),
    terms=TERMS,
)
"""One row per iteration."""
EVALUATIONS = TableSchema(
    "heldout",
    1,
    {
        "cycle": pl.String,
        "arm": pl.String,
        "iteration": (pl.Int64, "Iteration after which the policy was asked."),
        "prompt_id": pl.String,
        "problem_id": pl.String,
        "sample": (pl.Int64, "Which answer to this problem; 0 is the greedy one."),
        "reply": pl.String,
        "tokens": pl.Int64,
        "truncated": pl.Boolean,
        "correct": pl.Boolean,
        "formatted": pl.Boolean,
        "unverified": pl.String,
        "calls": pl.String,
    },
    keys=("arm", "iteration", "prompt_id", "problem_id", "sample"),
    terms=TERMS,
)
"""Held-out problems, answered by the policy as it is after `iteration` under one prompt."""
LEARNABILITY = TableSchema(
    "learnability",
    1,
    {
        "cycle": pl.String,
        "arm": pl.String,
        "policy": (pl.String, "Policy that was asked, by name."),
        "source": (pl.String, "Where the problems come from: families, or the file of the seeds."),
        "family": (
            pl.String,
            "Family of tasks that the problems are instances of; one that is held out has no row.",
        ),
        "difficulty": (pl.Int64, "Level that the problems were made at, from 1 to 10."),
        "problems": (pl.Int64, "Different problems that were asked."),
        "groups": (
            pl.Int64,
            "Groups of replies: one prompt on one problem in one place of an iteration, as the update has "
            "them.",
        ),
        "replies": (pl.Int64, "Replies in these groups."),
        "correct": (pl.Int64, "Replies that were right."),
        "rejected": pl.Int64,
        "informative": (pl.Int64, "Groups whose rewards differ, so that something can be learnt from them."),
        "pass_rate": (pl.Float64, "Share of the replies that were right, from 0 to 1."),
        "low": (
            pl.Float64,
            "Lower end of the 95% interval of pass_rate (Wilson), as if replies were independent.",
        ),
        "high": (
            pl.Float64,
            "Upper end of the 95% interval of pass_rate (Wilson), as if replies were independent.",
        ),
        "variance": (
            pl.Float64,
            "Mean over groups of p (1 - p), p the share of right replies that took part in the update; "
            "from 0 to 0.25.",
        ),
        "score": (
            pl.Float64,
            "Learnability from 0 (too easy, or impossible) to 1 (half are right): sum over groups of 4 r "
            "w / (n (n + 1)), r right and w wrong of n replies that took part in the update, over one "
            "group more than there are.",
        ),
        "repeated": (
            pl.Int64,
            "Pairs of a prompt and a problem that were asked in an earlier iteration of this cycle, or in "
            "the cycle before it.",
        ),
        "before": (
            pl.Float64,
            "Share of right replies of these pairs when they were first asked; null without any.",
        ),
        "after": (
            pl.Float64,
            "Share of right replies of these pairs when they were last asked; null without any.",
        ),
        "moved": (pl.Float64, "after less before; null if no pair was asked again."),
        "moved_low": (pl.Float64, "Lower end of the 95% interval of moved (bootstrap over pairs)."),
        "moved_high": (pl.Float64, "Upper end of the 95% interval of moved (bootstrap over pairs)."),
    },
    keys=("arm", "policy", "source", "family", "difficulty"),
    terms=TERMS,
)
"""What the policy learns from: one row per family and difficulty that was trained on in the cycle."""
DECISIONS = TableSchema(
    "champion",
    2,
    {
        "cycle": pl.String,
        "champion_id": pl.String,
        "challenger_id": pl.String,
        "wins": (pl.Boolean, "Whether the whole interval is above 0."),
        "problems": (pl.Int64, "Problems of the training split that both answered."),
        "samples": (pl.Int64, "Replies of each side over all problems."),
        "champion_share": (pl.Float64, "Share of correct replies of the champion, mean over problems."),
        "challenger_share": (pl.Float64, "Share of correct replies of the challenger, mean over problems."),
        "difference": (pl.Float64, "challenger_share less champion_share."),
        "low": (pl.Float64, "Lower end of the 95% interval of the difference (sign flips over problems)."),
        "high": (pl.Float64, "Upper end of that interval."),
        "reason": (pl.String, "The verdict in words."),
        "test": (pl.String, "Test that decided, with its number of pairs."),
    },
    keys=("champion_id", "challenger_id"),
    terms=TERMS,
)
JOURNAL = TableSchema(
    "journal",
    1,
    {
        "cycle": pl.String,
        "number": (pl.Int64, "Which iteration of the cycle, from 1."),
        "key": (pl.String, "sha256 (hex) of everything that the iteration depends on."),
        "entry_sha": (pl.String, "Blob with the iteration's rows and the population after it."),
        "checkpoint_sha": (pl.String, "Blob with the policy after it; null for the base model."),
        "calls_sha": (pl.String, "Blob with the rows of `agent_calls` that it made."),
    },
    keys=("number",),
    provenance=("calls_sha",),
    terms=TERMS,
)

GATED = TableSchema(
    "accepted",
    1,
    {
        "prompt_id": pl.String,
        "cycle": pl.String,
        "passed": pl.Boolean,
        "gate": (pl.String, "Gate that blocked it; null if none did."),
        "rule_id": (pl.String, "Rule that blocked it; null if none did."),
        "reason": pl.String,
        "evidence_sha": pl.String,
    },
    keys=("prompt_id",),
    terms=TERMS,
)
"""One row per child."""
TABLES = incoming_tables(ARCHIVE) | {
    **dict.fromkeys(("seeds", "immigrant_prompts", "children", "survivors"), PROMPTS),
    **dict.fromkeys(("iterations", "notes"), JOURNAL),
    **dict.fromkeys(("duel_replies", "heldout"), EVALUATIONS),
    **tables_by_name(
        GATED,
        PROBLEMS,
        FEED,
        FEED_READ,
        ROLLOUTS,
        VALUES,
        RATINGS,
        EDITS,
        FAILED_PROPOSALS,
        UPDATES,
        DECISIONS,
        LEARNABILITY,
    ),
}
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""
