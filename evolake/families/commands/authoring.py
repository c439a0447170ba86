"""`evolake families new` (a complete family that passes every gate, to change into one's own), `import-task`
(a foreign task as a draft of a family) and `evidence` (make the shipped evidence of the seed families again).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.families.model.family_files import SETTINGS, id_of
from evolake.families.settings import FamiliesSettings
from evolake.new_files import write_new
from evolake.terminal import say

if TYPE_CHECKING:
    from evolake.families.gates.judging import FamilyResults
    from evolake.families.model.contract import Family
    from evolake.families.model.similarity import Fingerprint


EXAMPLE_ID = "radio-houses"
FILES = {
    name: resources.files("evolake.families.commands").joinpath("example", name).read_text(encoding="utf-8")
    for name in (
        "family.toml",
        "generator.py",
        "template.md",
        "validator.py",
        "validators/asking.py",
        "validators/metres.py",
        "reader.py",
        "mutations.toml",
    )
}
"""Path below the folder -> its text."""


@click.command(short_help="Write a complete task family into DIR.")
@click.argument("folder", metavar="DIR", type=OrdinaryPath())
def new(folder: Path) -> int:
    """Write a complete family into DIR: generator, template, validator, two further validators, reader and
    mutations. DIR's name is its id. Nothing is overwritten."""
    files = FILES | {SETTINGS: FILES[SETTINGS].replace(EXAMPLE_ID, id_of(folder))}
    write_new({folder / name: text for name, text in files.items()})
    say(f"{len(FILES)} files in {folder}; next: evolake families check {folder}")
    return 0


TRIED = ((1, 11), (5, 12), (10, 13))
"""(difficulty, seed) of the instances that are drawn before anything is written."""


@click.command("import-task", short_help="Turn a foreign task into a draft of a family.")
@click.argument("source")
@click.option(
    "--out", type=OrdinaryPath(file_okay=False), required=True, help="Folder to write; must not exist."
)
def import_task(source: str, out: Path) -> int:
    """Turn the task SOURCE into a draft of a family in a new folder.

    SOURCE is `reasoning-gym:NAME`, or the folder of a task in Enigmata's shape (generator.py with `generate`,
    verifier.py with `verify`) or SynLogic's (a class with `generate` and `verify`). The draft has the task's
    own generator, answer and scorer. It runs in the jail before it is written. `evolake families check` lists
    in one run what a family needs in addition.
    """
    from evolake.families.model.family_files import write_family
    from evolake.families.sandbox.foreign import (
        GYM_CAPS,
        GYM_PRELOAD,
        OF_GYM,
        SHAPES,
        external_names,
        folder_task,
        gym_task,
    )
    from evolake.families.sandbox.running import PRELOAD, check, generate
    from evolake.jail import open_pool

    if out.exists():
        raise InputError(
            f"{out} is there already",
            wanted="a folder that does not exist",
            do="name another one, or remove it",
        )
    gym = source.startswith(OF_GYM)
    if gym:
        from evolake.verifiers.external import require_library

        require_library()
    elif not Path(source).is_dir():
        raise InputError(f"no task at {source}", wanted=SHAPES, do="check the path")
    with open_pool(
        workers=1, preload=GYM_PRELOAD if gym else PRELOAD, mode=settings_module.load().jail
    ) as pool:
        name = source.removeprefix(OF_GYM)
        if gym and name not in external_names(pool):
            raise InputError(
                f"no dataset {name!r}",
                wanted="one of those that `evolake families external` lists",
                do="check the name",
            )
        family = gym_task(name) if gym else folder_task(Path(source))
        drawn = generate(family, TRIED, pool=pool, caps=GYM_CAPS)
        if failed := next((item for item in drawn if item.status != "ok"), None):
            raise InputError(
                f"the generator of {source} gives no instance in the jail",
                wanted="one for each difficulty, without files and network",
                got=f"difficulty {failed.difficulty}: {failed.status}: {failed.reason}",
                do="make it run with the standard library and numpy",
            )
        judged = check(
            family.checkers["scorer"],
            [(item.inputs, [item.inputs["answer"], "no answer"]) for item in drawn],
            pool=pool,
            caps=GYM_CAPS,
        )
    write_family(family, out)
    say(f"{family.name}: a draft in {out}")
    say(
        f"  an instance: {json.dumps(drawn[0].text[:300], ensure_ascii=False)}; its answer: "
        f"{json.dumps(drawn[0].inputs['answer'])[:100]}"
    )
    right, wrong = (sum(item.status == "ok" and item.answer[place] for item in judged) for place in (0, 1))
    say(
        f"  the task's scorer accepts its own answer in {right} of {len(judged)} instances, and a wrong "
        f"one in {wrong}"
    )
    if len({item.text for item in drawn}) == 1 or (right, wrong) != (len(judged), 0):
        say(
            "  look at that before you continue: a family needs a scorer that distinguishes answers, and "
            "instances that differ"
        )
    say(
        "  missing: reader.py, and validators/*.py by another hand or checkers that only compute. Next: "
        f"evolake families check {out}"
    )
    return 0


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
    from evolake.agents.roles import OperatorsBackend
    from evolake.families.evolution.shipped_seeds import (
        FILE,
        FamilyEvidence,
        entry_of,
        evidence_key,
        write_entries,
    )
    from evolake.families.faults.injection import ALL_FAULTS, SHIPPED_EACH, plant_faults, short_caps
    from evolake.families.gates.judging import FamilyGates
    from evolake.families.model.family_files import read_families
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
