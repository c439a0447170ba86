"""How often the model as it is answers instances of families right, by difficulty: where there is something to learn from.

    python benchmarks/pass_rates.py [--families examples/families/primers] [--difficulties 1 2] [--instances 16] [--samples 4] [--profile demo]

Asked as in the utility study of that profile: same request, same start of the reply, same temperature. Prints a line per family and the cpu seconds.
"""

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
from evolake.utility.execution.pass_rates import measure
from evolake.utility.execution.policy import policy_settings
from evolake.utility.settings import UtilitySettings


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--families", type=Path, default=Path("examples/families/primers"))
    options.add_argument("--difficulties", type=int, nargs="+", default=[1, 2])
    options.add_argument("--instances", type=int, default=16)
    options.add_argument("--samples", type=int, default=4)
    options.add_argument("--profile", default="demo")
    given = options.parse_args()
    settings = settings_module.load(given.profile)
    own, families = settings.of(UtilitySettings), read_families(given.families)
    with tempfile.TemporaryDirectory() as folder, open_pool(workers=1, preload=PRELOAD, mode=settings.jail) as pool:
        policy = open_policy(policy_settings(settings), Path(folder), "0001", "bench")
        start = time.process_time()
        rates = measure(
            families, given.difficulties, policy, pool=pool, settings=settings.of(FamiliesSettings), root_seed=settings.seed,
            instances=given.instances, samples=given.samples, answer_format=own.answer_format, longest=own.longest_statement,
        )
    print(f"{'family':24}" + "".join(f"{f'difficulty {one}':>24}" for one in given.difficulties))
    for family in families:
        keys = [(family.family_id, one) for one in given.difficulties]
        shares = [f"{share:.1%} of {rates.replies[key]}" if (share := rates.share(key)) is not None else "not asked" for key in keys]
        print(f"{family.name:24}" + "".join(f"{share:>24}" for share in shares))
    print(f"{sum(rates.replies.values())} replies of at most {own.max_tokens} tokens, {time.process_time() - start:.0f} s of cpu beside the jail")


if __name__ == "__main__":
    main()
