"""Types of the tables of the families line. Those in ARCHIVE are carried from cycle to cycle (`population`);
single assets add the others."""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema

INVENTED = "invented"
"""The operator of a family that a model wrote without a parent."""
TERMS = {
    "attempt": (
        "Which attempt of the cycle it belongs to, from 0; an attempt is one proposal with its refinements."
    ),
    "case_sensitive": "Whether upper and lower case count when answers are compared.",
    "category": (
        "Kind of reasoning: logical, spatial, symbolic, temporal, relational, commonsense, causal or other."
    ),
    "difficulty": "Level that the generator was asked for, from 1 to 10.",
    "evidence": "JSON, gate -> blob with what the gate's rules judged.",
    "family_id": "Family of tasks: sha256 (hex) of its sources and declarations.",
    "fingerprint": "JSON sketch that duplicates are found by; null where the sample was not reached.",
    "label": "Answer of the strict majority as JSON; null if there is none.",
    "language": "Language of the text: en or zh.",
    "operator": "What made the family from its parents, or seed.",
    "rule_id": "Rule that blocked the family; null or empty if none did.",
    "voters": "How many could vote on the answer: the primary validator and the independent ones.",
    "votes": "How many of the voters gave the label.",
}
"""What the columns mean that several of the tables below have; see `TableSchema`."""

FAMILIES = TableSchema(
    "families",
    1,
    {
        "family_id": pl.String,
        "state": (
            pl.String,
            "accepted (may be used as a parent), retired (passed every gate; a policy learns nothing from "
            "it) or blocked.",
        ),
        "cycle": (pl.String, "Cycle in which this version was made; 0000 for a seed."),
        "name": (pl.String, "Short name for its folder, unique among the seeds; no part of its content."),
        "title": pl.String,
        "category": pl.String,
        "language": pl.String,
        "operator": pl.String,
        "origin": (pl.String, "Where it comes from: seed, operators or model."),
        "parents": (pl.List(pl.String), "Families that it was made from, in the operator's order."),
        "attempt": pl.Int64,
        "round": (pl.Int64, "Which refinement of its attempt it is; 0 is the first version."),
        "record_sha": (pl.String, "Blob with its sources and declarations."),
        "fingerprint": pl.String,
        "evidence": pl.String,
        "gate": (pl.String, "Gate that blocked it when it was created; null if none did."),
        "rule_id": pl.String,
        "reason": (pl.String, "What it was blocked for when it was made; null where it was not."),
        "instances": (pl.Int64, "How many labelled instances were sampled of it; null before that."),
    },
    keys=("family_id",),
    terms=TERMS,
)
INDEPENDENT = {
    "independent": (
        pl.String,
        "Who solved it from its text alone when the row was written: none, author (another author's "
        "validator), model or person.",
    )
}
ACCEPTED = TableSchema("accepted", 1, {**FAMILIES.described, **INDEPENDENT}, keys=FAMILIES.keys, terms=TERMS)
CANDIDATES = TableSchema(
    "candidates",
    1,
    {
        **FAMILIES.described,
        "costs": (pl.String, "JSON, gate -> jail calls, cpu_s and wall_s (seconds) that it took."),
        **INDEPENDENT,
    },
    keys=FAMILIES.keys,
    provenance=("costs",),
    terms=TERMS,
)
FURTHER = TableSchema(
    "further",
    1,
    {"family_id": pl.String, "cycle": pl.String, "fingerprint": pl.String, "evidence": pl.String},
    keys=("family_id",),
    terms=TERMS,
)
"""Candidates that got further than when they were made, because a rule was loosened: what replaces their
row's fingerprint and evidence."""


def further_table(asset: str) -> str:
    """Return where the candidates are that got further at a gate of `asset`."""
    return f"{FURTHER.name}_{asset}"


LEARNABILITY_READ = TableSchema(
    "learnability_read",
    1,
    {
        "cycle": pl.String,
        "number": (pl.Int64, "Place among what was read, from 0, the newest first."),
        "newest": (pl.Int64, "How many tables were wanted at most."),
        "prompts_cycle": (
            pl.String,
            "Cycle of the prompts line whose table `learnability` is read; null if there was none with a "
            "family.",
        ),
        "content_sha": (
            pl.String,
            "sha256 (hex) over the content of that table when the cycle opened; null if there was none.",
        ),
    },
    keys=("number",),
    terms=TERMS,
)
"""What a cycle read of the prompts line when it opened; without rows where it reads nothing
(EVOLAKE_FAMILIES__LEARNABILITY is 0)."""
LEARNABILITY = TableSchema(
    "learnability",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "policy": (pl.String, "Policy of the prompts line that was asked, by name."),
        "prompts_cycles": (
            pl.List(pl.String),
            "Cycles of the prompts line that asked the family, of those that were read.",
        ),
        "groups": (pl.Int64, "Groups of replies: one prompt on one problem in one iteration."),
        "replies": (pl.Int64, "Replies in these groups."),
        "correct": (pl.Int64, "Replies that were right."),
        "informative": (pl.Int64, "Groups whose rewards differ, so that something can be learnt from them."),
        "pass_rate": (pl.Float64, "Share of the replies that were right, from 0 to 1."),
        "score": (
            pl.Float64,
            "Learnability from 0 (too easy, or impossible) to 1 (half are right), over all difficulties "
            "and cycles read.",
        ),
        "factor": (
            pl.Float64,
            "What its chance to become a parent is multiplied with; a family that was not asked has 1.",
        ),
    },
    keys=("family_id",),
    terms=TERMS,
)
"""What the prompts line says of families, as a cycle used it: one row per family that was asked there."""
SURVIVAL = TableSchema(
    "survival",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "before": (pl.String, "State that it entered the end of the cycle with: accepted or retired."),
        "lives": (pl.Boolean, "Whether it survives; if not, it is retired."),
        "score": (pl.Float64, "Learnability from 0 to 1 that was used; null if no policy was asked."),
        "groups": (pl.Int64, "Groups of replies that the score rests on."),
        "floor": (pl.Float64, "Score below which a family is retired that was asked often enough."),
        "reason": (pl.String, "What decided, in words."),
    },
    keys=("family_id",),
    terms=TERMS,
)
"""Who of the families that passed every gate continues; without rows where learnability counts nothing."""
EXPERIENCE = TableSchema(
    "experience",
    1,
    {
        "number": (pl.Int64, "Place in the list, the oldest first."),
        "cycle": pl.String,
        "item": (pl.String, "One lesson from failures, in a sentence."),
    },
    keys=("number",),
    terms=TERMS,
)
ARCHIVE: dict[str, TableSchema] = {
    "families": FAMILIES,
    "derivations": DERIVATIONS,
    "experience": EXPERIENCE,
    "state": STATE,
}

FAILED_PROPOSALS = TableSchema(
    "unmade",
    1,
    {
        "number": (pl.Int64, "Attempt of the cycle, from 0."),
        "cycle": pl.String,
        "operator": (pl.String, "What was to make a family, by name."),
        "reason": (pl.String, "Why there was no family at all."),
    },
    keys=("number",),
    terms=TERMS,
)

MEASURED = TableSchema(
    "measured_drafts",
    1,
    {
        "number": (pl.Int64, "Attempt of the cycle, from 0."),
        "round": (pl.Int64, "Which measuring of the attempt, from 0."),
        "cycle": pl.String,
        "title": pl.String,
        "faults": (
            pl.List(pl.String),
            "All that the gates without a model said against the draft, each with the gate's name.",
        ),
        "outcome": (
            pl.String,
            "no fault, corrected (its author gave another version) or kept (no usable correction came).",
        ),
        "calls": (pl.Int64, "Jail calls that it took."),
        "cpu_s": (pl.Float64, "Processor time in the jail, in seconds."),
        "wall_s": (pl.Float64, "Elapsed time in the jail, in seconds."),
    },
    keys=("number", "round"),
    provenance=("cpu_s", "wall_s"),
    terms=TERMS,
)
"""Drafts of a model that were run before the gates: what was found, what came of it, and what it cost."""
IDEAS = TableSchema(
    "ideas",
    1,
    {
        "number": (pl.Int64, "Attempt of the cycle, from 0."),
        "cycle": pl.String,
        "family_id": (pl.String, "Last version of the attempt; null if there was no family at all."),
        "operator": (pl.String, "What was to make a family, by name."),
        "title": pl.String,
        "idea": (pl.String, "What has to be reasoned about, in its author's words; null if none was given."),
        "outcome": (
            pl.String,
            "accepted, blocked or `unmade` (a failed proposal, without a family), as it was when the "
            "attempt was made.",
        ),
        "reason": (
            pl.String,
            "What it was blocked for, or why there was no family, and why a correction was lost; null if "
            "it was accepted at the first attempt.",
        ),
    },
    keys=("number",),
    terms=TERMS,
)
"""Every attempt of a cycle, also those that brought no family."""
SEED_EVIDENCE = TableSchema(
    "seed_evidence",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "evidence": (pl.String, "shipped (came with the seeds) or made (collected here)."),
        "reviewed_by": (pl.String, "Who reviewed the family from its text: operators or model."),
    },
    keys=("family_id",),
    terms=TERMS,
)
"""Which evidence the verdicts on seed families rest on."""

GATED = TableSchema(
    "gated",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "gate": pl.String,
        "passed": pl.Boolean,
        "rule_id": pl.String,
        "reason": (pl.String, "What it was blocked for; null where it passed."),
        "evidence_sha": pl.String,
        "ruleset_hash": pl.String,
    },
    keys=("family_id", "gate"),
    provenance=("ruleset_hash",),
    terms=TERMS,
)
VOTES = TableSchema(
    "consensus_labels",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "difficulty": pl.Int64,
        "seed": pl.Int64,
        "label": pl.String,
        "decided": (pl.Boolean, "Whether a strict majority of the voters agrees."),
        "primary_agrees": (pl.Boolean, "Whether the primary validator is of the majority."),
        "voters": pl.Int64,
        "votes": pl.Int64,
        "passed": (
            pl.Boolean,
            "Whether the family passed the gate, so that another verdict is other content.",
        ),
    },
    keys=("family_id", "difficulty", "seed"),
    terms=TERMS,
)
VALIDATOR_VOTES = TableSchema(
    "validator_votes",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "difficulty": pl.Int64,
        "seed": pl.Int64,
        "voter": (pl.String, "Who votes: primary, or the independent validator's file."),
        "status": (pl.String, "ok, or how the validator failed; a failed one counts among the voters."),
        "answer": (pl.String, "What it answered, as JSON; null where it failed."),
        "for_label": (pl.Boolean, "Whether this vote is one of the majority's."),
    },
    keys=("family_id", "difficulty", "seed", "voter"),
    terms=TERMS,
)
VALIDATOR_AUTHORS = TableSchema(
    "validator_authors",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "voter": (pl.String, "Whose program it is: primary, or the independent validator's file."),
        "author": (
            pl.String,
            "Role whose reply holds the program; operators for what was composed of the parents' programs.",
        ),
        "saw": (
            pl.List(pl.String),
            "What that author was shown: parents, blocked draft, samples, votes, statement, instances, "
            "generator, primary.",
        ),
        "algorithm": (pl.String, "Its idea in a line, in its author's words; null if none was asked for."),
        "source_sha": (pl.String, "sha256 (hex) of the program."),
        "independent": (
            pl.Boolean,
            "Whether it comes from a call other than the primary's that was not shown the primary; null "
            "for the primary, and for what operators composed.",
        ),
    },
    keys=("family_id", "voter"),
    terms=TERMS,
)
REVIEWS = TableSchema(
    "blind_reviews",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "number": (pl.Int64, "Place among the family's reviews, from 0."),
        "difficulty": pl.Int64,
        "seed": pl.Int64,
        "reviewer": (pl.String, "Who solved it from the text alone: a reader with a strategy, or model."),
        "status": (pl.String, "answered, gave up, no answer, or failed (no usable reply)."),
        "answer": (pl.String, "Content of the final box; empty if there is none."),
        "label": pl.String,
        "matched": (pl.Boolean, "Whether the reviewer's answer is the label."),
        "programs": (pl.Int64, "How many programs the reviewer ran before it answered."),
        "note": (pl.String, "What the reviewer says about how it went, or why the call failed."),
        "passed": (
            pl.Boolean,
            "Whether the family passed the gate, so that another verdict is other content.",
        ),
    },
    keys=("family_id", "number"),
    terms=TERMS,
)
INSTANCES = TableSchema(
    "instances",
    1,
    {
        "instance_id": (pl.String, "Labelled instance: sha256 (hex) over family, difficulty and seed."),
        "family_id": pl.String,
        "cycle": pl.String,
        "category": pl.String,
        "language": pl.String,
        "difficulty": pl.Int64,
        "band": (pl.String, "Range of difficulties that it was drawn for: 1-3, 4-6 or 7-10."),
        "seed": pl.Int64,
        "text": (pl.String, "The whole problem as a solver reads it."),
        "inputs": (pl.String, "Hidden inputs behind the text, as JSON."),
        "answer": (pl.String, "The label, as JSON."),
        "case_sensitive": pl.Boolean,
        "voters": pl.Int64,
        "votes": pl.Int64,
        "text_sha": pl.String,
    },
    keys=("instance_id",),
    terms=TERMS,
)
DROPPED = TableSchema(
    "dropped_instances",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "reason": (pl.String, "Why they are not kept, e.g. repeated or trivial."),
        "instances": (pl.Int64, "How many instances were dropped for it."),
    },
    keys=("family_id", "reason"),
    terms=TERMS,
)
COMPLEXITY = TableSchema(
    "complexity",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "operator": pl.String,
        "category": pl.String,
        "parsed": (pl.Boolean, "Whether the sources could be measured; where not, all measures are null."),
        "loc": (pl.Int64, "Lines of code of generator and primary validator together (radon)."),
        "cyclomatic": (pl.Int64, "Cyclomatic complexity: independent paths through the code (radon)."),
        "cognitive": (pl.Int64, "Cognitive complexity: how hard the control flow is to follow (complexipy)."),
        "halstead_volume": (pl.Float64, "Halstead's volume: length times log2 of the vocabulary."),
        "halstead_difficulty": (pl.Float64, "Halstead's measure of how error-prone the code is to write."),
        "halstead_effort": (pl.Float64, "Halstead's volume times difficulty."),
        "loops": (pl.Int64, "How many for and while statements and comprehensions."),
        "loop_depth": (pl.Int64, "Greatest depth of nested loops."),
        "recursive": (pl.Boolean, "Whether some function calls itself."),
        "binary_search": (
            pl.Boolean,
            "Whether names and structure look like a search that halves its range.",
        ),
        "sorting": (pl.Boolean, "Whether something is sorted or put on a heap."),
        "dynamic_programming": (
            pl.Boolean,
            "Whether names or decorators look like remembered partial results.",
        ),
        "graph_traversal": (pl.Boolean, "Whether names look like a walk over a graph."),
        "divide_and_conquer": (pl.Boolean, "Whether a function calls itself on parts of its input."),
        "time_class": (
            pl.String,
            "Growth of the running time guessed from the structure, e.g. O(n^2); proves nothing.",
        ),
    },
    keys=("family_id",),
    terms=TERMS,
)
FUNNEL = TableSchema(
    "funnel",
    1,
    {
        "cycle": pl.String,
        "operator": (pl.String, "What made the families, or all for every operator together."),
        "gate_no": (pl.Int64, "Place of the gate in the line's order, from 0; null for attempts."),
        "gate": (
            pl.String,
            "Gate by name; attempts for attempts that ended in an accepted family, those that brought no "
            "family among who came.",
        ),
        "came": (pl.Int64, "How many met the gate."),
        "passed": (pl.Int64, "How many of them continued to the next gate."),
        "blocked": (pl.Int64, "How many were stopped here."),
        "rate": (pl.Float64, "Share of those that came which passed, from 0 to 1."),
    },
    keys=("cycle", "operator", "gate"),
    terms=TERMS,
)
RESOURCES = TableSchema(
    "resources",
    1,
    {
        "cycle": pl.String,
        "outcome": (
            pl.String,
            "Which attempts: accepted, rejected (also those that brought no family at all) or all.",
        ),
        "attempts": (pl.Int64, "Proposals with all their refinements."),
        "versions": (pl.Int64, "Families that these attempts put before the gates."),
        "calls_mean": (pl.Float64, "Jail calls per attempt, on average."),
        "cpu_s_mean": (pl.Float64, "Processor time in the jail per attempt, in seconds, on average."),
        "cpu_s_p99": (
            pl.Float64,
            "Processor time in the jail that 99% of the attempts stay below, in seconds.",
        ),
        "wall_s_mean": (pl.Float64, "Elapsed time in the jail per attempt, in seconds, on average."),
        "tokens": (pl.Int64, "Tokens of all model calls, in and out."),
        "usd": (pl.Float64, "Price of all model calls, in US dollars."),
        "usd_each": (
            pl.Float64,
            "US dollars per attempt; for all, per accepted family, with everything that was rejected paid.",
        ),
    },
    keys=("cycle", "outcome"),
    provenance=("cpu_s_mean", "cpu_s_p99", "wall_s_mean"),
    terms=TERMS,
)
FAILURES = TableSchema(
    "failures",
    1,
    {
        "family_id": pl.String,
        "cycle": pl.String,
        "kind": (
            pl.String,
            "implementation bug, unsolvable (the text says too little) or ambiguity (it says more than "
            "one thing).",
        ),
        "gate": (pl.String, "Gate that stopped the family, by name."),
        "rule_id": pl.String,
        "reason": (pl.String, "The objection in words."),
        "lesson": (pl.String, "What the next writer should heed; null if nothing follows."),
        "traces": (
            pl.List(pl.String),
            "Instances, votes or reviews that show it, as JSON lines, at most three.",
        ),
    },
    keys=("family_id",),
    terms=TERMS,
)
DRIFT = TableSchema(
    "drift",
    1,
    {
        "family_id": pl.String,
        "parent_id": (pl.String, "Family that it was made from, asked at the same difficulties."),
        "cycle": pl.String,
        "role": (pl.String, "Which of the two was asked: evolved or parent."),
        "difficulty": pl.Int64,
        "seed": pl.Int64,
        "samples": (pl.Int64, "How often the solver model was asked."),
        "correct": (pl.Int64, "How many of its replies matched the label."),
        "failed_calls": (pl.Int64, "How many calls gave no usable reply; they count as wrong."),
    },
    keys=("family_id", "parent_id", "role", "difficulty", "seed"),
    terms=TERMS,
)
DRIFT_SUMMARY = TableSchema(
    "drift_summary",
    1,
    {
        "cycle": pl.String,
        "k": (pl.Int64, "Tries that pass@k allows."),
        "pairs": (pl.Int64, "Families compared with their parents."),
        "parent": (pl.Float64, "pass@k on the parents, from 0 to 1."),
        "evolved": (pl.Float64, "pass@k on the new families, from 0 to 1."),
        "delta": (pl.Float64, "evolved less parent; below 0 the new ones are harder."),
        "low": (pl.Float64, "Lower end of the 95% interval of delta (paired bootstrap)."),
        "high": (pl.Float64, "Upper end of the 95% interval of delta (paired bootstrap)."),
    },
    keys=("cycle", "k"),
    terms=TERMS,
)
GRADES = TableSchema(
    "audit_grades",
    1,
    {
        "family_id": pl.String,
        "auditor": (pl.String, "Person who graded."),
        "validator_consistency": (pl.String, "Grade A to D: do the validators agree for sound reasons?"),
        "answer_correctness": (pl.String, "Grade A to D: is the label right?"),
        "question_clarity": (pl.String, "Grade A to D: can the text be understood in one way only?"),
        "generator_quality": (pl.String, "Grade A to D: are the instances varied and sensible?"),
        "notes": (pl.String, "What else the auditor wrote."),
    },
    keys=("family_id", "auditor"),
    terms=TERMS,
)
INDEPENDENT_ANSWERS = TableSchema(
    "independent_answers",
    1,
    {
        "family_id": pl.String,
        "reader": (pl.String, "Who answered from the text alone: model or person."),
        "name": (pl.String, "Name of the model, or of the person."),
        "difficulty": pl.Int64,
        "seed": pl.Int64,
        "answer": (pl.String, "What was answered; empty for nothing."),
        "label": pl.String,
        "matched": (pl.Boolean, "Whether the answer is the label."),
    },
    keys=("family_id", "reader", "name", "difficulty", "seed"),
    terms=TERMS,
)
"""Answers of readers outside a cycle (`families check --readers model`, `families review-sheet`)."""
