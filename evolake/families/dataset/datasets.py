"""What the lake holds as one data set: the instances of every sealed cycle, their families, which seeds and
rules they are based on; and its card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError
from evolake.families.independence import LEVELS, NONE, REVIEWED, Independence, independence_in
from evolake.families.model.contract import Family
from evolake.families.model.population import Population, load_family, population_of
from evolake.families.model.sampling import BANDS, band_name
from evolake.families.tables import ARCHIVE
from evolake.families.worlds.mechanics import OWN, Mechanics, mechanics_of
from evolake.lake import Lake, following
from evolake.lake.population import roots_of

if TYPE_CHECKING:
    from evolake.families.dataset.solver_rates import Band


@dataclass(frozen=True)
class Provenance:
    """The origin of a data set. seeds: (name, family_id) of every seed family. rulesets: hashes of the rules.
    counts: further numbers to name. difficulty: how it was chosen by a solver's success; "" if it was not."""

    seeds: Sequence[tuple[str, str]]
    rulesets: Sequence[str]
    cycles: Sequence[str]
    root_seeds: Sequence[str]
    backends: Sequence[str]
    versions: Sequence[str]
    counts: Mapping[str, int] = field(default_factory=dict)
    difficulty: str = ""


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
    "verifiers": (
        "`pip install .`; the taskset is `evolake-families` (verifiers >= 0.4, v1). `vf-validate "
        "evolake-families --runtime.type subprocess` checks every label; `--env.taskset.split` and "
        "`--env.taskset.difficulty` choose questions."
    ),
    "reasoning-gym": (
        "`pip install .`; then `import evolake_families` and "
        '`reasoning_gym.create_dataset("evolake", size=10, seed=1)`; each family is a dataset, too '
        "(`evolake_families.NAMES`). Questions are those of the files."
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
    suffix = "parquet" if form in ("trl", "verl") else "jsonl"
    name = "instances" if form == "jsonl" and len(splits) == 1 else ""
    folder = "evolake_families/" if form in ("verifiers", "reasoning-gym") else ""
    files = "".join(f"  - split: {split}\n    path: {folder}{name or split}.{suffix}\n" for split in splits)
    families = {row["family_id"]: row for row in rows}
    front = _front(rows) + f"configs:\n- config_name: default\n  data_files:\n{files}---\n\n"
    levels = Counter(row["independent"] for row in families.values())
    parts = [
        TITLE + "\n",
        "Who solved a family from its text alone, other than its own programs: "
        + ", ".join(f"`{level}` {levels[level]}" for level in LEVELS if levels[level])
        + f" of {len(families)} families. Licence: that of evolake, Apache-2.0, for what it wrote itself; "
        "for families that you or a model wrote, choose yours.\n",
        f"{len(rows)} questions with one checkable answer each, drawn from {len(families)} families"
        f" ({', '.join(f'{split}: {count}' for split, count in splits.items())})."
        " A label is what a strict majority of a family's programs answers. They agree on a misreading, too, "
        "if one author wrote them all: see below who else solved a family from its text."
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
        "`none`: the family's own programs alone, which may share a misreading of its text; `author`: a "
        "validator by an author who never saw the primary; `text`: the text solver, which "
        "was written without the programs of families, read the text and found every label that it was asked "
        "for; `model`, `person`: readers who answered at least five instances, 80 % of them right.\n",
        "## What it is based on\n",
        f"* cycles: {', '.join(made_by.cycles)}\n* ruleset: "
        f"{', '.join(f'`{ruleset}`' for ruleset in made_by.rulesets)}\n"
        f"* root seed: {', '.join(made_by.root_seeds)}\n* roles served by: {', '.join(made_by.backends)}\n"
        f"* evolake {', '.join(made_by.versions)}\n"
        + "".join(f"* {what}: {count}\n" for what, count in made_by.counts.items())
        + (f"* difficulty: {made_by.difficulty}\n" if made_by.difficulty else ""),
        f"## Seeds\n\n{len(made_by.seeds)} seed families:\n",
        "".join(f"* {name} `{family_id}`\n" for name, family_id in made_by.seeds),
        f"## Loading\n\n{LOADING[form]}\n",
        "The reward is 1 where the last `\\boxed{...}` of a reply is the label, in one of the forms that "
        "docs/answers.md of evolake lists, else 0. Replies are never evaluated.\n",
        *([_many_answers(rows, checked)] if checked else []),
    ]
    return front + "\n".join(parts)


SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))


def _front(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what Hugging Face reads of a card: licence, tasks, languages, size, tags; without its end."""
    size = next((name for most, name in SIZES if len(rows) < most), "100K<n<1M")
    languages = "".join(f"- {language}\n" for language in sorted({row["language"] for row in rows}))
    return (
        "---\nlicense: apache-2.0\ntask_categories:\n- question-answering\n- text-generation\n"
        f"language:\n{languages}size_categories:\n- {size}\n"
        "tags:\n- reasoning\n- verifiable-rewards\n- synthetic\n"
    )


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


LINE = "families"
MADE = "made"
"""Entry of the archive's state: cycle -> how it was made (ruleset, seed, backend, version)."""


@dataclass(frozen=True)
class Dataset:
    """instances: rows of INSTANCES with what is known of their family (DESCRIBED), in order of cycles.
    families: rows of FAMILIES of those they were drawn from, with the same.

    independence: family -> who solved it from its text alone. outside: families that a user or a model wrote,
    or that were made from such.
    units: family -> what a split keeps together of it: the mechanics of the families without parents that it
    descends from.
    """

    instances: list[dict[str, Any]]
    families: list[dict[str, Any]]
    made_by: Provenance
    units: dict[str, frozenset[str]]
    independence: Mapping[str, Independence] = field(default_factory=dict)
    outside: frozenset[str] = frozenset()

    def unreviewed(self) -> list[str]:
        """Return the families from outside whose text nobody has answered who had the text only."""
        return [
            family_id
            for family_id, known in self.independence.items()
            if family_id in self.outside and known.level not in REVIEWED
        ]

    def reviewed(self) -> Dataset:
        """Return the data set without its unreviewed families. Raises InputError if nothing is left."""
        left_out = set(self.unreviewed())
        instances = [row for row in self.instances if row["family_id"] not in left_out]
        if not instances:
            raise InputError(
                "every family of these cycles is unreviewed",
                wanted="a family that the text solver, a model or a person has solved from its text",
                got=f"{len(left_out)} families of a user or a model, or made from such",
                do="run: evolake families check --readers model FAMILIES, or evolake families review-sheet; "
                "--unreviewed exports them as they are",
            )
        families = [row for row in self.families if row["family_id"] not in left_out]
        return replace(self, instances=instances, families=families)

    def independent(self) -> Dataset:
        """Return what was solved from the text alone by another than its author. Raises InputError if nothing
        was."""
        kept = {family_id for family_id, known in self.independence.items() if known.level != NONE}
        instances = [row for row in self.instances if row["family_id"] in kept]
        if not instances:
            raise InputError(
                "no family was solved from its text alone by another than its author",
                got=f"{len(self.families)} families, all `independent: none`",
                do="run: evolake families check --readers model FAMILIES, or evolake families review-sheet",
            )
        families = [row for row in self.families if row["family_id"] in kept]
        return replace(self, instances=instances, families=families)

    def in_band(self, band: Band, rates: Iterable[Mapping[str, Any]]) -> Dataset:
        """Return what the stated solver answers right as often as the band says, by family and level; each
        instance with the `solver` and its `solver_rate`.

        Args:
            rates: rows of SOLVER_RATES of that solver.

        Raises:
            InputError: nothing is left.
        """
        known = {(row["family_id"], row["difficulty"]): row for row in rates}
        levels = sorted({(row["family_id"], row["difficulty"]) for row in self.instances})
        verdicts = {level: band.holds(known[level]) for level in levels if level in known}
        kept = {level for level, held in verdicts.items() if held}
        counts = Counter(verdicts.values())
        left_out = (
            f"{counts[False]} are outside, {counts[None]} were asked too few questions (the 95% interval is "
            f"wider than the band), {len(levels) - len(verdicts)} were not asked"
        )
        if not kept:
            raise InputError(
                f"no family and level is in the band {band} of the solver {band.solver}",
                wanted="a share of right answers in the band",
                got=f"{len(levels)} families and levels: {left_out}",
                do="choose a wider band, or run: evolake families difficulty --questions N",
            )
        said = (
            f"{band}, {band.describe()}; {len(kept)} of {len(levels)} families and levels are in it, "
            f"{left_out}"
        )
        instances = [
            row | {"solver": band.solver, "solver_rate": known[row["family_id"], row["difficulty"]]["rate"]}
            for row in self.instances
            if (row["family_id"], row["difficulty"]) in kept
        ]
        left = {row["family_id"] for row in instances}
        families = [row for row in self.families if row["family_id"] in left]
        made_by = replace(self.made_by, difficulty=said)
        return replace(self, instances=instances, families=families, made_by=made_by)


def read_dataset(lake: Lake, cycles: Sequence[str]) -> Dataset:
    """Return the data set of these cycles, oldest first; all of them sealed.

    Raises:
        InputError: there is no cycle, or no instance in them.
    """
    if not cycles:
        raise InputError(
            "the lake holds no finished cycle of the families line", do="run: evolake run --lines families"
        )
    population = archive_after(lake, cycles[-1])
    rows = {row["family_id"]: row for row in population.rows("accepted")}
    instances = [
        row
        for cycle in cycles
        for row in lake.read(LINE, "instances", cycle).to_dicts()
        if row["family_id"] in rows
    ]
    if not instances:
        raise InputError(
            "there are no instances in these cycles",
            got=", ".join(cycles),
            do="set EVOLAKE_FAMILIES__INSTANCES_PER_FAMILY and run a cycle",
        )
    drawn = {row["family_id"] for row in instances}
    mechanics = root_mechanics(lake, population)
    roots = roots_of({row["family_id"]: row["parents"] for row in population.rows()})
    families = [row for family_id, row in rows.items() if family_id in drawn]
    independence = independence_in(lake, cycles, drawn)
    described = {
        row["family_id"]: {name: row[name] for name in ("title", "operator", "parents")}
        | {
            "engine": engines_of(roots[row["family_id"]], mechanics),
            "answer_type": family.answer.type,
            "independent": independence[row["family_id"]].level,
        }
        for row, family in zip(families, load_families(lake, families), strict=True)
    }
    instances = [row | described[row["family_id"]] for row in instances]
    made = {cycle: made for cycle, made in population.value(MADE, {}).items() if cycle in cycles}
    made_by = Provenance(
        seeds=[(row["name"], row["family_id"]) for row in population.rows() if row["operator"] == "seed"],
        rulesets=distinct(made, "ruleset"),
        cycles=cycles,
        root_seeds=distinct(made, "seed"),
        backends=distinct(made, "backend"),
        versions=distinct(made, "version"),
        counts={
            f"families {state}": len(population.rows(state))
            for state in ("accepted", "retired", "blocked")
            if state != "retired" or population.rows(state)
        },
    )
    return Dataset(
        instances,
        [row | described[row["family_id"]] for row in families],
        made_by,
        units_of(roots, mechanics),
        independence,
        outside_of({row["family_id"]: row for row in population.rows()}),
    )


def outside_of(rows: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return the families that are not shipped: a model wrote them, a user added them as seeds, or they
    descend from such. rows: family -> its row of FAMILIES, ancestors among them."""
    found = {name for name, row in rows.items() if row["origin"] != "operators" and not _first_seed(row)}
    more = found
    while more:
        more = {name for name, row in rows.items() if name not in found and found & set(row["parents"])}
        found |= more
    return frozenset(found)


def _first_seed(row: Mapping[str, Any]) -> bool:
    return row["origin"] == "seed" and row["cycle"] == "0000"


def root_mechanics(lake: Lake, population: Population) -> dict[str, Mechanics]:
    """Return the mechanics of every family without parents, by its id."""
    rows = [row for row in population.rows() if not row["parents"]]
    return {
        row["family_id"]: mechanics_of(family)
        for row, family in zip(rows, load_families(lake, rows), strict=True)
    }


def units_of(
    roots: Mapping[str, Collection[str]], mechanics: Mapping[str, Mechanics]
) -> dict[str, frozenset[str]]:
    """Return family -> the units that a split keeps together: those of its roots. A root that left the lake
    is its own unit."""
    return {
        family: frozenset(mechanics[root].unit if root in mechanics else root for root in above)
        for family, above in roots.items()
    }


def engines_of(roots: Collection[str], mechanics: Mapping[str, Mechanics]) -> str:
    """Return the engines of a family's roots, each once."""
    return " + ".join(sorted({mechanics[root].engine if root in mechanics else OWN for root in roots}))


def archive_after(lake: Lake, cycle: str) -> Population:
    """Return the population that left `cycle`."""
    return population_of({name: lake.read(LINE, f"incoming_{name}", following(cycle)) for name in ARCHIVE})


def load_families(lake: Lake, rows: Sequence[dict[str, Any]]) -> list[Family]:
    """Return the families of rows of FAMILIES, in their order."""
    return [load_family(row["record_sha"], lake.blobs) for row in rows]


def distinct(made: Mapping[str, Mapping[str, Any]], key: str) -> list[str]:
    """Return the values of one key over all cycles, each once, in order of cycles."""
    return list(dict.fromkeys(str(made[cycle][key]) for cycle in sorted(made)))
