"""Types of the tables of the programs line. Those in ARCHIVE are carried from cycle to cycle (`population`);
single assets add the others.

Projects are rows side by side in one partition per cycle, distinguished by `project`: a second partition
dimension would make a backfill of 50 projects 50 times the partitions, each with its own chain of seals,
while one query now ranks them all."""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema, incoming_tables, tables_by_name

TERMS = {
    "project": "Project, by the name of its folder.",
    "program_id": "Program: sha256 (hex) of its project's name and its texts.",
    "protected": (
        "Whether it ran in another jail than its evaluator: false if the evaluator imports the program, "
        "which could then forge its score."
    ),
    "metrics": "Means of its metrics over its evaluations, as JSON.",
    "generation": "Generation of the project in the cycle, from 1.",
    "score": (
        "The project's score, mean of its evaluations; the project says whether higher is better. Null "
        "without one."
    ),
}
"""What the columns mean that several of the tables below have; see `TableSchema`."""

PROGRAMS = TableSchema(
    "programs",
    2,
    {
        "program_id": pl.String,
        "project": pl.String,
        "cycle": (pl.String, "Cycle in which it was made; 0000 for an initial program of the seeds."),
        "generation": (
            pl.Int64,
            "Generation of the cycle in which it was made, from 1; 0 for an initial program.",
        ),
        "number": (
            pl.Int64,
            "Place in the order of the project's programs, from 0; the initial program is 0.",
        ),
        "state": (
            pl.String,
            "accepted (lives on an island), champion, retired (passed its gates and was not kept) or "
            "blocked (by a gate).",
        ),
        "islands": (pl.List(pl.Int64), "Islands that it lives on, from 0."),
        "operator": (pl.String, "What made it: initial, an operator's name, or model."),
        "parents": (pl.List(pl.String), "Programs that it was made from."),
        "files_sha": (pl.String, "Blob with its texts, JSON of path -> text."),
        "score": pl.Float64,
        "metrics": pl.String,
        "cell": (
            pl.String,
            "Cell of the archive that its features put it into: the number of the bin of each, joined by "
            "commas.",
        ),
        "size": (pl.Int64, "Characters of its blocks."),
        "front": (
            pl.Boolean,
            "Whether no living program of the project is at least as good in every declared metric and "
            "better in one.",
        ),
        "protected": pl.Boolean,
        "origin": (pl.String, "Backend that wrote it, or the project's name for an initial program."),
        "reason": (pl.String, "Why it is blocked; null where it is not."),
        "idea": (pl.String, "What its author wanted to try, in the author's words; null of operators."),
        "cpu_s": (
            pl.Float64,
            "Mean processor time of its evaluations, in seconds; null if it was not evaluated.",
        ),
    },
    keys=("program_id",),
    provenance=("cpu_s",),
    terms=TERMS,
)
ARCHIVE: dict[str, TableSchema] = {"programs": PROGRAMS, "derivations": DERIVATIONS, "state": STATE}

PROJECTS = TableSchema(
    "projects",
    1,
    {
        "project": pl.String,
        "cycle": pl.String,
        "project_sha": (
            pl.String,
            "sha256 (hex) of all files of the project's folder as they were when it entered.",
        ),
        "blob_sha": (pl.String, "Blob with them, a packed tree: every cycle uses these."),
        "initial_id": (pl.String, "Program that the project began with."),
        "mode": (
            pl.String,
            "imports (the evaluator imports the program: score not protected), calls (it calls the "
            "program in another jail) or separate (separate jails, by cases and outputs).",
        ),
        "score_name": (pl.String, "Metric that it is ranked by."),
        "higher_is_better": (pl.Boolean, "Whether a higher score is better."),
        "living": (pl.Int64, "Its programs on islands when the cycle began."),
        "note": (
            pl.String,
            "What a reader should know: why its score is not protected, or that its folder has changed "
            "since; empty for nothing.",
        ),
    },
    keys=("project",),
    provenance=("note",),
    terms=TERMS,
)
"""The projects of a cycle."""
JOURNAL = TableSchema(
    "journal",
    1,
    {
        "cycle": pl.String,
        "project": pl.String,
        "generation": (
            pl.Int64,
            "Generation of the project in the cycle, from 1; in duel_notes the place of a held-out seed, "
            "from 0.",
        ),
        "key": (pl.String, "sha256 (hex) of everything that the generation, or the duel, depends on."),
        "entry_sha": (
            pl.String,
            "Blob with what it made: programs, evidence of their gates, evaluations, derivations, calls "
            "of roles; of a duel evaluations.",
        ),
    },
    keys=("project", "generation"),
    provenance=("entry_sha",),
    terms=TERMS,
)
MEASURED = TableSchema(
    "measured",
    1,
    {
        "cycle": pl.String,
        "project": pl.String,
        "program_id": pl.String,
        "purpose": (
            pl.String,
            "search; session or trial: under the seeds of the search, while its author still worked on "
            "it; scratch: a script that its author ran next to it, without a score; or heldout: side by "
            "side at the end of the cycle, under seeds that the search never had.",
        ),
        "side": (
            pl.String,
            "Of the held-out: champion, again (the champion once more under the first seeds: the noise "
            "within a seed), challenger or initial; of session, scratch and trial generation/place of the "
            "child that was asked for; empty for the search.",
        ),
        "seed": (pl.Int64, "Number that chance in the evaluation is drawn from."),
        "status": (
            pl.String,
            "ok; or how it ended: a status of the jail, build, raised, reported (an error in words), "
            "no_result or tampered.",
        ),
        "score": (pl.Float64, "The project's score in this one evaluation; null without one."),
        "metrics": (pl.String, "Metrics of this one evaluation, as JSON."),
        "artifacts": (
            pl.String,
            "Texts that the evaluator hands on in addition to its metrics, and errors, as JSON.",
        ),
        "stage": (pl.Int64, "Stages of the evaluator's cascade that it passed through."),
        "cpu_s": pl.Float64,
        "wall_s": pl.Float64,
        "peak_mb": pl.Float64,
        "protected": pl.Boolean,
        "host": pl.String,
    },
    keys=("project", "program_id", "purpose", "side", "seed"),
    provenance=("cpu_s", "wall_s", "peak_mb", "host"),
    terms=TERMS,
)
"""One row per evaluation."""
FAILED_PROPOSALS = TableSchema(
    "unmade",
    2,
    {
        "number": (pl.Int64, "Place among the cycle's proposals that made no candidate, from 0."),
        "cycle": pl.String,
        "project": pl.String,
        "generation": pl.Int64,
        "reason": (pl.String, "Why no candidate came of it."),
        "idea": (pl.String, "What was to be tried, in its author's words; empty if that is not known."),
        "operator": (pl.String, "Who proposed it: model, or operators."),
        "parent_id": (pl.String, "Program that was to be changed."),
    },
    keys=("number",),
    terms=TERMS,
)
"""Proposals of the writer that came to nothing: no usable reply, edits that do not apply, a program that was
there already, or one that a busy host could not evaluate."""
GATED = TableSchema(
    "accepted",
    1,
    {
        "program_id": pl.String,
        "cycle": pl.String,
        "project": pl.String,
        "passed": pl.Boolean,
        "gate": (pl.String, "Gate that blocked it; null if none did."),
        "rule_id": (pl.String, "Rule that blocked it; null if none did."),
        "reason": pl.String,
        "evidence_sha": pl.String,
    },
    keys=("program_id",),
    terms=TERMS,
)
"""One row per candidate."""
DECISIONS = TableSchema(
    "champion",
    2,
    {
        "cycle": pl.String,
        "project": pl.String,
        "champion_id": (pl.String, "Program that was the project's champion when the cycle began."),
        "challenger_id": (pl.String, "The best other program by the search's score; null if there is none."),
        "wins": (
            pl.Boolean,
            "Whether the challenger becomes champion: the whole interval of the difference is above 0.",
        ),
        "pairs": (
            pl.Int64,
            "Held-out seeds that both were evaluated under and gave a score; a hopeless challenger is "
            "given up after a few.",
        ),
        "difference": (
            pl.Float64,
            "Mean of how much better the challenger is, in the score's unit, positive is better; null "
            "without one.",
        ),
        "low": (pl.Float64, "Lower end of the 95% interval of the difference, by the test."),
        "high": (pl.Float64, "Upper end of that interval."),
        "noise": (
            pl.Float64,
            "Noise within a seed: what 95% of pairs of evaluations of the champion itself, under one "
            "seed, stay within.",
        ),
        "holder_id": (pl.String, "Champion after the cycle."),
        "holder_mean": (pl.Float64, "Mean held-out score of the champion after the cycle."),
        "holder_low": (pl.Float64, "Lower end of the 95% interval of that mean (bootstrap over seeds)."),
        "holder_high": (pl.Float64, "Upper end of the 95% interval of that mean (bootstrap over seeds)."),
        "initial_mean": (pl.Float64, "Mean held-out score of the initial program under the same seeds."),
        "protected": pl.Boolean,
        "reason": (pl.String, "The verdict in words."),
        "test": (pl.String, "Test that decided, with its number of pairs; null without one."),
    },
    keys=("project",),
    terms=TERMS,
)
"""One row per project."""
TABLES = incoming_tables(ARCHIVE) | {
    **dict.fromkeys(("seeds", "immigrant_programs", "candidates", "survivors"), PROGRAMS),
    **dict.fromkeys(("measured", "heldout"), MEASURED),
    **dict.fromkeys(("generations", "notes", "duel_notes"), JOURNAL),
    **tables_by_name(PROJECTS, FAILED_PROPOSALS, GATED, DECISIONS),
}
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""
