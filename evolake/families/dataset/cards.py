"""The card of an exported data set: what is in it, which seeds and which rules it is based on, how it was
made and how to load it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolake.families.independence import LEVELS
from evolake.families.model.sampling import BANDS, band_name


@dataclass(frozen=True)
class Provenance:
    """The origin of a data set. seeds: (name, family_id) of every seed family. rulesets: hashes of the rules.
    counts: further numbers to name."""

    seeds: Sequence[tuple[str, str]]
    rulesets: Sequence[str]
    cycles: Sequence[str]
    root_seeds: Sequence[str]
    backends: Sequence[str]
    versions: Sequence[str]
    counts: Mapping[str, int] = field(default_factory=dict)


TITLE = "# Verifiable task families"
LOADING = {
    "jsonl": (
        "`instances.jsonl`, or a file for each split, holds one instance per line, `families.jsonl` the "
        "families they were drawn from: `evolake families check families.jsonl` takes them through the "
        "gates again."
    ),
    "trl": (
        '`datasets.load_dataset("path/to/this/folder")` (datasets >= 5; tried with 5.2.0 and pyarrow 26). '
        "`GRPOTrainer(reward_funcs=reward)` with `reward` from `reward.py`: the columns `answer`, "
        "`case_sensitive` and `units` reach it by name."
    ),
    "verl": (
        "`data.train_files=train.parquet`, `custom_reward_function.path=reward.py`, "
        "`custom_reward_function.name=compute_score`."
    ),
}


def card(
    form: str,
    rows: Sequence[Mapping[str, Any]],
    made_by: Provenance,
    splits: Mapping[str, int],
    *,
    left_out: int = 0,
    checked: Collection[str] = (),
    shared: str = "",
) -> str:
    """Return the text of README.md. rows: the instances, columns of INSTANCES with `operator` of their
    family. left_out: how many are in no split. shared: what both sides of the split share. checked: families
    whose questions have many correct answers.
    """
    suffix = "jsonl" if form == "jsonl" else "parquet"
    name = "instances" if form == "jsonl" and len(splits) == 1 else ""
    files = "".join(f"  - split: {split}\n    path: {name or split}.{suffix}\n" for split in splits)
    front = f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}---\n\n"
    families = {row["family_id"]: row for row in rows}
    parts = [
        TITLE + "\n",
        f"{len(rows)} questions with one checkable answer each, drawn from {len(families)} families"
        f" ({', '.join(f'{split}: {count}' for split, count in splits.items())})."
        " A label is what a strict majority of independent validators answers."
        + (
            " Splits are by lineage and mechanics: no family of one descends from a family that a family "
            "of the other descends from, or from one with"
            f" the same engine or the same code. {shared}."
            if len(splits) > 1
            else ""
        )
        + (
            f" {left_out} further questions are of families with ancestors or engines on both sides, and "
            "in neither."
            if left_out
            else ""
        )
        + "\n",
        "## Counts\n",
        table("category", rows, "category"),
        table("difficulty", rows, "band", [band_name(band) for band in BANDS]),
        table("language", rows, "language"),
        table("operator that made the family", rows, "operator"),
        table("solved from the text alone by", rows, "independent", LEVELS),
        "`none`: the author alone, whose misreading text and programs may share; `author`: a validator by "
        "an author who never saw the primary; `model`, `person`: readers who answered at least five "
        "instances, 80 % of them right.\n",
        "## What it is based on\n",
        f"* cycles: {', '.join(made_by.cycles)}\n* ruleset: "
        f"{', '.join(f'`{ruleset}`' for ruleset in made_by.rulesets)}\n"
        f"* root seed: {', '.join(made_by.root_seeds)}\n* roles served by: {', '.join(made_by.backends)}\n"
        f"* evolake {', '.join(made_by.versions)}\n"
        + "".join(f"* {what}: {count}\n" for what, count in made_by.counts.items()),
        f"## Seeds\n\n{len(made_by.seeds)} seed families:\n",
        "".join(f"* {name} `{family_id}`\n" for name, family_id in made_by.seeds),
        f"## Loading\n\n{LOADING[form]}\n",
        "The reward is 1 where the last `\\boxed{...}` of a reply is the label, in one of the forms that "
        "docs/answers.md of evolake lists, else 0. Replies are never evaluated.\n",
        *([_many_answers(rows, checked)] if checked else []),
    ]
    return front + "\n".join(parts)


def _many_answers(rows: Sequence[Mapping[str, Any]], checked: Collection[str]) -> str:
    """Return what a user must know of questions with many correct answers."""
    count = sum(row["family_id"] in checked for row in rows)
    return (
        f"## Questions with many correct answers\n\n{count} questions of {len(checked)} families: their "
        "`answer` is one correct answer."
        " A reply is right if more than half of the family's checkers accept it. `reward.py` carries the "
        "checkers' sources and runs them in a separate process with limits of time, memory and files, "
        "without a sandbox. The gates have held these sources to plain computing: no files, few modules. "
        "Read them in `CHECKERS` before you train. The columns `checker` and `inputs` must reach the "
        "reward.\n"
    )


def table(
    title: str, rows: Sequence[Mapping[str, Any]], column: str, order: Sequence[str] | None = None
) -> str:
    """Return a markdown table: instances and families by one column."""
    instances = Counter(row[column] for row in rows)
    families = {value: len({row["family_id"] for row in rows if row[column] == value}) for value in instances}
    lines = [f"| {title} | instances | families |", "| --- | --- | --- |"]
    lines += [
        f"| {value} | {instances[value]} | {families[value]} |"
        for value in (order or sorted(instances))
        if value in instances
    ]
    return "\n".join(lines) + "\n"
