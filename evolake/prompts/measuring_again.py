"""Measure again what a bundle states of a system prompt: it and the first root, on the bundle's problems and
on others.

The stated gain must follow from the replies in the bundle (`unfounded`). If the problems are of those that
ship with evolake, they must be all that a run with these settings holds out (`held_out`), and the gain must
also be reached on held-out problems that are drawn here (`reached`). Replies are sampled again by the weights
that the bundle carries; replies of an endpoint cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.bundles.measuring import difference, fresh_count, fresh_seeds, judged
from evolake.bundles.model import Said
from evolake.prompts.model.library import load_roots
from evolake.prompts.model.problems import FILE, problem_set
from evolake.prompts.report.story import gain_between
from evolake.report.numbers import counted

if TYPE_CHECKING:
    from evolake.answers.asking import AnswerFormat
    from evolake.prompts.model.prompt import SystemPrompt
    from evolake.prompts.model.protocol import Problem
    from evolake.prompts.settings import PromptsSettings
    from evolake.settings import Settings

SHIPPED = "shipped"
DRAWS = 8
"""Draws of held-out problems here; those that the bundle has are left out."""
OWN, FIRST, INSTALLED = (
    "the prompt with its weights",
    "the first root under the base model",
    "the first root that is installed here, under the base model",
)
Answers = Callable[[str, Sequence["Problem"]], list[dict[str, Any]]]
"""Replies of one side, `OWN`, `FIRST` or `INSTALLED`, to problems: rows as `prompt_contest.replies` gives
them."""


@dataclass(frozen=True)
class Sides:
    """Who is compared: the prompt with the weights that were carried (None: those before any update), and the
    first root.

    installed: the first root of this machine, if that of the bundle is none of those here; else None. A root
    that leads the model astray would make any gain.
    """

    prompt: SystemPrompt
    root: SystemPrompt
    weights: bytes | None
    installed: SystemPrompt | None = None


def answering(
    settings: Settings, own: PromptsSettings, sides: Sides, progress: Callable[[str], None]
) -> Answers:
    """Return what asks the policy of the bundle. It is opened for each side, since loaded weights replace
    those of the base model."""
    from evolake.prompts.evolution.prompt_contest import replies
    from evolake.prompts.policies.registry import open_policy

    def ask(side: str, problems: Sequence[Problem]) -> list[dict[str, Any]]:
        progress(f"{len(problems)} replies of {side}")
        policy: Any = open_policy(settings, settings.require_lake(), "0001", "bundle")
        with policy if hasattr(policy, "__exit__") else nullcontext(policy):
            if side == OWN and sides.weights is not None:
                policy.load(sides.weights)
            prompt = {OWN: sides.prompt, FIRST: sides.root, INSTALLED: sides.installed or sides.root}[side]
            return replies(policy, [prompt], problems, samples=1, answer_format=own.answer_format, seed=0)

    return ask


def installed_root(root: SystemPrompt, seeds: Path) -> SystemPrompt | None:
    """Return the first root of this machine if `root` is none of those here."""
    known = list(load_roots(seeds / "prompts").values())
    return None if root.prompt_id in {item.prompt_id for item in known} else known[0]


def shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return problem -> share of its replies that are correct."""
    grouped: dict[str, list[bool]] = {}
    for row in rows:
        grouped.setdefault(str(row["problem_id"]), []).append(bool(row["correct"]))
    return {name: sum(values) / len(values) for name, values in sorted(grouped.items())}


def unfounded(
    held: Mapping[str, Any] | None,
    now: Sequence[Mapping[str, Any]],
    start: Sequence[Mapping[str, Any]],
    root_id: str,
) -> str:
    """Return why what is stated of a champion does not follow from the replies in the bundle; "" if it does,
    or if nothing is stated.

    Args:
        now, start: replies of the prompt and of the first root.
    """
    if held is None:
        return ""
    if held["score"] is not None and not now:
        return f"a score of {held['score']:.6g} is stated, and the bundle has no replies"
    if held["gain"] is None:
        return ""
    if missing := sorted({row["problem_id"] for row in now} - {row["problem_id"] for row in start}):
        lacking = f"no reply of that to {counted(len(missing), 'problem')}, e.g. {missing[0][:12]}"
        return f"a gain over the first root is stated, and the bundle has {lacking}"
    gain = gain_between(shares(now), shares(start), root_id, str(held["gain"].get("cycle")))
    return difference(held["gain"], gain)


def held_out(problems: Sequence[Problem], own: PromptsSettings, seeds: Path, root_seed: int) -> Said | None:
    """Compare the problems that the bundle's replies are to with those that a run with its settings holds
    out; None if they are the same."""
    what = "held-out problems"
    if not shipped(problems, seeds):
        sources = ", ".join(sorted({item.source for item in problems}))
        return Said(
            what,
            "unmeasured",
            f"they come from {sources[:100]}, so that whether these are all of them is not known here",
        )
    formats: tuple[AnswerFormat, ...] = ("boxed", "last")
    here, *others = (
        {item.problem_id: item for item in _held_out(own, seeds, root_seed, name)} for name in formats
    )
    if strange := [
        item.problem_id
        for item in problems
        if _as_asked(item) not in [_as_asked(side.get(item.problem_id)) for side in (here, *others)]
    ]:
        return Said(
            what,
            "fails",
            f"{strange[0][:12]} is none that a run with these settings holds out, or it has another text "
            "or answer",
        )
    if missing := sorted(set(here) - {item.problem_id for item in problems}):
        return Said(
            what,
            "fails",
            f"a run with these settings holds out {len(here)}, and {len(missing)} are missing, e.g. "
            f"{missing[0][:12]}",
        )
    return None


def shipped(problems: Sequence[Problem], seeds: Path) -> bool:
    """Return whether all problems are said to be of those that ship, and these are here."""
    return all(item.source == SHIPPED for item in problems) and (seeds / "prompts" / FILE).is_file()


def _held_out(
    own: PromptsSettings, seeds: Path, seed: int, answer_format: AnswerFormat | None = None
) -> tuple[Problem, ...]:
    """Return the problems that are held out of those that ship. Nothing else of the settings' sources is
    read: they name files and packages.

    answer_format: that they ask for; None: that of the settings.
    """
    only = {
        "problem_sources": [SHIPPED],
        "train": None,
        "test": None,
        "scorer": None,
        "answer_format": answer_format or own.answer_format,
    }
    return problem_set(own.model_copy(update=only), lake=None, seeds=seeds, seed=seed).heldout


def _as_asked(item: Problem | None) -> Any:
    return None if item is None else (item.text, item.answer, item.case_sensitive, item.scorer, item.entry)


def reached(
    ask: Answers,
    before: tuple[Mapping[str, float], Mapping[str, float]],
    stated: Mapping[str, Any],
    own: PromptsSettings,
    seeds: Path,
    sample: int | None,
    rivals: Sequence[str] = (FIRST,),
) -> Iterator[Said]:
    """Check the stated gain on held-out problems that are drawn here.

    Args:
        before: (problem -> share of correct replies) of the prompt and of the first root, as the bundle has
            them.
        stated: the gain. rivals: sides that it must be reached over.
    """
    what, common = (
        "gain (share of correct replies) on fresh problems",
        sorted(set(before[0]) & set(before[1])),
    )
    drawn = {item.problem_id: item for seed in fresh_seeds(DRAWS) for item in _held_out(own, seeds, seed)}
    fresh = [item for name, item in drawn.items() if name not in before[0]][
        : fresh_count(len(common), sample)
    ]
    if not fresh:
        yield Said(what, "unmeasured", "no other held-out problems ship with these settings", gain=True)
        return
    now, claimed = shares(ask(OWN, fresh)), [before[0][name] - before[1][name] for name in common]
    for rival in rivals:
        start = shares(ask(rival, fresh))
        name = what if rival == FIRST else f"{what}, over {rival}"
        yield judged(
            name,
            claimed,
            [now[problem] - start[problem] for problem in sorted(now)],
            gain=stated,
            unit="problem",
        )
