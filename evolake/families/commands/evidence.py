"""`evolake families evidence`: the evidence of the seed families that is shipped with them, made again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.families.settings import FamiliesSettings
from evolake.terminal import say

if TYPE_CHECKING:
    from evolake.families.gates.judging import FamilyResults
    from evolake.families.model.contract import Family
    from evolake.families.model.similarity import Fingerprint

SEED_ROUND = "0000"


@click.command(short_help="Write the gates' evidence of all seed families.")
@click.option(
    "--out",
    type=OrdinaryPath(dir_okay=False),
    default=None,
    help="File to write (default: the one next to the seeds).",
)
def evidence(out: Path | None) -> int:
    """Write what the gates see of every seed family, and of the faults that are planted, so that a first run
    need not look.

    Make it again after a change of a seed family or of the code of a gate.
    """
    from evolake.agents import Agents
    from evolake.agents.backends import OperatorsBackend
    from evolake.families.evolution.shipped import FILE, FamilyEvidence, entry_of, evidence_key, write_entries
    from evolake.families.faults.injection import ALL_FAULTS, SHIPPED_EACH, plant_faults, short_caps
    from evolake.families.gates.judging import FamilyGates
    from evolake.families.model.loading import read_families
    from evolake.families.sandbox.running import PRELOAD
    from evolake.gates import load_rules
    from evolake.jail import open_pool

    settings = settings_module.load()
    sizes = settings.of(FamiliesSettings)
    shorter = short_caps(sizes)
    entries: dict[str, FamilyEvidence] = {}
    sound: list[Family] = []
    fingerprints: dict[str, Fingerprint] = {}
    blocked: list[str] = []
    agents = Agents(OperatorsBackend(SEED_ROUND), line="families", cycle=SEED_ROUND)
    with agents, open_pool(workers=1, preload=PRELOAD, mode=settings.jail) as pool:
        ruleset = load_rules(settings.seeds / "rules", "families")

        def judge(family: Family, known: Sequence[Fingerprint], limits: FamiliesSettings) -> FamilyResults:
            examined = FamilyGates(pool, agents, ruleset, limits, SEED_ROUND, "evidence", settings.seed)(
                family, known
            )
            if entry := entry_of(examined):
                entries[evidence_key(family, limits, settings.seed)] = entry
            return examined

        for family in read_families(settings.seeds / "families"):
            examined = judge(family, [], sizes)
            if examined.accepted and examined.fingerprint:
                sound.append(family)
                fingerprints[family.family_id] = examined.fingerprint
            else:
                blocked.append(family.name)
        plant_faults(
            sound,
            fingerprints,
            lambda family, known: judge(family, known, shorter),
            each=SHIPPED_EACH,
            cycle=SEED_ROUND,
            root_seed=settings.seed,
            faults=ALL_FAULTS,
            progress=lambda number, name: say(
                f"class of faults {number} of {len(ALL_FAULTS)}: {name}", err=True
            ),
        )
    path = out or settings.seeds / FILE
    write_entries(entries, path)
    say(f"{path}: evidence of {len(entries)} families, {path.stat().st_size} bytes")
    if blocked:
        say(f"blocked: {', '.join(blocked)}")
    return 1 if blocked else 0
