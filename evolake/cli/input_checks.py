"""What `evolake doctor` says of what a run will read: variables that nothing reads, and seeds that are not
there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from evolake.project import BROUGHT
from evolake.settings import Settings, settings_type

PREFIX = "EVOLAKE_"
READ_APART = frozenset(
    {
        "EVOLAKE_CODE_HOST",
        "EVOLAKE_CODE_PORT",
        "EVOLAKE_DEVICE",
        "EVOLAKE_FORMULA_CACHE",
        "EVOLAKE_KERNEL_CACHE",
        "EVOLAKE_KERNEL_CHECKS",
        "EVOLAKE_NIGHTLY_CRON",
        "EVOLAKE_NIGHTLY_LINES",
        "EVOLAKE_PG_DATABASE",
        "EVOLAKE_PG_HOST",
        "EVOLAKE_PG_PASSWORD",
        "EVOLAKE_PG_PORT",
        "EVOLAKE_PG_USER",
        "EVOLAKE_PROJECT",
        "EVOLAKE_PROOF_TOOLS",
        "EVOLAKE_TASK",
        "EVOLAKE_TRACEBACK",
    }
)
"""Variables that are no settings: what has to be known before, or without, the settings, and what a coder's
command is shown its task by."""


def input_checks(settings: Settings, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return fields of `evolake.cli.doctor.Check`, one per thing looked at."""
    stray = unknown_variables(environment)
    return [
        {
            "name": "variables",
            "ok": not stray,
            "detail": "; ".join(stray) or f"every {PREFIX}* that is set is read",
            "skips": f"what they were meant to set: {len(stray)} of them" if stray else "",
            "mend": "rename or unset them",
        },
        seeds_check(settings.seeds),
    ]


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return a sentence for each variable of ours that nothing reads, with the name that is nearest to it.
    One inside a line's section is an error of the settings already."""
    known = {PREFIX + name.upper() for name in settings_type().model_fields} | READ_APART
    ours = [name for name in sorted(environment) if name.upper().startswith(PREFIX)]
    return [
        _unread_variable_text(name, known) for name in ours if name.upper().partition("__")[0] not in known
    ]


def seeds_check(folder: Path) -> dict[str, Any]:
    """Return whether everything that evolution starts from is in `folder`, by what evolake brings along."""
    wanted = {
        entry.name for entry in (BROUGHT / "data_lake" / "seeds").iterdir() if not entry.name.startswith(".")
    }
    missing = (
        sorted(wanted - {entry.name for entry in folder.iterdir()})
        if folder.is_dir()
        else ["the folder itself"]
    )
    detail = f"{folder}: {', '.join(missing)} not there" if missing else str(folder)
    mend = (
        "restore data_lake/seeds from the repository, or point EVOLAKE_SEEDS to a copy of it (`evolake "
        "init DIR` makes one)"
    )
    skips = "the lines that start from what is missing" if missing else ""
    return {"name": "seeds", "ok": not missing, "detail": detail, "skips": skips, "mend": mend}


def _unread_variable_text(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name.upper().partition("__")[0], list(known), n=1, cutoff=0.7)
    return f"{name} is read by nothing" + (f"; did you mean {near[0]}?" if near else "")
