"""Problems of reasoning-gym, whose own verifiers judge the answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.answers.asking import AnswerFormat, request
from evolake.errors import InputError
from evolake.prompts.model.protocol import Problem
from evolake.verifiers.external import SCORER, require_library
from evolake.verifiers.gym import ACCEPTS_ALL


def gym_problems(
    tasks: Sequence[str],
    count: int,
    seed: int,
    configuration: Mapping[str, Any] | None = None,
    answer_format: AnswerFormat = "boxed",
) -> list[Problem]:
    """Return `count` problems of each task of reasoning-gym, whose own verifier judges the answers.

    configuration: options of the tasks, by their names.

    Raises:
        InputError: the extra `reasoning-gym` is missing, there is no such task, its verifier judges nothing,
            or it has no such option.
    """
    require_library()
    import reasoning_gym

    result, options = [], dict(configuration or {})
    for task in tasks:
        if task in ACCEPTS_ALL:
            raise InputError(
                f"the task {task!r} of reasoning-gym cannot be used",
                got=ACCEPTS_ALL[task],
                do="choose another task",
            )
        try:
            entries = list(reasoning_gym.create_dataset(task, size=count, seed=seed % 2**31, **options))
        except ValueError as error:
            raise InputError(f"reasoning-gym has no task {task!r}", got=str(error)) from None
        except (TypeError, AssertionError) as error:
            raise InputError(
                f"the task {task!r} of reasoning-gym does not take this configuration",
                got=str(error) or repr(configuration),
            ) from None
        for index, entry in enumerate(entries):
            problem_id = hashlib.sha256(f"{task}\x1f{entry['question']}".encode()).hexdigest()
            text = f"{entry['question'].strip()}\n\n{request('en', None, answer_format)}"
            made_by = {
                "dataset": task,
                "seed": seed % 2**31,
                "size": count,
                "index": index,
                "configuration": options,
            }
            result.append(
                Problem(
                    problem_id,
                    text,
                    json.dumps(str(entry["answer"])),
                    False,
                    task,
                    1,
                    "train",
                    SCORER,
                    problem_id,
                    SCORER,
                    json.dumps(made_by),
                )
            )
    return result
