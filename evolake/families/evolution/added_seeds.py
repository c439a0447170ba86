"""The seed families as what may immigrate: folders below `families` of the seeds, each with a
generator.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.families.model.contract import GENERATOR, TEMPLATE, VALIDATOR
from evolake.families.model.loading import read_family
from evolake.lake.added_seeds import SeedItem, SeedSource, folder_item


def items(seeds: Path, settings: Any = None) -> list[SeedItem]:
    """In the order in which `read_families` reads them."""
    return [folder_item(path.parent) for path in sorted((seeds / SEEDS.folder).glob(f"*/{GENERATOR}"))]


def check(path: Path) -> str:
    """Raise InputError if the folder is no family that the gates could look at; what its code does is for
    them."""
    if not accepts(path):
        wanted = f"a folder with {GENERATOR}, {TEMPLATE} and {VALIDATOR}"
        raise InputError(f"{path} is no task family", wanted=wanted, do="see evolake families --help")
    return read_family(path).name


def accepts(path: Path) -> bool:
    """Return whether it looks like one."""
    return (path / GENERATOR).is_file()


SEEDS = SeedSource("families", items, accepts, check)
