"""How often the model as it is answers instances of families right, by difficulty: where there is something
to learn from.

    python benchmarks/pass_rates.py [--families examples/families/primers] [--difficulties 1 2] [--instances 16] [--samples 4] [--profile demo]

Asked as in the utility study of that profile: same request, same start of the reply, same temperature. Prints
a line per family, with the 95% interval (Wilson; replies to one instance count as independent, so that it is
the narrower the more of them there are), and the cpu seconds.
"""  # noqa: E501

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from evolake import settings as settings_module
from evolake.families.model.loading import read_families
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.jail import open_pool
from evolake.prompts.policies.registry import open_policy
from evolake.stats.proportions import wilson_interval
from evolake.utility.execution.pass_rates import Key, PassRates, Sampling, measure
from evolake.utility.execution.policy import policy_settings
from evolake.utility.settings import UtilitySettings


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--families", type=Path, default=Path("examples/families/primers"))
    options.add_argument("--difficulties", type=int, nargs="+", default=[1, 2])
    options.add_argument("--instances", type=int, default=16)
    options.add_argument("--samples", type=int, default=4)
    options.add_argument("--profile", default="demo")
    given = options.parse_args()
    settings = settings_module.load(given.profile)
    own, families = settings.of(UtilitySettings), read_families(given.families)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_pool(workers=1, preload=PRELOAD, mode=settings.jail) as pool,
    ):
        policy = open_policy(policy_settings(settings), Path(folder), "0001", "bench")
        start = time.process_time()
        rates = measure(
            families,
            policy,
            Sampling(
                given.difficulties,
                given.instances,
                given.samples,
                own.answer_format,
                own.longest_statement,
                settings.seed,
            ),
            pool=pool,
            settings=settings.of(FamiliesSettings),
        )
    print(
        f"{'family':24}" + "".join(f"{f'difficulty {difficulty}':>30}" for difficulty in given.difficulties)
    )
    for family in families:
        keys = [(family.family_id, difficulty) for difficulty in given.difficulties]
        print(f"{family.name:24}" + "".join(f"{describe(rates, key):>30}" for key in keys), flush=True)
    print(
        f"{sum(rates.replies.values())} replies of at most {own.max_tokens} tokens, "
        f"{time.process_time() - start:.0f} s of cpu beside the jail"
    )


def describe(rates: PassRates, key: Key) -> str:
    """Return the share of right replies with its interval, and how many there were."""
    if not rates.replies.get(key):
        return "not asked"
    result = wilson_interval(rates.correct[key], rates.replies[key])
    return f"{result.estimate:.0%} ({result.low:.0%} to {result.high:.0%}) of {rates.replies[key]}"


if __name__ == "__main__":
    main()
