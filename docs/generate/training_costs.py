"""The counts of docs/costs.md that follow from settings: python docs/generate/training_costs.py writes them
into the page, between its marks.

The page is read on its own too, so they stand in the file; a test holds them to the settings.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import tests_folder  # noqa: F401  (before what lies there)
from cells import code, table
from prompts_sizes import most_of

from evolake.prompts.settings import PromptsSettings
from evolake.settings import load, profile_names
from evolake.utility.settings import UtilitySettings

PAGE = Path(__file__).resolve().parent.parent / "costs.md"
SAMPLED_A_SECOND, LEARNT_A_SECOND = 9.7, 1.0
"""Tokens, and replies, of the bundled model per second of one core: benchmarks/prompts_policy.py --dtypes."""
ORDER = ["demo", "laptop", "gpu", "cluster"]


def main() -> None:
    """Write the figures into docs/costs.md."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def written(page: str) -> str:
    """Return the page with a new text between `<!-- NAME -->` and `<!-- end -->`."""
    for name, text in (("prompts", prompts_table()), ("laptop", laptop_time()), ("utility", utility_table())):
        page, marks = re.subn(
            rf"(<!-- {name} -->)[^<]*(<!-- end -->)",
            lambda match, text=text: f"{match[1]}\n\n{text}\n{match[2]}",
            page,
        )
        if marks != 1:
            raise ValueError(
                f"docs/costs.md has {marks} places for {name}, wanted one: <!-- {name} --> and <!-- end -->"
            )
    return page


def prompts_table() -> str:
    """Return what a cycle of the prompts line samples at most."""
    rows = []
    for profile in profiles():
        own = load(profile).of(PromptsSettings)
        most = most_of(own)
        learnt = (
            f"{own.iterations_per_cycle} x {own.batch_problems} x {own.prompts_per_iteration} x "
            f"{own.rollouts} = {most.learnt:,}"
        )
        rows.append(
            [
                code(profile),
                learnt,
                f"{most.duels:,}",
                f"{most.heldout:,}",
                f"{most.base:,}",
                f"{most.tokens:,}",
                f"{shortly(most.sampled(first=False))} ({shortly(most.sampled(first=True))})",
                most.updates,
            ]
        )
    heads = [
        "profile",
        "replies to learn from",
        "of a duel",
        "held out",
        "more in the first cycle",
        "tokens per reply",
        "tokens of a cycle (the first)",
        "updates of the weights",
    ]
    return table(heads, rows)


def laptop_time() -> str:
    """Processor time of a cycle of `laptop` with the bundled model."""
    most = most_of(load("laptop").of(PromptsSettings))
    later, first = (
        round(most.sampled(first=at) / SAMPLED_A_SECOND + most.learnt / LEARNT_A_SECOND, -2)
        for at in (False, True)
    )
    reckoned = (
        f"{most.replies(first=False):,} x {most.tokens} / {SAMPLED_A_SECOND} + {most.learnt} = {later:,.0f}"
    )
    return (
        f"So a cycle of `laptop` takes at most {reckoned} seconds of processor time, the first one "
        f"{first:,.0f}: computed and not measured.\n"
    )


def utility_table() -> str:
    """Return what the study of usefulness samples at most: four arms that are trained, and the base as it
    is."""
    rows = []
    for profile in profiles():
        own = load(profile).of(UtilitySettings)
        replies = own.steps * own.batch_problems * own.rollouts
        asked = own.test_problems * own.eval_samples * own.seeds * (4 * math.ceil(own.steps / own.every) + 1)
        rows.append(
            [
                code(profile),
                f"{own.steps} steps x {own.batch_problems} x {own.rollouts} = {replies:,}",
                shortly(replies * own.max_tokens),
                own.seeds,
                f"{4 * own.seeds * own.steps:,}",
                f"{asked:,}",
            ]
        )
    return table(
        [
            "profile",
            "replies of an arm and seed",
            "most tokens of them",
            "seeds",
            "updates of four arms",
            "replies to evaluate, with the base",
        ],
        rows,
    )


def profiles() -> list[str]:
    """Return the shipped profiles, small to large."""
    return sorted(
        profile_names(), key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name)
    )


def shortly(count: int) -> str:
    """Return a count with three digits."""
    for unit, word in ((10**9, " billion"), (10**6, " million")):
        if count >= unit:
            return f"{count / unit:.3g}{word}"
    return f"{float(f'{count:.3g}'):,.0f}"


if __name__ == "__main__":
    main()
