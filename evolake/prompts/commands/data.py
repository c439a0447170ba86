"""`evolake prompts data`: show how a data set would be read, before anything is trained on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from evolake import settings as settings_module
from evolake.prompts.model.protocol import Split
from evolake.prompts.settings import PromptsSettings
from evolake.terminal import say, say_json, say_text

SHOWN = 10
"""Problems that are printed of each side."""


@click.group(short_help="Check data sets of the user's own.")
def data() -> None:
    """Check your own data sets before training on them.

    \b
    Example:
      evolake prompts data check problems.jsonl
    """


@data.command(short_help="Show how a data set is read: recipe, questions, labels, leaks.")
@click.argument("path")
@click.option(
    "--test",
    "test",
    default=None,
    help="Held-out problems, as EVOLAKE_PROMPTS__TEST; default: the held-out files of the folder PATH.",
)
@click.option(
    "--columns",
    default=None,
    help=(
        "question=COLUMN, answer=COLUMN and choices=COLUMN, for rows that no recipe knows (default: a "
        "recipe)."
    ),
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def check(path: str, test: str | None, columns: str | None, as_json: bool) -> int:
    """Read PATH as EVOLAKE_PROMPTS__TRAIN would be read, and say what each side holds.

    PATH: a .jsonl, .parquet or .arrow file, a data set's folder, or reasoning-gym:NAME,NAME. A row that
    cannot be used, a label that no correct reply could match and a question with two labels are errors that
    name rows.
    """
    own = settings_module.load().of(PromptsSettings)
    sides = _read_sides(path, test, columns or own.columns, own)
    found = {
        "verdict": "readable",
        "reasons": [],
        "sides": [_described(name, place, read) for name, place, read in sides],
    }
    from evolake.prompts.model.own_verifiers import probe_verifiers

    probes = probe_verifiers([item for _, _, read in sides for item in read.problems], own.answer_format)
    found["verifiers"] = {scorer: [vars(probe) for probe in some] for scorer, some in probes.items()}
    leaks = None
    if len(sides) == 2:
        from evolake.prompts.model.leaks import find_leaks
        from evolake.prompts.model.problem_files import GYM

        (_, first, train), (_, second, heldout) = sides
        leaks = find_leaks(
            train.problems,
            heldout.problems,
            words=own.contamination_words,
            share=own.contamination_share,
            generated=first.startswith(GYM) and second.startswith(GYM),
        )
        found["contamination"] = leaks.sentence()
        found["leaks"] = [
            {"heldout": item.text, "train": other.text, "how": how} for item, other, how in leaks.leaked
        ]
        if leaks.part > own.contamination_limit:
            found["verdict"] = "contaminated"
    if as_json:
        say_json(found)
    else:
        _say_found(found)
    return 1 if found["verdict"] == "contaminated" else 0


def _read_sides(
    path: str, test: str | None, columns: str | None, own: PromptsSettings
) -> list[tuple[Split, str, Any]]:
    """Return (side, place, what was read) for each side that there is."""
    from evolake.prompts.model.problem_files import GYM, has_side, read_placed

    wanted: list[tuple[Split, str]] = [("train", path)] if has_side(path, "train") else []
    if test is not None:
        wanted.append(("heldout", test))
    elif path.startswith(GYM) or (Path(path).is_dir() and has_side(path, "heldout")):
        wanted.append(("heldout", path))
    return [
        (
            side,
            place,
            read_placed(
                place,
                side,
                gym_problems=own.gym_problems,
                seed=0,
                answer_format=own.answer_format,
                columns=None if place.startswith(GYM) else columns,
                scorer=None if place.startswith(GYM) else own.scorer,
            ),
        )
        for side, place in wanted or [("train", path)]
    ]


def _described(side: str, place: str, read: Any) -> dict[str, Any]:
    """Return what one side holds, as the command prints it."""
    return {
        "side": side,
        "place": place,
        "files": list(read.files),
        "recipes": dict(read.recipes),
        "problems": len(read.problems),
        "repeated": read.repeated,
        "examples": [
            {"question": item.text, "label": json.loads(item.answer), "scorer": item.scorer}
            for item in read.problems[:SHOWN]
        ],
    }


def _say_found(found: dict[str, Any]) -> None:
    for side in found["sides"]:
        say(f"{side['side']}: {side['problems']} problems in {', '.join(side['files'])}")
        for sentence, count in side["recipes"].items():
            say(f"  {count} rows by the recipe {sentence}")
        say(f"  {side['repeated']} rows dropped: question and label of an earlier row")
        for number, item in enumerate(side["examples"], 1):
            say_text(f"  {number}. {item['question']}".replace("\n\n", "\n").replace("\n", "\n     "))
            say_text(f"     -> {json.dumps(item['label'], ensure_ascii=False)}")
    for scorer, probes in found["verifiers"].items():
        say(f"verifier {scorer}: {len(probes)} probes passed")
        for probe in probes:
            say_text(
                f"  {probe['kind']} is worth {probe['score']:g}"
                + (f" ({probe['failure']})" if probe["failure"] else "")
            )
    if "contamination" in found:
        say(found["contamination"])
        for item in found["leaks"][:SHOWN]:
            say_text(f"  {item['how']}: {' '.join(item['heldout'].split())[:100]}")
    else:
        say("contamination: not compared; name the other side by --test")
    if found["verdict"] == "contaminated":
        say(
            "contaminated: remove these problems from one side, or raise the allowed share, "
            "EVOLAKE_PROMPTS__CONTAMINATION_LIMIT"
        )
