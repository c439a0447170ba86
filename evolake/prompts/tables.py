"""Types of the tables of the prompts line. Those in ARCHIVE are carried from cycle to cycle (`population`); single assets add the others.

`iteration` counts the line's iterations from 1, through all cycles. `arm` names what was switched on (`iteration.ARMS`).
"""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import DERIVATIONS, TableSchema

PROMPTS = TableSchema(
    "prompts", 1,
    {
        "prompt_id": pl.String, "cycle": pl.String, "iteration": pl.Int64, "number": pl.Int64, "state": pl.String, "operator": pl.String,
        "parents": pl.List(pl.String), "principles": pl.String, "text": pl.String, "size": pl.Int64, "mu": pl.Float64, "sigma": pl.Float64,
        "rounds": pl.Int64, "origin": pl.String,
    },
    keys=("prompt_id",),
)
"""One system prompt. cycle, iteration: when it was born; iteration 0 for a root. number: its place in the order of birth, from 0.

    state      candidate (took no part yet), accepted (took part, still in the window), champion, retired (has left the window), or blocked by a gate
    operator   root, mutation or crossover
    principles what `SystemPrompt.to_json` gives; `text` is what the policy reads, `size` how many principles there are
    rounds     iterations it took part in
    origin     the backend that edited it, or the name of the root
"""
STATE = TableSchema("state", 1, {"name": pl.String, "value": pl.String}, keys=("name",))
ARCHIVE: dict[str, TableSchema] = {"prompts": PROMPTS, "derivations": DERIVATIONS, "state": STATE}

RATINGS = TableSchema(
    "ratings", 1,
    {
        "cycle": pl.String, "arm": pl.String, "iteration": pl.Int64, "prompt_id": pl.String, "mu": pl.Float64, "sigma": pl.Float64, "rank": pl.Int64,
        "mean_reward": pl.Float64, "source": pl.String, "place": pl.Int64,
    },
    keys=("arm", "iteration", "prompt_id", "source"),
)
"""source: update (after a round, with the rank and the mean that it went by, rank 0 is best) or birth (rank and mean_reward null).
place: from 0, in the match; where prompts draw, the last digits depend on it. Null at birth."""
PROBLEMS = TableSchema(
    "problems", 1,
    {
        "cycle": pl.String, "problem_id": pl.String, "split": pl.String, "source": pl.String, "category": pl.String, "difficulty": pl.Int64,
        "text": pl.String, "answer": pl.String, "case_sensitive": pl.Boolean, "family": pl.String,
    },
    keys=("problem_id",),
)
"""The problems of a cycle. split: train or heldout. answer: JSON."""
ROLLOUTS = TableSchema(
    "rollouts", 1,
    {
        "cycle": pl.String, "arm": pl.String, "iteration": pl.Int64, "prompt_id": pl.String, "problem_id": pl.String, "number": pl.Int64,
        "reply": pl.String, "tokens": pl.Int64, "truncated": pl.Boolean, "correct": pl.Boolean, "formatted": pl.Boolean, "reward": pl.Float64,
    },
    keys=("arm", "iteration", "prompt_id", "problem_id", "number"),
)
"""reward: null where the rollout was rejected from the update."""
VALUES = TableSchema(
    "values", 1,
    {
        "cycle": pl.String, "arm": pl.String, "iteration": pl.Int64, "prompt_id": pl.String, "problem_id": pl.String, "value": pl.Float64,
        "rollouts": pl.Int64, "rejected": pl.Int64, "correct": pl.Int64, "formatted": pl.Int64, "won": pl.Boolean,
    },
    keys=("arm", "iteration", "prompt_id", "problem_id"),
)
"""The matrix V of an iteration, one row an entry. value: mean reward, null where every rollout was rejected. won: the best value of its
problem, where not all prompts have that value."""
EDITS = TableSchema(
    "edits", 1,
    {
        "cycle": pl.String, "arm": pl.String, "iteration": pl.Int64, "operator": pl.String, "step": pl.String, "number": pl.Int64,
        "prompt_id": pl.String, "child_id": pl.String, "problem_id": pl.String, "kind": pl.String, "targets": pl.List(pl.String), "text": pl.String,
        "applied": pl.Boolean, "reason": pl.String, "principle_id": pl.String, "backend": pl.String,
    },
    keys=("arm", "iteration", "operator", "step", "number"),
)
"""Every hunk that was proposed. operator: mutation or crossover. step: local, global or recombine. prompt_id: the prompt edited. child_id: null
where no child was born. problem_id: null where a hunk is about the whole batch. kind: add, modify, merge or drop; "none" for what is no hunk: a call
that gave no usable reply (step as for the call, also summary and critique), or why there is no child (step child). reason: why it was not applied.
principle_id: the principle that the hunk made or changed."""
UPDATES = TableSchema(
    "updates", 1,
    {
        "cycle": pl.String, "arm": pl.String, "iteration": pl.Int64, "policy": pl.String, "updated": pl.Boolean, "step": pl.Int64,
        "loss": pl.Float64, "grad_norm": pl.Float64, "kl": pl.Float64, "groups": pl.Int64, "informative": pl.Int64, "trained_tokens": pl.Int64,
        "rollouts": pl.Int64, "rejected": pl.Int64, "failed": pl.Int64, "truncated": pl.Int64, "formatted": pl.Int64, "correct": pl.Int64,
        "tokens": pl.Int64, "mean_reward": pl.Float64, "checkpoint_sha": pl.String,
    },
    keys=("arm", "iteration"),
)
"""One row an iteration. updated: whether the weights changed; step, loss, grad_norm, kl and trained_tokens are null where no update was asked for.
informative: groups whose rewards differ. failed: samples without a reply. tokens: of all replies. checkpoint_sha: blob of the policy after the last
iteration of a cycle, else null."""
EVALUATIONS = TableSchema(
    "heldout", 1,
    {
        "cycle": pl.String, "arm": pl.String, "iteration": pl.Int64, "prompt_id": pl.String, "problem_id": pl.String, "sample": pl.Int64,
        "reply": pl.String, "tokens": pl.Int64, "truncated": pl.Boolean, "correct": pl.Boolean, "formatted": pl.Boolean,
    },
    keys=("arm", "iteration", "prompt_id", "problem_id", "sample"),
)
"""Held-out problems, answered by the policy as it is after `iteration` under one prompt. sample: 0 for a greedy answer."""
DECISIONS = TableSchema(
    "champion", 1,
    {
        "cycle": pl.String, "champion_id": pl.String, "challenger_id": pl.String, "wins": pl.Boolean, "problems": pl.Int64, "samples": pl.Int64,
        "champion_share": pl.Float64, "challenger_share": pl.Float64, "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64,
        "reason": pl.String,
    },
    keys=("champion_id", "challenger_id"),
)
"""champion_id: who reigned when the duel began. Shares: of correct replies, mean over problems. low, high: 95% interval of the difference."""
JOURNAL = TableSchema(
    "journal", 1,
    {
        "cycle": pl.String, "number": pl.Int64, "key": pl.String, "entry_sha": pl.String, "checkpoint_sha": pl.String,
        "calls_sha": pl.String,
    },
    keys=("number",), provenance=("calls_sha",),
)
"""number: which iteration of the cycle, from 1. checkpoint_sha: the policy after it; null for the base model. calls_sha: rows of AGENT_CALLS; what
they took is a measurement and no content."""
