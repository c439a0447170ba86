"""Can the bundled model learn from the primers on this machine, by more than chance explains? Run this before
a study that compares arms.

    python benchmarks/learning_pilot.py --work build/pilot [--minutes 20]
    python benchmarks/learning_pilot.py --work build/small --profile demo --primers queue-ends --levels 2 --between 0 1 \\
        --instances 4 --questions 6 --replies 1 --steps 1

It measures how often the model as it is solves each primer and level, keeps those with 20 to 50 % right
replies, says which difference the held-out questions can show, trains 40 steps with the sizes of the
profile's utility study, and prints the change of the held-out share with its 95 % interval over questions.
The last line says whether this machine can show learning. What is done is noted in the folder --work; the
same command continues.
"""  # noqa: E501

from __future__ import annotations

import argparse
import time
from pathlib import Path

from evolake import settings as settings_module
from evolake.errors import EvolakeError
from evolake.families.model.loading import read_families
from evolake.families.sandbox.running import PRELOAD
from evolake.jail import open_pool
from evolake.prompts.policies.registry import open_policy
from evolake.stats.power import power_sentence
from evolake.stats.proportions import wilson_interval
from evolake.utility.execution.cells import Pause
from evolake.utility.execution.pilot import PilotSizes, pilot_problems, pilot_rates, run_pilot
from evolake.utility.execution.policy import policy_settings
from evolake.utility.tables import LINEAGES


def options() -> argparse.Namespace:
    """Return what the command line says."""
    usual = PilotSizes()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for notes and the unpacked model")
    parser.add_argument("--families", type=Path, default=Path("examples/families/primers"))
    parser.add_argument("--primers", nargs="+", help="names; default: all of the folder")
    parser.add_argument("--profile", default="laptop")
    parser.add_argument("--policy", choices=["local", "tiny"], default="local")
    parser.add_argument("--minutes", type=float, help="stop after the part in which these are over")
    parser.add_argument("--between", type=float, nargs=2, default=usual.between, metavar=("LOW", "HIGH"))
    parser.add_argument("--levels", type=int, nargs="+", default=usual.levels)
    for name in ("instances", "samples", "questions", "replies", "steps"):
        parser.add_argument(f"--{name}", type=int, default=getattr(usual, name))
    return parser.parse_args()


def main() -> None:
    given, start = options(), time.monotonic()
    sizes = PilotSizes(
        (given.between[0], given.between[1]),
        tuple(given.levels),
        given.instances,
        given.samples,
        given.questions,
        given.replies,
        given.steps,
    )

    def on_time() -> None:
        if given.minutes is not None and time.monotonic() - start > 60 * given.minutes:
            raise Pause

    def on_step(step: int) -> None:
        print(
            f"  step {step} of {sizes.steps}, {time.monotonic() - start:.0f} s"
            if step
            else "  evaluated before training",
            flush=True,
        )
        on_time()

    loaded = settings_module.load(given.profile)
    settings = policy_settings(
        loaded.model_copy(update={"prompts": loaded.prompts.model_copy(update={"policy": given.policy})})
    )  # type: ignore[attr-defined]
    families = [
        family
        for family in read_families(given.families)
        if given.primers is None or family.name in given.primers
    ]
    given.work.mkdir(parents=True, exist_ok=True)
    try:
        policy = open_policy(settings, given.work, "0001", "pilot")
        with open_pool(workers=1, preload=PRELOAD, mode=settings.jail) as pool:
            rates = pilot_rates(
                families, policy, sizes, settings, given.work, pool=pool, tell=lambda done, of: on_time()
            )
            kept = rates.between(*sizes.between)
            for family in families:
                for level in sizes.levels:
                    if replies := rates.replies.get((family.family_id, level)):
                        share = wilson_interval(rates.correct[family.family_id, level], replies)
                        mark = "kept" if (family.family_id, level) in kept else ""
                        print(
                            f"{family.name:20} level {level}: {share.estimate:4.0%} ({share.low:.0%} to "
                            f"{share.high:.0%}) of {replies:4d}  {mark}"
                        )
            problems = pilot_problems(families, rates, sizes, settings, pool=pool)
        right = (1 + sum(rates.correct[key] for key in kept)) / (
            2 + sum(rates.replies[key] for key in kept)
        )  # never quite 0 or 1
        count = sum(row["suite"] == LINEAGES for row in problems)
        print(
            f"{power_sentence(count, sizes.replies, right)}; {len(problems) - count} questions to train on",
            flush=True,
        )
        print(run_pilot(problems, policy, sizes, settings, given.work, on_step).sentence())
    except Pause:
        print("unfinished: the same command continues after the last step")
    except EvolakeError as error:
        raise SystemExit(f"{error}") from None


if __name__ == "__main__":
    main()
