"""A family in a bundle: its record, and the instances that were sampled of it with their voted labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.bundles.measuring import fresh_count, fresh_seeds, judged
from evolake.bundles.model import Carried, Judging, LineBundle, Said, require_allowed
from evolake.bundles.ruling import all_pass, gates_again
from evolake.families.gates.specs import GATE_NAMES, GATES
from evolake.families.settings import FamiliesSettings
from evolake.report.artifacts import Artifact

if TYPE_CHECKING:
    from evolake.families.model.contract import Family
    from evolake.lake import Catalogue, Lake
    from evolake.settings import Settings

LINE = "families"
FAMILY = "family.json"
LIMITS = {
    "validators",
    "instances_per_family",
    "execution_seeds",
    "sample_seeds",
    "guess_seeds",
    "counted_seeds",
    "reviewer_turns",
    "instance_cpu_s",
    "call_cpu_s",
    "memory_mb",
}
"""What gates and instances may cost, which this machine's settings decide."""
GATE_SIZES = (
    "gate_difficulties",
    "execution_seeds",
    "sample_seeds",
    "guess_seeds",
    "blind_difficulties",
    "reviewer_turns",
)
"""At how many places the gates ask."""
COLUMNS = ("instance_id", "difficulty", "seed", "text", "answer", "voters", "votes")
OPERATORS = "operators"


class Labelled(BaseModel):
    """One instance with its label. answer: JSON."""

    model_config = ConfigDict(extra="forbid", strict=True)
    instance_id: str
    difficulty: int = Field(ge=1, le=10)
    seed: int
    text: str
    answer: str
    voters: int
    votes: int


class FamilyClaims(BaseModel):
    """What is said of a family. backend: who reviewed it."""

    model_config = ConfigDict(extra="forbid")
    settings: dict[str, Any]
    root_seed: int
    backend: str
    instances: list[Labelled] = Field(max_length=100_000)


def carry(lake: Lake, catalogue: Catalogue, artifact: Artifact, settings: Settings) -> Carried:
    """Return its record and its instances."""
    rows = [
        {name: row[name] for name in COLUMNS}
        for cycle in lake.cycles(LINE, "instances")
        for row in lake.read(LINE, "instances", cycle).to_dicts()
        if row["family_id"] == artifact.artifact_id
    ]
    claims = {
        "settings": settings.of(FamiliesSettings).model_dump(mode="json"),
        "root_seed": settings.seed,
        "backend": settings.backend,
        "instances": sorted(rows, key=lambda row: (row["difficulty"], row["seed"])),
    }
    return Carried(claims, {FAMILY: lake.blobs.get(artifact.row.get("record_sha") or artifact.content_sha)})


def check(judging: Judging) -> Iterator[Said]:
    """Yield identity, every gate next to the shipped seeds, and the labels of a sample of its instances."""
    from evolake.agents import open_agents
    from evolake.families.commands.exporting import relatives
    from evolake.families.gates.judging import FamilyGates
    from evolake.families.model.contract import from_record
    from evolake.families.sandbox.running import PRELOAD
    from evolake.jail import open_pool

    claims = FamilyClaims.model_validate(judging.bundle.read("claims.json"))
    sizes = _sizes(claims, judging)
    family = from_record(judging.bundle.read(FAMILY))
    yield Said(
        "identity",
        "holds" if family.family_id == judging.artifact_id else "fails",
        f"the record has the id {family.family_id[:12]}",
    )
    yield from _other_sizes(sizes, judging.settings.of(FamiliesSettings))
    settings = judging.settings.model_copy(update={"backend": OPERATORS})
    others = relatives(settings, without=family.family_id)
    judging.progress("gates")
    with (
        open_agents(settings, settings.require_lake(), "0001", "bundle", line=LINE) as agents,
        open_pool(1, PRELOAD, settings.jail) as pool,
    ):
        done = FamilyGates(pool, agents, judging.asked, sizes, "0001", "bundle", claims.root_seed)(
            family, others.fingerprints
        )
        why = f"its reviewers were of the backend {claims.backend}; here the ones without a model were asked"
        notes = [Said("reviews by a model", "unmeasured", why)] if claims.backend != OPERATORS else []
        yield from gates_again(judging, GATES, done, f"{all_pass(GATES)}; {others.sentence()}", *notes)
        if done.blocked_by is not None:
            return
        yield from _instances(judging, family, claims.instances, pool, sizes)
        yield labelled_anew(family, len(claims.instances), pool, sizes, judging.sample)


def _sizes(claims: FamilyClaims, judging: Judging) -> FamiliesSettings:
    """Return the sizes that it was judged at; what texts are compared with is this machine's own.

    Raises:
        MachineryError: they are more than this machine's settings allow.
    """
    given, here = FamiliesSettings.model_validate(claims.settings), judging.settings.of(FamiliesSettings)
    asked, allowed = given.model_dump(include=LIMITS), here.model_dump(include=LIMITS)
    for name in ("gate_difficulties", "blind_difficulties"):
        asked[name], allowed[name] = len(getattr(given, name)), len(getattr(here, name))
    most = max(given.instances_per_family, len(claims.instances))
    require_allowed(LINE, asked | {"instances_per_family": most}, allowed)
    return given.model_copy(update={"benchmarks": here.benchmarks, "band_weights": here.band_weights})


def _other_sizes(given: FamiliesSettings, here: FamiliesSettings) -> Iterator[Said]:
    """Yield at which sizes its gates are asked, if they are not those of this machine."""
    other = [
        f"{name} {getattr(given, name)} (here {getattr(here, name)})"
        for name in GATE_SIZES
        if getattr(given, name) != getattr(here, name)
    ]
    if other:
        yield Said("sizes", "note", f"its gates are asked at the bundle's sizes: {', '.join(other)}")


def _instances(
    judging: Judging, family: Family, claimed: Sequence[Labelled], pool: Any, sizes: FamiliesSettings
) -> Iterator[Said]:
    """Texts and labels of instances that are drawn, made and voted on again."""
    from evolake.families.gates.consensus import take_votes
    from evolake.families.gates.execution import caps_of
    from evolake.families.gates.instances import instance_row
    from evolake.families.sandbox.running import generate

    if not claimed:
        yield Said("instances", "unmeasured", "the bundle has none")
        return
    if len({(item.difficulty, item.seed) for item in claimed}) < len(claimed):
        yield Said("instances", "fails", "it has an instance of one difficulty and seed twice")
        return
    chosen = judging.drawn(claimed)
    judging.progress(f"{len(chosen)} instances")
    made = generate(family, [(item.difficulty, item.seed) for item in chosen], pool=pool, caps=caps_of(sizes))
    if failed := next((item for item in made if item.status != "ok"), None):
        yield Said(
            "instances",
            "fails",
            f"difficulty {failed.difficulty}, seed {failed.seed} gives none: "
            f"{failed.reason or failed.status}",
        )
        return
    for element, instance, vote in zip(
        chosen, made, take_votes(family, made, pool=pool, settings=sizes), strict=True
    ):
        where = f"difficulty {element.difficulty}, seed {element.seed}"
        row = instance_row(family, instance, vote, "", "bundle")
        if not vote.decided:
            yield Said("instances", "fails", f"{where}: the voters have no strict majority")
            return
        for name in ("instance_id", "text", "voters", "votes"):
            if row[name] != getattr(element, name):
                got, wanted = str(row[name])[:60], str(getattr(element, name))[:60]
                yield Said("instances", "fails", f"{where}: its {name} is {got!r}, and it claims {wanted!r}")
                return
        if json.loads(row["answer"]) != json.loads(element.answer):
            yield Said(
                "instances",
                "fails",
                f"{where}: the label is {row['answer'][:60]}, and it claims {element.answer[:60]}",
            )
            return
    yield Said(
        "instances",
        "holds",
        f"{len(chosen)} of {len(claimed)}: each has the same text and the same label by a strict majority",
        (len(chosen), len(claimed)),
    )


def labelled_anew(
    family: Family, claimed: int, pool: Any, sizes: FamiliesSettings, sample: int | None
) -> Said:
    """Compare instances under fresh seeds with those of the bundle: each of these has a label by a strict
    majority, the primary in it.

    The seeds of the gates follow from the family and the root seed, so that its author may know them; no
    author knows these.

    Args:
        claimed: instances of the bundle; if it has none, passing the consensus gate counts for as many as
            that gate asks.
    """
    from evolake.families.gates.consensus import take_votes
    from evolake.families.gates.execution import caps_of
    from evolake.families.model.sampling import band_counts, spread
    from evolake.families.sandbox.running import generate

    stated = claimed or len(sizes.gate_difficulties) * sizes.sample_seeds
    seeds = fresh_seeds(fresh_count(0, sample))
    difficulties = spread(band_counts(len(seeds), sizes.band_weights))
    made = generate(family, list(zip(difficulties, seeds, strict=True)), pool=pool, caps=caps_of(sizes))
    good = [item for item in made if item.status == "ok"]
    votes = take_votes(family, good, pool=pool, settings=sizes)
    agreed = [float(vote.decided and vote.primary_agrees) for vote in votes] + [0.0] * (len(made) - len(good))
    return judged(
        "share of instances with a label, under fresh seeds", [1.0] * stated, agreed, unit="instance"
    )


BUNDLE = LineBundle(("family",), (FAMILY,), GATE_NAMES, carry, check)
