"""`evolake families import-task`: a foreign task with its generator and scorer as a draft of a family."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.terminal import say

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
    from evolake.families.model.writing import write_family
    from evolake.families.sandbox.checking import check
    from evolake.families.sandbox.external import GYM_CAPS, GYM_PRELOAD, external_names
    from evolake.families.sandbox.running import PRELOAD, generate
    from evolake.families.sandbox.task_import import GYM, SHAPES, folder_task, gym_task
    from evolake.jail import open_pool

    if out.exists():
        raise InputError(
            f"{out} is there already",
            wanted="a folder that does not exist",
            do="name another one, or remove it",
        )
    gym = source.startswith(GYM)
    if gym:
        from evolake.verifiers.external import require_library

        require_library()
    elif not Path(source).is_dir():
        raise InputError(f"no task at {source}", wanted=SHAPES, do="check the path")
    with open_pool(
        workers=1, preload=GYM_PRELOAD if gym else PRELOAD, mode=settings_module.load().jail
    ) as pool:
        name = source.removeprefix(GYM)
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
