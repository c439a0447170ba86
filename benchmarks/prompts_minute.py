"""What a minute of training the bundled model gives on one kind of question: could a demo show it?

    python benchmarks/prompts_minute.py [--tasks written-sum:2 ...] [--random-seed 17001]

A task is a family of examples/families/primers at a difficulty. 60 of its questions are held out; on others
the model takes three updates of 32 replies (8 questions, 4 replies each, learning rate .001), under the first
root prompt, with the other settings of the profile `demo`. Printed are the shares of right greedy replies
before and after, the gain with its 95 % interval, the same over the constant answer that is most frequent
among the questions to train on (a model that learns this alone has learnt nothing of the task), and the
processor seconds of training.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from bench import SHORT

from evolake import settings as settings_module
from evolake.answers.asking import answer_forms, request
from evolake.contest import Contest, paired
from evolake.families.model.family_files import read_families
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.jail import open_pool
from evolake.prompts.evolution.payoff_matrix import rewarded
from evolake.prompts.evolution.prompt_contest import replies
from evolake.prompts.model.library import load_roots
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Problem
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.model.scoring import judge_with, verified
from evolake.prompts.policies.registry import open_policy
from evolake.prompts.settings import PromptsSettings
from evolake.utility.pass_rates import draw_instances

PRIMERS = Path(__file__).resolve().parents[1] / "examples/families/primers"
TASKS = ("sign-letters:2", "lamp-button:2", "written-sum:2", "oldest-child:1", "queue-ends:1")
HELD, DRAWN, UPDATES, BATCH, SAMPLES = (4, 24, 1, 2, 2) if SHORT else (60, 160, 3, 8, 4)


def questions(task: str, random_seed: int, settings: settings_module.Settings) -> list[Problem]:
    """Return different questions of a task, in an order that the seed fixes."""
    name, difficulty = task.split(":")
    [family] = [family for family in read_families(PRIMERS) if family.name == name]
    with open_pool(workers=1, preload=PRELOAD, mode=settings.jail) as pool:
        drawn = draw_instances(
            family, [int(difficulty)], DRAWN, pool=pool, settings=FamiliesSettings(), root_seed=random_seed
        )
    rows = sorted({row["text_sha"]: row for row in drawn}.values(), key=lambda row: row["text_sha"])
    forms = answer_forms(rows)
    return [
        Problem(
            row["instance_id"],
            f"{row['text']}\n\n{request(row['language'], forms.get(row['family_id']), 'last')}",
            row["answer"],
            row["case_sensitive"],
            row["category"],
            row["difficulty"],
            "train",
            "primers",
            name,
        )
        for row in rows
    ]


def measure(task: str, random_seed: int, settings: settings_module.Settings, policy: Any) -> str:
    """Return the line of one task; the policy is put back to where it was."""
    own, start = settings.of(PromptsSettings), policy.save()
    root = load_roots(settings.seeds / "prompts")["plain"]
    asked = questions(task, random_seed, settings)
    held, train = asked[:HELD], asked[HELD:]

    def right() -> np.ndarray:
        rows = replies(policy, [root], held, samples=1, answer_format=own.answer_format, seed=0)
        return np.array([row["correct"] for row in rows], dtype=np.float64)

    before, begun = right(), time.process_time()
    random, judge = np.random.default_rng(random_seed), judge_with(recipe_of(own), own.answer_format, 0.0)
    for number in range(UPDATES):
        batch = random.choice(len(train), BATCH, replace=False).tolist()
        pairs: list[tuple[SystemPrompt, Problem]] = [(root, train[place]) for place in batch]
        sampled = verified(pairs, policy.sample(pairs, SAMPLES, number), own.answer_format)
        policy.update(rewarded(pairs, sampled, judge)[0], number)
    spent, after = time.process_time() - begun, right()
    policy.load(start)
    [(constant, _)] = Counter(problem.answer for problem in train).most_common(1)
    always = np.array([problem.answer == constant for problem in held], dtype=np.float64)
    gain, beyond = (paired(after - other, np.random.default_rng(0)) for other in (before, always))
    return (
        f"{task:18s} {before.mean():.1%} right, then {after.mean():.1%}: {shown(gain)}; over always "
        f"{constant}, {always.mean():.1%}: {shown(beyond)}; {spent:.0f} cpu s"
    )


def shown(contest: Contest) -> str:
    """Return a difference in points with its interval."""
    return f"{100 * contest.effect:+.1f} ({100 * contest.low:+.1f} to {100 * contest.high:+.1f})"


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--tasks", nargs="+", default=TASKS[:1] if SHORT else TASKS)
    options.add_argument("--random-seed", type=int, default=17001)
    given = options.parse_args()
    settings = settings_module.load("demo")
    own = settings.of(PromptsSettings).model_copy(
        update={"learning_rate": 1e-3} | ({"policy": "tiny"} if SHORT else {})
    )
    with tempfile.TemporaryDirectory() as folder:
        policy = open_policy(settings.with_section(own), Path(folder), "0001", "bench")
        for task in given.tasks:
            print(measure(task, given.random_seed, settings.with_section(own), policy), flush=True)


if __name__ == "__main__":
    main()
