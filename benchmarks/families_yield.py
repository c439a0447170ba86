"""Families: what the operators yield and what the gates catch.

    python benchmarks/families_yield.py yield [ATTEMPTS] [CYCLES]     default 60 and 1: accepted families by operator, reasons of the blocked ones
    python benchmarks/families_yield.py faults [EACH] [GATE ...]      default 10: planted faults by class and gate, and a figure on request; of the
                                                                      classes meant for these gates, where any
                                                                      is named
    python benchmarks/families_yield.py worlds [FIRST] [COUNT] [NAME]  default 40 and 50: drawn worlds of these seeds that pass every gate as they are
                                                                      drawn, and what blocked the others,
                                                                      and the same by engine; NAME: default
                                                                      `constraint_world`
    python benchmarks/families_yield.py text [FIRST] [COUNT]          default 0 and 80: worlds of these seeds by each of the three operators, ten
                                                                      questions each: how many the text solver reads, and how many of its answers
                                                                      are the label
    python benchmarks/families_yield.py rules [FIRST] [COUNT]         default 0 and 20: shipped seeds and worlds of these seeds by each of the three
                                                                      operators: answers that are others without a rule, by level
    python benchmarks/families_yield.py difficulty [COUNT]            default 20: shipped seeds and worlds of so many seeds by each of the three
                                                                      operators: what naive programs answer right, by level, and which levels
                                                                      are easier for them than the one before, beyond the noise
    python benchmarks/families_yield.py misread [FAMILIES]            default 30: faults that someone else planted into the texts of so many
                                                                      families, while programs and labels stay: parsed, unread, blocked
    python benchmarks/families_yield.py lake FOLDER                   what the finished cycles of a lake accepted: from which operators, how many
                                                                      mechanics, how long the lineages, what blocked the others
    python benchmarks/families_yield.py variety [CHILDREN] [SIZE] [--test-share SHARE]
                                                                      default 40 children, cycles of 8 proposals, a share of 0.25: what a laptop
                                                                      cycle's accepted children are like to a trainer

With `--figure FILE.png` the second also draws the kill rates. One worker; the shipped seeds are the first
parents, and each cycle's accepted families join them.

`variety` runs cycles until so many children are accepted. Printed: shares of answer types (a boolean, mapping
or fraction counts as one kind) and of engines, the best constant and the best two answers of each family at
its worst level (on instances that the gate did not see), what the gates blocked, cpu seconds outside of the
jail, and twins across a split by lineage and engine: pairs of families with the same mechanics of a root, one
on either side. Use 200 for the figures that are reported.
"""  # noqa: E501

from __future__ import annotations

import json
import lzma
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from bench import SHORT

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend
from evolake.families.dataset.datasets import engines_of, units_of
from evolake.families.dataset.exports import NEITHER, side
from evolake.families.dataset.solver_rates import POOL, ask_naive, rises
from evolake.families.evolution.proposing import Judge, propose_families
from evolake.families.evolution.refining import Proposals
from evolake.families.evolution.requests import EvolutionSources
from evolake.families.faults.catalogue import FAULTS
from evolake.families.faults.injection import kill_rates, plant_faults
from evolake.families.gates.bites import rule_bites
from evolake.families.gates.consensus import take_votes
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.gates.judging import FamilyGates, FamilyResults
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.gates.static import accepted_guesses, short_key
from evolake.families.gates.text_review import read_texts
from evolake.families.model.contract import Family, from_record
from evolake.families.model.family_files import read_families
from evolake.families.model.guessing import guesses_by_level
from evolake.families.model.similarity import Fingerprint, fingerprint
from evolake.families.operators.registry import OPERATORS, child_of, generations
from evolake.families.sandbox.running import PRELOAD, generate, generate_parts, solve
from evolake.families.settings import FamiliesSettings
from evolake.families.text_solver import Unread, Wrong, check
from evolake.families.worlds import NAMES
from evolake.families.worlds.mechanics import OWN, mechanics_of
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.lake import Lake
from evolake.lake.population import roots_of
from evolake.stats.proportions import wilson_interval

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
SETTINGS = FamiliesSettings()
LEVEL_SEEDS = 64
KINDS = {
    "boolean": "boolean, mapping, fraction",
    "mapping": "boolean, mapping, fraction",
    "number": "boolean, mapping, fraction",
}


def show_yield(pool: Any, agents: Agents, attempts: int, cycles: int) -> None:
    """Print attempts from the seeds on."""
    judge = judge_of(pool, agents)
    population, known = sound(judge)
    print(f"{len(population)} seeds pass every gate")
    for number in range(1, cycles + 1):
        start = time.perf_counter()
        made = propose_families(
            agents,
            EvolutionSources(population, known),
            pool=pool,
            judge=judge,
            settings=SETTINGS,
            cycle=f"{number:04d}",
            root_seed=0,
            count=attempts,
        )
        print(
            f"cycle {number}: {attempts} attempts, {len(made.accepted)} accepted, {len(made.failures)} "
            f"without a family, {time.perf_counter() - start:.0f} s"
        )
        by_operator(made)
        population += [examined.family for examined in made.accepted]
        known += [examined.fingerprint for examined in made.accepted if examined.fingerprint]


def by_operator(made: Proposals) -> None:
    """Print a line for each operator, then the rules that blocked."""
    for operator in OPERATORS:
        own = [proposal for proposal in made.proposals if proposal.rounds[0].family.operator == operator]
        first, delivered = (
            sum(flags)
            for flags in (
                [item.rounds[0].accepted for item in own],
                [item.family is not None for item in own],
            )
        )
        print(
            f"  {operator:10s} {len(own):3d} made, {first:3d} pass at once, {delivered:3d} after refinement"
        )
    blocks = Counter(observation.rule_id for observation in made.observations)
    print(f"  {blocked_versions(blocks)}")


def blocked_versions(blocks: Counter[str]) -> str:
    """Return which rules blocked how often."""
    rules = ", ".join(f"{rule} {count}" for rule, count in blocks.most_common())
    return f"blocked versions: {rules or 'none'}"


def show_faults(pool: Any, agents: Agents, each: int, gates: Sequence[str], figure: Path | None) -> None:
    """Planted faults by class, each told as soon as it is through."""
    judge = judge_of(pool, agents)
    families, known = sound(judge)
    prints, rows = {item.family_id: item for item in known}, []
    for fault in FAULTS.values():
        if gates and fault.expected not in gates:
            continue
        own = plant_faults(families, prints, judge, each=each, cycle="0001", root_seed=0, faults=[fault])
        rows += own
        [element] = kill_rates(own)
        low = (
            f" (95% interval from {wilson_interval(element.caught, element.planted).low:.0%})"
            if element.planted
            else ""
        )
        rate = f"{element.caught}/{element.planted} caught{low}"
        print(
            f"{element.fault:36s} {rate}, meant for {element.expected}; {element.gates}, "
            f"{element.does_not_apply} do not apply",
            flush=True,
        )
    for row in rows:
        if row.outcome == "survived":
            print(f"survived: {row.fault} in {row.name}")
    if figure is not None:
        from evolake.families.plots import FaultKills
        from evolake.families.plots import kill_rates as drawn

        kills = [FaultKills(item.fault, item.planted, item.gates) for item in kill_rates(rows)]
        figure.write_bytes(drawn(kills, GATE_NAMES, "Planted faults and their gates"))


def show_worlds(pool: Any, agents: Agents, first: int, count: int, name: str) -> None:
    """Worlds of the seeds from `first` on, none of which knows of another."""
    judge, blocks = judge_of(pool, agents), Counter[str]()
    engines: dict[str, Counter[str]] = {}
    for seed in range(first, first + count):
        examined = judge(child_of(name, [], np.random.default_rng(seed)), [])
        found = mechanics_of(examined.family)
        engines.setdefault(found.engine, Counter()).update(
            [found.rules] if examined.accepted else ["blocked"]
        )
        if not examined.accepted and (block := examined.blocked_by):
            blocks[block.rule_id] += 1
            print(f"{seed}: {block.rule_id}: {block.reason}", flush=True)
    print(
        f"{name}, seeds {first} to {first + count - 1}: {count - blocks.total()} of {count} pass every gate; "
        + (
            ", ".join(f"{rule} blocks {number}" for rule, number in blocks.most_common())
            or "nothing is blocked"
        )
    )
    for engine, rules in sorted(engines.items()):
        passed = rules.total() - rules["blocked"]
        print(
            f"  {engine:14s} {passed:3d} of {rules.total():3d}, {len(rules.keys() - {'blocked'})} mechanics"
        )


def show_text(pool: Any, first: int, count: int) -> None:
    """Print what the text solver reads of worlds, and whether it answers as the labels say."""
    kinds: dict[str, Counter[str]] = {}
    pairs = [(level, 1 + copy) for level in range(1, 6) for copy in range(2)]
    for seed in range(first, first + count):
        for name in NAMES:
            family = child_of(name, [], np.random.default_rng(seed))
            made = [item for item in generate(family, pairs, pool=pool) if item.status == "ok"]
            labels = solve(family.validator, [item.inputs for item in made], pool=pool)
            found = [
                check(item.text, label.answer)
                for item, label in zip(made, labels, strict=True)
                if label.status == "ok"
            ]
            read = [item for item in found if not isinstance(item, Unread)]
            kinds.setdefault(mechanics_of(family).engine, Counter()).update(
                {
                    "families": 1,
                    "read whole": int(len(read) == len(found)),
                    "questions": len(found),
                    "read": len(read),
                    "wrong": sum(isinstance(item, Wrong) for item in read),
                }
            )
    for kind, counts in [*sorted(kinds.items()), ("all", sum(kinds.values(), Counter()))]:
        print(
            f"{kind}: {counts['read whole']} of {counts['families']} families read whole, {counts['read']} "
            f"of {counts['questions']} questions, {counts['wrong']} not as the label says"
        )


def show_rules(pool: Any, first: int, count: int) -> None:
    """Print how often the answer is another without a rule, by kind of family and level: the least of all
    rules and ways to be without them, and the families with a rule below the bar."""
    ruleset = load_rules(SEEDS / "rules", "families")
    bar = next(rule for rule in ruleset.rules if rule.id == "families-vital-rules").parameters
    caps, levels = caps_of(SETTINGS), SETTINGS.gate_difficulties
    draws = (SETTINGS.sample_seeds, "sample"), (SETTINGS.guess_seeds, "guess")
    pairs = [pairs_of(levels, seeds, purpose) for seeds, purpose in draws]
    shares: dict[str, list[dict[int, float]]] = {}
    low: list[str] = []
    dull = 0
    families = [("shipped seeds", family) for family in read_families(SEEDS / "families")]
    for seed in range(first, first + count):
        worlds = [child_of(name, [], np.random.default_rng(seed)) for name in NAMES]
        families += [(mechanics_of(family).engine, family) for family in worlds]
    for kind, family in families:
        parts = []
        for made in generate_parts(family, pairs, pool=pool, caps=caps):
            answers = solve(family.validator, [item.inputs for item in made], pool=pool, caps=caps)
            parts.append(list(zip(made, answers, strict=True)))
        least: dict[int, float] = {}
        before = len(low)
        for point, sentence, way, level, instances, changed in rule_bites(
            family, *parts, pool=pool, caps=caps
        ):
            share = changed / instances
            least[level] = min(share, least.get(level, 1.0))
            judged = level >= bar["from_difficulty"] and sentence not in bar["distractors"]
            if judged and share < bar["least_share"]:
                low.append(
                    f"{share:4.0%} of {instances} at level {level} by {way} for {point}: {family.title}"
                )
        dull += len(low) > before
        if least:
            shares.setdefault(kind, []).append(least)
    print("least share of answers that are others without a rule, median over families (lowest), by level")
    for kind, found in sorted(shares.items()):
        cells = [
            f"{level}: {np.median([item[level] for item in found if level in item]):4.0%} "
            f"({min(item[level] for item in found if level in item):4.0%})"
            for level in levels
        ]
        print(f"  {kind:14s} {len(found):3d} families  {'  '.join(cells)}")
    print(
        f"below {bar['least_share']:.0%} from level {bar['from_difficulty']} on: {len(low)}, in {dull} of "
        f"{len(families)} families"
    )
    print("\n".join(f"  {line}" for line in low))


QUESTIONS = 40


def show_difficulty(pool: Any, count: int) -> None:
    """Print what naive programs answer right, by solver and level, and in how many families their pool's
    share does not rise with the level. count: of the seeds of drawn worlds."""
    levels = SETTINGS.gate_difficulties
    families = [("shipped seeds", family) for family in read_families(SEEDS / "families")]
    families = families[: 2 if SHORT else None]
    for seed in range(count):
        worlds = [child_of(name, [], np.random.default_rng(seed)) for name in NAMES]
        families += [(mechanics_of(family).engine, family) for family in worlds]
    shares: dict[str, list[dict[int, float]]] = {}
    kinds: dict[str, Counter[str]] = {}
    lines = []
    for kind, family in families:
        found = ask_naive(family, levels, QUESTIONS, pool=pool, settings=SETTINGS)
        for solver, values in found.items():
            means = {level: float(np.mean(own)) for level, own in values.items()}
            shares.setdefault(solver, []).append(means)
        values = found[POOL]
        means = shares[POOL][-1]
        risen = rises(values)
        falls = means[levels[-1]] < means[levels[0]]
        verdicts = {"families": 1, "monotone": not risen, "hardest below easiest": falls}
        kinds.setdefault(kind, Counter()).update({name: int(value) for name, value in verdicts.items()})
        if risen or not falls:
            shown = " ".join(f"{level}: {means[level]:.0%}" for level in levels if level in means)
            lines.append(f"{kind}: {family.name} ({family.title[:50]}): {shown}; easier: {risen}")
            print(f"  {lines[-1]}", flush=True)
    print(f"share right by solver, mean over families, {QUESTIONS} questions a level")
    for solver, rows in shares.items():
        cells = [f"{level}: {np.mean([row[level] for row in rows if level in row]):4.0%}" for level in levels]
        print(f"  {solver:10s} {len(rows):3d} families  {'  '.join(cells)}")
    for kind, counts in [*sorted(kinds.items()), ("all", sum(kinds.values(), Counter()))]:
        print(
            f"{kind}: the pool's share rises nowhere beyond the noise in {counts['monotone']} of "
            f"{counts['families']} families; it is lower at level {levels[-1]} than at {levels[0]} in "
            f"{counts['hardest below easiest']}"
        )


MISREADINGS = Path(__file__).with_name("families_misreadings.json")
"""Faults by someone who saw three questions of each family and no program, written and frozen before the text
solver was asked: draw, what it replaces in a text, and by what."""
MISREAD = MISREADINGS.with_suffix(".jsonl.xz")
"""These families, in the order of their draws, as they were when the faults were written."""


def show_misread(pool: Any, count: int) -> None:
    """Print how many faults in texts, which reader and programs share, the text solver finds. count: of
    families, which it reads as they are."""
    faults: dict[int, list[Mapping[str, str]]] = {}
    for fault in json.loads(MISREADINGS.read_text(encoding="utf-8")):
        faults.setdefault(fault["draw"], []).append(fault)
    kinds: dict[str, Counter[str]] = {}
    good = 0
    families = map(from_record, map(json.loads, lzma.decompress(MISREAD.read_bytes()).splitlines()))
    for draw, family in list(zip(sorted(faults), families, strict=True))[:count]:
        pairs = pairs_of(SETTINGS.gate_difficulties, SETTINGS.sample_seeds, "planted")
        made = generate(family, pairs, pool=pool)
        votes = take_votes(family, made, pool=pool, settings=SETTINGS)
        plain = read_texts(family, made, votes, first=0, pool=pool, settings=SETTINGS).evidence
        good += bool(plain["differ"])
        for fault in faults[draw]:
            changed = [
                (replace(item, text=item.text.replace(fault["find"], fault["replace"])), label)
                for item, label in zip(made, votes, strict=True)
                if fault["find"] in item.text
            ]
            texts, labels = zip(*changed, strict=True)
            found = read_texts(family, texts, labels, first=0, pool=pool, settings=SETTINGS).evidence
            parsed = "blocked" if found["differ"] else "passed"
            kinds.setdefault(fault["sort"], Counter())[parsed if found["read"] else "unread"] += 1
    for fault, counts in [*sorted(kinds.items()), ("all", sum(kinds.values(), Counter()))]:
        parsed = counts["blocked"] + counts["passed"]
        print(
            f"{fault}: {counts.total()} planted, {counts['unread']} unread, {parsed} parsed, of which "
            f"{counts['blocked']} blocked" + (f" ({counts['blocked'] / parsed:.0%})" if parsed else "")
        )
    print(f"good families: {good} of {min(count, len(faults))} blocked")


def show_lake(folder: Path) -> None:
    """Print what the finished cycles of a lake accepted of what they made. An attempt is accepted if one of
    its versions is."""
    lake = Lake(folder)
    cycles = [cycle for cycle in lake.cycles("families", "accepted") if cycle > "0000"]
    made = pl.concat(lake.read("families", "candidates", cycle).drop("costs") for cycle in cycles)
    new = pl.concat(lake.read("families", "accepted", cycle) for cycle in cycles).unique("family_id")
    kinds = {
        "drawn worlds": pl.col("operator").is_in(NAMES),
        "operators on families": ~pl.col("operator").is_in(NAMES),
        **{name: pl.col("operator") == name for name in OPERATORS},
    }
    print(f"{len(cycles)} cycles, {new.height} accepted families")
    for kind, where in kinds.items():
        tried = made.filter(where).select("cycle", "attempt").unique().height
        came = new.filter(where).height
        if tried:
            print(
                f"  {kind:22s} {came:3d} of {tried:3d} attempts ({came / tried:.0%}), {came / new.height:.0%}"
            )
    last = made.sort("round").unique(["cycle", "attempt"], keep="last").filter(pl.col("state") == "blocked")
    print(f"  last versions of attempts, {blocked_versions(Counter(last['rule_id'].to_list()))}")
    families = [from_record(json.loads(lake.blobs.get(sha))) for sha in new["record_sha"]]
    seeds = lake.read("families", "seeds")
    parents = {family.family_id: family.parents for family in families}
    behind = generations(dict.fromkeys(seeds["family_id"], ()) | parents, len(parents))
    depths = Counter(behind[family_id] for family_id in parents)
    print(
        "generations before a family: " + ", ".join(f"{depth}: {depths[depth]}" for depth in sorted(depths))
    )
    drawn = {found for found in map(mechanics_of, families) if found.engine != OWN}
    print(f"drawn: {len({found.engine for found in drawn})} engines, {len(drawn)} mechanics")
    show_shares("answer types", [family.answer.type for family in families])
    checked = sum(bool(family.checkers) for family in families)
    print(f"many correct answers, judged by checkers: {checked} ({checked / len(families):.0%})")
    independent = Counter(new["independent"].fill_null("none").to_list())
    print("solved from the text by: " + ", ".join(f"{who} {count}" for who, count in independent.items()))


def show_variety(pool: Any, agents: Agents, wanted: int, size: int, share: float) -> None:
    """Print what the accepted children are like to a trainer."""
    seeds, children = accepted_children(pool, agents, wanted, size)
    children = children[:wanted]
    show_shares("answer types", [family.answer.type for family in children])
    show_shares(
        "kinds of answers", [KINDS.get(family.answer.type, family.answer.type) for family in children]
    )
    made = sum(bool(family.checkers) for family in children)
    print(f"many correct answers, judged by checkers: {made} ({made / len(children):.0%})")
    show_shares("operators", [family.operator for family in children])
    show_guesses(pool, children)
    show_twins(seeds, children, share)


def accepted_children(pool: Any, agents: Agents, wanted: int, size: int) -> tuple[list[Family], list[Family]]:
    """Return (seeds, accepted children) of as many cycles as it takes; prints what each of them came to."""
    settings = FamiliesSettings(families_per_cycle=size)
    judge, seeds = judge_of(pool, agents, settings), read_families(SEEDS / "families")
    known = [fingerprint(family, [None]) for family in seeds]
    children: list[Family] = []
    blocks, attempts, start = Counter[str](), 0, time.process_time()

    cycle = 0
    while len(children) < wanted:
        cycle += 1
        made = propose_families(
            agents,
            EvolutionSources([*seeds, *children], known),
            pool=pool,
            judge=judge,
            settings=settings,
            cycle=f"{cycle:04d}",
            root_seed=0,
            count=size,
        )
        attempts += size
        children += [examined.family for examined in made.accepted]
        known += [examined.fingerprint for examined in made.accepted if examined.fingerprint]
        blocks.update(observation.rule_id for observation in made.observations)
        spent = time.process_time() - start
        print(
            f"cycle {cycle}: {len(children)} accepted of {attempts} proposals, {spent:.0f} cpu s outside "
            "of the jail",
            flush=True,
        )
    print(blocked_versions(blocks))
    return seeds, children


def show_shares(title: str, values: Sequence[str]) -> None:
    """One line: each value with its share."""
    counts = Counter(values)
    print(
        f"{title}: "
        + ", ".join(f"{value} {count} ({count / len(values):.0%})" for value, count in counts.most_common())
    )


def show_guesses(pool: Any, children: Sequence[Family]) -> None:
    """Print the best constant and the best two answers of each family, at the level at which they are
    best."""
    settings = FamiliesSettings()
    caps, worst = caps_of(settings), []
    for family in children:
        drawn = generate(
            family, pairs_of(settings.gate_difficulties, LEVEL_SEEDS, "variety"), pool=pool, caps=caps
        )
        instances = [item for item in drawn if item.status == "ok"]
        answers = solve(family.validator, [item.inputs for item in instances], pool=pool, caps=caps)
        if family.checkers:
            levels = accepted_guesses(family, instances, answers, pool=pool, caps=caps)
        else:
            levels = guesses_by_level(
                [
                    (item.difficulty, short_key(found.answer))
                    for item, found in zip(instances, answers, strict=True)
                ]
            )
        worst.append((max(row[2] for row in levels), max(row[3] for row in levels), family.title))
    over = sum(constant > 0.25 for constant, _, _ in worst)
    print(
        f"best constant at the worst level, {LEVEL_SEEDS} instances a level: median "
        f"{sorted(worst)[len(worst) // 2][0]:.0%}, over 25 %: {over} of {len(worst)}; best two over 25 %: "
        f"{sum(pair > 0.25 for _, pair, _ in worst)}"
    )
    for constant, pair, title in sorted(worst, reverse=True)[:5]:
        print(f"  {constant:.0%} and {pair:.0%}: {title[:110]}")


def show_twins(seeds: Sequence[Family], children: Sequence[Family], share: float) -> None:
    """How many pairs of families on two sides of the split have the mechanics of a root in common, and what
    is on the sides."""
    families = {family.family_id: family for family in [*seeds, *children]}
    roots = roots_of({name: family.parents for name, family in families.items()})
    mechanics = {name: mechanics_of(family) for name, family in families.items() if not family.parents}
    units = units_of(roots, mechanics)
    sides: Mapping[str, list[str]] = {"train": [], "test": [], NEITHER: []}
    for name in families:
        sides[side(name, share, units)].append(name)
    under = {name: {mechanics[root] for root in above if root in mechanics} for name, above in roots.items()}
    twins = sum(bool(under[one] & under[other]) for one in sides["test"] for other in sides["train"])
    print(
        f"split with a test share of {share:g}: "
        + ", ".join(f"{name} {len(members)}" for name, members in sides.items())
        + f"; twins across it: {twins}"
    )
    show_shares(
        "engines",
        [
            engines_of(roots[family.family_id], mechanics)
            for family in children
            if family.operator != "switch"
        ],
    )


def judge_of(pool: Any, agents: Agents, settings: FamiliesSettings = SETTINGS) -> Judge:
    """Return the shipped gates."""
    ruleset = load_rules(SEEDS / "rules", "families")

    def judge(family: Family, known: Sequence[Fingerprint]) -> FamilyResults:
        return FamilyGates(pool, agents, ruleset, settings, "0001", "benchmark")(family, known)

    return judge


def sound(judge: Judge) -> tuple[list[Family], list[Fingerprint]]:
    """Return the seeds that pass, with their fingerprints."""
    families, known = [], []
    for family in read_families(SEEDS / "families")[: 4 if SHORT else None]:
        examined = judge(family, known)
        if examined.accepted and examined.fingerprint:
            families.append(family)
            known.append(examined.fingerprint)
    return families, known


def main(words: list[str]) -> None:
    figure = None
    if "--figure" in words:
        place = words.index("--figure")
        figure, words = Path(words[place + 1]), words[:place] + words[place + 2 :]
    share = 0.25
    if "--test-share" in words:
        place = words.index("--test-share")
        share, words = float(words[place + 1]), words[:place] + words[place + 2 :]
    what, gates = (words or ["yield"])[0], [word for word in words[1:] if not word.isdigit()]
    numbers = [int(word) for word in words[1:] if word.isdigit()]
    if what == "lake":
        if len(words) != 2:
            sys.exit("families_yield.py lake wants one folder: that of a lake")
        show_lake(Path(words[1]))
        return
    with (
        open_pool(workers=1, preload=PRELOAD) as pool,
        Agents(OperatorsBackend("0001"), line="families", cycle="0001") as agents,
    ):
        if what == "faults":
            show_faults(pool, agents, *(numbers or [10]), gates=gates, figure=figure)
        elif what == "worlds":
            show_worlds(
                pool,
                agents,
                *([*numbers, *[40, 50][len(numbers) :]]),
                name=(gates or ["constraint_world"])[0],
            )
        elif what == "text":
            show_text(pool, *([*numbers, *[0, 80][len(numbers) :]]))
        elif what == "rules":
            show_rules(pool, *([*numbers, *[0, 20][len(numbers) :]]))
        elif what == "difficulty":
            show_difficulty(pool, *(numbers or [1 if SHORT else 20]))
        elif what == "misread":
            show_misread(pool, *(numbers or [2 if SHORT else 30]))
        elif what == "variety":
            show_variety(pool, agents, *([*numbers, *[40, 8][len(numbers) :]]), share=share)
        else:
            attempts = 2 if SHORT else 60
            show_yield(pool, agents, *([*numbers, *[attempts, 1][len(numbers) :]]))


if __name__ == "__main__":
    main(sys.argv[1:])
