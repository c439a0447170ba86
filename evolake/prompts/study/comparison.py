"""What a comparison of arms depends on, and where its journals are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evolake.lake import Lake
from evolake.prompts.model.problems import ProblemSet
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import ANSWER
from evolake.prompts.policies.dtypes import with_dtype
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.study.journal import Journal
from evolake.prompts.tools.toolbox import corpus_of

if TYPE_CHECKING:
    from evolake.settings import Settings

OF_NO_ARM = (
    "threads",
    "vllm_url",
    "vllm_folder",
    "arm",
    "iterations_per_cycle",
    "duel_problems",
    "duel_samples",
    "families_share",
)


def comparison_sha(
    settings: Settings, problems: ProblemSet, root: SystemPrompt, *, iterations: int, every: int
) -> str:
    """Return sha256 of everything that the rows of an arm depend on, but the arm and the replicate."""
    facts: dict[str, Any] = {
        "seed": settings.seed,
        "prompts": with_dtype(settings.of(PromptsSettings)).model_dump(mode="json", exclude=set(OF_NO_ARM)),
        "backend": settings.backend,
        "models": settings.models,
        "root": root.text(),
        "iterations": iterations,
        "every": every,
        "library": hashlib.sha256((settings.seeds / "prompts" / "library.json").read_bytes()).hexdigest(),
        "problems": [
            [problem.problem_id, problem.text, problem.answer, problem.split]
            + ([] if problem.scorer == ANSWER else [problem.scorer, problem.entry])
            for problem in problems.all
        ],
    }
    if corpus := corpus_of(settings.of(PromptsSettings)):
        facts["corpus"] = corpus
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def journals_of(lake: Lake, sha: str) -> Callable[[str, int], Journal]:
    """Return (arm, replicate) -> its journal, in the lake's work folder, which is no part of its content."""
    return lambda arm, replicate: Journal(
        lake.root / "work" / "prompts-compare" / sha[:16] / f"{arm}-{replicate}", f"{sha} {arm} {replicate}"
    )
