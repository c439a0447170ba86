"""Families: cycles of the line with the sizes of a profile, in slices that go on where the last one stopped,
and what they come to.

    python benchmarks/families_cycles.py run DIR [--accepted 200] [--minutes 7] [--proposals 12] [--profile laptop] [--first 1]
    python benchmarks/families_cycles.py told DIR                 shares of worlds, what each gate and rule blocked, first versions and all versions
    python benchmarks/families_cycles.py sheet DIR [COUNT]        a sheet of accepted children to read (default 40), with an instance and its answer
    python benchmarks/families_cycles.py curve DIR                executed work by difficulty, of the seeds and of the accepted
    python benchmarks/families_cycles.py wordings DIR [EACH]      faults of wording, planted into the accepted worlds and children and the
                                                                  seeds by turns (default 5 each): blocked,
                                                                  named as unread, or missed

The shipped seeds are the first parents, each cycle's accepted families join them, and attempts have the
refinements of the profile. A profile's cycle has more proposals than `--proposals`; fewer let a slice end
soon, and parents come in sooner. DIR/versions.jsonl has a line per judged version. One worker. DIRs that
began with other numbers may be pooled: put their lines into one file.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import tests_folder  # noqa: F401  (before what lies there)
from families_wording import WORDINGS, outcome

from evolake import settings as settings_module
from evolake.agents import Agents
from evolake.agents.backends import OperatorsBackend
from evolake.families.dataset import difficulty
from evolake.families.evolution.proposing import propose_families
from evolake.families.evolution.requests import EvolutionSources
from evolake.families.evolution.shipped import FILE, evidence_key, read_entries
from evolake.families.gates.judging import FamilyGates
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family, from_record, to_record
from evolake.families.model.loading import read_families
from evolake.families.model.sentences import sentences
from evolake.families.model.similarity import Fingerprint
from evolake.families.model.statement import QUESTION_LINE, stated
from evolake.families.sandbox.running import PRELOAD, generate, solve
from evolake.families.settings import FamiliesSettings
from evolake.families.worlds import NAMES
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.stats.proportions import wilson_interval

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
SECOND_HALF = ("consensus", "blind", "sentences")
SHEET_SEED = 11


def run(folder: Path, *, accepted: int, minutes: float, proposals: int, profile: str, first: int) -> None:
    """Cycles until so many families are accepted or the time is over; a cycle that is not finished leaves
    nothing behind."""
    settings = (
        settings_module.load(profile=profile)
        .of(FamiliesSettings)
        .model_copy(update={"families_per_cycle": proposals})
    )
    folder.mkdir(parents=True, exist_ok=True)
    ruleset, end = load_rules(SEEDS / "rules", "families"), time.monotonic() + 60 * minutes
    with open_pool(workers=1, preload=PRELOAD) as pool:
        while time.monotonic() < end:
            done = versions(folder)
            result = [row for row in done if row["accepted"]]
            if len(result) >= accepted:
                break
            number = max((row["cycle"] for row in done), default=first - 1) + 1
            cycle, start = f"{number:04d}", time.monotonic()
            population, known = population_of(result)
            with Agents(OperatorsBackend(cycle), line="families", cycle=cycle) as agents:
                judge = FamilyGates(pool, agents, ruleset, settings, cycle, "benchmark")
                made = propose_families(
                    agents,
                    EvolutionSources(population, known),
                    pool=pool,
                    judge=judge,
                    settings=settings,
                    cycle=cycle,
                    root_seed=0,
                    count=proposals,
                )
            rows = [
                _row(number, proposal.number, place, item)
                for proposal in made.proposals
                for place, item in enumerate(proposal.rounds)
            ]
            rows += [
                {
                    "cycle": number,
                    "proposal": at,
                    "round": 0,
                    "operator": name,
                    "accepted": False,
                    "gate": "",
                    "rule": "",
                    "reason": why,
                }
                for at, name, why in made.failures
            ]
            with (folder / "versions.jsonl").open("a") as file:
                file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
            now = sum(row["accepted"] for row in rows) + len(result)
            print(
                f"cycle {number}: {len(rows)} versions, {now} accepted so far, "
                f"{time.monotonic() - start:.0f} s",
                flush=True,
            )


def _row(cycle: int, proposal: int, place: int, judged: Any) -> dict[str, Any]:
    blocked = judged.blocked_by
    return {
        "cycle": cycle,
        "proposal": proposal,
        "round": place,
        "operator": judged.family.operator,
        "accepted": judged.accepted,
        "gate": blocked.gate if blocked else "",
        "rule": blocked.rule_id if blocked else "",
        "reason": blocked.reason if blocked else "",
        "family": to_record(judged.family) if judged.accepted else None,
        "fingerprint": judged.fingerprint.to_json() if judged.accepted and judged.fingerprint else "",
        "title": judged.family.title,
        "family_id": judged.family_id,
        "cpu_s": sum(cost["cpu_s"] for cost in judged.costs.values()),
        "work": judged.evidence["static"]["work"] if judged.accepted else None,
    }


def versions(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the file."""
    file = folder / "versions.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def population_of(result: list[dict[str, Any]]) -> tuple[list[Family], list[Fingerprint]]:
    """Return the seeds and the accepted, with the fingerprints of both; those of the seeds are shipped."""
    seeds = read_families(SEEDS / "families")
    ids = {family.family_id for family in seeds}
    prints = [
        Fingerprint.from_json(entry.fingerprint)
        for entry in read_entries(SEEDS / FILE).values()
        if entry.fingerprint
    ]
    shipped = [item for item in {item.family_id: item for item in prints}.values() if item.family_id in ids]
    assert len(shipped) == len(seeds), "the shipped evidence lacks a seed: evolake families evidence"
    return [*seeds, *(from_record(row["family"]) for row in result)], [
        *shipped,
        *(Fingerprint.from_json(row["fingerprint"]) for row in result),
    ]


def summarise(folder: Path) -> None:
    """Print a summary of the cycles."""
    rows = versions(folder)
    result = [row for row in rows if row["accepted"]]
    worlds = [row for row in result if row["operator"] in NAMES]
    shared = set().union(*(map(plain, sentences(stated(seed))) for seed in read_families(SEEDS / "families")))
    from_seeds = Counter(
        plain(sentence)
        for row in worlds
        for sentence in sentences(stated(from_record(row["family"])))
        if plain(sentence) in shared and not QUESTION_LINE.match(sentence)
    )
    print(f"{len({row['cycle'] for row in rows})} cycles, {len(rows)} versions, {len(result)} accepted")
    _share("accepted that are drawn worlds, without a parent", len(worlds), len(result))
    print(f"  sentences of theirs that a seed has, too: {dict(from_seeds)}")
    for name, own in (("first versions", [row for row in rows if row["round"] == 0]), ("all versions", rows)):
        print(f"{name}: {len(own)}, {sum(row['accepted'] for row in own)} accepted")
        blocks = Counter(row["gate"] or "no family" for row in own if not row["accepted"])
        for gate in (*GATE_NAMES, "no family"):
            print(f"  {gate:12s} blocks {blocks[gate]}")
        _share(
            "  blocked by consensus, blind or sentences", sum(blocks[gate] for gate in SECOND_HALF), len(own)
        )
    print(
        "operators, first versions: "
        + ", ".join(
            f"{name} "
            f"{sum(row['accepted'] for row in rows if row['round'] == 0 and row['operator'] == name)}/"
            f"{count}"
            for name, count in Counter(row["operator"] for row in rows if row["round"] == 0).most_common()
        )
    )
    for (gate, rule), count in Counter(
        (row["gate"], row["rule"]) for row in rows if row["gate"]
    ).most_common():
        example = next(row["reason"] for row in rows if row["rule"] == rule)
        print(f"  {count:3d} {gate}/{rule}: {example[:160]}")


def curve(folder: Path) -> None:
    """Work by difficulty across families: the seeds by the shipped evidence, the accepted by what the cycles
    noted."""
    settings, entries = settings_module.load(), read_entries(SEEDS / FILE)
    keys = {
        family.name: evidence_key(family, settings.of(FamiliesSettings), settings.seed)
        for family in read_families(SEEDS / "families")
    }
    assert keys.keys() and set(keys.values()) <= entries.keys(), (
        "the shipped evidence lacks a seed: evolake families evidence"
    )
    shipped = [(name, "seed", entries[key].gates["static"]["evidence"]["work"]) for name, key in keys.items()]
    noted = [
        (row["family_id"], row["operator"], row["work"])
        for row in versions(folder)
        if row["accepted"] and "work" in row
    ]
    work = difficulty.work_of([*shipped, *noted])
    for row in difficulty.curve(work).iter_rows(named=True):
        lines = "{lower:9.0f} {median:9.0f} {upper:9.0f}".format(**row)
        print(
            f"{row['group']:20s} difficulty {row['difficulty']:2d}: {row['families']:3d} families, "
            f"executed lines {lines} (quartiles)"
        )
    common = difficulty.common_levels(work)
    for group in difficulty.GROUPS:
        own = common.filter(pl.col("group") == group)
        spans = [
            f"{level} is {part.quantile(0.25):.1f} to {part.quantile(0.75):.1f}"
            for level in (1, 5, 10)
            if len(part := own.filter(pl.col("difficulty") == level)["common"])
        ]
        if spans:
            print(f"{group}, on the common scale (middle half of families): " + ", ".join(spans))
    print(
        f"the higher difficulty takes more work in {difficulty.agreement(work):.0%} of pairs across families"
    )


def plain(sentence: str) -> str:
    """For comparison."""
    return " ".join(sentence.casefold().split())


def _share(what: str, count: int, total: int) -> None:
    interval = wilson_interval(count, total)
    print(
        f"{what}: {count} of {total} = {count / max(total, 1):.0%} (95% interval {interval.low:.0%} to "
        f"{interval.high:.0%})"
    )


def sheet(folder: Path, count: int) -> None:
    """Print accepted children, drawn by a fixed seed, as text to read."""
    import numpy as np

    result = [row for row in versions(folder) if row["accepted"]]
    chosen = sorted(np.random.default_rng(SHEET_SEED).permutation(len(result))[:count].tolist())
    with open_pool(workers=1, preload=PRELOAD) as pool:
        for number, place in enumerate(chosen, start=1):
            family = from_record(result[place]["family"])
            [instance] = generate(family, [(4, 3)], pool=pool)
            answer = solve(family.validator, [instance.inputs], pool=pool)[0].answer
            print(f"##### {number} [{family.operator}] {family.title}\n\n{instance.text}\n\n=> {answer!r}\n")


def wordings(folder: Path, each: int, minutes: float) -> None:
    """One line per fault in DIR/wordings.jsonl; goes on where it stopped."""
    file, end = folder / "wordings.jsonl", time.monotonic() + 60 * minutes
    done = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    families = [from_record(row["family"]) for row in versions(folder) if row["accepted"]]
    drawn, children = (
        [family for family in families if (family.operator in NAMES) == is_drawn]
        for is_drawn in (True, False)
    )
    groups = [drawn, children, read_families(SEEDS / "families")]
    ruleset, settings = load_rules(SEEDS / "rules", "families"), FamiliesSettings()
    with (
        open_pool(workers=1, preload=PRELOAD) as pool,
        Agents(OperatorsBackend("0001"), line="families", cycle="0001") as agents,
    ):
        for place, (name, reword) in enumerate(WORDINGS.items()):
            taken = [row for row in done if row["fault"] == name]
            waiting = [
                group[(7 * place + at) % len(group)]
                for at in range(max(map(len, groups)))
                for group in groups
                if at < len(group)
            ]
            for family in waiting:
                if len(taken) >= each or time.monotonic() > end:
                    break
                if any(row["family"] == family.family_id for row in taken):
                    continue
                try:
                    spoilt = reword(family)
                except NotComposable:
                    continue
                judged = FamilyGates(pool, agents, ruleset, settings, "0001", "benchmark")(spoilt, ())
                blocked = judged.blocked_by
                taken.append(
                    {
                        "fault": name,
                        "family": family.family_id,
                        "operator": family.operator,
                        "gate": blocked.gate if blocked else "",
                        "outcome": outcome(family, spoilt, None if blocked else judged.evidence["sentences"]),
                        "statement": stated(spoilt),
                    }
                )
                with file.open("a") as lines:
                    lines.write(json.dumps(taken[-1], ensure_ascii=False) + "\n")
            print(
                f"{name}: "
                + ", ".join(
                    f"{what} {count}" for what, count in Counter(row["outcome"] for row in taken).items()
                ),
                flush=True,
            )
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for kind in (*NAMES, "seed"):
        print(kind, dict(Counter(row["outcome"] for row in rows if row["operator"] == kind)))
    print(
        "children", dict(Counter(row["outcome"] for row in rows if row["operator"] not in (*NAMES, "seed")))
    )
    _share("blocked or named", sum(row["outcome"] != "missed" for row in rows), len(rows))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "told", "sheet", "curve", "wordings"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--accepted", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=7)
    parser.add_argument("--proposals", type=int, default=12)
    parser.add_argument("--profile", default="laptop")
    parser.add_argument(
        "--first",
        type=int,
        default=1,
        help="number of the first cycle of an empty DIR, which all draws hang on",
    )
    words = parser.parse_args()
    if words.what == "run":
        run(
            words.folder,
            accepted=words.accepted,
            minutes=words.minutes,
            proposals=words.proposals,
            profile=words.profile,
            first=words.first,
        )
    elif words.what == "told":
        summarise(words.folder)
    elif words.what == "sheet":
        sheet(words.folder, words.count or 40)
    elif words.what == "curve":
        curve(words.folder)
    else:
        wordings(words.folder, words.count or 5, words.minutes)


if __name__ == "__main__":
    main()
