"""`evolake families new`: a complete family that passes every gate, to be changed into one's own."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.families.model.loading import SETTINGS, id_of
from evolake.new_files import write_new
from evolake.terminal import say

EXAMPLE_ID = "radio-houses"
FILES = {
    name: resources.files("evolake.families.commands").joinpath("example", name).read_text(encoding="utf-8")
    for name in (
        "family.toml",
        "generator.py",
        "template.md",
        "validator.py",
        "validators/asking.py",
        "validators/metres.py",
        "reader.py",
        "mutations.toml",
    )
}
"""Path below the folder -> its text."""


@click.command(short_help="Write a complete task family into DIR.")
@click.argument("folder", metavar="DIR", type=OrdinaryPath())
def new(folder: Path) -> int:
    """Write a complete family into DIR: generator, template, validator, two further validators, reader and
    mutations. DIR's name is its id. Nothing is overwritten."""
    files = FILES | {SETTINGS: FILES[SETTINGS].replace(EXAMPLE_ID, id_of(folder))}
    write_new({folder / name: text for name, text in files.items()})
    say(f"{len(FILES)} files in {folder}; next: evolake families check {folder}")
    return 0
