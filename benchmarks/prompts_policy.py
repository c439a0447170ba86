"""What an iteration of the prompts line costs: tokens per second of sampling, seconds of an update, what
skipping groups without advantage saves.

    python benchmarks/prompts_policy.py [--policy local|tiny] [--threads 2] [--rows-at-once 16] [--dtypes]

Sampling is measured at the rows at once that are given and one by one; the ratio is what batching is worth.
The update is measured with an advantage in every group, and in one of four: the ratio is what leaving the
others out of the passes is worth (their gradient is zero). Both are measured once more with the prompt read
for every row, as transformers and trl do on their own: those ratios are what reading a shared prompt once is
worth.

With --dtypes it prints instead what bfloat16 is worth here beside float32: tokens per processor second of
sampling, processor seconds of one update, and how far log probabilities of the same replies, and the loss of
the same groups, lie apart.

With --minute TASK ... it prints instead what a minute of training gives on one kind of question: could a demo
show it?
A task is a family of examples/families/primers at a difficulty. 60 of its questions are held out; on others
the model takes three updates of 32 replies (8 questions, 4 replies each, learning rate .001), under the first
root prompt, with the other settings of the profile `demo`. Printed are the shares of right greedy replies
before and after, the gain with its 95 % interval, the same over the constant answer that is most frequent
among the questions to train on (a model that learns this alone has learnt nothing of the task), and the
processor seconds of training.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
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
from evolake.prompts.model.problems import problem_set
from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.model.protocol import Group, Problem, Sample
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.model.scoring import judge_with, verified
from evolake.prompts.policies import local, training
from evolake.prompts.policies.registry import open_policy
from evolake.prompts.policies.shared_prompts import log_probabilities
from evolake.prompts.settings import PromptsSettings
from evolake.utility.pass_rates import draw_instances

SAMPLES = 4
GROUPS = 2 if SHORT else 8
DTYPE_GROUPS = 2
"""Of the comparison of dtypes: bfloat16 may take a processor ten times as long."""


@contextmanager
def each_row_alone() -> Iterator[None]:
    """Sample and update by the libraries' own ways inside the block: the prompt of every row is read, and
    every position is scored."""
    kept = local.can_share, training.can_share
    local.can_share = training.can_share = lambda model: False
    try:
        yield
    finally:
        local.can_share, training.can_share = kept


def compare_dtypes(settings: settings_module.Settings) -> None:
    """Both dtypes on the same problems. The replies that are scored and learned from are those of float32."""
    import torch

    own = settings.of(PromptsSettings)
    problems = problem_set(own, lake=None, seeds=settings.seeds, seed=0).train[:DTYPE_GROUPS]
    pairs = [(prompt_of(["Solve the problem and end with the answer."]), problem) for problem in problems]
    groups: list[Group] = []
    logs: dict[str, torch.Tensor] = {}
    for dtype in ("float32", "bfloat16"):
        with tempfile.TemporaryDirectory() as folder:
            policy: Any = open_policy(
                settings.with_section(own.model_copy(update={"dtype": dtype})), Path(folder), "0001", "bench"
            )
        start = time.process_time()
        samples = policy.sample(pairs, SAMPLES, 1)
        sampled = time.process_time() - start
        tokens = sum(sample.tokens for some in samples for sample in some)
        drawn = [
            Group("p", problem.problem_id, tuple(some), (1.0, 0.0, 0.0, 1.0))
            for problem, some in zip(problems, samples, strict=True)
        ]
        groups = groups or drawn
        logs[dtype] = torch.cat([scored(policy, sample) for group in groups for sample in group.samples])
        start = time.process_time()
        print(
            f"{dtype}: sampling {tokens / sampled:.2f} tokens per processor second ({tokens} tokens)",
            flush=True,
        )
        stats = policy.update(groups, 1)
        updated = time.process_time() - start
        print(
            f"{dtype}: update {updated:.1f} s, loss {stats.loss:.6f}, gradient's norm {stats.grad_norm:.4f}",
            flush=True,
        )
    apart = (logs["bfloat16"] - logs["float32"]).abs()
    print(
        f"log probabilities of {len(apart)} tokens lie apart by {float(apart.mean()):.4f} in the mean, "
        f"{float(apart.max()):.4f} at most"
    )


def scored(policy: Any, sample: Sample) -> Any:
    """Log probabilities of a reply's tokens."""
    import torch

    ids = torch.tensor([[*sample.prompt_ids, *sample.reply_ids]], device=policy.device)
    with torch.no_grad():
        return log_probabilities(
            policy.model.get_base_model(),
            ids,
            torch.ones_like(ids),
            len(sample.reply_ids),
            policy.recipe.temperature,
        )[0][0]


PRIMERS = Path(__file__).resolve().parents[1] / "examples/families/primers"
HELD, DRAWN, UPDATES, BATCH = (4, 24, 1, 2) if SHORT else (60, 160, 3, 8)


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


def measure_minute(task: str, random_seed: int, settings: settings_module.Settings, policy: Any) -> str:
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
    options.add_argument("--policy", choices=["local", "tiny"], default="tiny" if SHORT else "local")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--rows-at-once", type=int, default=16)
    options.add_argument("--dtypes", action="store_true")
    options.add_argument("--minute", nargs="+", metavar="TASK", help="family:difficulty, as written-sum:2")
    options.add_argument("--random-seed", type=int, default=17001, help="of --minute")
    given = options.parse_args()
    settings = settings_module.load("demo")
    sizes = settings.of(PromptsSettings).model_copy(
        update={"policy": given.policy, "threads": given.threads, "rows_at_once": given.rows_at_once}
    )
    settings = settings.with_section(sizes)
    if given.dtypes:
        compare_dtypes(settings)
        return
    if given.minute:
        settings = settings.with_section(sizes.model_copy(update={"learning_rate": 1e-3}))
        with tempfile.TemporaryDirectory() as folder:
            policy = open_policy(settings, Path(folder), "0001", "bench")
        for task in given.minute:
            print(measure_minute(task, given.random_seed, settings, policy), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        open_policy(settings, Path(folder), "0001", "bench")
        first = time.perf_counter() - start
        start = time.perf_counter()
        policy = open_policy(settings, Path(folder), "0001", "bench")
        print(f"open: {first:.1f} s with unpacking, {time.perf_counter() - start:.1f} s after", flush=True)
    problems = problem_set(sizes, lake=None, seeds=settings.seeds, seed=0).train[:GROUPS]
    pairs = [(prompt_of(["Solve the problem and end with the answer."]), problem) for problem in problems]

    start = time.perf_counter()
    samples = policy.sample(pairs, SAMPLES, 1)
    batched = time.perf_counter() - start
    tokens = sum(sample.tokens for some in samples for sample in some)
    rate = tokens / batched
    policy.rows_at_once = 1  # type: ignore[attr-defined]
    start = time.perf_counter()
    alone = policy.sample(pairs[:2], SAMPLES, 1)
    one_rate = sum(sample.tokens for some in alone for sample in some) / (time.perf_counter() - start)
    policy.rows_at_once = given.rows_at_once  # type: ignore[attr-defined]
    print(
        f"sampling: {rate:.0f} tokens/s at {given.rows_at_once} rows, {one_rate:.0f} one by one; ratio "
        f"{rate / one_rate:.2f}",
        flush=True,
    )

    rewards: tuple[float | None, ...] = (1.0, 0.0, 0.0, 1.0)
    every = [
        Group("p", problem.problem_id, tuple(some), rewards)
        for problem, some in zip(problems, samples, strict=True)
    ]
    few = [
        group if number % 4 == 0 else replace(group, rewards=(0.0,) * SAMPLES)
        for number, group in enumerate(every)
    ]
    seconds = {}
    for name, groups in (("warm-up", every), ("every", every), ("one of four", few)):
        start = time.perf_counter()
        policy.update(groups, 1)
        seconds[name] = time.perf_counter() - start
    with each_row_alone():
        start = time.perf_counter()
        policy.sample(pairs, SAMPLES, 1)
        sampled = time.perf_counter() - start
        start = time.perf_counter()
        policy.update(every, 1)
        updated = time.perf_counter() - start
    print(
        f"prompt read once for its {SAMPLES} replies, not once per reply: sampling {sampled:.1f} -> "
        f"{batched:.1f} s, ratio {sampled / batched:.2f}; update {updated:.1f} -> {seconds['every']:.1f} "
        f"s, ratio {updated / seconds['every']:.2f}",
        flush=True,
    )
    print(
        f"update of {GROUPS * SAMPLES} replies, {tokens} tokens: {seconds['every']:.1f} s with an "
        f"advantage in every group, {seconds['one of four']:.1f} s in one of four; ratio "
        f"{seconds['every'] / seconds['one of four']:.2f}"
    )
    print(
        f"checkpoint: {len(policy.save()) / 1e6:.0f} MB; peak memory "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB"
    )


if __name__ == "__main__":
    main()
