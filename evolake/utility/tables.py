"""Types of the tables of the utility study, the names of its arms, and the key of a partition.

A partition is a cell: one arm with one seed (`evolved-0`). All parts of one study bear its `study_sha`, so
that cells of an earlier one are never mixed into a table.
"""

from __future__ import annotations

import polars as pl

from evolake.cells import Cells
from evolake.errors import InputError
from evolake.lake.schemas import TableSchema, tables_by_name

LINE = "utility"
BASE = "base"
ARMS = {
    BASE: "the model as it is, not trained",
    "seeds": "trained on instances of seed families",
    "evolved": "trained on instances of evolved families",
    "mixed": "trained on both, half and half",
    "parents": "trained on the evolved families without their last operator: on the parents of each",
}
TRAINED = tuple(arm for arm in ARMS if arm != BASE)
LINEAGES = "held-out lineages"
"""The suite of problems whose families share no ancestor with any family that is trained on."""
TRAIN = "train"
MATCHINGS = ("steps", "instances", "tokens")
TERMS = {
    "arm": f"What the model is trained on: {', '.join(ARMS)}.",
    "correct": "Whether the reply's answer is the right one, or the share of replies for which it is.",
    "formatted": (
        "Whether the answer is in the place that the question asks for, or the share of replies for which "
        "it does."
    ),
    "instances": "Different training problems seen so far.",
    "matching": "What arms are compared at: equal steps, equal instances or equal tokens.",
    "problem_id": "What is asked, by sha256 (hex) or by the name that its file gives.",
    "reflections": (
        "Words of self-checking in a reply (wait, mistake, however, but, retry, error, verify, wrong, "
        "evaluate, check)."
    ),
    "seed": "Seed of the cell: which repetition of the arm it is.",
    "step": "Updates of the weights asked for so far; 0 is the model as it is.",
    "study_sha": "sha256 (hex) over problems, sizes and policy; cells of different studies are never mixed.",
    "suite": f"Where the problem belongs: {TRAIN}, {LINEAGES}, or the name of a benchmark's file.",
    "tokens": "Tokens of replies, the end mark included.",
    "truncated": "Whether the reply ran into the limit on its length, or the share of replies that did.",
    "unverified": (
        "Why the own verifier of the problem's dataset gave no score, so that the reply is worth 0; null "
        "where it did, or there is none."
    ),
}

PROBLEMS = TableSchema(
    "problems",
    1,
    {
        "problem_id": pl.String,
        "suite": pl.String,
        "arms": (pl.List(pl.String), "Which arms train on it; empty for what is evaluated on."),
        "family_id": (pl.String, "Family it is an instance of; null for a benchmark's."),
        "operator": (pl.String, "What made that family, or seed; null for a benchmark's."),
        "category": (pl.String, "Kind of reasoning, as its source names it."),
        "difficulty": (pl.Int64, "Level that the generator was asked for; 1 where a benchmark says none."),
        "text": (pl.String, "The question as the model reads it, with the request for the answer."),
        "answer": (pl.String, "The right answer as JSON text."),
        "case_sensitive": (pl.Boolean, "Whether upper and lower case count when answers are compared."),
        "scorer": (
            pl.String,
            "How a reply's answer is compared with it, or reasoning-gym: the own verifier of that dataset "
            "judges.",
        ),
        "entry": (
            pl.String,
            "Values that create the entry of reasoning-gym again, as JSON; null for every other scorer.",
        ),
        "pass_rate": (
            pl.Float64,
            "Share of right replies of the untrained model to other instances of its family and "
            "difficulty; null: not asked.",
        ),
    },
    keys=("problem_id", "suite"),
    terms=TERMS,
)
STUDY = TableSchema(
    "study",
    1,
    {
        "study_sha": pl.String,
        "inputs_sha": (
            pl.String,
            "sha256 (hex) over what the problems were drawn from: families, files and sizes.",
        ),
        "policy": (pl.String, "The model that is trained, by name."),
        "settings": (pl.String, "Sizes and recipe, as JSON."),
        "root_seed": (pl.Int64, "Seed that all other seeds come from."),
        "arms": (pl.List(pl.String), "Arms that were asked for."),
        "seeds": (pl.List(pl.Int64), "Repetitions of each arm, by seed."),
        "notes": (pl.List(pl.String), "What a reader must know of the problems: what was left out and why."),
    },
    keys=("study_sha",),
    terms=TERMS,
)
STEPS = TableSchema(
    "steps",
    1,
    {
        "arm": pl.String,
        "seed": pl.Int64,
        "step": pl.Int64,
        "instances": pl.Int64,
        "tokens": (pl.Int64, "Tokens of all replies that were sampled to train on so far."),
        "rollouts": (pl.Int64, "Replies sampled in this step."),
        "reward": (pl.Float64, "Mean reward of these replies; a rejected one counts 0."),
        "correct": (pl.Float64, "Share of these replies that are correct."),
        "formatted": (pl.Float64, "Share of these replies that are in the form asked for."),
        "length": (pl.Float64, "Mean tokens of these replies."),
        "reflections": (pl.Float64, "Mean words of self-checking in these replies."),
        "rejected": (pl.Int64, "Replies of this step that took no part in the update."),
        "informative": (pl.Int64, "Groups of this step whose rewards differ."),
        "updated": (pl.Boolean, "Whether the weights changed in this step."),
        "trained_tokens": (pl.Int64, "Tokens that carried loss in this step."),
        "kl": (pl.Float64, "Mean KL a token to the model as it is, in nats; 0 if no step was taken."),
        "entropy": (
            pl.Float64,
            "Mean entropy a token of what the replies were drawn from, in nats; null if no step was taken.",
        ),
        "grad_norm": (pl.Float64, "Norm of the gradient before clipping; 0 if no step was taken."),
        "study_sha": pl.String,
    },
    keys=("arm", "seed", "step"),
    terms=TERMS,
)
REPLIES = TableSchema(
    "replies",
    1,
    {
        "arm": pl.String,
        "seed": pl.Int64,
        "step": pl.Int64,
        "suite": pl.String,
        "problem_id": pl.String,
        "sample": (pl.Int64, "Which reply to the problem it is, from 0."),
        "reply": (pl.String, "What the model said."),
        "tokens": pl.Int64,
        "truncated": pl.Boolean,
        "correct": pl.Boolean,
        "formatted": pl.Boolean,
        "reflections": pl.Int64,
        "study_sha": pl.String,
        "unverified": pl.String,
    },
    keys=("arm", "seed", "step", "suite", "problem_id", "sample"),
    terms=TERMS,
)
INTERVAL = {
    "low": (pl.Float64, "Lower end of the 95% interval, problems and seeds resampled."),
    "high": (pl.Float64, "Upper end of the 95% interval, problems and seeds resampled."),
}
SUMMARY = TableSchema(
    "summary",
    1,
    {
        "matching": pl.String,
        "suite": pl.String,
        "arm": pl.String,
        "budget": (pl.Float64, "What the least of the trained cells spent in the end, of what is matched."),
        "seeds": (pl.Int64, "Cells of the arm."),
        "problems": (pl.Int64, "Problems each of them was evaluated on."),
        "step": (pl.Float64, "Mean step of the evaluations taken: the last of each cell within the budget."),
        "instances": (pl.Float64, "Different training problems seen by then, mean over the cells."),
        "tokens": (pl.Float64, "Tokens of the replies trained on by then, mean over the cells."),
        "correct": pl.Float64,
        **INTERVAL,
        "formatted": pl.Float64,
        "length": (pl.Float64, "Mean tokens of a reply of the evaluation."),
        "reflections": (pl.Float64, "Mean words of self-checking in a reply of the evaluation."),
        "truncated": pl.Float64,
    },
    keys=("matching", "suite", "arm"),
    terms=TERMS,
)
COMPARISONS = TableSchema(
    "comparisons",
    1,
    {
        "matching": pl.String,
        "suite": pl.String,
        "first": (pl.String, "Arm that is compared."),
        "second": (pl.String, "Arm that it is compared with."),
        "problems": (pl.Int64, "Problems that both were evaluated on."),
        "seeds": (pl.Int64, "Seeds that both were run with."),
        "difference": (
            pl.Float64,
            "Share correct of the first minus that of the second, paired by problem and seed.",
        ),
        **INTERVAL,
        "p_value": (
            pl.Float64,
            "Chance of a difference as large if the arms were alike: signs of the problems' differences "
            "flipped.",
        ),
        "p_holm": (pl.Float64, "The same, corrected for all comparisons of one matching and suite (Holm)."),
    },
    keys=("matching", "suite", "first", "second"),
    terms=TERMS,
)
CURVES = TableSchema(
    "curves",
    1,
    {
        "arm": pl.String,
        "step": pl.Int64,
        "measure": (
            pl.String,
            "What is followed: correct or pass@k of a suite in an evaluation, or reward, length, "
            "reflections or entropy of the training.",
        ),
        "suite": pl.String,
        "value": (pl.Float64, "Mean over the seeds, and over problems where it is an evaluation's."),
        **INTERVAL,
    },
    keys=("arm", "step", "measure", "suite"),
    terms=TERMS,
)
FIGURES = TableSchema(
    "figures",
    1,
    {
        "name": (pl.String, "What the picture shows, by its title."),
        "png_sha": (pl.String, "Blob with the picture, a PNG."),
    },
    keys=("name",),
)


CELLS = Cells("utility", tuple(ARMS))
cell_of, parse_cell = CELLS.key, CELLS.parse


def pick_arms(text: str) -> list[str]:
    """Return the arms of a text like `base,seeds`, in the order of ARMS; all of `all`.

    Raises:
        InputError: an unknown name, or none.
    """
    names = (
        list(ARMS) if text.strip() == "all" else [name.strip() for name in text.split(",") if name.strip()]
    )
    if not names or set(names) - ARMS.keys():
        raise InputError(
            "these arms cannot be run",
            wanted=f"all, or some of {', '.join(ARMS)}",
            got=text or "none",
            do="name some of these",
        )
    return [arm for arm in ARMS if arm in names]


TABLES = tables_by_name(PROBLEMS, STUDY, STEPS, REPLIES, SUMMARY, COMPARISONS, CURVES, FIGURES)
"""Asset -> schema of every table that the study publishes under its own name, for SQL and for `evolake sql
--schema`."""
