"""Draw the problems of the study: instances of the families of each arm and of held-out lineages, from the
jail with labels by strict majority, and next to them the files to evaluate on."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.answers.asking import answer_forms, request
from evolake.errors import InputError
from evolake.families.dataset.datasets import archive_after, load_families, root_mechanics, units_of
from evolake.families.gates.instances import sample_families
from evolake.families.model.contract import Family
from evolake.families.model.sampling import BANDS
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.jail import open_pool
from evolake.lake import Lake, following
from evolake.lake.population import roots_of
from evolake.prompts.model.leaks import overlap
from evolake.prompts.model.problem_files import read_side
from evolake.prompts.model.problems import finished_families
from evolake.prompts.model.protocol import Policy, Problem
from evolake.prompts.policies.models import with_dtype
from evolake.prompts.policies.registry import open_policy
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.study_journal import Journal
from evolake.settings import Settings
from evolake.utility.pass_rates import PassRates, Sampling, measure
from evolake.utility.pools import Pools, filled, pools_of
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import LINE, LINEAGES, TRAIN

POLICY = (
    "policy",
    "policy_model",
    "lora_rank",
    "lora_alpha",
    "max_tokens",
    "temperature",
    "learning_rate",
    "betas",
    "kl",
    "rejects",
    "recipe",
    "scale_rewards",
    "loss_type",
    "rollouts",
    "answer_format",
    "format_bonus",
    "reply_start",
    "dtype",
    "sampler",
    "mini_batches",
    "kl_term",
    "eval_temperature",
    "eval_top_p",
    "eval_top_k",
)
"""Settings of the policy that the rows of a cell depend on."""


def policy_settings(settings: Settings) -> Settings:
    """Return the settings with those of the study in place of the policy's own: one policy, trained as the
    study says, without tools, of the dtype that it has here."""
    own = settings.of(UtilitySettings)
    names = (
        "rollouts",
        "recipe",
        "scale_rewards",
        "learning_rate",
        "kl",
        "temperature",
        "max_tokens",
        "answer_format",
        "reply_start",
    )
    given: dict[str, Any] = {name: getattr(own, name) for name in names} | {"tools": [], "corpus": None}
    return settings.with_section(with_dtype(settings.of(PromptsSettings).model_copy(update=given)))


SPARE = 2
"""How many times as many instances are drawn as an arm takes: some are too long, some are repeated."""


@dataclass(frozen=True)
class Drawn:
    """rows: of PROBLEMS. notes: what a reader must know of them."""

    rows: list[dict[str, Any]]
    notes: list[str]


def draw_problems(
    settings: Settings,
    lake: Lake,
    policy: Policy | None = None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Drawn:
    """Return all problems of the study that the settings describe, from the families of the last finished
    cycle.

    Args:
        policy: whose pass rates are measured if the settings name two; None: that of the settings.
        tell: as of `measure`.

    Raises:
        InputError: no finished cycle, an arm or a side without a problem, or a benchmark that cannot be read.
        MachineryError: the jail failed.
    """
    own, population = settings.of(UtilitySettings), archive_after(lake, last_cycle(lake))
    roots = roots_of({row["family_id"]: row["parents"] for row in population.rows()})
    units = units_of(roots, root_mechanics(lake, population))
    pools = pools_of(population.rows(), own.test_share, own.languages, units)
    wanted = sorted({*pools.test, *(family for arm in pools.train.values() for family in arm)})
    rows = {row["family_id"]: row for row in population.rows("accepted")}
    loaded = load_families(lake, [rows[family] for family in wanted])
    families = [family for family in loaded if not family.checkers]
    rates = _pass_rates(families, settings, lake, policy, tell)
    instances = _instances(families, pools, settings)
    usable = [row for row in instances if len(row["text"]) <= own.longest_statement]
    notes = [*pools.notes, *_left_out(len(loaded) - len(families), len(instances), len(usable), own)]
    if rates is not None and own.pass_rates is not None:
        notes.append(_rates_note(rates, own, *own.pass_rates))
        kept = rates.between(*own.pass_rates)
        usable = [row for row in usable if (row["family_id"], row["difficulty"]) in kept]
        usable = [row for row in usable if row["text_sha"] not in rates.texts]
    members = _members(usable, pools, own, notes)
    forms = answer_forms(instances)
    operators = {family.family_id: family.operator for family in families}
    results = [
        _row(
            row,
            members[row["instance_id"]],
            forms.get(row["family_id"]),
            operators[row["family_id"]],
            own,
            rates.share((row["family_id"], row["difficulty"])) if rates else None,
        )
        for row in usable
        if row["instance_id"] in members
    ]
    for place in own.benchmarks:
        results += benchmark_rows(place, own)
    results = _without_shared(results, notes)
    return Drawn(results, notes + overlaps(results, settings.of(PromptsSettings)))


def _left_out(checked: int, drawn: int, usable: int, own: UtilitySettings) -> Iterator[str]:
    """Yield notes. checked: families with checkers. drawn, usable: instances, and those short enough."""
    if checked:
        yield (
            f"{checked} families are left out: their answers are not unique, and only checkers can judge "
            "replies"
        )
    if usable < drawn:
        longer = f"{drawn - usable} of {drawn} instances"
        yield f"{longer} have more than {own.longest_statement} characters and are left out"


def _rates_note(rates: PassRates, own: UtilitySettings, low: float, high: float) -> str:
    kept = rates.between(low, high)
    return (
        f"{len(kept)} of {len(rates.replies)} families at a difficulty, "
        f"{len({family for family, _ in kept})} of {len({family for family, _ in rates.replies})} "
        f"families, are kept: the model as it is answers between {low:.0%} and {high:.0%} of "
        f"{own.pass_rate_instances} other instances right, {own.pass_rate_samples} replies each"
    )


def _members(
    rows: Sequence[Mapping[str, Any]], pools: Pools, own: UtilitySettings, notes: list[str]
) -> dict[str, list[str]]:
    """Return problem -> the arms that it is in; none, of those to evaluate on. Notes arms that are small.

    Raises:
        InputError: an arm, or the side to evaluate on, has no problem.
    """
    held = {
        family: [row["instance_id"] for row in rows if row["family_id"] == family] for family in pools.test
    }
    test = filled([held], dict.fromkeys(held, 1), own.test_problems)
    arms = _arms(rows, pools, own.instances_per_arm)
    if empty := [name for name, result in {**arms, LINEAGES: test}.items() if not result]:
        raise InputError(
            f"there is no problem for {empty[0]}",
            wanted=f"instances of at most {own.longest_statement} characters",
            got=notes[-1],
            do=(
                "set EVOLAKE_UTILITY__LONGEST_STATEMENT higher, EVOLAKE_UTILITY__PASS_RATES wider, or run "
                "more cycles: evolake run --lines families"
            ),
        )
    few = [f"{arm} {len(found)}" for arm, found in arms.items() if len(found) < own.instances_per_arm]
    if few:
        notes.append(f"not every arm has {own.instances_per_arm} problems: {', '.join(few)}")
    members: dict[str, list[str]] = {problem: [] for problem in test}
    for arm, problems in arms.items():
        for problem in problems:
            members.setdefault(problem, []).append(arm)
    return members


def _without_shared(rows: list[dict[str, Any]], notes: list[str]) -> list[dict[str, Any]]:
    """Return rows without those to train on whose question is one to evaluate on; a note says how many."""
    shared = {row["text"] for row in rows if row["suite"] == TRAIN}
    shared &= {row["text"] for row in rows if row["suite"] != TRAIN}
    if shared:
        notes.append(
            f"{len(shared)} questions are among those to train on and those to evaluate on; they are left "
            "out of training"
        )
    return [row for row in rows if row["suite"] != TRAIN or row["text"] not in shared]


def overlaps(rows: Sequence[Mapping[str, Any]], own: PromptsSettings) -> list[str]:
    """Return a sentence for each benchmark: how many of its problems share word n-grams with problems that an
    arm trains on. They stay; the reader of the figures has to know.

    Args:
        rows: of PROBLEMS. own: has the length of the n-grams and the share, as for the prompts line's own
            problems.
    """
    train = [problem_of(row) for row in rows if row["suite"] == TRAIN]
    suites = dict.fromkeys(row["suite"] for row in rows if row["suite"] not in (TRAIN, LINEAGES))
    result = {
        suite: overlap(
            train,
            [problem_of(row) for row in rows if row["suite"] == suite],
            words=own.contamination_words,
            share=own.contamination_share,
        )
        for suite in suites
    }
    return [f"of {suite}: {item.sentence()}" for suite, item in result.items()]


def benchmark_rows(place: str, own: UtilitySettings) -> list[dict[str, Any]]:
    """Return rows of PROBLEMS of a benchmark file. Raises InputError: it cannot be read, or names an unknown
    scorer."""
    problems = read_side(
        place, "heldout", gym_problems=own.benchmark_problems, seed=0, answer_format=own.answer_format
    )[: own.benchmark_problems]
    return [
        {
            "problem_id": item.problem_id,
            "suite": Path(place).stem or place,
            "arms": [],
            "category": item.category,
            "difficulty": item.difficulty,
            "text": item.text,
            "answer": item.answer,
            "case_sensitive": item.case_sensitive,
            "scorer": item.scorer,
            "entry": item.entry,
        }
        for item in problems
    ]


def problem_of(row: Mapping[str, Any]) -> Problem:
    """Return a row of PROBLEMS as the policy takes it."""
    return Problem(
        row["problem_id"],
        row["text"],
        row["answer"],
        row["case_sensitive"],
        row["category"],
        row["difficulty"],
        "train" if row["suite"] == TRAIN else "heldout",
        row["suite"],
        row.get("family_id") or row["problem_id"],
        row["scorer"],
        row.get("entry"),
    )


def last_cycle(lake: Lake) -> str:
    """Return the last finished cycle of the families line. Raises InputError if there is none."""
    done = finished_families(lake)
    if not done:
        raise InputError(
            "the lake holds no finished cycle of the families line",
            got=str(lake.root),
            do="run: evolake run --lines families",
        )
    return done[-1]


def inputs_sha(settings: Settings, lake: Lake) -> str:
    """Return sha256 of what the problems are drawn from: the population, the sizes, the benchmarks' bytes."""
    own = settings.of(UtilitySettings)
    seal = lake.seals.read("families", following(last_cycle(lake)))
    parts = [seal.version if seal else "", str(settings.seed), own.model_dump_json(include=set(DRAWN_BY))]
    if own.pass_rates is not None:
        model = _policy_json(settings)
        parts += [own.model_dump_json(include=set(MEASURED_BY)), model]
    for place in own.benchmarks:
        path = Path(place)
        parts.append(hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else place)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


DRAWN_BY = (
    "answer_format",
    "instances_per_arm",
    "test_share",
    "test_problems",
    "band_weights",
    "longest_statement",
    "languages",
    "benchmarks",
    "benchmark_problems",
)
"""Sizes that the problems depend on."""
MEASURED_BY = (
    "pass_rates",
    "pass_rate_instances",
    "pass_rate_samples",
    "max_tokens",
    "temperature",
    "reply_start",
)
"""Sizes that they depend on besides where pass rates decide."""


def journal_of_rates(settings: Settings, lake: Lake) -> Journal:
    """Return where the replies that pass rates come from are noted, in the lake's work folder, which is no
    part of its content. The shares between which families are kept are no part of its key: with others
    nothing is asked again."""
    asked = settings.of(UtilitySettings).model_dump_json(
        include={*MEASURED_BY, "answer_format"} - {"pass_rates"}
    )
    model = _policy_json(settings)
    key = hashlib.sha256("\x1f".join([str(settings.seed), asked, model]).encode()).hexdigest()
    return Journal(lake.root / "work" / LINE / "pass-rates", key)


def _policy_json(settings: Settings) -> str:
    own = policy_settings(settings).of(PromptsSettings)
    return own.model_dump_json(include=set(POLICY))


def _pass_rates(
    families: Sequence[Family],
    settings: Settings,
    lake: Lake,
    policy: Policy | None,
    tell: Callable[[int, int], None],
) -> PassRates | None:
    """Return what the model as it is answers right; None where the settings do not ask."""
    own = settings.of(UtilitySettings)
    if own.pass_rates is None:
        return None
    held = policy or open_policy(policy_settings(settings), lake.root, "utility", "pass-rates")
    with open_pool(workers=settings.workers or 1, preload=PRELOAD, mode=settings.jail) as pool:
        sampling = Sampling(
            difficulties_of(own.band_weights),
            own.pass_rate_instances,
            own.pass_rate_samples,
            own.answer_format,
            own.longest_statement,
            settings.seed,
        )
        journal = journal_of_rates(settings, lake)
        return measure(
            families,
            held,
            sampling,
            pool=pool,
            settings=settings.of(FamiliesSettings),
            journal=journal,
            tell=tell,
        )


def difficulties_of(weights: Sequence[int]) -> list[int]:
    """Return the difficulties of the bands that have a weight."""
    return [difficulty for band, weight in zip(BANDS, weights, strict=True) if weight for difficulty in band]


def _instances(families: Sequence[Family], pools: Pools, settings: Settings) -> list[dict[str, Any]]:
    """Labelled instances of all families: as many of each as an arm, or the evaluation, may take, and some to
    spare."""
    own = settings.of(UtilitySettings)
    spare = SPARE * (len(difficulties_of(own.band_weights)) if own.pass_rates else 1)
    needed: dict[int, list[Family]] = defaultdict(list)
    for family in families:
        counts = [
            own.instances_per_arm * arm[family.family_id] / sum(arm.values())
            for arm in pools.train.values()
            if family.family_id in arm
        ]
        counts += [own.test_problems / len(pools.test)] if family.family_id in pools.test else []
        needed[spare * max(1, round(max(counts)))].append(family)
    rows: list[dict[str, Any]] = []
    with open_pool(workers=settings.workers or 1, preload=PRELOAD, mode=settings.jail) as pool:
        for count, some in sorted(needed.items()):
            sizes = settings.of(FamiliesSettings).model_copy(
                update={"instances_per_family": count, "band_weights": own.band_weights}
            )
            rows += sample_families(
                some, pool=pool, settings=sizes, root_seed=settings.seed, cycle="0000", workers=pool.workers
            )[0]
    return list({row["text_sha"]: row for row in rows}.values())


def _arms(rows: Sequence[Mapping[str, Any]], pools: Pools, count: int) -> dict[str, list[str]]:
    """Return arm -> its problems."""
    of_family: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        of_family[row["family_id"]].append(row["instance_id"])
    result = {}
    for arm, weights in pools.train.items():
        split = [pools.train["seeds"], pools.train["evolved"]] if arm == "mixed" else [weights]
        result[arm] = filled(
            [{family: of_family[family] for family in part} for part in split], weights, count
        )
    return result


def _row(
    row: Mapping[str, Any],
    arms: list[str],
    form: type | None,
    operator: str,
    own: UtilitySettings,
    pass_rate: float | None,
) -> dict[str, Any]:
    return {
        "problem_id": row["instance_id"],
        "suite": TRAIN if arms else LINEAGES,
        "arms": arms,
        "family_id": row["family_id"],
        "operator": operator,
        "category": row["category"],
        "difficulty": row["difficulty"],
        "text": f"{row['text']}\n\n{request(row['language'], form, own.answer_format)}",
        "answer": row["answer"],
        "case_sensitive": row["case_sensitive"],
        "scorer": "answer",
        "pass_rate": pass_rate,
    }
