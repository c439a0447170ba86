"""`evolake designs new`: a complete design that can be measured, to be changed into one's own."""

from __future__ import annotations

from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.designs.templates import template
from evolake.new_files import write_new
from evolake.terminal import say

EXAMPLE = template("new_design")


@click.command(short_help="Write a complete design to FILE.")
@click.argument("file", metavar="FILE", type=OrdinaryPath())
def new(file: Path) -> int:
    """Write a complete design to FILE, which solves formulas of 100 variables. Nothing is overwritten."""
    write_new({file: EXAMPLE})
    say(f"{file}; next: evolake designs check {file}, then: evolake designs solve {file} --n 100")
    return 0
