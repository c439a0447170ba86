"""Problem sets: where they come from, and which problems are never trained on.

A setting lists sources in order of preference. The first one with enough problems on both sides of the split is used, and the set says which that was
and why those before it were passed over. All problems of one family are on one side of the split, by the hash of the family's id alone, so a later
and larger set moves none; and a text stands on one side only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.lake import Lake, following, preceding
from evolake.prompts.model.protocol import Problem
from evolake.prompts.settings import PromptsSettings

FILE = "problems.jsonl"
FAMILIES = "families"
ASKING = {"en": "Give your final answer inside \\boxed{...}.", "zh": "请把最终答案写在 \\boxed{...} 中。"}
_FIELDS = ("problem_id", "text", "answer", "case_sensitive", "category", "difficulty", "family")


@dataclass(frozen=True)
class ProblemSet:
    """train: problems to train on. heldout: problems to evaluate on, in an order that the seed fixes. source: where they come from.
    passed_over: "source: why" for each that was preferred to it."""

    train: tuple[Problem, ...]
    heldout: tuple[Problem, ...]
    source: str
    passed_over: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[Problem, ...]:
        """Both sides, the ones for training first."""
        return self.train + self.heldout


def problem_set(settings: PromptsSettings, *, lake: Lake | None, seeds: Path, seed: int, cycles: Sequence[str] | None = None) -> ProblemSet:
    """The problems of a run or a cycle.

    Args:
        lake: where the source `families` reads; None passes it over. seeds: the folder of seeds, with prompts/problems.jsonl.
        seed: of reasoning-gym's problems and of the order of the held-out ones. cycles: of the families line; None: all that are finished.

    Raises:
        InputError: no source has enough problems; says what each lacks.
    """
    lacking: list[str] = []
    for source in settings.problem_sources:
        try:
            found = _read(source, settings, lake, seeds, seed, cycles)
        except InputError as error:
            lacking.append(f"{source}: {error.what}")
            continue
        chosen = [one for one in found if settings.difficulties is None or one.difficulty in settings.difficulties]
        train, heldout = split(chosen, settings.heldout_share)
        if len(train) >= settings.batch_problems and len(heldout) >= settings.heldout_problems:
            return ProblemSet(tuple(train), _drawn(heldout, settings.heldout_problems, seed), source, tuple(lacking))
        lacking.append(f"{source}: {len(train)} problems to train on and {len(heldout)} held out")
    raise InputError(
        "no source has enough problems", wanted=f"{settings.batch_problems} to train on and {settings.heldout_problems} held out",
        got="; ".join(lacking), do="widen EVOLAKE_PROMPTS__DIFFICULTIES or EVOLAKE_PROMPTS__PROBLEM_SOURCES, or run more cycles of families",
    )


def split(problems: Iterable[Problem], heldout_share: float) -> tuple[list[Problem], list[Problem]]:
    """(to train on, held out), each in the order given. Of problems with one text the first stays; a text that is held out is not trained on."""
    train: dict[str, Problem] = {}
    heldout: dict[str, Problem] = {}
    for problem in problems:
        side, name = (heldout, "heldout") if _held(problem.family, heldout_share) else (train, "train")
        side.setdefault(_plain(problem.text), replace(problem, split=name))
    return [problem for text, problem in train.items() if text not in heldout], list(heldout.values())


def read_problems(path: Path) -> list[Problem]:
    """Problems of a JSONL file: one object per line with the fields of Problem but split and source; others are passed over.

    Raises:
        InputError: there is no such file, or a line is no problem; names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"the problems in {path} cannot be read", wanted="a file of JSON lines", got=str(error)) from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            json.loads(values["answer"])
            found.append(Problem(**{name: values[name] for name in _FIELDS}, split="train", source="shipped"))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"line {number} of {path} is no problem", wanted=f"JSON with {', '.join(_FIELDS)}", got=repr(error)) from None
    return found


def family_problems(lake: Lake, cycles: Sequence[str] | None = None) -> list[Problem]:
    """The instances of accepted families in these cycles of the families line (None: all finished ones), asking for a boxed answer.

    Raises:
        InputError: there is no finished cycle.
    """
    done = finished_families(lake) if cycles is None else cycles
    if not done:
        raise InputError("the lake holds no finished cycle of the families line", do="run: evolake run --lines families")
    archive = lake.read(FAMILIES, "incoming_families", following(done[-1]))
    accepted = {row["family_id"] for row in archive.to_dicts() if row["state"] == "accepted"}
    rows = [row for cycle in done for row in lake.read(FAMILIES, "instances", cycle).to_dicts() if row["family_id"] in accepted]
    return [_of_family(row) for row in rows]


def finished_families(lake: Lake) -> list[str]:
    """The cycles of the families line whose successor's population is sealed on an unbroken chain, oldest first."""
    done: list[str] = []
    for cycle in lake.seals.cycles(FAMILIES)[1:]:
        if lake.seals.broken_link(FAMILIES, cycle):
            break
        done.append(str(preceding(cycle)))
    return done


def gym_problems(tasks: Sequence[str], count: int, seed: int) -> list[Problem]:
    """`count` problems of each task of reasoning-gym. Its answers are texts; they are compared as every answer is.

    Raises:
        InputError: the extra `reasoning-gym` is missing, or there is no such task.
    """
    try:
        import reasoning_gym
    except ImportError:
        raise InputError("reasoning-gym is not installed", do="pip install 'evolake[reasoning-gym]'") from None
    found = []
    for task in tasks:
        try:
            entries = list(reasoning_gym.create_dataset(task, size=count, seed=seed % 2**31))
        except ValueError as error:
            raise InputError(f"reasoning-gym has no task {task!r}", got=str(error)) from None
        for entry in entries:
            problem_id = _sha(f"{task}\x1f{entry['question']}")
            text = f"{entry['question'].strip()}\n\n{ASKING['en']}"
            found.append(Problem(problem_id, text, json.dumps(str(entry["answer"])), False, task, 1, "train", "reasoning-gym", problem_id))
    return found


def _read(
    source: str, settings: PromptsSettings, lake: Lake | None, seeds: Path, seed: int, cycles: Sequence[str] | None
) -> list[Problem]:
    if source == "shipped":
        return read_problems(seeds / "prompts" / FILE)
    if source == "reasoning-gym":
        return gym_problems(settings.gym_tasks, settings.gym_problems, seed)
    if lake is None:
        raise InputError("there is no lake")
    return family_problems(lake, cycles)


def _of_family(row: dict[str, Any]) -> Problem:
    text = f"{row['text']}\n\n{ASKING.get(row['language'], ASKING['en'])}"
    return Problem(
        row["instance_id"], text, row["answer"], row["case_sensitive"], row["category"], row["difficulty"], "train", "families", row["family_id"],
    )


def _drawn(heldout: Sequence[Problem], count: int, seed: int) -> tuple[Problem, ...]:
    """`count` of them, by the hash of seed and id: another number of problems changes no other choice."""
    return tuple(sorted(heldout, key=lambda one: _sha(f"{seed}\x1f{one.problem_id}"))[:count])


def _held(family: str, share: float) -> bool:
    return int(_sha(f"heldout\x1f{family}")[:12], 16) < share * 16**12


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
