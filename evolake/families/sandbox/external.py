"""External families: reasoning-gym's datasets (Stojanovski et al. 2025) in the form of the contract, for data
next to our own.

They generate and verify only: their code is not ours to mutate, and a family of one voter has no independent
validators, so it stops at the consensus gate and never enters the archive. Difficulty goes to the
curriculum's level, the seed to the seed, and replies to the dataset's own verifier. The library is an extra
(`pip install evolake[reasoning-gym]`); here it runs in the jail, as everything does that reads a model's text
with an evaluator.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from evolake.errors import MachineryError
from evolake.families.model.contract import Answer, Family
from evolake.families.sandbox.running import PRELOAD, Caps, called, generate
from evolake.program_templates import fill_template
from evolake.seeds import child_seed
from evolake.verifiers import external
from evolake.verifiers.external import DISTRIBUTION, GYM, LIBRARY, SCORER, require_library

OPERATOR = "external"
LEVELS = 10
GYM_PRELOAD = (*PRELOAD, *external.GYM_PRELOAD)
"""What a pool for external families should preload: the library takes seconds to import."""
GYM_CAPS = Caps(cpu_s=10.0, call_s=120.0, memory_mb=2048)
"""Importing the library alone takes a second and 200 MB; single entries of the largest level take seconds."""
VALIDATOR = """def solution(inputs):
    return inputs["answer"] if isinstance(inputs, dict) and "answer" in inputs else {"status": "schema_error", "detail": "answer"}
"""  # noqa: E501


def external_names(pool: Any) -> list[str]:
    """Return the datasets that can be adapted: those with a curriculum. Raises InputError without the
    library, MachineryError when the jail failed."""
    require_library()
    outcome = called(pool, f"{GYM}:listing", "", {}, GYM_CAPS)
    if outcome.status != "ok":
        raise MachineryError(
            "reasoning-gym cannot be loaded in the jail",
            got=f"{outcome.status}: {outcome.reason}",
            do="install the extra again",
        )
    return outcome.value


def external_family(name: str) -> Family:
    """Return the dataset as a family. Its answer, the dataset's own, is among the hidden inputs. Generate it
    with `GYM_CAPS` and a pool of `GYM_PRELOAD`.
    """
    generator = fill_template("evolake.families.sandbox.templates.external_generator", name=repr(name))
    return Family(
        name=f"gym-{name.replace('_', '-')}",
        title=f"reasoning-gym: {name}",
        category="other",
        language="en",
        generator=generator,
        template="[Input Slot 1]\n",
        validator=VALIDATOR,
        answer=Answer("string"),
        operator=OPERATOR,
    )


def external_rows(names: Sequence[str], each: int, *, pool: Any, root_seed: int) -> list[dict[str, Any]]:
    """Return `each` instances of every dataset, difficulties 1 to 10 in turn: dataset, difficulty, seed,
    text, answer, verifier, and for who evaluates on them scorer and entry. What could not be made in time is
    left out. Raises MachineryError when the jail failed.
    """
    rows = []
    for name in names:
        pairs = [
            (number % LEVELS + 1, child_seed(root_seed, "families", name, OPERATOR, number))
            for number in range(each)
        ]
        made = generate(external_family(name), pairs, pool=pool, caps=GYM_CAPS)
        rows += [
            {
                "dataset": name,
                "difficulty": item.difficulty,
                "seed": item.inputs["seed"],
                "text": item.text,
                "answer": item.inputs["answer"],
                "verifier": f"{LIBRARY} {version(DISTRIBUTION)}: {name}.score_answer",
                "scorer": SCORER,
                "entry": {"dataset": name, "seed": item.inputs["seed"], "difficulty": item.difficulty},
            }
            for item in made
            if item.status == "ok"
        ]
    return rows
